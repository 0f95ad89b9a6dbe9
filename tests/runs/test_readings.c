/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings of a GPU: which become events of a run, what they cost, what a second's state says. */
#include "runs/readings.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

static uint64_t now;
static struct runs_readings r;
static struct runs_event event;

static bool take(unsigned kind, int64_t value, const char *text, uint64_t took_us)
{
	struct stress_event e = {.kind = kind, .value = value, .took_ns = took_us * 1000};

	now += 200000000;
	e.ns = now;
	e.since_us = 200000;
	text_copy(e.text, sizeof(e.text), text);
	return runs_readings_take(&r, &e, &event);
}

static int start(void **state)
{
	(void)state;
	r = (struct runs_readings){.fresh = false};
	now = 1000000000;
	return 0;
}

static void states_are_stored_when_they_change(void **state)
{
	(void)state;
	assert_false(take(STRESS_EVENT_PSTATE, 0, "PerformanceState", 10));
	assert_false(take(STRESS_EVENT_PSTATE, 0, "PerformanceState", 10));
	assert_true(take(STRESS_EVENT_PSTATE, 2, "PerformanceState", 10));
	/* It changed at some time between the two readings. */
	assert_int_equal(event.from_ns, now - 200000000);
	assert_int_equal(event.to_ns, now + 10000);
	assert_int_equal(event.code, 2);
	assert_true(isnan(event.value));
	assert_string_equal(event.source, "pstate");
}

static void a_clock_that_wobbles_is_one_state(void **state)
{
	(void)state;
	assert_false(take(STRESS_EVENT_CLOCK_SM, 1980, "ClockInfo", 5));
	assert_false(take(STRESS_EVENT_CLOCK_SM, 1965, "ClockInfo", 5));
	assert_false(take(STRESS_EVENT_CLOCK_SM, 1980, "ClockInfo", 5));
	assert_true(take(STRESS_EVENT_CLOCK_SM, 1755, "ClockInfo", 5));
	assert_false(take(STRESS_EVENT_CLOCK_SM, 1755, "ClockInfo", 5));
	assert_int_equal(r.least[STRESS_EVENT_CLOCK_SM], 1755);
	assert_int_equal(r.most[STRESS_EVENT_CLOCK_SM], 1980);
}

static void reasons_are_named(void **state)
{
	(void)state;
	assert_false(take(STRESS_EVENT_THROTTLE, 0, "CurrentClocksEventReasons", 5));
	assert_true(take(STRESS_EVENT_THROTTLE, 0x4, "CurrentClocksEventReasons", 5));
	assert_string_equal(event.source, "throttle");
	assert_string_equal(event.note, "power cap");
	assert_true(take(STRESS_EVENT_THROTTLE, 0x40, "CurrentClocksEventReasons", 5));
	assert_int_equal(r.reasons, 0x44);
}

static void each_policy_is_a_source(void **state)
{
	(void)state;
	assert_true(take(STRESS_EVENT_THROTTLED, 5000, "power", 0));
	assert_string_equal(event.source, "throttled-power");
	assert_true(take(STRESS_EVENT_THROTTLED, 5000, "power", 0));
	assert_true(take(STRESS_EVENT_THROTTLED, 7, "board limit", 0));
	assert_string_equal(event.source, "throttled-board-limit");
	assert_int_equal(event.code, 7);
	assert_int_equal(r.throttled_ns[NVML_POLICY_POWER], 10000);
	assert_int_equal(r.throttled_ns[NVML_POLICY_BOARD_LIMIT], 7);
}

static void errors_add_up(void **state)
{
	(void)state;
	assert_true(take(STRESS_EVENT_ECC, 3, "corrected", 5));
	assert_true(take(STRESS_EVENT_ECC, 3, "corrected", 5));
	assert_true(take(STRESS_EVENT_AER, 1, "correctable", 5));
	assert_int_equal(r.value[STRESS_EVENT_ECC], 6);
	assert_true(take(STRESS_EVENT_XID, 79, "GPU has fallen off the bus", 0));
	assert_int_equal(event.code, 79);
}

static void calls_cost_time(void **state)
{
	(void)state;
	assert_false(take(STRESS_EVENT_READING, 0, "FieldValues", 40));
	assert_false(take(STRESS_EVENT_TEMPERATURE, 61000, "Temperature", 900));
	assert_false(take(STRESS_EVENT_TEMPERATURE, 62000, "Temperature", 60));
	assert_true(take(STRESS_EVENT_NOTE, 1, "kernels refused", 0));
	assert_int_equal(r.calls, 3);
	assert_int_equal(r.took_ns, 1000000);
	assert_int_equal(r.slowest_ns, 900000);
	assert_string_equal(r.slowest, "Temperature");
	assert_int_equal(r.last_ns - r.first_ns, 400000000 + 60000);
}

static void the_last_of_each_kind_is_the_state(void **state)
{
	(void)state;
	assert_null(runs_readings_json(&r));
	take(STRESS_EVENT_READING, 0, "FieldValues", 40);
	assert_null(runs_readings_json(&r));
	take(STRESS_EVENT_TEMPERATURE, 61000, "Temperature", 9);
	take(STRESS_EVENT_MEM_TEMPERATURE, 70000, "FieldValues", 9);
	take(STRESS_EVENT_REPLAY, 2, "PCIe replays", 9);
	take(STRESS_EVENT_REPLAY, 3, "PCIe replays", 9);
	assert_true(r.fresh);
	char *s = runs_readings_json(&r);

	assert_non_null(strstr(s, "\"temperature_c\":61"));
	assert_non_null(strstr(s, "\"memory_temperature_c\":70"));
	assert_non_null(strstr(s, "\"pcie_replays\":5"));
	assert_false(r.fresh);
	free(s);
}

static void unknown_kinds_are_ignored(void **state)
{
	(void)state;
	assert_false(take(STRESS_EVENT_KINDS, 1, "", 5));
	assert_false(take(UINT32_MAX, 1, "", 5));
	assert_int_equal(r.calls, 0);
}

int main(void)
{
#define RUN(name) cmocka_unit_test_setup(name, start)
	const struct CMUnitTest tests[] = {
		RUN(states_are_stored_when_they_change),
		RUN(a_clock_that_wobbles_is_one_state),
		RUN(reasons_are_named),
		RUN(each_policy_is_a_source),
		RUN(errors_add_up),
		RUN(calls_cost_time),
		RUN(the_last_of_each_kind_is_the_state),
		RUN(unknown_kinds_are_ignored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
