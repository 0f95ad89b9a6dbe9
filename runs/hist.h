/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A mergeable histogram of nanoseconds, log-linear: each octave is cut into 2^BITS
 * equal buckets, so a bucket is never wider than 2^-BITS of its value, and values
 * below 2^(BITS + 1) are kept exactly. Integers only: merging is associative, and
 * the same samples give the same bytes on every machine.
 *
 * A histogram belongs to one thread at a time. Memory grows with the range of the
 * values seen (8 bytes a bucket between the smallest and the largest), never with
 * their number: at most 60 KiB at 1 %, 450 KiB at 0.1 %.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	RUNS_HIST_1PCT = 7,       /* buckets of at most 0.79 %: one-second blocks */
	RUNS_HIST_TENTH_PCT = 10, /* at most 0.098 %: a run's rollup */
};

struct runs_hist {
	uint8_t bits;
	uint32_t lo, n;  /* COUNT holds the buckets LO … LO + N - 1 */
	uint64_t *count; /* owned */
	uint64_t total;  /* values added */
	uint64_t sum;    /* of the values; stays at UINT64_MAX once it would not fit */
	uint64_t min, max;
};

/* BITS: RUNS_HIST_1PCT or RUNS_HIST_TENTH_PCT (1 … 16 are valid). */
void runs_hist_init(struct runs_hist *h, unsigned bits);
void runs_hist_finish(struct runs_hist *h);
/* Empty again; keeps its memory. */
void runs_hist_reset(struct runs_hist *h);

void runs_hist_add(struct runs_hist *h, uint64_t ns);
void runs_hist_add_n(struct runs_hist *h, uint64_t ns, uint64_t n);

/*
 * Adds all of SRC to DST. SRC may be finer than DST; coarser gives -EINVAL, since the
 * result would claim a width that it does not have.
 */
int runs_hist_merge(struct runs_hist *dst, const struct runs_hist *src);

/* The value at quantile Q (0 … 1), spread evenly inside its bucket; 0 when empty. */
uint64_t runs_hist_quantile(const struct runs_hist *h, double q);
double runs_hist_mean(const struct runs_hist *h);

/* (p95 − p5) / 2 / p50, a share; NaN when empty or p50 is 0. */
double runs_hist_band(const struct runs_hist *h);

/* How many values are at or above NS, to the width of a bucket. */
uint64_t runs_hist_above(const struct runs_hist *h, uint64_t ns);
/* The share of all time (the sum) that values at or above NS took; 0 when empty. */
double runs_hist_time_above(const struct runs_hist *h, uint64_t ns);

/*
 * Are N independent values enough to name quantile Q? 4 / (1 − q), or 4 / q below the median:
 * p95 80, p99 400, p99.9 4000. From 3.7 / (1 − q) on, an order-statistic interval of 95 %
 * exists inside the sample.
 */
bool runs_enough(double n, double q);

/* The first value of bucket I, and its width. */
uint64_t runs_hist_edge(unsigned bits, uint32_t i, uint64_t *ret_width);
/* The bucket that holds NS. */
uint32_t runs_hist_index(unsigned bits, uint64_t ns);
/* Number of buckets of a histogram with BITS. */
uint32_t runs_hist_buckets(unsigned bits);

/*
 * Bytes, version 2: the bytes 2 and BITS; then LEB128 numbers: total, sum, min, max − min,
 * number of filled buckets; for each the step from the bucket before (the first: from 0) and
 * its count, in one byte where both are small (barscope-runs(5)). Steps after the first are at
 * least 1, counts at least 1. Version 1 has both as LEB128 numbers, and is read too.
 */
size_t runs_hist_pack(const struct runs_hist *h, uint8_t **ret);

/*
 * Fills H (initialised, of any width and contents) from LEN bytes. -EBADMSG: damaged, cut or
 * inconsistent; -EPROTONOSUPPORT: a later version. H is untouched on failure.
 */
int runs_hist_parse(struct runs_hist *h, const uint8_t *data, size_t len);

/* Adds a packed histogram to DST without building it first; errors as parse and merge. */
int runs_hist_merge_packed(struct runs_hist *dst, const uint8_t *data, size_t len);
