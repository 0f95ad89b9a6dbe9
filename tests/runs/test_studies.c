/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Simulated studies, fixed seeds: how often does the ladder call a difference that is not there,
 * how often does it find one that is, how often does its interval cover the truth? Each boot's
 * samples are correlated noise with spikes and now and then a second mode; each boot's own
 * spread varies by nature. Samples go the way of real ones: histogram, description, comparison.
 */
#include "runs/compare.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "runs/random.h"

enum { SAMPLES = 600 };

struct model {
	double log_sd; /* between boots, of the spread */
	double rho;    /* of neighbours */
	double modes;  /* share of boots that live in two modes */
	double spikes; /* share of samples of three times the median */
};

/* One boot: spread SD times what this boot is like. */
static void boot(const struct model *m, double sd, uint64_t *seed, struct runs_description *ret)
{
	struct runs_hist h;
	struct runs_moments none = {0};
	struct runs_walk walk = {0};
	double mine = sd * exp(m->log_sd * runs_random_normal(seed)), x = runs_random_normal(seed);
	double level = 3e6 * exp(0.02 * runs_random_normal(seed)), step = sqrt(1 - m->rho * m->rho);
	bool two = runs_random_unit(seed) < m->modes;
	double upper = 1;
	runs_hist_init(&h, RUNS_HIST_TENTH_PCT);
	for (int i = 0; i < SAMPLES; i++) {
		x = m->rho * x + step * runs_random_normal(seed);
		if (two && i % 60 == 0) {
			upper = runs_random_unit(seed) < 0.3 ? 1 + 2 * sd : 1;
		}
		double ns = level * upper * exp(mine * x);
		runs_hist_add(&h, (uint64_t)(runs_random_unit(seed) < m->spikes ? 3 * ns : ns));
	}
	runs_describe(&h, &none, &walk, ret);
	runs_hist_finish(&h);
}

static void side(const struct model *m, size_t boots, double sd, const char *name, uint64_t *seed,
	struct runs_side *ret)
{
	*ret = (struct runs_side){.n = boots, .nboot = boots};
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	ret->run = calloc(boots, sizeof(*ret->run));
	ret->boot = calloc(boots, sizeof(*ret->boot));
	for (size_t i = 0; i < boots; i++) {
		struct runs_member *r = &ret->run[i];
		r->boot = i;
		snprintf(r->info.boot_id, sizeof(r->info.boot_id), "%s-%zu", name, i);
		snprintf(r->info.backend, sizeof(r->info.backend), "cpu");
		snprintf(r->info.shape, sizeof(r->info.shape), "1x8x8");
		memcpy(ret->boot[i].boot_id, r->info.boot_id, sizeof(r->info.boot_id));
		ret->boot[i].started = (int64_t)(2 * i);
		boot(m, sd, seed, &r->layer[STRESS_GEMM][RUNS_HOST]);
	}
}

struct tally {
	size_t called, covered, studies;
	size_t verdict[RUNS_WORSE + 1];
};

static void studies(const struct model *m, size_t boots, double ratio, size_t n, uint64_t seed,
	struct tally *ret)
{
	*ret = (struct tally){.studies = n};
	for (size_t i = 0; i < n; i++) {
		struct runs_side a, b;
		struct runs_comparison c;
		struct why why;
		side(m, boots, 0.02, "a", &seed, &a);
		side(m, boots, 0.02 * ratio, "b", &seed, &b);
		assert_int_equal(runs_compare(&a, &b, NULL, 0, &c, &why), 0);
		ret->called += c.verdict == RUNS_BETTER || c.verdict == RUNS_WORSE;
		ret->verdict[c.verdict]++;
		ret->covered += c.pair[0].ratio.low <= ratio && ratio <= c.pair[0].ratio.high;
		runs_comparison_finish(&c);
		runs_side_finish(&a);
		runs_side_finish(&b);
	}
}

/* The upper end of a one-sided 95 % interval for a share of K in N (Clopper and Pearson). */
static double upper_bound(size_t k, size_t n)
{
	double low = (double)k / (double)n, high = 1;
	for (int i = 0; i < 60; i++) {
		double p = (low + high) / 2, term = pow(1 - p, (double)n), sum = term;
		for (size_t j = 0; j < k; j++) {
			term *= (double)(n - j) / (double)(j + 1) * p / (1 - p);
			sum += term;
		}
		if (sum > 0.05) {
			low = p;
		} else {
			high = p;
		}
	}
	return high;
}

static void no_difference_is_rarely_called_one(void **state)
{
	(void)state;
	static const struct model models[] = {
		{0.05, 0.9, 0, 0.002},
		{0.20, 0.9, 0, 0.002},
		{0.05, 0.5, 0.25, 0.01},
		{0.20, 0.99, 0.25, 0.01},
	};
	/* The last two take as long again: with BARSCOPE_LONG set. */
	size_t n = getenv("BARSCOPE_LONG") ? ARRAY_LEN(models) : 2;
	for (size_t k = 0; k < n; k++) {
		struct tally t;
		studies(&models[k], 4, 1, 2000, 100 + k, &t);
		double bound = upper_bound(t.called, t.studies);
		printf("A/A, log-sd %.2f, rho %.2f, modes %.2f: %zu of %zu called, at most %.2f %% "
		       "(95 %% bound)\n",
			models[k].log_sd, models[k].rho, models[k].modes, t.called, t.studies,
			100 * bound);
		assert_true(bound <= 0.05);
		assert_true(t.called > 0); /* a test that never calls anything is no test */
		assert_true((double)t.covered / (double)t.studies >= 0.94);
	}
}

static void real_differences_are_found(void **state)
{
	(void)state;
	static const struct model plain = {0.20, 0.5, 0, 0.002};
	struct tally four, half;
	studies(&plain, 4, 0.25, 1000, 7, &four);
	studies(&plain, 4, 1 / 1.5, 1000, 8, &half);
	printf("ratio 4: %.1f %% found, ratio 1.5: %.1f %%; interval covers %.1f and %.1f %%\n",
		0.1 * (double)four.called, 0.1 * (double)half.called, 0.1 * (double)four.covered,
		0.1 * (double)half.covered);
	assert_true(four.called >= 990);
	assert_int_equal(four.verdict[RUNS_WORSE], 0);
	assert_true(half.called > 400 && half.called < 620);
	assert_true(half.verdict[RUNS_WORSE] <= 2);
	assert_true(four.covered >= 940 && half.covered >= 940);
	studies(&plain, 4, 4, 200, 9, &four);
	assert_true(four.verdict[RUNS_WORSE] >= 195);
}

static void few_boots_never_carry_a_verdict(void **state)
{
	(void)state;
	static const struct model calm = {0.05, 0.5, 0, 0};
	for (size_t boots = 1; boots <= 3; boots++) {
		struct tally t;
		studies(&calm, boots, 0.1, 300, boots, &t);
		assert_int_equal(t.called, 0);
		assert_int_equal(t.verdict[RUNS_DESCRIPTION], 300);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_difference_is_rarely_called_one),
		cmocka_unit_test(real_differences_are_found),
		cmocka_unit_test(few_boots_never_carry_a_verdict),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
