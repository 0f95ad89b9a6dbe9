/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modes of a latency: does it live in two or three states (clocks, placement) rather than one?
 * Pure; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runs/hist.h"

enum { RUNS_MODES_MAX = 4 };

struct runs_modes {
	size_t n;                            /* 1: a single one; 0: too few values to say */
	uint64_t peak[RUNS_MODES_MAX];       /* ns, ascending */
	double share[RUNS_MODES_MAX];        /* of the values */
	uint64_t valley[RUNS_MODES_MAX - 1]; /* ns, between neighbours */
};

/*
 * Peaks of a smoothed density over ln(value), between the quantiles 0.5 % and 99.5 %. A peak
 * counts when at least 5 % of the values belong to it, and the valley to its neighbour falls
 * below 60 % of the lower one. Under 200 values none is looked for. Modes that last make a run's
 * values worth few independent ones, so that number does not enter here.
 */
void runs_modes_find(const struct runs_hist *h, struct runs_modes *ret);

/* The mode that NS belongs to. */
size_t runs_modes_of(const struct runs_modes *m, uint64_t ns);
