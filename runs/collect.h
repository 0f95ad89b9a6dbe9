/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples become what is stored: for each second a block a series and layer, and for the whole
 * run one finer histogram each. Constant memory. One owner, one thread; a finished second
 * belongs to who took it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runs/episode.h"
#include "runs/hist.h"
#include "runs/layer.h"

/*
 * Sums of x = ln(value / first value of the run), for the spread and for the correlation of
 * neighbours; those of several seconds are added. Logarithms, so that one spike of a hundred
 * times the median does not stand for all.
 */
struct runs_moments {
	uint64_t n, npair;
	double s1, s2; /* Σx, Σx² */
	double lag;    /* Σ x(i) x(i+1) over NPAIR neighbours */
};

void runs_moments_merge(struct runs_moments *dst, const struct runs_moments *src);
/* Lag-1 autocorrelation, −1 … 1; NaN when there are fewer than 3 pairs or no spread. */
double runs_moments_lag1(const struct runs_moments *m);
/* Standard deviation of ln(value); NaN when empty. */
double runs_moments_log_sd(const struct runs_moments *m);

struct runs_block {
	uint8_t series, layer;
	bool has_moments; /* host and device layers */
	struct runs_moments moments;
	uint8_t *hist; /* packed, 1 %; owned */
	size_t len;
};

/* One interval in which something happened, or between two readings that differ. */
struct runs_event {
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC_RAW */
	char source[24];         /* "preempted", "steal", "nvml", "xid", … */
	int64_t code;
	double value; /* NaN: none */
	char note[240];
};

/*
 * The source of what is no cause of anything: what somebody noted, and how many (code) events and
 * episodes of a second were lost.
 */
#define RUNS_NOTE "note"
#define RUNS_LOST "lost-events"

struct runs_second {
	uint32_t second; /* since the run's start */
	uint64_t samples, warmups, dropped, missed, mismatches, perturbed;
	struct runs_block *block; /* owned */
	size_t nblock;
	struct runs_event *event; /* owned */
	size_t nevent;
	uint64_t lost;                /* events and episodes: told by one more event, RUNS_LOST */
	struct runs_episode *episode; /* owned */
	size_t nepisode;
	char *status; /* last state of device and host as JSON, or NULL; owned */
	uint8_t *raw; /* with keep: raw.h's form; owned */
	size_t nraw;
	struct runs_second *next; /* the following one, in a chain */
};

/* Frees the whole chain. NULL is allowed. */
void runs_second_destroy(struct runs_second *s);

struct runs_collect;

/* START_NS is second 0; KEEP: every sample too, packed. */
struct runs_collect *runs_collect_create(uint64_t start_ns, bool keep);
void runs_collect_destroy(struct runs_collect *c);

void runs_collect_add(struct runs_collect *c, const struct stress_sample *s, size_t n);
/* Events and episodes: at most 256 a second of each are kept; those that are not are counted. */
void runs_collect_event(struct runs_collect *c, const struct runs_event *e);
void runs_collect_episode(struct runs_collect *c, const struct runs_episode *e);
/* Samples, and events, that were lost before they got here, in all since the start. */
void runs_collect_dropped(struct runs_collect *c, uint64_t total);
void runs_collect_lost(struct runs_collect *c, uint64_t total);
/* The state to be kept with the current second; copied. */
void runs_collect_status(struct runs_collect *c, const char *json);

/*
 * The finished seconds as a chain, oldest first, or NULL. A second is finished when a later
 * sample has come or NOW_NS is a quarter of a second past it; UINT64_MAX finishes the last one.
 */
struct runs_second *runs_collect_take(struct runs_collect *c, uint64_t now_ns);

/* The whole run so far at 0.1 %; NULL: nothing yet. Lives until the next call on C. */
const struct runs_hist *runs_collect_rollup(
	const struct runs_collect *c, unsigned series, unsigned layer);
/* Moments of the whole run so far (host or device). */
const struct runs_moments *runs_collect_moments(
	const struct runs_collect *c, unsigned series, unsigned layer);
uint64_t runs_collect_samples(const struct runs_collect *c);
