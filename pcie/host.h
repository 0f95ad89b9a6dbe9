/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts of the machine beside its PCI devices: the files that tell them, how much
 * of each is kept, and their parsers. What is kept names no person, host or card:
 * a record can be shared. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"
#include "pcie/snapshot.h"

struct pcie_host_file {
	const char *name; /* below the machine's root; also the name in a record */
	/*
	 * Writes to OUT what is kept of the file's text S; NULL: the first line. HOSTNAME ("" when
	 * not known) is masked where it occurs.
	 */
	void (*reduce)(struct text *out, const char *s, const char *hostname);
	/* Reads the kept text into the snapshot, whose devices are complete but not settled. */
	void (*parse)(struct pcie_snapshot *s, const struct pcie_host_file *file, const char *text);
	size_t field, size; /* parse's: where a plain string goes in struct pcie_host */
};

extern const struct pcie_host_file pcie_host_files[];
extern const size_t pcie_nhost_files;

const struct pcie_host_file *pcie_host_find(const char *name);

/* What is kept of TEXT; the caller frees it. */
char *pcie_host_reduce(const struct pcie_host_file *file, const char *text, const char *hostname);

/*
 * "proc/driver/nvidia/gpus/ADDR/information": one file a card, whose name carries the
 * address. The lines that count are kept.
 */
#define PCIE_HOST_NVIDIA_FOLDER "proc/driver/nvidia/gpus"
#define PCIE_HOST_NVIDIA_FILE   "information"
void pcie_host_reduce_nvidia(struct text *out, const char *s);
/* False when NAME is no such file's. */
bool pcie_host_parse_nvidia(struct pcie_snapshot *s, const char *name, const char *text);

/* Joins facts that come from several files (is it virtual?). Call behind the last parse. */
void pcie_host_finish(struct pcie_snapshot *s);
