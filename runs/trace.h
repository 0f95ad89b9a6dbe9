/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a picture of one side needs beyond its figures: the latency of each of its runs over time,
 * the events and slow episodes on the same clock, and all launches in one histogram. Reads every
 * block of the layer, so a day takes a fraction of a second. Blocking; errors are db.h's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runs/compare.h"

/* Seconds FROM to TO - 1 of a run, as one point of a plot; ns. */
struct runs_point {
	uint32_t from, to;
	uint64_t n, p5, p50, p95, max;
};

struct runs_trace {
	const struct runs_member *run; /* the side's */
	uint32_t seconds;              /* from its start to its last second */
	struct runs_point *point;      /* those with values, in order of time; owned */
	size_t n;
	struct runs_event *event; /* in order of time; owned */
	size_t nevent;
	struct runs_episode *episode; /* owned */
	size_t nepisode;
};

struct runs_traces {
	struct runs_trace *run; /* the side's runs of one configuration, in order of start; owned */
	size_t n;
	uint64_t seconds;      /* all of them together */
	struct runs_hist hist; /* all their launches; 0.1 % where every run has that */
};

/*
 * The runs of SIDE, opened by REF in STORE as by runs_side_open, that have PAIR's configuration,
 * in PAIR's layer, on its device of side B where B is given, else of A. POINTS: about how many all
 * runs together may have.
 */
int runs_traces_load(struct runs_store *store, const char *ref, const struct runs_side *side,
	const struct runs_pair *pair, bool b, uint32_t points, struct runs_traces *ret,
	struct why *why);
void runs_traces_finish(struct runs_traces *t);
