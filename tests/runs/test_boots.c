/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boot-level statistics against values worked out by hand or known from tables. */
#include "runs/boots.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/macros.h"
#include "runs/random.h"

#define assert_near(a, b, eps) assert_true(fabs((a) - (b)) <= (eps))

static void shift_by_hand(void **state)
{
	(void)state;
	/* Differences 4 5 6 7, 3 4 5 6, 2 3 4 5, 1 2 3 4: the median is 4. */
	const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
	struct runs_shift s;
	runs_boots_shift(a, 4, b, 4, &s);
	assert_near(s.estimate, 4, 1e-12);
	/* 4 + 4: all 16 differences, 1 − 2/70. */
	assert_near(s.level, 1 - 2.0 / 70, 1e-12);
	assert_near(s.low, 1, 1e-12);
	assert_near(s.high, 7, 1e-12);
	/* Published critical values of U at two-sided 5 %: 5 + 5: 2, 6 + 6: 5, 8 + 8: 13. */
	static const struct {
		size_t n;
		double level;
	} t[] = {{1, 0}, {2, 1 - 2.0 / 6}, {3, 0.9}, {5, 1 - 2 * 4.0 / 252},
		{6, 1 - 2 * 19.0 / 924}};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		const double x[] = {1, 2, 3, 4, 5, 6}, y[] = {1, 2, 3, 4, 5, 6};
		runs_boots_shift(x, t[i].n, y, t[i].n, &s);
		assert_near(s.level, t[i].level, 1e-12);
		assert_near(s.estimate, 0, 1e-12);
		assert_true(s.low <= s.estimate && s.estimate <= s.high);
	}
}

static void permutation_by_hand(void **state)
{
	(void)state;
	const double a[] = {1, 2, 3, 4}, b[] = {5, 6, 7, 8};
	struct runs_permutation p;
	runs_boots_permute(a, 4, b, 4, &p);
	assert_near(p.p, 2.0 / 70, 1e-12);
	assert_near(p.least, 2.0 / 70, 1e-12);
	assert_true(p.exact && p.splits == 70);
	/* Equal values: every split is as extreme. */
	const double same[] = {3, 3, 3, 3};
	runs_boots_permute(same, 4, same, 4, &p);
	assert_near(p.p, 1, 1e-12);
	/* {1, 2} against {3, 5}: means 2.5 apart; of six splits only it and its mirror. */
	const double c[] = {1, 2}, d[] = {3, 5};
	runs_boots_permute(c, 2, d, 2, &p);
	assert_near(p.p, 2.0 / 6, 1e-12);
	/* Unequal sides: {0} against {1, 2, 3}: |mean difference| 2; splits 2, 2/3, −2/3, −2. */
	const double e[] = {0}, f[] = {1, 2, 3};
	runs_boots_permute(e, 1, f, 3, &p);
	assert_near(p.p, 0.5, 1e-12);
	/* Large ones are drawn, and say so. */
	double g[14], h[14];
	for (size_t i = 0; i < 14; i++) {
		g[i] = (double)i;
		h[i] = (double)i + 0.5;
	}
	runs_boots_permute(g, 14, h, 14, &p);
	assert_false(p.exact);
	assert_in_range((int)(p.p * 100), 70, 95);
	const double one[] = {1}, two[] = {9};
	runs_boots_permute(one, 1, two, 1, &p);
	assert_near(p.p, 1, 1e-12);
}

static void boots_that_a_test_needs(void **state)
{
	(void)state;
	assert_near(runs_boots_least_p(1, 1), 1, 1e-12);
	assert_near(runs_boots_least_p(3, 3), 0.1, 1e-12);
	assert_near(runs_boots_least_p(4, 4), 2.0 / 70, 1e-12);
	assert_int_equal(runs_boots_needed(1), 4);
	assert_int_equal(runs_boots_needed(2), 5);
	assert_int_equal(runs_boots_needed(6), 5);
	assert_int_equal(runs_boots_needed(7), 6);
	double p[] = {0.04, 0.01, 0.03, 0.005};
	runs_boots_holm(p, 4);
	assert_near(p[3], 0.02, 1e-12);
	assert_near(p[1], 0.03, 1e-12);
	assert_near(p[2], 0.06, 1e-12);
	assert_near(p[0], 0.06, 1e-12);
	double big[] = {0.9, 0.8};
	runs_boots_holm(big, 2);
	assert_near(big[0], 1, 1e-12);
	assert_near(big[1], 1, 1e-12);
}

static void small_helpers(void **state)
{
	(void)state;
	const double v[] = {5, 1, 4, 2, 3};
	assert_near(runs_boots_median(v, 5), 3, 1e-12);
	assert_near(runs_boots_median(v, 4), 3, 1e-12);
	assert_near(runs_boots_sd(v, 5), sqrt(2.5), 1e-12);
	assert_near(runs_boots_sd(v, 1), 0, 0);
	double tau, p;
	const double rising[] = {1, 2, 3, 4, 5, 6, 7, 8};
	runs_boots_trend(rising, 8, &tau, &p);
	assert_near(tau, 1, 1e-12);
	assert_true(p < 0.002);
	const double mixed[] = {3, 1, 4, 1, 5, 9, 2, 6};
	runs_boots_trend(mixed, 8, &tau, &p);
	assert_true(p > 0.1);
	runs_boots_trend(rising, 3, &tau, &p);
	assert_near(p, 1, 0);
}

static void what_can_be_detected(void **state)
{
	(void)state;
	assert_true(isinf(runs_boots_detectable(3, 0.1, 0.5)));
	/* 4 + 4 at log-sd 0.20: a ratio of 1.5 is found about half of the time. */
	double half = runs_boots_detectable(4, 0.20, 0.5),
	       most = runs_boots_detectable(4, 0.20, 0.8);
	assert_true(half > 1.35 && half < 1.65);
	assert_true(most > half && most < 2.2);
	assert_true(runs_boots_detectable(4, 0.05, 0.5) < 1.15);
	assert_true(runs_boots_detectable(6, 0.20, 0.5) < half);
	assert_true(runs_boots_detectable(12, 0.20, 0.5) < runs_boots_detectable(6, 0.20, 0.5));
}

/* The interval covers the true shift as often as it says, or more. */
static void the_interval_covers(void **state)
{
	(void)state;
	static const size_t boots[] = {4, 5, 6};
	for (size_t k = 0; k < ARRAY_LEN(boots); k++) {
		size_t n = boots[k], inside = 0;
		enum { STUDIES = 4000 };
		uint64_t seed = 1000 + k;
		double level = 0;
		for (int i = 0; i < STUDIES; i++) {
			double a[8], b[8];
			for (size_t j = 0; j < n; j++) {
				a[j] = runs_random_normal(&seed) * 0.2;
				b[j] = runs_random_normal(&seed) * 0.2 + 0.7;
			}
			struct runs_shift s;
			runs_boots_shift(a, n, b, n, &s);
			inside += s.low <= 0.7 && 0.7 <= s.high;
			level = s.level;
		}
		assert_true(level >= 0.95);
		assert_near((double)inside / STUDIES, level, 0.012);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shift_by_hand),
		cmocka_unit_test(permutation_by_hand),
		cmocka_unit_test(boots_that_a_test_needs),
		cmocka_unit_test(small_helpers),
		cmocka_unit_test(what_can_be_detected),
		cmocka_unit_test(the_interval_covers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
