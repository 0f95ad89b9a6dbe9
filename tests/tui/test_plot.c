/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/plot.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "golden.h"
#include "tui/scale.h"

static void ticks_are_round_and_inside(void **state)
{
	(void)state;
	static const struct tui_scale scales[] = {{20500, 23100, false}, {0, 100, false},
		{9.1e6, 9.9e6, false}, {21.0, 21.3, false}, {1e3, 1e7, true}, {2e4, 5e4, true},
		{1, 1e12, true}, {0.5e9, 3e9, false}};
	for (size_t i = 0; i < ARRAY_LEN(scales); i++) {
		for (size_t max = 1; max < 20; max++) {
			struct tui_ticks t;
			tui_scale_ticks(&scales[i], max, &t);
			assert_in_range(t.n, 1, TUI_TICKS);
			for (size_t k = 0; k < t.n; k++) {
				double share = tui_scale_share(&scales[i], t.at[k].v);
				assert_true(share > -1e-6 && share < 1 + 1e-6);
				/* The label says the value. */
				char *end;
				double said = strtod(t.at[k].label, &end);
				const char *unit = *t.unit ? t.unit : end + 1;
				said *= !strcmp(unit, "s")    ? 1e9
					: !strcmp(unit, "ms") ? 1e6
					: !strcmp(unit, "µs") ? 1e3
							      : 1;
				assert_true(fabs(said - t.at[k].v) <= 1e-3 * t.at[k].v + 1e-9);
				assert_true(k == 0 || strcmp(t.at[k].label, t.at[k - 1].label));
			}
		}
	}
}

static void the_axis_is_calm(void **state)
{
	(void)state;
	struct tui_scale s = {0};
	tui_scale_fit(&s, 21e3, 21.5e3, 22e3, true);
	assert_true(s.lo < 21e3 && s.hi > 22e3);
	struct tui_scale first = s;
	/* A little wobble changes nothing. */
	for (int i = -5; i <= 5; i++) {
		tui_scale_fit(&s, 21e3 + i * 20, 21.5e3, 22e3 + i * 20, true);
		assert_memory_equal(&s, &first, sizeof(s));
	}
	/* A jump is followed at once, and back only when allowed. */
	tui_scale_fit(&s, 21e3, 21.5e3, 60e3, true);
	assert_true(s.hi > 60e3);
	struct tui_scale wide = s;
	tui_scale_fit(&s, 21e3, 21.5e3, 22e3, false);
	assert_memory_equal(&s, &wide, sizeof(s));
	tui_scale_fit(&s, 21e3, 21.5e3, 22e3, true);
	assert_true(s.hi < 30e3);
	/* A perfectly steady machine is not blown up. */
	struct tui_scale flat = {0};
	tui_scale_fit(&flat, 1000, 1000, 1000, true);
	assert_true(flat.hi - flat.lo >= 60);
	/* Nonsense leaves it alone. */
	struct tui_scale before = flat;
	tui_scale_fit(&flat, 5, 0, 1, true);
	tui_scale_fit(&flat, NAN, NAN, NAN, true);
	assert_memory_equal(&flat, &before, sizeof(flat));
}

/* A wave with a spike, a gap and a jump: what a person must see. */
static size_t wave(struct runs_column *k, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double mid = 21500 + 400 * sin((double)i / 9);
		if (i > n * 2 / 3) {
			mid += 1500;
		}
		k[i] = (struct runs_column){.n = 20,
			.min = (uint64_t)(mid - 500),
			.p5 = (uint64_t)(mid - 350),
			.p50 = (uint64_t)mid,
			.p95 = (uint64_t)(mid + 450),
			.max = (uint64_t)(mid + (i % 17 == 5 ? 4000 : 500))};
		if (i >= n / 3 && i < n / 3 + 6) {
			k[i] = (struct runs_column){0};
		}
	}
	return n;
}

