/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptions of made-up runs whose truth is known. */
#include "runs/describe.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macros.h"
#include "runs/collect.h"
#include "runs/random.h"

/* Collects what a model yields and describes it, as the store would. */
struct lab {
	struct runs_collect *c;
	struct runs_walk walk;
	uint64_t seq, t;
};

static void lab_init(struct lab *l)
{
	*l = (struct lab){.c = runs_collect_create(0, false)};
}

static void lab_add(struct lab *l, double ns)
{
	struct stress_sample s = {.seq = l->seq++,
		.submit_ns = l->t,
		.done_ns = l->t + (uint64_t)ns,
		.flags = STRESS_GEMM};
	l->t += (uint64_t)ns;
	runs_collect_add(l->c, &s, 1);
}

static struct runs_description lab_describe(struct lab *l)
{
	struct runs_second *chain = runs_collect_take(l->c, UINT64_MAX);
	for (const struct runs_second *s = chain; s; s = s->next) {
		for (size_t i = 0; i < s->nblock; i++) {
			if (s->block[i].layer == RUNS_HOST) {
				struct runs_hist h;
				runs_hist_init(&h, RUNS_HIST_1PCT);
				assert_int_equal(
					runs_hist_parse(&h, s->block[i].hist, s->block[i].len), 0);
				runs_walk_add(&l->walk, s->second, &h, &s->block[i].moments);
				runs_hist_finish(&h);
			}
		}
	}
	runs_second_destroy(chain);
	struct runs_description d;
	runs_describe(runs_collect_rollup(l->c, STRESS_GEMM, RUNS_HOST),
		runs_collect_moments(l->c, STRESS_GEMM, RUNS_HOST), &l->walk, &d);
	runs_walk_finish(&l->walk);
	runs_collect_destroy(l->c);
	return d;
}

static void steady_noise(void **state)
{
	(void)state;
	struct lab l;
	lab_init(&l);
	uint64_t seed = 8;
	while (l.t < 40000000000u) {
		lab_add(&l, 4000000 * exp(0.03 * runs_random_normal(&seed)));
	}
	struct runs_description d = lab_describe(&l);
	assert_true(fabs((double)d.p50 / 4e6 - 1) < 0.003);
	assert_true(fabs(d.band - 0.03 * 1.645) < 0.003);
	assert_true(fabs(d.lag1) < 0.05);
	assert_true(d.n_eff > 0.6 * (double)d.n && d.n_eff <= (double)d.n);
	assert_true(fabs(d.drift) < 0.005);
	assert_int_equal(d.modes.n, 1);
	assert_false(isnan(d.p99));
	assert_true(fabs(d.p99 / (4e6 * exp(0.03 * 2.326)) - 1) < 0.01);
	assert_true(d.slow_count == 0 && d.slow_time == 0);
	assert_int_equal(d.seconds, 41);
}

static void few_values_name_no_tail(void **state)
{
	(void)state;
	struct lab l;
	lab_init(&l);
	uint64_t seed = 8;
	for (int i = 0; i < 300; i++) {
		lab_add(&l, 4000000 * exp(0.03 * runs_random_normal(&seed)));
	}
	struct runs_description d = lab_describe(&l);
	assert_true(isnan(d.p99) && isnan(d.p999) && isnan(d.drift));
	/* Many values, but so correlated that they are worth few. */
	lab_init(&l);
	double x = 0;
	for (int i = 0; i < 20000; i++) {
		x = 0.995 * x + sqrt(1 - 0.995 * 0.995) * runs_random_normal(&seed);
		lab_add(&l, 4000000 * exp(0.03 * x));
	}
	d = lab_describe(&l);
	assert_true(d.n == 20000 && d.n_eff < 200);
	assert_true(isnan(d.p99));
	assert_true(d.lag1 > 0.98);
}

