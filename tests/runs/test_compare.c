/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ladder's rungs, what stands in the way of a comparison, and several shapes at once. */
#include "runs/compare.h"

#include <errno.h>
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

static struct runs_member *member(struct runs_side *s, size_t boot, const char *shape, double band)
{
	s->run = realloc(s->run, (s->n + 1) * sizeof(*s->run));
	struct runs_member *m = &s->run[s->n++];
	*m = (struct runs_member){.boot = boot};
	snprintf(m->info.boot_id, sizeof(m->info.boot_id), "%s", s->boot[boot].boot_id);
	snprintf(m->info.backend, sizeof(m->info.backend), "cpu");
	snprintf(m->info.shape, sizeof(m->info.shape), "%s", shape);
	m->info.threads = 3;
	struct runs_description *d = &m->layer[STRESS_GEMM][RUNS_HOST];
	d->n = 10000;
	d->p50 = 1000000;
	d->band = band;
	d->p99 = 1100000;
	return m;
}

static struct runs_side side(const char *name, size_t boots)
{
	struct runs_side s = {.nboot = boots};
	snprintf(s.name, sizeof(s.name), "%s", name);
	s.boot = calloc(boots, sizeof(*s.boot));
	for (size_t i = 0; i < boots; i++) {
		snprintf(s.boot[i].boot_id, sizeof(s.boot[i].boot_id), "%s%zu", name, i);
	}
	return s;
}

static struct runs_side simple(const char *name, size_t boots, double band)
{
	struct runs_side s = side(name, boots);
	for (size_t i = 0; i < boots; i++) {
		member(&s, i, "1x8x8", band * (1 + 0.01 * (double)i));
	}
	return s;
}

static void the_rungs(void **state)
{
	(void)state;
	static const struct {
		size_t na, nb;
		double band;
		enum runs_verdict verdict;
		int status;
		const char *says;
	} t[] = {
		{1, 1, 0.01, RUNS_DESCRIPTION, 2, "One boot a side is a description"},
		{1, 8, 0.01, RUNS_DESCRIPTION, 2, "One boot a side"},
		{3, 3, 0.01, RUNS_DESCRIPTION, 2, "p = 0.1"},
		{3, 4, 0.01, RUNS_DESCRIPTION, 2, "3 and 4 boots"},
		{4, 4, 0.01, RUNS_BETTER, 0, "B is steadier: its spread is 0.20 times"},
		{4, 4, 0.20, RUNS_WORSE, 1, "B is less steady"},
		{4, 4, 0.0501, RUNS_NO_DIFFERENCE, 0, "No difference shown"},
		{2, 8, 0.01, RUNS_BETTER, 0, "8 against 2 boots"},
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct runs_side a = simple("a", t[i].na, 0.05),
				 b = simple("b", t[i].nb, t[i].band);
		struct runs_comparison c;
		struct why why;
		assert_int_equal(runs_compare(&a, &b, NULL, 0, &c, &why), 0);
		if (c.verdict != t[i].verdict || !strstr(c.sentence, t[i].says)) {
			fail_msg("case %zu: %s: %s", i, runs_verdict_name(c.verdict), c.sentence);
		}
		assert_int_equal(runs_verdict_status(c.verdict), t[i].status);
		runs_comparison_finish(&c);
		runs_side_finish(&a);
		runs_side_finish(&b);
	}
}

static void processes_of_one_boot_are_one_value(void **state)
{
	(void)state;
	struct runs_side a = side("a", 1), b = side("b", 1);
	for (int i = 0; i < 8; i++) { /* eight processes, one boot: no more than a description */
		member(&a, 0, "1x8x8", i % 2 ? 0.04 : 0.09);
		member(&b, 0, "1x8x8", 0.01);
	}
	struct runs_comparison c;
	struct why why;
	assert_int_equal(runs_compare(&a, &b, NULL, 0, &c, &why), 0);
	assert_int_equal(c.verdict, RUNS_DESCRIPTION);
	assert_int_equal(c.pair[0].a.n, 1);
	assert_true(fabs(exp(c.pair[0].a.log_band[0]) - 0.06) < 1e-9); /* geometric mean */
	runs_comparison_finish(&c);
	runs_side_finish(&a);
	runs_side_finish(&b);
}

