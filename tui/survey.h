/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the views need of a snapshot beyond the snapshot itself, worked out once: verdicts,
 * the order of lists, the tree, the address map. Pure; made on the scanner's thread, const
 * afterwards. Indices are the snapshot's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie/plan.h"
#include "pcie/snapshot.h"
#include "pcie/verdict.h"

struct tui_tree_row {
	int dev;
	unsigned depth;
	bool last;     /* of its siblings */
	uint64_t more; /* bit d: the ancestor at depth d has a sibling below */
};

struct tui_survey {
	struct pcie_verdicts *verdicts;
	int *listed; /* devices with BARs, GPUs first */
	size_t nlisted, ngpu;
	struct tui_tree_row *tree; /* every device */
	size_t ntree;
	struct pcie_map_row *map;
	size_t nmap;
};

struct tui_survey *tui_survey_create(const struct pcie_snapshot *s);
void tui_survey_destroy(struct tui_survey *v);

/* The verdicts on device DEV, NULL when it is no GPU. */
const struct pcie_gpu *tui_survey_gpu(const struct tui_survey *v, int dev);
