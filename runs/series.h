/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One value over time for a plot that never ends, in constant memory. Three layers, finest
 * first: the last samples as they came; small slots (50 ms by default) of the last minutes;
 * blocks of one second, which double their width whenever they would not fit any more. Slots
 * and blocks keep their whole histogram, packed: any window and any column of a plot is
 * summed exactly (to 1 %), never averaged from averages.
 *
 * Times are CLOCK_MONOTONIC_RAW ns and come in order; a late one counts where the series
 * stands. One owner, one thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "runs/hist.h"

struct runs_series_options {
	uint64_t slot_ns; /* width of a slot; one second is a multiple of it */
	uint32_t nslot;   /* slots kept */
	uint32_t nblock;  /* blocks kept; even, at least 2 */
	uint32_t nrecent; /* samples kept */
};

/* 50 ms slots for 3 minutes, 2048 blocks, 16384 samples. */
void runs_series_options_init(struct runs_series_options *o);

struct runs_point {
	uint64_t t_ns, value;
};

/* What a plot draws in one column. N 0: nothing came; the rest is 0 then. */
struct runs_column {
	uint64_t n;
	uint64_t min, p5, p50, p95, max;
};

struct runs_series;

/* O NULL: the defaults. */
struct runs_series *runs_series_create(const struct runs_series_options *o);
void runs_series_destroy(struct runs_series *s);
/* Forgets all samples, keeps the memory. */
void runs_series_clear(struct runs_series *s);

void runs_series_add(struct runs_series *s, uint64_t t_ns, uint64_t value);

/* Samples since the start, and the times of the first and the last; 0 when empty. */
uint64_t runs_series_count(const struct runs_series *s);
uint64_t runs_series_first(const struct runs_series *s);
uint64_t runs_series_last(const struct runs_series *s);

/* The last MAX samples at or after FROM_NS, oldest first; returns how many. */
size_t runs_series_recent(
	const struct runs_series *s, uint64_t from_ns, struct runs_point *ret, size_t max);

/*
 * Cuts [FROM_NS, TO_NS) into N columns of equal width and fills one each, from the samples
 * where they reach back far enough, else from the slots, else from the blocks. A slot or block
 * counts in the column that holds its middle, so columns should not be narrower than
 * runs_series_grain(). Costs about 0.5 µs a slot inside.
 */
void runs_series_columns(const struct runs_series *s, uint64_t from_ns, uint64_t to_ns, size_t n,
	struct runs_column *ret);

/* The finest step available from FROM_NS on: 1 (samples), the slots' or the blocks' width. */
uint64_t runs_series_grain(const struct runs_series *s, uint64_t from_ns);

/*
 * Adds what lies in [FROM_NS, TO_NS) to H (RUNS_HIST_1PCT or coarser), to the grain at
 * FROM_NS: a part belongs to the window when its middle does.
 */
void runs_series_hist(
	const struct runs_series *s, uint64_t from_ns, uint64_t to_ns, struct runs_hist *h);

/* The bytes that S holds now, all of them. */
size_t runs_series_memory(const struct runs_series *s);