static void on_device(struct runs_side *s, size_t boot, const char *device, double band)
{
	struct runs_member *m = member(s, boot, "1x8x8", band);
	snprintf(m->info.device, sizeof(m->info.device), "%s", device);
}

/* Runs of several GPUs under one label: each is compared with itself, in any order. */
static void devices_are_compared_with_themselves(void **state)
{
	(void)state;
	struct runs_side a = side("a", 4), b = side("b", 4), one = side("one", 4);
	for (size_t i = 0; i < 4; i++) {
		on_device(&a, i, "X", 0.05 + 0.001 * (double)i);
		on_device(&a, i, "Y", 0.05 + 0.001 * (double)i);
		on_device(&b, i, "Y", 0.20 + 0.001 * (double)i);
		on_device(&b, i, "X", 0.01 + 0.001 * (double)i);
		on_device(&one, i, "Y", 0.05 + 0.001 * (double)i);
	}
	struct runs_comparison c;
	struct why why;
	assert_int_equal(runs_compare(&a, &b, NULL, 0, &c, &why), 0);
	assert_int_equal(runs_side_devices(&a), 2);
	assert_int_equal(c.npair, 2);
	assert_int_equal(c.nreason, 0);
	assert_string_equal(c.pair[0].device, "X");
	assert_string_equal(c.pair[1].device, "Y");
	assert_int_equal(c.pair[0].a.n, 4);
	assert_true(c.pair[0].ratio.estimate < 0.3 && c.pair[1].ratio.estimate > 3);
	runs_comparison_finish(&c);

	/* What one side alone has is left out; alone against alone keeps saying which. */
	assert_int_equal(runs_compare(&a, &one, NULL, 0, &c, &why), 0);
	assert_int_equal(c.npair, 1);
	assert_int_equal(c.nreason, 0);
	assert_string_equal(c.pair[0].device, "Y");
	runs_comparison_finish(&c);
	for (size_t i = 0; i < 4; i++) {
		strcpy(b.run[i].info.device, "X");
		strcpy(b.run[i + 4].info.device, "X");
	}
	assert_int_equal(runs_compare(&one, &b, NULL, 0, &c, &why), 0);
	assert_string_equal(c.pair[0].device, "");
	assert_string_equal(c.reason[0].name, "device");
	runs_comparison_finish(&c);
	runs_side_finish(&a);
	runs_side_finish(&b);
	runs_side_finish(&one);
}

static const struct runs_reason *named(const struct runs_reason *r, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(r[i].name, name)) {
			return &r[i];
		}
	}
	return NULL;
}

/* Four boots of each device in DEVICES (NULL ends them), all of one band. */
static struct runs_side on_devices(const char *name, const char *const *devices, double band)
{
	struct runs_side s = side(name, 4);
	for (size_t i = 0; i < 4; i++) {
		for (size_t k = 0; devices[k]; k++) {
			on_device(&s, i, devices[k], band * (1 + 0.01 * (double)i));
		}
	}
	return s;
}

