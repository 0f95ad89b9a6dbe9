/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this machine gives a CPU stress: cores, caches, memory. host.c is the only file
 * of the room that reads /proc and /sys. Blocking, short; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { STRESS_CPUS_MAX = 1024 };

struct stress_host {
	uint32_t cpus;                 /* this process may run on; at least 1 */
	uint16_t cpu[STRESS_CPUS_MAX]; /* their numbers, rising */
	double quota;                  /* cores that the control group grants; 0: no limit */
	uint64_t llc_bytes;            /* all last-level caches that CPUS share; 0: unknown */
	uint64_t available_bytes;      /* memory, within the control group too; 0: unknown */
	char model[96];                /* "" : unknown */
};

/* ROOT is "" for the live machine, or a folder that holds proc and sys (tests). */
void stress_host_read(const char *root, struct stress_host *ret);

/* What the kernel counts and knows of one PCI device's link. */
struct stress_host_pci {
	bool has_aer;
	uint64_t aer[3];               /* correctable, non-fatal, fatal errors */
	uint32_t link_gen, link_width; /* 0: unknown */
};

/* ADDRESS: "0000:41:00.0"; ROOT as above. What cannot be read stays unknown. */
void stress_host_pci_read(const char *root, const char *address, struct stress_host_pci *ret);

/* Who has a device file open. */
struct stress_host_openers {
	size_t n;         /* processes, without this one and the driver's own daemons */
	pid_t pid;        /* the first of them */
	char name[32];    /* and its name */
	size_t invisible; /* processes whose files this user may not see */
};

/* PREFIX: what the file's path begins with, and a digit follows: "/dev/nvidia". ROOT as above. */
void stress_host_openers(const char *root, const char *prefix, struct stress_host_openers *ret);

/* Asks the kernel to end this process first when memory is out. Best effort. */
void stress_host_prefer_for_oom(void);
