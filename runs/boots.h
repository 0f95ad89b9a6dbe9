/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics whose unit is the boot: one value a boot, few boots a side. Exact where it can
 * be: the permutation test counts all splits, the interval comes from the null distribution of
 * Mann and Whitney's U. Pure functions; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { RUNS_BOOTS_MAX = 64 }; /* a side */

/* B − A in the values' unit. */
struct runs_shift {
	double estimate; /* Hodges and Lehmann: the median of all differences of one B and one A */
	double low, high;
	double level; /* of the interval: at least 0.95 where the number of boots allows it */
};

/* NA and NB from 1 to RUNS_BOOTS_MAX. */
void runs_boots_shift(
	const double *a, size_t na, const double *b, size_t nb, struct runs_shift *ret);

struct runs_permutation {
	double p;     /* two-sided: splits at least as far apart as the real one, its own counted */
	double least; /* the smallest p that this number of boots can give */
	bool exact;   /* all splits; else 100,000 drawn with a fixed seed */
	double splits; /* how many there are */
};

/* Difference of means, labels permuted freely over all boots. */
void runs_boots_permute(
	const double *a, size_t na, const double *b, size_t nb, struct runs_permutation *ret);

/* The smallest two-sided p of NA + NB boots: 2 / C(NA + NB, NA), at most 1. */
double runs_boots_least_p(size_t na, size_t nb);

/* Boots a side so that one of TESTS tests, corrected by Holm, can fall below 5 %. */
size_t runs_boots_needed(size_t tests);

/* Holm's step-down correction of N p-values, in place; order kept. N up to RUNS_BOOTS_MAX. */
void runs_boots_holm(double *p, size_t n);

double runs_boots_median(const double *v, size_t n);
/* Standard deviation with N − 1; 0 for fewer than two. */
double runs_boots_sd(const double *v, size_t n);

/*
 * Does a value drift over the order in which the boots were made? Kendall's tau of V against
 * its index, −1 … 1, and its two-sided p by permutation (2,000 with a fixed seed). Below four
 * values p is 1.
 */
void runs_boots_trend(const double *v, size_t n, double *ret_tau, double *ret_p);

/*
 * The ratio of two spreads that N + N boots find with probability POWER at 5 %, when the log of
 * the spread varies by LOG_SD between boots: simulated with a fixed seed. Infinite when the
 * number of boots allows no verdict.
 */
double runs_boots_detectable(size_t n, double log_sd, double power);
