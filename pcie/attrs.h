/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sysfs attributes of a PCI device that mean something here, each with its
 * parser. The table is the allow-list of captures, too: what is not in it is neither
 * read nor written. Pure; any thread, one device at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/snapshot.h"

enum pcie_attr_kind {
	PCIE_ATTR_TEXT,
	PCIE_ATTR_BINARY, /* config: the reader and the feed know it by name */
	PCIE_ATTR_LINK    /* the value is the link's target; its last component counts */
};

struct pcie_attr {
	const char *name; /* below the device's folder */
	enum pcie_attr_kind kind;
	bool wakes; /* reading it resumes a sleeping device */
	/* Config space tells it as well: the file is read only where that is out of reach, and
	 * where a record is made, since other programs look at the files. */
	bool in_config;
	/*
	 * Reads the value S (one or more lines, NUL-terminated, never trusted) into D. Values
	 * of another shape change nothing. NULL: the feed joins it, since it names another
	 * device or is bytes.
	 */
	void (*parse)(struct pcie_device *d, pcie_src src, int arg, const char *s);
	int arg;
	const char *source; /* who says it; NULL: sysfs */
};

/*
 * Not a file of sysfs but the size of one: comes with a config that could be read in
 * part only.
 */
#define PCIE_ATTR_CONFIG_SIZE "config_size"

/* No files of sysfs either: what NVIDIA's driver says of a GPU (struct pcie_driver, scan.h). */
#define PCIE_ATTR_NVML_MEMORY "nvml_memory_total"
#define PCIE_ATTR_NVML_BAR1   "nvml_bar1_total"

/* In the order in which they are read: what tells of sleep stands first. */
extern const struct pcie_attr pcie_attrs[];
extern const size_t pcie_nattrs;
enum { PCIE_ATTRS_MAX = 64 };

const struct pcie_attr *pcie_attr_find(const char *name);
