/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one run was like, or several of one boot: centre, band, tails as far as the number of
 * independent values carries them, modes, drift. Pure but for runs_describe_load.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/why.h"
#include "runs/hist.h"
#include "runs/info.h"
#include "runs/modes.h"

/* A latency in ns, a share, or NaN: not enough values. */
struct runs_description {
	uint64_t n;
	uint64_t min, max, p5, p50, p95;
	double p99, p999;
	double band;       /* (p95 − p5) / 2 / p50 */
	double lag1;       /* of neighbours; NaN: not known */
	double n_eff;      /* independent values that N are worth */
	double drift;      /* change of the median a minute, a share of it; NaN: under 20 s */
	double slow_count; /* share of values above 1.5 × median */
	double slow_time;  /* share of the time inside them */
	struct runs_modes modes;
	double dwell_s[RUNS_MODES_MAX]; /* in a mode before leaving it; NaN: too short to tell */
	uint32_t seconds;               /* in which values came */
};

/* What is needed from the blocks: fed in order of time. Of a long run some of them will do. */
struct runs_walk {
	uint32_t step; /* a block each STEP seconds; 0 is 1 */
	uint32_t n, cap;
	struct {
		uint32_t second;
		uint64_t n, p50;
		double mean; /* of ln(value) */
	} * block;           /* owned */
};
void runs_walk_add(struct runs_walk *w, uint32_t second, const struct runs_hist *h,
	const struct runs_moments *m);
void runs_walk_finish(struct runs_walk *w);

/*
 * Independent values: N over the larger of two estimates of the correlation time, from
 * neighbours (1 + ρ) / (1 − ρ), and from how much the one-second means vary (20 seconds at
 * least). Never more than N, never less than 1.
 */
double runs_effective_n(const struct runs_moments *m, const struct runs_walk *w);

void runs_describe(const struct runs_hist *h, const struct runs_moments *m,
	const struct runs_walk *w, struct runs_description *ret);

/* One layer of one run out of the store. Empty (n 0) when the run has none. */
int runs_describe_load(struct runs_store *s, const struct runs_info *run, unsigned series,
	unsigned layer, struct runs_description *ret, struct why *why);
