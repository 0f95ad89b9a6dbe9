/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel log says in the end about each resource that matters, with
 * the lines that prove it. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/snapshot.h"

struct pcie_log_item {
	char resource[64]; /* "0000:01:00.0 BAR 1", "0000:00:01.0 bridge window pref" */
	char final[120];   /* "assigned, 256 MiB at 0x6000000000", … */
	bool bad;          /* it has no address in the end */
	size_t nline;
	const char *line[8]; /* borrowed from the snapshot */
};

/*
 * A resource matters when it is a memory BAR of a GPU, a memory window on the
 * way to one, or what pins such a window; I/O, ROMs and tries that were made up
 * for later are left out. Bad ones first, then by address. The caller frees the
 * array; the lines live as long as S. Returns the number of items.
 */
size_t pcie_log_explain(const struct pcie_snapshot *s, struct pcie_log_item **ret);
