/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Episodes in made-up runs, by layer; and which events are put beside them, and which are not. */
#include "runs/attribute.h"

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

static const uint64_t second = 1000000000u;

/* Feeds launches to the finder, on a clock of its own. */
struct lab {
	struct runs_episodes *e;
	uint64_t t, seq, seed;
	double cycles; /* per ns; 0: none */
};

static void launch(struct lab *l, double launch_ns, double device, double notify, double gap,
	double cycle_factor)
{
	struct stress_sample s = {.seq = l->seq++, .submit_ns = l->t, .flags = STRESS_HAS_DEVICE};
	s.start_ns = s.submit_ns + (uint64_t)launch_ns;
	s.end_ns = s.start_ns + (uint64_t)device;
	s.done_ns = s.end_ns + (uint64_t)notify;
	if (l->cycles > 0) {
		s.flags |= STRESS_HAS_CYCLES;
		s.cycles = (uint64_t)(device * l->cycles * cycle_factor);
	}
	l->t = s.done_ns + (uint64_t)gap;
	runs_episodes_add(l->e, &s, 1);
}

static double noisy(struct lab *l, double ns)
{
	return ns * exp(0.02 * runs_random_normal(&l->seed));
}

static void calm(struct lab *l, uint64_t until)
{
	while (l->t < until) {
		launch(l, noisy(l, 4000), noisy(l, 200000), noisy(l, 2000), noisy(l, 5000), 1);
	}
}

static void the_layers_tell_the_part(void **state)
{
	(void)state;
	static const struct {
		double launch, device, notify, gap, cycles;
		enum runs_part part;
	} t[] = {
		{900000, 200000, 2000, 5000, 1, RUNS_PART_LAUNCH},
		{4000, 500000, 2000, 5000, 0.4,
			RUNS_PART_CLOCK}, /* the same cycles, 2.5 × the time */
		{4000, 500000, 2000, 5000, 1, RUNS_PART_MEMORY},
		{4000, 200000, 700000, 5000, 1, RUNS_PART_NOTIFY},
		{4000, 200000, 2000, 800000, 1, RUNS_PART_BETWEEN},
	};
	struct lab l = {.e = runs_episodes_create(), .seed = 4, .cycles = 1.7};
	struct runs_episode e[16];
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		calm(&l, l.t + 2 * second);
		uint64_t from = l.t;
		launch(&l, t[i].launch, t[i].device, t[i].notify, t[i].gap, t[i].cycles);
		calm(&l, l.t + 2 * second);
		assert_int_equal(runs_episodes_take(l.e, l.t, e, ARRAY_LEN(e)), 1);
		assert_int_equal(e[0].part, t[i].part);
		assert_true(e[0].from_ns >= from && e[0].from_ns < from + 1000000);
		assert_in_range(e[0].worst_ns, 480000, 1200000);
		assert_in_range(e[0].excess_ns, 270000, 910000);
		assert_int_equal(e[0].n, 1);
	}
	assert_int_equal(runs_episodes_count(l.e), ARRAY_LEN(t));
	runs_episodes_destroy(l.e);

	/* Without cycles the device's part is not told apart; without layers nothing is. */
	l = (struct lab){.e = runs_episodes_create(), .seed = 5};
	calm(&l, 2 * second);
	launch(&l, 4000, 500000, 2000, 5000, 1);
	calm(&l, 3 * second);
	struct stress_sample s = {.seq = l.seq, .submit_ns = l.t, .done_ns = l.t + 900000};
	runs_episodes_add(l.e, &s, 1);
	assert_int_equal(runs_episodes_take(l.e, UINT64_MAX, e, ARRAY_LEN(e)), 2);
	assert_int_equal(e[0].part, RUNS_PART_DEVICE);
	assert_int_equal(e[1].part, RUNS_PART_HOST);
	runs_episodes_destroy(l.e);
	runs_episodes_destroy(NULL);
}

