/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one door: any machine, live, copied, captured or pasted, becomes a
 * snapshot. Blocking; any thread (the front calls it on its scanner job).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"
#include "pcie/snapshot.h"

/* What a GPU's driver says of its memory. 0: it does not say. */
struct pcie_gpu_sizes {
	struct pcie_addr addr;
	uint64_t memory, bar1; /* bytes */
	char note[160];        /* why it does not, where that is worth a note; "" */
};

/*
 * Asks NVIDIA's driver, which this room may not load. Blocking, but not for ever; called on the
 * scan's thread with the awake GPUs that the driver is bound to, all at once.
 */
struct pcie_driver {
	void (*sizes)(const struct pcie_driver *d, struct pcie_gpu_sizes *gpu, size_t n);
};

struct pcie_scan_options {
	const char *source;      /* NULL or "live"; a path; "-" */
	const char *const *with; /* further witnesses, paths */
	size_t nwith;
	bool wake;         /* read sleeping devices too */
	bool log;          /* live: the kernel log is a witness too, where it may be read */
	const char *sysfs; /* root in place of "/" for live scans; NULL: "/" */
	const struct pcie_driver *driver; /* live: a witness of sizes; NULL: none is asked */
};

/* -ENOENT, -EACCES, -EBADMSG (nothing recognised), -EFBIG; each with why. */
int pcie_scan(const struct pcie_scan_options *o, struct pcie_snapshot **ret, struct why *why);

/* The same from memory: a capture record or pasted text that a run has kept. */
int pcie_scan_buffer(const char *name, const char *data, size_t len, struct pcie_snapshot **ret,
	struct why *why);

/* The machine at ROOT ("/": live) as a capture record; the caller frees it. */
int pcie_capture(
	const char *root, bool with_log, bool wake, char **ret, size_t *ret_len, struct why *why);
/* The same with a driver that is asked. */
int pcie_capture_asking(const struct pcie_driver *driver, const char *root, bool with_log,
	bool wake, char **ret, size_t *ret_len, struct why *why);
