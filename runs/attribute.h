/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which events stand beside the episodes more often than chance would have it? Slides the
 * episodes around the run's time (both series keep their own rhythm) and counts again: a source
 * whose real count is hardly ever reached is *associated*; "caused by" is never said. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runs/collect.h"
#include "runs/episode.h"
#include "runs/info.h"

enum { RUNS_SOURCES_MAX = 24 };

struct runs_source {
	char name[24];
	size_t events;   /* of this source in the run */
	size_t near;     /* episodes beside one that is large enough to matter */
	size_t named;    /* episodes that are put down to it */
	double expected; /* episodes beside one by chance */
	double p;        /* of the circular shift */
	double share;    /* of the whole excess that it accounts for; NaN: events without value */
	bool associated;
};

bool runs_is_cause(const char *source); /* not: notes, and what tells of lost events */

struct runs_attribution {
	size_t episodes, unexplained;
	uint64_t excess_ns;
	size_t part[RUNS_PARTS];                     /* the split by layers */
	struct runs_source source[RUNS_SOURCES_MAX]; /* most named first */
	size_t nsource;
	/* For each episode the index in SOURCE, or -1; owned. In the order given. */
	int *of;
};

/*
 * EPISODES and EVENTS in order of time; both of [FROM_NS, TO_NS).
 *
 * Events without a value (NaN): one beside an episode matters whenever it is there, and its source
 * is associated when the circular shift says so.
 *
 * Events with a value tell how many ns they took from the run. They matter to an episode when they
 * hold at least half of the excess that fell into their intervals; the circular shift then
 * slides what they account for. Two sources need no test, since they are the kernel's account of
 * the worker's own threads: "stopped" and "preempted".
 *
 * An episode is put down to the associated source that chance puts there least, else to the one
 * that accounts for most of it. PERTURBED: the share of all samples that overlap a reading of the
 * device; episodes overlapping one are the source "reading".
 */
void runs_attribute(const struct runs_episode *episodes, size_t n, const struct runs_event *events,
	size_t m, uint64_t from_ns, uint64_t to_ns, double perturbed, struct runs_attribution *ret);
void runs_attribution_finish(struct runs_attribution *a);

/* The same for a stored run. Of more than 100,000 events or episodes the first ones count. */
int runs_attribute_load(struct runs_store *s, const struct runs_info *run,
	struct runs_attribution *ret, struct why *why);