static void neighbours_are_one_episode(void **state)
{
	(void)state;
	struct lab l = {.e = runs_episodes_create(), .seed = 6};
	struct runs_episode e[16];
	calm(&l, 2 * second);
	uint64_t from = l.t;
	for (int i = 0; i < 40; i++) { /* every other launch is slow */
		launch(&l, 4000, i % 2 ? 200000 : 500000, 2000, 5000, 1);
	}
	calm(&l, l.t + second);
	launch(&l, 4000, 500000, 2000, 5000, 1); /* a second later: another one */
	calm(&l, l.t + second);
	assert_int_equal(runs_episodes_take(l.e, l.t, e, ARRAY_LEN(e)), 2);
	assert_int_equal(e[0].n, 20);
	assert_true(e[0].from_ns == from && e[0].to_ns > from + 39 * 200000);
	assert_in_range(e[0].excess_ns, 20 * 290000, 20 * 310000);
	assert_int_equal(e[1].n, 1);
	runs_episodes_destroy(l.e);
}

/* A GPU's stamps are fetched behind each group of launches: 15 µs that are nobody's delay. */
static void the_workers_own_work_is_no_episode(void **state)
{
	(void)state;
	for (unsigned told = 0; told < 2; told++) {
		struct lab l = {.e = runs_episodes_create(), .seed = 9};
		struct runs_episode e[64];
		for (unsigned i = 0; i < 200000; i++) {
			struct stress_sample s = {
				.seq = l.seq++, .submit_ns = l.t, .flags = STRESS_HAS_DEVICE};
			s.start_ns = s.submit_ns + (uint64_t)noisy(&l, 7000);
			s.end_ns = s.start_ns + (uint64_t)noisy(&l, 22000);
			s.done_ns = s.end_ns + (uint64_t)noisy(&l, 2700);
			s.flags |= told && i % 64 == 0 ? (uint32_t)STRESS_RESUMED : 0;
			l.t = s.done_ns + (i % 64 == 63 ? 16000 : 60);
			runs_episodes_add(l.e, &s, 1);
		}
		const size_t n = runs_episodes_take(l.e, UINT64_MAX, e, ARRAY_LEN(e));
		assert_true(told ? n == 0 : n > 10);
		runs_episodes_destroy(l.e);
	}
}

static void drift_and_modes_are_no_episodes(void **state)
{
	(void)state;
	struct lab l = {.e = runs_episodes_create(), .seed = 7};
	struct runs_episode e[64];
	while (l.t < 60 * second) { /* 30 % in a minute, and slow for two seconds of each ten */
		double level = 200000 * (1 + 0.3 * (double)l.t / 60e9);
		level *= l.t % (10 * second) > 8 * second ? 1.3 : 1;
		launch(&l, 4000, noisy(&l, level), 2000, 5000, 1);
	}
	/* Each step up is seen for half a second, until the window has followed it; the drift is
	 * not. */
	assert_in_range(runs_episodes_take(l.e, UINT64_MAX, e, ARRAY_LEN(e)), 18, 20);
	runs_episodes_destroy(l.e);

	/* Correlated normal noise alone: hardly any. */
	l = (struct lab){.e = runs_episodes_create(), .seed = 8};
	double x = 0;
	while (l.t < 60 * second) {
		x = 0.9 * x + sqrt(1 - 0.81) * runs_random_normal(&l.seed);
		launch(&l, 4000, 200000 * exp(0.02 * x), 2000, 5000, 1);
	}
	assert_true(runs_episodes_take(l.e, UINT64_MAX, e, ARRAY_LEN(e)) <= 3);
	runs_episodes_destroy(l.e);
}

/* -- association ------------------------------------------------------------------------ */

static const uint64_t span = 600 * (uint64_t)1000000000;

static int by_from(const void *a, const void *b)
{
	uint64_t x = ((const struct runs_event *)a)->from_ns,
		 y = ((const struct runs_event *)b)->from_ns;
	return x < y ? -1 : x > y;
}

static int by_start(const void *a, const void *b)
{
	uint64_t x = ((const struct runs_episode *)a)->from_ns,
		 y = ((const struct runs_episode *)b)->from_ns;
	return x < y ? -1 : x > y;
}

static struct runs_event event(const char *source, uint64_t at, uint64_t length, double value)
{
	struct runs_event e = {.from_ns = at, .to_ns = at + length, .value = value};
	snprintf(e.source, sizeof(e.source), "%s", source);
	return e;
}

static struct runs_episode episode(uint64_t at, uint64_t excess)
{
	return (struct runs_episode){.from_ns = at,
		.to_ns = at + excess,
		.worst_ns = excess,
		.excess_ns = excess,
		.n = 1};
}

