/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The readers behind the one door: each drives a sink. Blocking; any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"
#include "pcie/feed.h"
#include "pcie/scan.h"

struct pcie_sysfs {
	const char *root; /* "/", or a folder with sys/ and proc/, or a copy of /sys alone */
	bool live;        /* this machine: its boot, its name, libpci */
	bool wake;        /* read sleeping devices too */
	bool whole;       /* all of config space, not only what is looked at */
	bool log;         /* the kernel log too (live) */
	const struct pcie_driver *driver; /* NULL: nobody is asked */
};

/* Is there a sysfs at ROOT, of either shape? */
bool pcie_sysfs_is(const char *root);

/* -ENOENT, -EACCES with why when the list of devices cannot be read. */
int pcie_sysfs_read(const struct pcie_sysfs *o, struct pcie_sink *sink, struct why *why);

/* Starts a capture record, or another one of umockdev's format, with a PCI device? */
bool pcie_record_is(const char *data, size_t len);

/*
 * Reads a record. *RET_COMPLETE: barscope wrote it, so that what is not in it did not
 * exist. -EBADMSG with why when no line of it is understood.
 */
int pcie_record_read(const char *name, const char *data, size_t len, struct pcie_sink *sink,
	bool *ret_complete, struct why *why);
