/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `stress` claims of a floor and of a pace, from samples that are made up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "cli/stress.h"

static const struct runs_readings no_readings;
static const struct runs_hist no_hist;

/* N launches, each DEVICE_NS on the device and HOST_NS from its intended start to its end. */
static struct runs_collect *collect(unsigned n, uint64_t device_ns, uint64_t host_ns)
{
	struct runs_collect *c = runs_collect_create(1, false);

	for (unsigned i = 0; i < n; i++) {
		const uint64_t t = 1 + i * (uint64_t)10000;
		const struct stress_sample s = {.seq = i,
			.submit_ns = t,
			.start_ns = t + host_ns - device_ns,
			.end_ns = t + host_ns,
			.done_ns = t + host_ns,
			.flags = STRESS_GEMM | STRESS_HAS_DEVICE};

		runs_collect_add(c, &s, 1);
	}
	return c;
}

static void slower_loops_are_no_ceiling(void **state)
{
	static const struct {
		double ceiling; /* the GEMM moves 1e9 bytes a second */
		bool told;
	} cases[] = {{2e9, true}, {0.96e9, true}, {0.9e9, false}, {0, false}};
	struct runs_collect *c = collect(100, 1000, 2000);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct cmd_stress_options o = {0};
		struct cmd_stress_result r = {.collect = c, .readings = &no_readings};
		struct cmd_stress_summary s;

		r.status.bytes = 1000;
		r.status.max_error = -1;
		r.status.ceiling_bytes_per_s = cases[i].ceiling;
		cmd_stress_summarise(&r, &s);
		struct js *j = cmd_stress_json(&o, &r, &s);

		assert_int_equal(js_get(j, "floor_ns") != NULL, cases[i].told);
		assert_int_equal(js_get(j, "ceiling_share") != NULL, cases[i].told);
		assert_int_equal(js_get(j, "ceiling_gb_per_s") != NULL, cases[i].ceiling > 0);
		js_free(j);
	}
	runs_collect_destroy(c);
}

static void only_long_launches_wait_ever_longer(void **state)
{
	static const struct {
		uint64_t device_ns;
		bool longer;
	} cases[] = {{4000, false}, {6000, true}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		/* One long stop makes all of them late; what they take decides. */
		const struct cmd_stress_options o = {.config.paced_ns = 5000};
		struct cmd_stress_result r = {.collect = collect(100, cases[i].device_ns, 900000),
			.missed = 90,
			.readings = &no_readings,
			.with = &no_hist,
			.without = &no_hist};
		struct cmd_stress_summary s;
		struct text t = {0};

		r.status.max_error = -1;
		cmd_stress_summarise(&r, &s);
		cmd_stress_print(&t, &o, &r, &s, (struct cmd_style){0});
		_cleanup_free_ char *out = text_steal(&t);

		assert_non_null(strstr(out, "90 of 100 began more than a period late"));
		assert_int_equal(strstr(out, "wait ever longer") != NULL, cases[i].longer);
		runs_collect_destroy((struct runs_collect *)r.collect);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slower_loops_are_no_ceiling),
		cmocka_unit_test(only_long_launches_wait_ever_longer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
