/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layers of one launch, as runs keep them. The numbers stand in
 * stores and bundles: they are never changed, new ones go to the end. Values are ns, those
 * of RUNS_CYCLES are SM cycles.
 */
#pragma once

#include <stdbool.h>

#include "stress/sample.h"

enum runs_layer {
	RUNS_HOST = 0, /* submit → done */
	RUNS_LAUNCH,   /* submit → device start */
	RUNS_DEVICE,   /* device start → end */
	RUNS_NOTIFY,   /* device end → done */
	RUNS_GAP,      /* done → next submit; within a batch: end → next start */
	RUNS_CYCLES,
	RUNS_LAYERS,
};

/* "host", …; "?" out of range. */
const char *runs_layer_name(unsigned layer);
/* "gemm", "read", …; "?" out of range. */
const char *runs_series_name(unsigned series);
/* The number of a name, or -1. */
int runs_layer_find(const char *name);
int runs_series_find(const char *name);

/*
 * Is the pair kept second by second? Of the probes' parts only the whole run is (rollups): they
 * would take a third of a day's store.
 */
bool runs_layer_in_blocks(unsigned series, unsigned layer);