/* Bus numbers move with the firmware's settings: model and order on the bus say which is which. */
static void devices_move(void **state)
{
	(void)state;
	static const struct {
		const char *a[4], *b[4];
		size_t pairs;
		bool comparable;
		const char *first_b; /* what B calls A's first; NULL: of no interest */
		const char *despite;
	} t[] = {
		{{"G at 0000:01:00.0", "G at 0000:02:00.0"},
			{"G at 0000:04:00.0", "G at 0000:03:00.0"}, 2, true, "G at 0000:03:00.0",
			NULL},
		{{"G at 0000:02:00.0", "G at 0000:01:00.0"},
			{"G at 0000:02:00.0", "G at 0000:03:00.0"}, 2, true, "G at 0000:03:00.0",
			NULL},
		{{"G at 0000:01:00.0", "H at 0000:02:00.0"},
			{"H at 0000:01:00.0", "G at 0000:02:00.0"}, 2, true, "G at 0000:02:00.0",
			NULL},
		{{"G at 0000:f0:00.0", "G at 10000:01:00.0"},
			{"G at 10000:02:00.0", "G at 0000:f1:00.0"}, 2, true, "G at 0000:f1:00.0",
			NULL},
		{{"G at 0000:01:00.0"}, {"G at 0000:03:00.0"}, 1, true, "", NULL},
		{{"G at 0000:01:00.0"}, {"H at 0000:01:00.0"}, 1, false, "", NULL},
		{{"G at home"}, {"G at work"}, 1, false, "", NULL},
		/* Another number of them: the address, or nothing. */
		{{"G at 0000:01:00.0", "G at 0000:02:00.0"}, {"G at 0000:02:00.0"}, 1, true,
			"G at 0000:02:00.0", NULL},
		{{"G at 0000:01:00.0", "G at 0000:02:00.0"}, {"G at 0000:03:00.0"}, 0, false, NULL,
			NULL},
		/* Other models altogether: only where that was meant. */
		{{"G at 0000:01:00.0", "G at 0000:02:00.0"},
			{"H at 0000:01:00.0", "H at 0000:02:00.0"}, 2, false, "H at 0000:01:00.0",
			NULL},
		{{"G at 0000:01:00.0", "G at 0000:02:00.0"},
			{"H at 0000:01:00.0", "H at 0000:02:00.0"}, 2, true, "H at 0000:01:00.0",
			"device"},
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct runs_side a = on_devices("a", t[i].a, 0.05),
				 b = on_devices("b", t[i].b, 0.05);
		struct runs_comparison c;
		struct why why;
		int r = runs_compare(&a, &b, &t[i].despite, t[i].despite != NULL, &c, &why);
		assert_int_equal(r, t[i].pairs ? 0 : -EINVAL);
		if (r) {
			for (size_t k = 0; t[i].a[k]; k++) {
				assert_non_null(strstr(why.text, t[i].a[k]));
			}
			assert_non_null(strstr(why.text, t[i].b[0]));
		} else {
			assert_int_equal(c.npair, t[i].pairs);
			assert_string_equal(c.pair[0].device_b, t[i].first_b);
			assert_int_equal(c.nreason == 0, t[i].comparable);
			bool moved = false;
			for (size_t k = 0; k < c.ndevice; k++) {
				moved = moved || strcmp(c.device[k].a, c.device[k].b) != 0;
			}
			const struct runs_reason *said =
				c.nreason ? named(c.reason, c.nreason, "device")
					  : named(c.noted, c.nnoted, "device");
			assert_int_equal(said != NULL, moved);
			if (said) {
				assert_string_equal(said->a, c.device[0].a);
				assert_string_equal(said->b, c.device[0].b);
			}
			runs_comparison_finish(&c);
		}
		runs_side_finish(&a);
		runs_side_finish(&b);
	}
}

/* The sentence is of the pair that decides, and names it. */
static void the_worse_device_is_told(void **state)
{
	(void)state;
	struct runs_side a = side("a", 5), b = side("b", 5);
	for (size_t i = 0; i < 5; i++) {
		double more = 0.001 * (double)i;
		on_device(&a, i, "X", 0.05 + more);
		on_device(&a, i, "Y", 0.05 + more);
		on_device(&b, i, "X", 0.01 + more);
		on_device(&b, i, "Y", 0.20 + more);
	}
	struct runs_comparison c;
	struct why why;
	assert_int_equal(runs_compare(&a, &b, NULL, 0, &c, &why), 0);
	assert_int_equal(c.verdict, RUNS_WORSE);
	assert_int_equal(c.decided, 1);
	assert_string_equal(c.pair[c.decided].device, "Y");
	assert_non_null(strstr(c.sentence, "B is less steady with 1x8x8 on Y: its spread is 3.8"));
	runs_comparison_finish(&c);
	runs_side_finish(&a);
	runs_side_finish(&b);
}

