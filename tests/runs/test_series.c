/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/series.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macros.h"

enum { MS = 1000000 };
#define S ((uint64_t)1000000000)

static void samples_come_back_in_order(void **state)
{
	(void)state;
	struct runs_series_options o;
	runs_series_options_init(&o);
	o.nrecent = 100;
	struct runs_series *s = runs_series_create(&o);
	struct runs_point p[200];
	struct runs_column none[3];
	assert_int_equal(runs_series_recent(s, 0, p, 200), 0);
	runs_series_columns(s, 0, S, 3, none);
	assert_int_equal(none[1].n, 0);
	for (uint64_t i = 0; i < 250; i++) {
		runs_series_add(s, 5 * S + i * MS, 1000 + i);
	}
	assert_int_equal(runs_series_count(s), 250);
	assert_true(runs_series_first(s) == 5 * S && runs_series_last(s) == 5 * S + 249 * MS);
	assert_int_equal(runs_series_recent(s, 0, p, 200), 100);
	assert_true(p[0].value == 1150 && p[99].value == 1249);
	assert_int_equal(runs_series_recent(s, 5 * S + 240 * MS, p, 200), 10);
	assert_int_equal(runs_series_recent(s, 0, p, 7), 7);
	assert_true(p[0].value == 1243 && p[6].value == 1249);
	/* A late one counts where the series stands. */
	runs_series_add(s, 1, 77);
	assert_int_equal(runs_series_recent(s, 0, p, 1), 1);
	assert_true(p[0].value == 77 && p[0].t_ns == 5 * S + 249 * MS);
	runs_series_clear(s);
	assert_int_equal(runs_series_count(s), 0);
	assert_int_equal(runs_series_recent(s, 0, p, 200), 0);
	runs_series_destroy(s);
	runs_series_destroy(NULL);
}

static void columns_count_every_sample_once(void **state)
{
	(void)state;
	/* 1 kHz for 100 s: the last 0.5 s as samples, 20 s in slots, the rest in blocks. */
	struct runs_series_options o = {
		.slot_ns = 50 * MS, .nslot = 400, .nblock = 64, .nrecent = 500};
	struct runs_series *s = runs_series_create(&o);
	for (uint64_t i = 0; i < 100000; i++) {
		runs_series_add(s, 1000 * S + i * MS, 2000 + i % 1000);
	}
	uint64_t end = 1100 * S;
	static const struct {
		uint64_t window, grain;
		size_t n;
	} t[] = {
		{400 * MS, 1, 4},
		{10 * S, 50 * MS, 10},
		{10 * S, 50 * MS, 200},
		{64 * S, 2 * S, 32},
		{100 * S, 2 * S, 50},
	};
	for (size_t k = 0; k < ARRAY_LEN(t); k++) {
		struct runs_column c[200];
		assert_int_equal(runs_series_grain(s, end - t[k].window), t[k].grain);
		runs_series_columns(s, end - t[k].window, end, t[k].n, c);
		uint64_t sum = 0;
		for (size_t i = 0; i < t[k].n; i++) {
			assert_int_equal(c[i].n, t[k].window / MS / t[k].n);
			assert_true(c[i].min <= c[i].p5 && c[i].p5 <= c[i].p50 &&
				    c[i].p50 <= c[i].p95 && c[i].p95 <= c[i].max);
			if (c[i].n >= 1000) {
				assert_true(c[i].min == 2000 && c[i].max == 2999);
				assert_in_range(c[i].p50, 2475, 2525);
			}
			sum += c[i].n;
		}
		assert_int_equal(sum, t[k].window / MS);
		struct runs_hist h;
		runs_hist_init(&h, RUNS_HIST_1PCT);
		runs_series_hist(s, end - t[k].window, end, &h);
		assert_int_equal(h.total, sum);
		runs_hist_finish(&h);
	}
	runs_series_destroy(s);
}

static void a_stall_is_an_empty_column(void **state)
{
	(void)state;
	struct runs_series *s = runs_series_create(NULL);
	for (uint64_t i = 0; i < 1000; i++) {
		runs_series_add(s, 10 * S + i * MS, 500);
	}
	for (uint64_t i = 0; i < 1000; i++) {
		runs_series_add(s, 13 * S + i * MS, 600);
	}
	struct runs_column c[4];
	runs_series_columns(s, 10 * S, 14 * S, 4, c);
	assert_int_equal(c[0].n, 1000);
	assert_int_equal(c[1].n, 0);
	assert_int_equal(c[2].n, 0);
	assert_int_equal(c[3].n, 1000);
	assert_int_equal(c[3].max, 600);
	runs_series_destroy(s);
}

static void memory_stays_constant(void **state)
{
	(void)state;
	struct runs_series *s = runs_series_create(NULL);
	size_t after_hour = 0;
	uint64_t seed = 3, n = 0;
	/* Two days at five samples a second. */
	for (uint64_t t = 0; t < 48 * 3600 * S; t += 200 * MS) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		runs_series_add(s, t, 3000000 + (seed >> 44));
		n++;
		if (t == 3600 * S) {
			after_hour = runs_series_memory(s);
		}
	}
	assert_true(runs_series_memory(s) < 2 * after_hour);
	assert_true(runs_series_memory(s) < 2 * MIB);
	struct runs_hist h;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	runs_series_hist(s, 0, UINT64_MAX, &h);
	assert_int_equal(h.total, n);
	assert_int_equal(runs_series_grain(s, 0), 128 * S);
	runs_hist_finish(&h);
	runs_series_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_come_back_in_order),
		cmocka_unit_test(columns_count_every_sample_once),
		cmocka_unit_test(a_stall_is_an_empty_column),
		cmocka_unit_test(memory_stays_constant),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