static void drift_and_spikes(void **state)
{
	(void)state;
	struct lab l;
	lab_init(&l);
	uint64_t seed = 21, spikes = 0;
	while (l.t < 120000000000u) { /* two minutes: 3 % a minute, and a spike each 0.4 s */
		double level = 4000000 * (1 + 0.03 * (double)l.t / 60e9);
		bool spike = l.seq % 100 == 99;
		spikes += spike;
		lab_add(&l, spike ? 5 * level : level * exp(0.01 * runs_random_normal(&seed)));
	}
	uint64_t n = l.seq;
	struct runs_description d = lab_describe(&l);
	assert_true(fabs(d.drift - 0.03) < 0.003);
	assert_true(fabs(d.slow_count - (double)spikes / (double)n) < 1e-9);
	assert_true(fabs(d.slow_time - 5.0 / 104) < 0.002);
	/* Drift makes the means differ: the values are worth fewer. */
	assert_true(d.n_eff < 0.5 * (double)d.n);
}

static void modes_and_how_long_they_last(void **state)
{
	(void)state;
	struct lab l;
	lab_init(&l);
	uint64_t seed = 5;
	while (l.t < 120000000000u) { /* six seconds fast, two slow */
		double level = l.t % 8000000000u < 6000000000u ? 3000000 : 3450000;
		lab_add(&l, level * exp(0.015 * runs_random_normal(&seed)));
	}
	struct runs_description d = lab_describe(&l);
	assert_int_equal(d.modes.n, 2);
	assert_true(fabs((double)d.modes.peak[0] / 3e6 - 1) < 0.01);
	assert_true(fabs((double)d.modes.peak[1] / 3.45e6 - 1) < 0.01);
	assert_true(fabs(d.modes.share[0] - 0.775) < 0.03);
	assert_true(fabs(d.dwell_s[0] - 6) < 0.6 && fabs(d.dwell_s[1] - 2) < 0.6);

	/* The same two modes from launch to launch: no dwell time can be told. */
	lab_init(&l);
	while (l.t < 60000000000u) {
		double level = runs_random_unit(&seed) < 0.7 ? 3000000 : 3450000;
		lab_add(&l, level * exp(0.015 * runs_random_normal(&seed)));
	}
	d = lab_describe(&l);
	assert_int_equal(d.modes.n, 2);
	assert_true(isnan(d.dwell_s[0]) && isnan(d.dwell_s[1]));
}

/* One mode stays one: normal, skewed and heavy-tailed noise, correlated or not. */
static void one_mode_is_not_split(void **state)
{
	(void)state;
	uint64_t seed = 99;
	size_t split = 0, three = 0;
	enum { RUNS = 120 };
	for (int k = 0; k < RUNS; k++) {
		struct lab l;
		lab_init(&l);
		double x = 0, rho = k % 3 ? 0 : 0.8;
		for (int i = 0; i < 3000; i++) {
			x = rho * x + sqrt(1 - rho * rho) * runs_random_normal(&seed);
			double e = k % 2 ? x : x + 0.7 * -log(runs_random_unit(&seed));
			lab_add(&l, 3000000 * exp(0.04 * e));
		}
		struct runs_description d = lab_describe(&l);
		split += d.modes.n > 1;
	}
	assert_true(split <= RUNS / 20);
	/* Three modes are found as three. */
	for (int k = 0; k < 20; k++) {
		struct lab l;
		lab_init(&l);
		for (int i = 0; i < 4000; i++) {
			double level = 3e6 * (1 + 0.15 * (double)runs_random_below(&seed, 3));
			lab_add(&l, level * exp(0.015 * runs_random_normal(&seed)));
		}
		struct runs_description d = lab_describe(&l);
		three += d.modes.n == 3;
	}
	assert_true(three >= 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_noise),
		cmocka_unit_test(few_values_name_no_tail),
		cmocka_unit_test(drift_and_spikes),
		cmocka_unit_test(modes_and_how_long_they_last),
		cmocka_unit_test(one_mode_is_not_split),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
