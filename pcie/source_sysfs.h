/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One reading of /sys and /proc: what its parts (source_sysfs.c: devices, source_host.c: what is
 * beside them, source_driver.c: what a driver says) share. Nothing outside of a copy is read.
 */
#pragma once

#include <limits.h>

#include "pcie/source.h"

enum { PCIE_SYSFS_VALUE_MAX = 64 << 10 };

struct pcie_sysfs_reader {
	const struct pcie_sysfs *o;
	struct pcie_sink *sink;
	char sys[PATH_MAX];  /* the folder that is /sys */
	char proc[PATH_MAX]; /* the folder that is /proc; "" when the copy has none */
	char hostname[256];
	int bus; /* sys/bus/pci/devices */
	int sysfd;
	struct pcie_libpci *libpci;   /* NULL: config space is read by file only */
	struct pcie_gpu_sizes *sizes; /* what the driver said of its GPUs; owned */
	size_t nsizes;
	char value[PCIE_SYSFS_VALUE_MAX];
};

/* A note on the device at ADDR; without one, on the machine. */
void pcie_sysfs_problem(struct pcie_sysfs_reader *r, struct pcie_addr addr, const char *fmt, ...)
	PRINTF(3, 4);
bool pcie_sysfs_is_dir(const char *path);
/* The whole of DIR/NAME, NUL-terminated: its length, or negative errno. */
int pcie_sysfs_value(
	const struct pcie_sysfs_reader *r, int dir, const char *name, char *buf, size_t size);
/* An attribute, in one read, into r->value: its length; -EBADMSG when it is no text. */
int pcie_sysfs_text(struct pcie_sysfs_reader *r, int dir, const char *name);
/* The target of link NAME, or the content of a file that stands for one: its length. */
int pcie_sysfs_link(
	const struct pcie_sysfs_reader *r, int dirfd, const char *name, char *buf, size_t size);
/* A folder below DIR, PATH relative to it; the caller closes it. Negative: errno says why. */
int pcie_sysfs_folder(const struct pcie_sysfs_reader *r, int dir, const char *path);
/* Attribute NAME with this VALUE says that the device sleeps. */
bool pcie_sysfs_sleeps(const char *name, const char *value);

/* source_driver.c: asks the driver for those of the N devices that it has and that are awake. */
void pcie_sysfs_ask_driver(struct pcie_sysfs_reader *r, const struct pcie_addr *addr, size_t n);
/* What it said of the device at ADDR, beside its files. */
void pcie_sysfs_give_sizes(struct pcie_sysfs_reader *r, struct pcie_addr addr);

/* source_host.c: the name to mask, and all that is no device's. */
void pcie_sysfs_find_hostname(struct pcie_sysfs_reader *r);
void pcie_sysfs_read_host(struct pcie_sysfs_reader *r);
