/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine as a stream of (device, attribute, bytes): what /sys, a copied tree
 * and a capture record have in common. A reader drives a sink; one sink builds a
 * snapshot (here), the other writes a record (capture.c), so that a record holds what a
 * scan saw and nothing else. One thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/attrs.h"
#include "pcie/snapshot.h"

struct pcie_sink {
	/* A device begins; PATH: "/devices/pci0000:00/0000:00:01.0", ADDR is its last part. */
	void (*device)(struct pcie_sink *sink, const char *path, struct pcie_addr addr);
	/* A value of the device that began last. DATA[LEN] is NUL. */
	void (*attr)(
		struct pcie_sink *sink, const struct pcie_attr *attr, const char *data, size_t len);
	/* A fact of the machine, reduced and masked already: see host.h. DATA[LEN] is NUL. */
	void (*host)(struct pcie_sink *sink, const char *name, const char *data, size_t len);
	/* Something could not be read; ADDR may be unknown. It is no part of a record. */
	void (*problem)(struct pcie_sink *sink, struct pcie_addr addr, const char *text);
};

enum { PCIE_FEED_CONFIG = 4096 };

/* The sink that builds a snapshot. */
struct pcie_feed {
	struct pcie_sink sink; /* first: the sink is the feed */
	struct pcie_snapshot *s;
	bool complete; /* an attribute that did not come does not exist */

	/* The feed's own: */
	int dev; /* the device that began last, -1 */
	pcie_src sysfs_src, config_src;
	bool seen_driver, seen_iommu;
	char config[PCIE_FEED_CONFIG];
	size_t config_len;
	struct pcie_feed_device *extra; /* one a device: what needs its neighbours */
	size_t nextra, capextra;
	struct pcie_feed_host *host;
	size_t nhost, caphost;
	char *log;
	size_t log_len;
};

/* The name under which a kernel log comes to the sink's host(). */
#define PCIE_FEED_LOG "log"

void pcie_feed_init(struct pcie_feed *f, const char *origin);

/*
 * Joins what needs all devices, settles and hands the snapshot over; F is empty
 * then. *RET_LOG: the kernel log that came, NULL when none; the caller frees it.
 */
struct pcie_snapshot *pcie_feed_finish(struct pcie_feed *f, char **ret_log, size_t *ret_log_len);

/* Gives up; allowed behind finish. */
void pcie_feed_abort(struct pcie_feed *f);
