/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What changed between two machines, or one machine at two times: every device, not only
 * GPUs, so that the capture card that lost its driver after a BIOS change is named too.
 *
 * Devices are matched by their path in the tree (slots, not bus numbers, which a new card
 * shifts) and their identity, then by identity alone where that is unique; the same board
 * before another one with the same chip. A fact that one side does not know is no change, and
 * a device that an excerpt does not show is not gone. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/snapshot.h"

struct pcie_change {
	char what[40]; /* "BAR 1 size", "driver", "rebar", "kernel" */
	char before[96], after[96];
	enum pcie_tri worse; /* YES: something works less; NO: more; UNKNOWN: neither */
};

struct pcie_changes {
	struct pcie_change *change;
	size_t n, cap;
};

/* A device of both sides with its changes. */
struct pcie_pair {
	int a, b;   /* indices in A and B */
	bool moved; /* its address or place in the tree is another */
	struct pcie_changes changes;
};

struct pcie_diff {
	struct pcie_changes host;
	struct pcie_pair *pair; /* those with changes only, in B's order */
	size_t npair, cappair;
	size_t matched;    /* devices found on both sides */
	int *gone, *fresh; /* indices in A, in B */
	size_t ngone, nfresh, capgone, capfresh;
	/* Likewise, but the other side is a text that does not list the whole machine. */
	int *only_a, *only_b;
	size_t nonly_a, nonly_b, caponly_a, caponly_b;
};

struct pcie_diff *pcie_diff_create(const struct pcie_snapshot *a, const struct pcie_snapshot *b);
void pcie_diff_destroy(struct pcie_diff *d);

/* Nothing differs. */
bool pcie_diff_is_empty(const struct pcie_diff *d);
/* A device is gone, or some change is for the worse. */
bool pcie_diff_is_worse(const struct pcie_diff *d);