static void plots_look_as_agreed(void **state)
{
	(void)state;
	static const struct {
		enum tui_charset set;
		int w, h;
		const char *name;
	} cases[] = {
		{TUI_UTF8, 78, 14, "plot-utf8"},
		{TUI_BLOCKS, 78, 14, "plot-blocks"},
		{TUI_ASCII, 78, 14, "plot-ascii"},
		{TUI_UTF8, 30, 4, "plot-small"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct tui_canvas c;
		tui_canvas_init(&c, cases[i].w, cases[i].h, tui_glyphs(cases[i].set));
		struct tui_rect all = tui_canvas_rect(&c);
		struct runs_column k[512];
		const struct tui_mark marks[] = {
			{47.5, TUI_EVENT, "running on a device"}, {12.5, TUI_EVENT, "link x8"}};
		struct tui_plot p = {
			.column = k,
			.ncolumn = wave(k, tui_plot_columns(&c, all)),
			.y = {20000, 25000, false},
			.baseline = {true, 21000, 21600, 22200},
			.seconds = 60,
			.cursor = -1,
			.mark = marks,
			.nmark = ARRAY_LEN(marks),
			.lane = cases[i].set == TUI_BLOCKS,
		};
		tui_plot_draw(&c, all, &p);
		assert_true(golden_equal(&c, cases[i].name));
		tui_canvas_finish(&c);
	}
}

static void histograms_look_as_agreed(void **state)
{
	(void)state;
	struct runs_hist h;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	for (int i = 0; i < 4000; i++) {
		runs_hist_add(&h, (uint64_t)(21500 + 500 * sin(i * 0.37) + 300 * sin(i * 1.7)));
	}
	runs_hist_add_n(&h, 40000, 3);
	for (int set = TUI_ASCII; set <= TUI_UTF8; set++) {
		struct tui_canvas c;
		tui_canvas_init(&c, 60, 9, tui_glyphs((enum tui_charset)set));
		struct tui_rect all = tui_canvas_rect(&c);
		double bin[60], behind[60];
		struct tui_bins b = {.count = bin,
			.behind = behind,
			.n = tui_hist_bins(&c, all),
			.x = {20000, 23500, false},
			.p5 = (double)runs_hist_quantile(&h, 0.05),
			.p50 = (double)runs_hist_quantile(&h, 0.5),
			.p95 = (double)runs_hist_quantile(&h, 0.95),
			.p99 = (double)runs_hist_quantile(&h, 0.99)};
		b.over = tui_hist_spread(&h, &b.x, bin, b.n);
		assert_true(b.over > 2.99 && b.over < 3.01);
		double sum = 0;
		for (size_t i = 0; i < b.n; i++) {
			sum += bin[i];
			behind[i] = i > 20 && i < 40 ? 5 : 0;
		}
		/* Nothing is lost between buckets and bins. */
		assert_true(fabs(sum - 4000) < 1e-6);
		char name[32];
		snprintf(name, sizeof(name), "hist-%d", set);
		tui_hist_draw(&c, all, &b);
		assert_true(golden_equal(&c, name));
		tui_canvas_finish(&c);
	}
	runs_hist_finish(&h);
}

static void any_rectangle_is_survived(void **state)
{
	(void)state;
	struct tui_canvas c;
	tui_canvas_init(&c, 30, 10, tui_glyphs(TUI_UTF8));
	struct runs_column k[512];
	double bin[64] = {1, 2, 3};
	for (int w = 0; w < 34; w++) {
		for (int h = 0; h < 12; h++) {
			struct tui_rect r = {3, 2, w, h};
			struct tui_plot p = {.column = k,
				.ncolumn = wave(k, tui_plot_columns(&c, r) + 7),
				.y = {20000, 25000, false},
				.seconds = 60,
				.cursor = 3,
				.empty = "nothing yet"};
			tui_plot_draw(&c, r, &p);
			p.ncolumn = 0;
			tui_plot_draw(&c, r, &p);
			struct tui_bins b = {
				.count = bin, .n = tui_hist_bins(&c, r), .x = {1, 5, false}};
			tui_hist_draw(&c, r, &b);
		}
	}
	/* Values far outside, and the wildest numbers. */
	k[0] = (struct runs_column){1, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
	k[1] = (struct runs_column){1, 0, 0, 0, 0, UINT64_MAX};
	struct tui_plot p = {.column = k, .ncolumn = 2, .y = {1, 2, true}, .seconds = 1e12};
	tui_plot_draw(&c, tui_canvas_rect(&c), &p);
	tui_canvas_finish(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ticks_are_round_and_inside),
		cmocka_unit_test(the_axis_is_calm),
		cmocka_unit_test(plots_look_as_agreed),
		cmocka_unit_test(histograms_look_as_agreed),
		cmocka_unit_test(any_rectangle_is_survived),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
