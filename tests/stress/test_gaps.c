/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cores that stand still. An SMI cannot be had here on order: the clock and the kernel's count of
 * switches are made up, as they would read then. The thread is the real one.
 */
#include "stress/gaps.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static uint64_t switches, asked;

static uint64_t count(void *data)
{
	(void)data;
	asked++;
	return switches;
}

static int start(void **state)
{
	(void)state;
	switches = 7;
	asked = 0;
	return 0;
}

/* Looks every 50 ns from *NOW on for NS; how many gaps. */
static unsigned look(struct stress_gap_look *l, uint64_t *now, uint64_t ns, struct stress_event *e)
{
	unsigned n = 0;
	for (uint64_t end = *now + ns; *now < end; *now += 50) {
		n += stress_gap_step(l, *now, e);
	}
	return n;
}

static void a_jump_without_a_switch_is_a_gap(void **state)
{
	(void)state;
	struct stress_gap_look l = {.count = count};
	struct stress_event e;
	uint64_t now = 5000000000;
	assert_int_equal(look(&l, &now, 3000000, &e), 0);
	for (unsigned i = 0; i < 5; i++) {
		const uint64_t from = now - 50;
		now += 300000; /* all cores in the firmware */
		assert_int_equal(look(&l, &now, 10000000, &e), 1);
		assert_int_equal(e.kind, STRESS_EVENT_GAP);
		assert_int_equal(e.ns, from);
		assert_int_equal(e.value, 300050);
	}
	now += STRESS_GAP_NS - 60; /* an interrupt */
	assert_int_equal(look(&l, &now, 10000000, &e), 0);
	assert_true(asked < 100); /* in 63 ms: the kernel is not asked at every look */
}

static void a_core_that_another_task_had_is_none(void **state)
{
	(void)state;
	struct stress_gap_look l = {.count = count};
	struct stress_event e;
	uint64_t now = 5000000000;
	look(&l, &now, 3000000, &e);
	for (unsigned i = 0; i < 5; i++) {
		now += 4000000;
		switches += 2;
		assert_int_equal(look(&l, &now, 3000000, &e), 0);
	}
	/* A switch too short to be seen does not hide the gap after it. */
	switches++;
	now += 3000;
	assert_int_equal(look(&l, &now, 3000000, &e), 0);
	now += 300000;
	assert_int_equal(look(&l, &now, 3000000, &e), 1);
}

static void the_thread_starts_and_ends(void **state)
{
	(void)state;
	struct stress_host host;
	struct stress_gaps *g = NULL;
	struct stress_event e[64];
	static struct stress_ring_ends ends;
	static unsigned char slots[64 * STRESS_SLOT];
	struct stress_ring in, out;
	stress_ring_init(&in, &ends, slots, 64);
	stress_ring_init(&out, &ends, slots, 64);
	struct why why = {""};
	stress_host_read("", &host);
	assert_int_equal(stress_gaps_start(&host, host.cpus, &in, &g, &why), -EBUSY);
	assert_non_null(strstr(why.text, "no core is left"));
	assert_null(g);
	/* One thread launches wherever it is put: a single core is none to spare. */
	const struct stress_host single = {.cpus = 1};
	assert_int_equal(stress_gaps_start(&single, 0, &in, &g, &why), -EBUSY);
	const struct stress_host granted = {.cpus = 16, .quota = 2};
	assert_int_equal(stress_gaps_start(&granted, 2, &in, &g, &why), -EBUSY);
	if (host.cpus < 2) {
		skip();
	}
	assert_int_equal(stress_gaps_start(&host, 0, &in, &g, &why), 0);
	for (unsigned i = 0; i < 20; i++) {
		size_t n = stress_ring_pop(&out, e, 64);
		for (size_t k = 0; k < n; k++) { /* a hypervisor's, if any */
			assert_int_equal(e[k].kind, STRESS_EVENT_GAP);
			assert_true(e[k].value >= STRESS_GAP_NS);
		}
		poll(NULL, 0, 5);
	}
	stress_gaps_finish(g);
	stress_gaps_finish(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_jump_without_a_switch_is_a_gap, start),
		cmocka_unit_test_setup(a_core_that_another_task_had_is_none, start),
		cmocka_unit_test(the_thread_starts_and_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
