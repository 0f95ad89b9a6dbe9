/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which device of A is which of B, and which BAR: the matching behind pcie_diff_create(). */
#pragma once

#include "pcie/snapshot.h"

/* RET_TO[i]: index in B of A's device i, -1: gone. RET_FROM: the reverse. Both are the caller's. */
void pcie_diff_match(
	const struct pcie_snapshot *a, const struct pcie_snapshot *b, int **ret_to, int **ret_from);

/* False when both sides know the subsystem, and it is another. */
bool pcie_diff_same_board(const struct pcie_device *a, const struct pcie_device *b);

/* Does S list the whole machine? Of what it lacks, only then one may say that it is gone. */
bool pcie_diff_lists_all(const struct pcie_snapshot *s);

enum { PCIE_DIFF_NOT_SAID = -1, PCIE_DIFF_NOT_THERE = -2 };

/*
 * Which BAR of B is the one of A: by number, and where a text gives none (lspci -v) by type
 * (memory or I/O, 64-bit, prefetchable) and order. RET_TO[i]: index in B, else one of the above.
 */
void pcie_diff_match_bars(
	const struct pcie_device *a, const struct pcie_device *b, int ret_to[static PCIE_BARS]);