static const struct runs_source *source(const struct runs_attribution *a, const char *name)
{
	for (size_t i = 0; i < a->nsource; i++) {
		if (!strcmp(a->source[i].name, name)) {
			return &a->source[i];
		}
	}
	fail_msg("no source %s", name);
	return NULL;
}

static void the_right_one_is_named(void **state)
{
	(void)state;
	enum { N = 60 };
	struct runs_episode ep[N + 10];
	struct runs_event ev[4 * N];
	uint64_t seed = 12;
	size_t n = 0, m = 0;
	for (int i = 0; i < N; i++) { /* preempted: each has its 50 ms interval with enough in it */
		uint64_t at = (uint64_t)(runs_random_unit(&seed) * 0.99 * (double)span);
		ep[n++] = episode(at, 8000000);
		ev[m++] = event("preempted", at - at % 50000000, 50000000, 7000000);
	}
	for (int i = 0; i < 10; i++) { /* nobody knows */
		ep[n++] =
			episode((uint64_t)(runs_random_unit(&seed) * 0.99 * (double)span), 8000000);
	}
	for (int i = 0; i < N; i++) { /* small waits everywhere, and clock changes now and then */
		uint64_t at = (uint64_t)(runs_random_unit(&seed) * (double)span);
		ev[m++] = event("preempted", at, 50000000, 300000);
		ev[m++] = event("clock-sm", at / 2, 100000000, NAN);
	}
	qsort(ep, n, sizeof(*ep), by_start);
	qsort(ev, m, sizeof(*ev), by_from);
	struct runs_attribution a;
	runs_attribute(ep, n, ev, m, 0, span, 0, &a);
	assert_int_equal(a.episodes, N + 10);
	assert_string_equal(a.source[0].name, "preempted");
	assert_true(a.source[0].associated && a.source[0].p < 0.004);
	assert_in_range(a.source[0].named, N - 5, N + 1);
	assert_int_equal(a.unexplained, n - a.source[0].named);
	assert_false(source(&a, "clock-sm")->associated);
	assert_int_equal(source(&a, "clock-sm")->named, 0);
	assert_int_equal(a.excess_ns, (N + 10) * 8000000ull);
	size_t of = 0;
	for (size_t i = 0; i < n; i++) {
		of += a.of[i] == 0;
	}
	assert_int_equal(of, a.source[0].named);
	runs_attribution_finish(&a);

	/* An interval that holds far less than the excess does not explain it. */
	for (size_t i = 0; i < m; i++) {
		ev[i].value = ev[i].value > 1000000 ? 1000000 : ev[i].value;
	}
	runs_attribute(ep, n, ev, m, 0, span, 0, &a);
	assert_int_equal(a.unexplained, n);
	runs_attribution_finish(&a);
}

/* Two sources that come together: the rarer one is named, since chance puts it there less. */
static void the_rarer_source_wins(void **state)
{
	(void)state;
	struct runs_episode ep[20];
	struct runs_event ev[2000];
	uint64_t seed = 3;
	size_t m = 0;
	for (size_t i = 0; i < ARRAY_LEN(ep); i++) {
		uint64_t at = (i + 1) * 29 * second;
		ep[i] = episode(at, 5000000);
		ev[m++] = event("xid", at, 1000, NAN);
		ev[m++] = event("interrupts", at, 50000000, 10000000);
	}
	while (m < ARRAY_LEN(ev)) {
		ev[m++] = event("interrupts", (uint64_t)(runs_random_unit(&seed) * (double)span),
			50000000, 10000000);
	}
	qsort(ev, m, sizeof(*ev), by_from);
	struct runs_attribution a;
	runs_attribute(ep, ARRAY_LEN(ep), ev, m, 0, span, 0, &a);
	assert_string_equal(a.source[0].name, "xid");
	assert_int_equal(a.source[0].named, ARRAY_LEN(ep));
	assert_int_equal(a.unexplained, 0);
	runs_attribution_finish(&a);
}