/* What differs on one device alone counts as well, and says on which. */
static void every_device_is_looked_at(void **state)
{
	(void)state;
	static const char *const devices[] = {"X", "Y", NULL};
	struct runs_side a = on_devices("a", devices, 0.05), b = on_devices("b", devices, 0.05);
	for (size_t i = 0; i < 8; i++) {
		strcpy(a.run[i].info.kernel, "fast");
		strcpy(b.run[i].info.kernel, i % 2 ? "slow" : "fast");
		strcpy(b.run[i].info.program, "2");
	}
	struct runs_comparison c;
	struct why why;
	assert_int_equal(runs_compare(&a, &b, NULL, 0, &c, &why), 0);
	assert_int_equal(c.verdict, RUNS_NOT_COMPARABLE);
	assert_int_equal(c.nreason, 2);
	const struct runs_reason *kernel = named(c.reason, c.nreason, "gemm_kernel");
	assert_non_null(kernel);
	assert_string_equal(kernel->a, "fast (Y)");
	assert_string_equal(kernel->b, "slow (Y)");
	/* What all have alike is said once, of none. */
	const struct runs_reason *program = named(c.reason, c.nreason, "program");
	assert_non_null(program);
	assert_string_equal(program->b, "2");
	runs_comparison_finish(&c);

	/* Another output of the last boot's run of Y. */
	for (size_t i = 0; i < 8; i++) {
		strcpy(b.run[i].info.kernel, "fast");
		strcpy(b.run[i].info.program, "");
		a.run[i].info.golden = 1;
		b.run[i].info.golden = i == 7 ? 2 : 1;
	}
	assert_int_equal(runs_compare(&a, &b, NULL, 0, &c, &why), 0);
	assert_int_equal(c.nreason, 1);
	assert_string_equal(c.reason[0].name, "output_hash");
	assert_string_equal(c.reason[0].b, "0000000000000002 (Y)");
	runs_comparison_finish(&c);
	runs_side_finish(&a);
	runs_side_finish(&b);
}

static void what_differs_is_named(void **state)
{
	(void)state;
	struct runs_side a = simple("a", 4, 0.05), b = simple("b", 4, 0.01);
	struct runs_comparison c;
	struct why why;
	/* One odd boot on a side is enough; a fact that nobody looked at is none. */
	a.run[0].env = js_object();
	js_set_str(a.run[0].env, "kernel", "6.1");
	js_set_str(a.run[0].env, "load", "0.1");
	js_set_str(a.run[0].env, "governor", "powersave");
	b.run[2].env = js_object();
	js_set_str(b.run[2].env, "kernel", "6.2");
	js_set_str(b.run[2].env, "load", "0.9");
	assert_int_equal(runs_compare(&a, &b, NULL, 0, &c, &why), 0);
	assert_int_equal(c.verdict, RUNS_NOT_COMPARABLE);
	assert_int_equal(runs_verdict_status(c.verdict), 2);
	assert_int_equal(c.nreason, 1);
	assert_string_equal(c.reason[0].name, "kernel");
	assert_int_equal(c.nnoted, 1);
	assert_string_equal(c.noted[0].name, "load");
	assert_non_null(strstr(c.sentence, "kernel differs (6.1 against 6.2)"));
	runs_comparison_finish(&c);
	/* It was what was changed: then it stands in nobody's way, and is still said. */
	const char *const despite[] = {"threads", "kernel"};
	assert_int_equal(runs_compare(&a, &b, despite, 2, &c, &why), 0);
	assert_int_equal(c.verdict, RUNS_BETTER);
	assert_int_equal(c.nnoted, 2);
	runs_comparison_finish(&c);
	b.run[0].info.threads = 2;
	snprintf(b.run[0].info.kernel, sizeof(b.run[0].info.kernel), "avx2");
	assert_int_equal(runs_compare(&a, &b, despite, 2, &c, &why), 0);
	assert_int_equal(c.nreason, 1);
	assert_string_equal(c.reason[0].name, "gemm_kernel");
	runs_comparison_finish(&c);
	/* The same output from other bits: a finding about the machine, not about its speed. */
	for (size_t i = 0; i < 4; i++) {
		strcpy(a.run[i].info.kernel, "avx2");
		strcpy(b.run[i].info.kernel, "avx2");
	}
	a.run[0].info.golden = 1;
	b.run[0].info.golden = 2;
	assert_int_equal(runs_compare(&a, &b, despite, 2, &c, &why), 0);
	assert_int_equal(c.nreason, 1);
	assert_string_equal(c.reason[0].name, "output_hash");
	runs_comparison_finish(&c);
	runs_side_finish(&a);
	runs_side_finish(&b);
}

