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
#include "runs/attribute.h"
#include "runs/random.h"
#include "stress/telemetry.h"

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

/* A core that stood still is no reading: it costs nothing, and takes what it took. */
static void gaps_tell_how_long(void **state)
{
	(void)state;
	assert_true(take(STRESS_EVENT_GAP, 340000, "", 0));
	assert_string_equal(event.source, "tsc-gap");
	assert_int_equal(event.to_ns, now + 340000);
	assert_true(event.value == 340000);
	assert_int_equal(r.calls, 0);
	assert_true(take(STRESS_EVENT_GAP, 340000, "", 0)); /* the same again is another one */
}

static void calls_cost_time(void **state)
{
	(void)state;
	assert_false(take(STRESS_EVENT_READING, 0, "FieldValues", 40));
	assert_false(take(STRESS_EVENT_TEMPERATURE, 61000, "Temperature", 900));
	assert_false(take(STRESS_EVENT_TEMPERATURE, 62000, "Temperature", 60));
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

/* -- readings that delay launches ----------------------------------------------------------- */

enum { RUN_S = 60, LAUNCH_US = 300, CALL_MS = 8, CALLS_S = 5, MOST = 4096 };

/*
 * A run in which a reading holds the driver's lock for 8 ms five times a second and launches
 * wait for it, marked as the engine marks them; noise of 10 us, and now and then another delay.
 */
static size_t play(struct runs_episode *ret, double *ret_perturbed)
{
	const uint64_t second = 1000000000, end = RUN_S * second;
	struct runs_episodes *found = runs_episodes_create();
	static struct stress_calls calls;
	uint64_t seed = 7, at = second, call = second + second / 7, samples = 0, perturbed = 0;
	size_t n = 0;

	calls = (struct stress_calls){.begun = 0};
	while (at < end) {
		struct stress_sample s = {.submit_ns = at, .flags = STRESS_HAS_DEVICE};
		struct stress_span span[4];
		uint64_t took = LAUNCH_US * 1000 + (uint64_t)(runs_random_unit(&seed) * 10000);

		if (at + took > call) { /* the launch waits for the reading */
			stress_calls_begin(&calls, call);
			took += CALL_MS * 1000000;
			stress_calls_end(&calls, call + CALL_MS * 1000000);
			call += second / CALLS_S / 2 +
				(uint64_t)(runs_random_unit(&seed) * (double)second / CALLS_S);
		} else if (runs_random_unit(&seed) < 0.0001) {
			took += 5000000;
		}
		s.done_ns = at + took;
		s.start_ns = s.done_ns - LAUNCH_US * 1000;
		s.end_ns = s.done_ns;
		if (stress_spans_touch(
			    span, stress_calls_since(&calls, at, span, 4), at, s.done_ns)) {
			s.flags |= STRESS_PERTURBED;
			perturbed++;
		}
		samples++;
		runs_episodes_add(found, &s, 1);
		n += runs_episodes_take(found, s.done_ns, ret + n, MOST - n);
		at = s.done_ns + 1000;
	}
	n += runs_episodes_take(found, UINT64_MAX, ret + n, MOST - n);
	runs_episodes_destroy(found);
	*ret_perturbed = (double)perturbed / (double)samples;
	return n;
}

static void slow_readings_are_named(void **state)
{
	static struct runs_episode e[MOST];
	struct runs_attribution a;
	double share;
	size_t right = 0, slow = 0;

	(void)state;
	const size_t n = play(e, &share);

	runs_attribute(e, n, NULL, 0, 1000000000, RUN_S * (uint64_t)1000000000, share, &a);
	for (size_t i = 0; i < n; i++) {
		const bool named = a.of[i] >= 0 && !strcmp(a.source[a.of[i]].name, "reading");

		slow += e[i].perturbed > 0;
		right += named && e[i].perturbed > 0;
		assert_false(named && !e[i].perturbed);
	}
	print_message("%zu episodes, %zu beside a reading, %zu put down to one\n", n, slow, right);
	assert_true(slow > 200 && n > slow);
	assert_true(right * 10 >= slow * 9);
	runs_attribution_finish(&a);
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
		RUN(gaps_tell_how_long),
		RUN(calls_cost_time),
		RUN(the_last_of_each_kind_is_the_state),
		RUN(unknown_kinds_are_ignored),
		RUN(slow_readings_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