/* Firmware takes 1 ms now and then: the spare core's gaps tell of it; others' gaps do not. */
static void gaps_are_named_when_they_hold_the_excess(void **state)
{
	(void)state;
	enum { N = 40 };
	for (unsigned told = 0; told < 2; told++) {
		struct runs_episode ep[N];
		struct runs_event ev[4 * N];
		uint64_t seed = 31;
		size_t m = 0;
		for (int i = 0; i < N; i++) {
			uint64_t at = (uint64_t)(runs_random_unit(&seed) * 0.99 * (double)span);
			ep[i] = episode(at, 1000000);
			if (told) {
				ev[m++] = event("tsc-gap", at, 1000000, 990000);
			}
		}
		while (m < ARRAY_LEN(ev)) { /* the hypervisor's, of the spare core alone */
			uint64_t at = (uint64_t)(runs_random_unit(&seed) * (double)span);
			ev[m++] = event("tsc-gap", at, 150000, 150000);
		}
		qsort(ep, N, sizeof(*ep), by_start);
		qsort(ev, m, sizeof(*ev), by_from);
		struct runs_attribution a;
		runs_attribute(ep, N, ev, m, 0, span, 0, &a);
		assert_int_equal(source(&a, "tsc-gap")->named, told ? N : 0);
		assert_int_equal(a.unexplained, told ? 0 : N);
		runs_attribution_finish(&a);
	}
}

/* Unrelated events, bursty and periodic like real ones: called associated in about 1 %. */
static void chance_is_rarely_called_association(void **state)
{
	(void)state;
	enum { RUNS = 600 };
	size_t called = 0;
	uint64_t seed = 2024;
	for (int k = 0; k < RUNS; k++) {
		struct runs_episode ep[30];
		struct runs_event ev[400];
		size_t m = 0;
		for (size_t i = 0; i < ARRAY_LEN(ep); i++) {
			ep[i] = episode(
				(uint64_t)(runs_random_unit(&seed) * (double)span), 3000000);
		}
		while (m + 20 <= ARRAY_LEN(ev)) { /* bursts of 20 within ten seconds */
			uint64_t at = (uint64_t)(runs_random_unit(&seed) * 0.98 * (double)span);
			for (int i = 0; i < 20; i++) {
				uint64_t in = (uint64_t)(runs_random_unit(&seed) * 10e9);
				ev[m++] = event("clock-sm", at + in, 200000000, NAN);
			}
		}
		qsort(ep, ARRAY_LEN(ep), sizeof(*ep), by_start);
		qsort(ev, m, sizeof(*ev), by_from);
		struct runs_attribution a;
		runs_attribute(ep, ARRAY_LEN(ep), ev, m, 0, span, 0, &a);
		called += a.source[0].associated;
		runs_attribution_finish(&a);
	}
	printf("unrelated events called associated in %zu of %d runs\n", called, RUNS);
	assert_true(called <= RUNS / 40);
}

static void readings_that_perturb(void **state)
{
	(void)state;
	struct runs_episode ep[50];
	for (size_t i = 0; i < ARRAY_LEN(ep); i++) {
		ep[i] = episode((i + 1) * 10 * second, 4000000);
		ep[i].perturbed = i % 10 != 0; /* 45 of 50, where chance gives one */
	}
	struct runs_attribution a;
	runs_attribute(ep, ARRAY_LEN(ep), NULL, 0, 0, span, 0.02, &a);
	assert_string_equal(a.source[0].name, "reading");
	assert_true(a.source[0].associated);
	assert_int_equal(a.source[0].named, 45);
	assert_int_equal(a.unexplained, 5);
	runs_attribution_finish(&a);
	/* As often as chance has it: nothing is named. */
	for (size_t i = 0; i < ARRAY_LEN(ep); i++) {
		ep[i].perturbed = i % 50 == 0;
	}
	runs_attribute(ep, ARRAY_LEN(ep), NULL, 0, 0, span, 0.02, &a);
	assert_false(a.source[0].associated);
	assert_int_equal(a.unexplained, 50);
	runs_attribution_finish(&a);
	runs_attribute(NULL, 0, NULL, 0, 0, span, 0, &a);
	assert_int_equal(a.episodes, 0);
	runs_attribution_finish(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_layers_tell_the_part),
		cmocka_unit_test(neighbours_are_one_episode),
		cmocka_unit_test(the_workers_own_work_is_no_episode),
		cmocka_unit_test(drift_and_modes_are_no_episodes),
		cmocka_unit_test(the_right_one_is_named),
		cmocka_unit_test(the_rarer_source_wins),
		cmocka_unit_test(gaps_are_named_when_they_hold_the_excess),
		cmocka_unit_test(chance_is_rarely_called_association),
		cmocka_unit_test(readings_that_perturb),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
