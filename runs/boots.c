/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/boots.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "runs/random.h"

static const double alpha = 0.05;
static const double exact_splits = 200000; /* up to 10 + 10 boots */
static const size_t drawn_splits = 100000;

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

double runs_boots_median(const double *v, size_t n)
{
	_cleanup_free_ double *s = xmalloc(n * sizeof(*s));
	memcpy(s, v, n * sizeof(*s));
	sort_array(s, n, sizeof(*s), by_value);
	return n ? (s[(n - 1) / 2] + s[n / 2]) / 2 : NAN;
}

double runs_boots_sd(const double *v, size_t n)
{
	if (n < 2) {
		return 0;
	}
	double mean = 0, sum = 0;
	for (size_t i = 0; i < n; i++) {
		mean += v[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		sum += (v[i] - mean) * (v[i] - mean);
	}
	return sqrt(sum / (double)(n - 1));
}

/*
 * P(U <= u) for u = 0 … NA NB under no difference. Ways to reach each U, by adding one boot
 * after the other: the generating function is a Gaussian binomial coefficient.
 */
static double *u_distribution(size_t na, size_t nb)
{
	size_t n = na * nb + 1;
	double *ways = xcalloc(n, sizeof(*ways));
	ways[0] = 1;
	for (size_t i = 1; i <= na; i++) {
		/* times (1 − q^(nb + i)) / (1 − q^i) */
		for (size_t u = n; u-- > nb + i;) {
			ways[u] -= ways[u - nb - i];
		}
		for (size_t u = i; u < n; u++) {
			ways[u] += ways[u - i];
		}
	}
	double all = 0, sum = 0;
	for (size_t u = 0; u < n; u++) {
		all += ways[u];
	}
	for (size_t u = 0; u < n; u++) {
		sum += ways[u];
		ways[u] = sum / all;
	}
	return ways;
}

void runs_boots_shift(
	const double *a, size_t na, const double *b, size_t nb, struct runs_shift *ret)
{
	size_t n = na * nb, k = 0;
	_cleanup_free_ double *d = xmalloc(n * sizeof(*d));
	for (size_t i = 0; i < na; i++) {
		for (size_t j = 0; j < nb; j++) {
			d[i * nb + j] = b[j] - a[i];
		}
	}
	sort_array(d, n, sizeof(*d), by_value);
	_cleanup_free_ double *p = u_distribution(na, nb);
	while (k + 1 < (n + 1) / 2 && 1 - 2 * p[k + 1] >= 1 - alpha) {
		k++;
	}
	*ret = (struct runs_shift){
		.estimate = (d[(n - 1) / 2] + d[n / 2]) / 2,
		.low = d[k],
		.high = d[n - 1 - k],
		.level = fmax(0, 1 - 2 * p[k]),
	};
}

/* C(N, K), exactly enough as a double. */
static double choose(size_t n, size_t k)
{
	double c = 1;
	for (size_t i = 1; i <= k; i++) {
		c = c * (double)(n - k + i) / (double)i;
	}
	return round(c);
}

double runs_boots_least_p(size_t na, size_t nb)
{
	return fmin(1, 2 / choose(na + nb, na));
}

size_t runs_boots_needed(size_t tests)
{
	size_t n = 1;
	while (n < RUNS_BOOTS_MAX &&
		runs_boots_least_p(n, n) * (double)MAX(tests, (size_t)1) > alpha) {
		n++;
	}
	return n;
}

/* The next choice of K out of N in order; false after the last. */
static bool next_choice(size_t *pick, size_t n, size_t k)
{
	for (size_t i = k; i-- > 0;) {
		if (pick[i] < n - k + i) {
			pick[i]++;
			for (size_t j = i + 1; j < k; j++) {
				pick[j] = pick[j - 1] + 1;
			}
			return true;
		}
	}
	return false;
}

void runs_boots_permute(
	const double *a, size_t na, const double *b, size_t nb, struct runs_permutation *ret)
{
	size_t n = na + nb;
	double v[2 * RUNS_BOOTS_MAX], total = 0, first = 0;
	for (size_t i = 0; i < n; i++) {
		v[i] = i < na ? a[i] : b[i - na];
		total += v[i];
		first += i < na ? v[i] : 0;
	}
	/* Means apart, written with the sum of one side alone; the margin is for rounding. */
	double na_share = (double)na / (double)n;
	double real = fabs(first - total * na_share);
	double far = real - 1e-9 * (fabs(real) + fabs(total) / (double)n);
	double splits = choose(n, na), hits = 0, tried = 0;
	bool exact = splits <= exact_splits;
	if (exact) {
		size_t pick[RUNS_BOOTS_MAX];
		for (size_t i = 0; i < na; i++) {
			pick[i] = i;
		}
		do {
			double sum = 0;
			for (size_t i = 0; i < na; i++) {
				sum += v[pick[i]];
			}
			hits += fabs(sum - total * na_share) >= far;
			tried++;
		} while (next_choice(pick, n, na));
	} else {
		uint64_t seed = 20240607;
		hits = tried = 1; /* the real split */
		for (size_t t = 1; t < drawn_splits; t++) {
			double sum = 0;
			for (size_t i = 0; i < na; i++) {
				size_t j = i + runs_random_below(&seed, n - i);
				double x = v[i];
				v[i] = v[j];
				v[j] = x;
				sum += v[i];
			}
			hits += fabs(sum - total * na_share) >= far;
			tried++;
		}
	}
	*ret = (struct runs_permutation){
		.p = hits / tried,
		.least = runs_boots_least_p(na, nb),
		.exact = exact,
		.splits = splits,
	};
}

void runs_boots_holm(double *p, size_t n)
{
	size_t order[RUNS_BOOTS_MAX];
	for (size_t i = 0; i < n; i++) {
		size_t j = i;
		for (; j > 0 && p[order[j - 1]] > p[i]; j--) {
			order[j] = order[j - 1];
		}
		order[j] = i;
	}
	double least = 0;
	for (size_t i = 0; i < n; i++) {
		least = fmax(least, fmin(1, p[order[i]] * (double)(n - i)));
		p[order[i]] = least;
	}
}

/* Concordant minus discordant pairs. */
static int kendall(const double *v, size_t n)
{
	int s = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++) {
			s += (v[j] > v[i]) - (v[j] < v[i]);
		}
	}
	return s;
}

