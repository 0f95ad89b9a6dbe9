/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which device of A is which of B: the matching behind pcie_diff_create(). */
#pragma once

#include "pcie/snapshot.h"

/* RET_TO[i]: index in B of A's device i, -1: gone. RET_FROM: the reverse. Both are the caller's. */
void pcie_diff_match(
	const struct pcie_snapshot *a, const struct pcie_snapshot *b, int **ret_to, int **ret_from);