static void nothing_in_common(void **state)
{
	(void)state;
	struct runs_side a = simple("a", 1, 0.05), b = side("b", 1);
	member(&b, 0, "1x9x9", 0.05);
	struct runs_comparison c;
	struct why why;
	assert_int_equal(runs_compare(&a, &b, NULL, 0, &c, &why), -EINVAL);
	assert_non_null(strstr(why.text, "in common"));
	runs_side_finish(&a);
	runs_side_finish(&b);
}

/* Two shapes: with 4 + 4 boots only the first is tested, with 5 + 5 both, by Holm. */
static void more_shapes_need_more_boots(void **state)
{
	(void)state;
	for (size_t boots = 4; boots <= 5; boots++) {
		struct runs_side a = side("a", boots), b = side("b", boots);
		for (size_t i = 0; i < boots; i++) {
			member(&a, i, "1x8x8", 0.05 + 0.001 * (double)i);
			member(&a, i, "2x8x8", 0.05 + 0.001 * (double)i);
			member(&b, i, "1x8x8", 0.01 + 0.001 * (double)i);
			member(&b, i, "2x8x8", 0.20 + 0.001 * (double)i);
		}
		struct runs_comparison c;
		struct why why;
		assert_int_equal(runs_compare(&a, &b, NULL, 0, &c, &why), 0);
		assert_int_equal(c.npair, 2);
		assert_string_equal(c.pair[0].shape, "1x8x8");
		assert_int_equal(c.pair[0].verdict, RUNS_BETTER);
		assert_int_equal(c.pair[1].tested, boots == 5);
		assert_int_equal(c.pair[1].verdict, boots == 5 ? RUNS_WORSE : RUNS_DESCRIPTION);
		/* A tested shape that got worse decides, whatever the first one says. */
		assert_int_equal(c.verdict, boots == 5 ? RUNS_WORSE : RUNS_BETTER);
		if (boots == 5) {
			assert_true(fabs(c.pair[0].p - 4.0 / 252) < 1e-9);
		}
		runs_comparison_finish(&c);
		runs_side_finish(&a);
		runs_side_finish(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rungs),
		cmocka_unit_test(processes_of_one_boot_are_one_value),
		cmocka_unit_test(devices_are_compared_with_themselves),
		cmocka_unit_test(devices_move),
		cmocka_unit_test(the_worse_device_is_told),
		cmocka_unit_test(every_device_is_looked_at),
		cmocka_unit_test(what_differs_is_named),
		cmocka_unit_test(nothing_in_common),
		cmocka_unit_test(more_shapes_need_more_boots),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