void runs_boots_trend(const double *v, size_t n, double *ret_tau, double *ret_p)
{
	enum { DRAWS = 2000 };
	double x[2 * RUNS_BOOTS_MAX];
	n = MIN(n, ARRAY_LEN(x));
	memcpy(x, v, n * sizeof(*x));
	int real = kendall(x, n);
	*ret_tau = n > 1 ? (double)real / ((double)n * (double)(n - 1) / 2) : 0;
	*ret_p = 1;
	if (n < 4) {
		return;
	}
	uint64_t seed = 77;
	int hits = 1;
	for (int t = 1; t < DRAWS; t++) {
		for (size_t i = 0; i + 1 < n; i++) {
			size_t j = i + runs_random_below(&seed, n - i);
			double y = x[i];
			x[i] = x[j];
			x[j] = y;
		}
		hits += abs(kendall(x, n)) >= abs(real);
	}
	*ret_p = (double)hits / DRAWS;
}

/* The share of simulated studies in which a shift of D standard deviations is found. */
static double power_of(size_t n, double d, size_t studies)
{
	uint64_t seed = 4711;
	size_t found = 0;
	for (size_t s = 0; s < studies; s++) {
		double a[RUNS_BOOTS_MAX], b[RUNS_BOOTS_MAX];
		for (size_t i = 0; i < n; i++) {
			a[i] = runs_random_normal(&seed);
			b[i] = runs_random_normal(&seed) + d;
		}
		struct runs_permutation p;
		runs_boots_permute(a, n, b, n, &p);
		found += p.p <= alpha;
	}
	return (double)found / (double)studies;
}

double runs_boots_detectable(size_t n, double log_sd, double power)
{
	enum { STUDIES = 400 };
	if (n < 1 || n > 7 || runs_boots_least_p(n, n) > alpha) {
		/* More than seven boots are not simulated: the exact test has too many splits. The
		 * normal approximation is good there. */
		return n > 7 && n <= RUNS_BOOTS_MAX ? exp(log_sd * sqrt(2 / (double)n) *
							      (1.96 + (power > 0.7 ? 0.842 : 0)))
						    : INFINITY;
	}
	double low = 0, high = 8;
	for (int i = 0; i < 10; i++) {
		double mid = (low + high) / 2;
		if (power_of(n, mid, STUDIES) >= power) {
			high = mid;
		} else {
			low = mid;
		}
	}
	return exp(high * log_sd);
}
