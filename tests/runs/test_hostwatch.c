/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel counters of a made-up /proc become events; and of this process's own. */
#include "runs/hostwatch.h"

#include <math.h>
#include <time.h>

#include "base/clock.h"
#include "base/macros.h"
#include "runs/lookout.h"
#include "tests/runs/place.h"

struct counters {
	char state;
	unsigned long long ran[2], waited[2], faults[2], busy[2], idle[2], irq, steal, khz, uptime;
	bool counted; /* idle is what the test says; else nobody but the worker runs */
	bool free;    /* threads may run on both CPUs; else each on its own */
};

static void write_proc(const struct place *p, const struct counters *c)
{
	char s[512];
	for (int i = 0; i < 2; i++) {
		char name[64];
		snprintf(name, sizeof(name), "proc/70/task/%d/schedstat", 70 + i);
		snprintf(s, sizeof(s), "%llu %llu 12\n", c->ran[i], c->waited[i]);
		place_file(p, name, s);
		/* The name may hold anything. */
		snprintf(name, sizeof(name), "proc/70/task/%d/stat", 70 + i);
		snprintf(s, sizeof(s),
			"%d (a) b (c) %c 1 70 70 0 -1 4194304 %llu 0 0 0 10 5 0 0 20 0\n", 70 + i,
			c->state, c->faults[i]);
		place_file(p, name, s);
		snprintf(name, sizeof(name), "proc/70/task/%d/status", 70 + i);
		snprintf(s, sizeof(s), "Name:\tworker\nCpus_allowed_list:\t%s\nMems_allowed:\t1\n",
			c->free ? "0-1"
			: i     ? "1"
				: "0");
		place_file(p, name, s);
	}
	snprintf(s, sizeof(s), "70 (a) b (c) %c 1 70 70 0 -1 4194304 9 0 0 0 10 5 0 0 20 0\n",
		c->state);
	place_file(p, "proc/70/stat", s);
	snprintf(s, sizeof(s),
		"cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 %llu 1 1 %llu 1 0 0 0 0 0\ncpu1 %llu 1 1 %llu 1 %llu 2 %llu 0 0\n"
		"intr 5\n",
		c->busy[0], c->idle[0], c->busy[1], c->idle[1], c->irq, c->steal);
	place_file(p, "proc/stat", s);
	if (c->uptime) {
		snprintf(s, sizeof(s), "%llu.%02llu 5000.00\n", c->uptime / 100, c->uptime % 100);
		place_file(p, "proc/uptime", s);
	}
	snprintf(s, sizeof(s), "%llu\n", c->khz);
	place_file(p, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", s);
}

static const uint64_t period = 100000000;

static size_t step(const struct place *p, struct runs_hostwatch *w, struct counters *c,
	uint64_t *now, struct runs_event *e)
{
	for (int i = 0; i < 2 && !c->counted; i++) {
		c->idle[i] += period / 10000000;
	}
	write_proc(p, c);
	*now += period;
	return runs_hostwatch_poll(w, 70, *now, e);
}

static void each_counter_has_its_event(void **state)
{
	const struct place *p = *state;
	struct runs_hostwatch *w = runs_hostwatch_create(p->root);
	struct runs_event e[RUNS_HOSTWATCH_EVENTS];
	struct counters c = {.state = 'R', .khz = 3000000};
	uint64_t now = 1000000000;
	assert_int_equal(step(p, w, &c, &now, e), 0); /* nothing to compare with */
	for (int i = 0; i < 20; i++) {                /* an ordinary second */
		c.ran[0] += 99000000;
		c.ran[1] += 99000000;
		c.waited[1] += 100000;
		c.faults[1] += 20;
		c.busy[0] += 10;
		c.busy[1] += 10;
		assert_int_equal(step(p, w, &c, &now, e), 0);
	}
	/* Too early: nothing is read. */
	c.waited[1] += 40000000;
	write_proc(p, &c);
	assert_int_equal(runs_hostwatch_poll(w, 70, now + 10000000, e), 0);
	assert_int_equal(step(p, w, &c, &now, e), 1);
	assert_string_equal(e[0].source, "preempted");
	assert_true(e[0].value == 40000000);
	assert_true(e[0].to_ns == now && e[0].from_ns == now - period);

	c.state = 'T';
	c.ran[0] += 30000000;
	assert_int_equal(step(p, w, &c, &now, e), 1);
	assert_string_equal(e[0].source, "stopped");
	assert_true(e[0].value == 70000000);
	c.state = 'R'; /* it went on somewhere in this interval */
	assert_int_equal(step(p, w, &c, &now, e), 1);
	assert_string_equal(e[0].source, "stopped");

	c.faults[1] += 30000;
	assert_int_equal(step(p, w, &c, &now, e), 1);
	assert_string_equal(e[0].source, "page-faults");
	assert_int_equal(e[0].code, 30000);
	assert_true(isnan(e[0].value));

	c.steal += 4;
	c.irq += 3;
	assert_int_equal(step(p, w, &c, &now, e), 2);
	assert_string_equal(e[0].source, "interrupts");
	assert_true(e[0].value == 30000000);
	assert_string_equal(e[1].source, "steal");
	assert_true(e[1].value == 40000000);

	c.khz = 1200000;
	assert_int_equal(step(p, w, &c, &now, e), 1);
	assert_string_equal(e[0].source, "cpu-clock");
	/* Another process, or none: no comparison across. */
	assert_int_equal(runs_hostwatch_poll(w, 0, now += period, e), 0);
	c.waited[0] += 90000000;
	assert_int_equal(step(p, w, &c, &now, e), 0);
	runs_hostwatch_destroy(w);
	runs_hostwatch_destroy(NULL);
}

/* Four readings of 100 ms, all as STEP says; how many events of foreign load, and the last one. */
static size_t foreign(const struct place *p, struct runs_hostwatch *w, struct counters *c,
	const struct counters *by, uint64_t *now, struct runs_event *ret)
{
	struct runs_event e[RUNS_HOSTWATCH_EVENTS];
	size_t found = 0;
	c->counted = true;
	for (int k = 0; k < 4; k++) {
		for (int i = 0; i < 2; i++) {
			c->ran[i] += by->ran[i];
			c->waited[i] += by->waited[i];
			c->busy[i] += by->busy[i];
			c->idle[i] += by->idle[i];
		}
		c->uptime += by->uptime;
		c->irq += by->irq;
		c->steal += by->steal;
		size_t n = step(p, w, c, now, e);
		for (size_t i = 0; i < n; i++) {
			if (!strcmp(e[i].source, "foreign-load")) {
				*ret = e[i];
				found++;
			}
		}
	}
	return found;
}

static void others_on_a_timed_core_are_foreign_load(void **state)
{
	const struct place *p = *state;
	struct runs_hostwatch *w = runs_hostwatch_create(p->root);
	struct runs_event e = {.code = 0}, none[RUNS_HOSTWATCH_EVENTS];
	struct counters c = {.state = 'R', .khz = 3000000};
	uint64_t now = 1000000000;
	write_proc(p, &c);
	assert_int_equal(runs_hostwatch_poll(w, 70, now, none), 0);
	/* Paced launches: a tenth of the time, at each tick that looks. */
	struct counters by = {.ran = {10000000, 10000000}, .busy = {10, 10}, .idle = {9, 9}};
	assert_int_equal(foreign(p, w, &c, &by, &now, &e), 0);
	/* Wakes from idleness that no tick meets: the core is less idle than the worker runs. */
	by.busy[0] = by.busy[1] = 0;
	by.idle[0] = by.idle[1] = 5;
	assert_int_equal(foreign(p, w, &c, &by, &now, &e), 0);
	/* The same, and somebody else on CPU 1 for half of it. */
	by.busy[1] = 7;
	by.idle[1] = 4;
	assert_int_equal(foreign(p, w, &c, &by, &now, &e), 2);
	assert_int_equal(e.code, 50);
	assert_true(isnan(e.value));
	assert_true(e.to_ns == now && e.from_ns == now - 2 * period);
	/* Interrupts and the hypervisor have events of their own. */
	by.irq = 3;
	by.steal = 2;
	assert_int_equal(foreign(p, w, &c, &by, &now, &e), 0);
	by.irq = by.steal = 0;
	/* The thread waited for all of that: it is preempted, and told as that. */
	by.waited[1] = 50000000;
	assert_int_equal(foreign(p, w, &c, &by, &now, &e), 0);
	/* A stopped worker's core is anybody's. */
	by.waited[1] = 0;
	c.state = 'T';
	assert_int_equal(foreign(p, w, &c, &by, &now, &e), 0);
	runs_hostwatch_destroy(w);

	/* Threads that are not pinned have no core of their own. */
	w = runs_hostwatch_create(p->root);
	c.state = 'R';
	c.free = true;
	assert_int_equal(foreign(p, w, &c, &by, &now, &e), 0);
	runs_hostwatch_destroy(w);
}

/* Whoever loses the core between the clock and the counters has looked at them later. */
static void a_late_look_at_the_cpus_is_no_foreign_load(void **state)
{
	const struct place *p = *state;
	struct runs_hostwatch *w = runs_hostwatch_create(p->root);
	struct runs_event e = {.code = 0}, none[RUNS_HOSTWATCH_EVENTS];
	struct counters c = {.state = 'R', .khz = 3000000, .uptime = 5000};
	struct counters by = {
		.ran = {10000000, 10000000}, .busy = {9, 9}, .idle = {9, 9}, .uptime = 10};
	uint64_t now = 1000000000;
	/* The first look came 100 ms late: half of the window's idle time lies before it. */
	write_proc(p, &c);
	now -= period;
	c.counted = true;
	assert_int_equal(runs_hostwatch_poll(w, 70, now, none), 0);
	assert_int_equal(step(p, w, &c, &now, none), 0);
	assert_int_equal(foreign(p, w, &c, &by, &now, &e), 0);
	/* A core that really was another's for as long. */
	by.idle[0] = 3;
	assert_int_equal(foreign(p, w, &c, &by, &now, &e), 2);
	runs_hostwatch_destroy(w);
}

/* A helper that waits or faults beside pinned threads delays no launch. */
static void only_threads_that_launch_count(void **state)
{
	const struct place *p = *state;
	struct runs_hostwatch *w = runs_hostwatch_create(p->root);
	struct runs_event e[RUNS_HOSTWATCH_EVENTS];
	struct counters c = {.state = 'R', .khz = 3000000};
	uint64_t now = 1000000000;
	write_proc(p, &c);
	place_file(p, "proc/70/task/72/status", "Name:\thelper\nCpus_allowed_list:\t0-1\n");
	for (unsigned long long k = 0; k < 4; k++) {
		char s[96];
		snprintf(s, sizeof(s), "1000 %llu 12\n", k * 40000000);
		place_file(p, "proc/70/task/72/schedstat", s);
		snprintf(s, sizeof(s), "72 (h) S 1 70 70 0 -1 64 %llu 0 0 0 1 1 0 0 20 0\n",
			k * 9000);
		place_file(p, "proc/70/task/72/stat", s);
		assert_int_equal(step(p, w, &c, &now, e), 0);
	}
	c.waited[0] += 40000000;
	assert_int_equal(step(p, w, &c, &now, e), 1);
	assert_string_equal(e[0].source, "preempted");
	runs_hostwatch_destroy(w);
}

/* Neither the watcher for gaps, pinned where one core is spare, nor the readings' thread. */
static void the_workers_own_helpers_count_never(void **state)
{
	static const char *const name[] = {"gaps", "telemetry"};
	const struct place *p = *state;
	for (int pinned = 0; pinned < 2; pinned++) {
		struct runs_hostwatch *w = runs_hostwatch_create(p->root);
		struct runs_event e[RUNS_HOSTWATCH_EVENTS];
		struct counters c = {.state = 'R', .khz = 3000000, .free = !pinned};
		uint64_t now = 1000000000;
		write_proc(p, &c);
		place_file(p, "proc/70/task/72/status",
			pinned ? "Name:\tx\nCpus_allowed_list:\t0\n"
			       : "Name:\tx\nCpus_allowed_list:\t0-1\n");
		for (unsigned long long k = 0; k < 8; k++) {
			char s[96];
			snprintf(s, sizeof(s), "1000 %llu 12\n", k * 40000000);
			place_file(p, "proc/70/task/72/schedstat", s);
			snprintf(s, sizeof(s),
				"72 (%s) S 1 70 70 0 -1 64 %llu 0 0 0 1 1 0 0 20 0\n",
				name[k % 2 && !pinned], k * 9000);
			place_file(p, "proc/70/task/72/stat", s);
			assert_int_equal(step(p, w, &c, &now, e), 0);
		}
		c.waited[1] += 40000000;
		assert_int_equal(step(p, w, &c, &now, e), 1);
		assert_string_equal(e[0].source, "preempted");
		runs_hostwatch_destroy(w);
	}
}

static void a_process_that_is_gone(void **state)
{
	const struct place *p = *state;
	struct runs_hostwatch *w = runs_hostwatch_create(p->root);
	struct runs_event e[RUNS_HOSTWATCH_EVENTS];
	uint64_t now = 1;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(runs_hostwatch_poll(w, 4711, now += period, e), 0);
	}
	runs_hostwatch_destroy(w);
}

static void the_real_proc_is_read(void **state)
{
	(void)state;
	struct runs_hostwatch *w = runs_hostwatch_create(NULL);
	struct runs_event e[RUNS_HOSTWATCH_EVENTS];
	assert_int_equal(runs_hostwatch_poll(w, getpid(), clock_ns(), e), 0);
	enum { PAGES = 20000 };
	char *p = malloc((size_t)PAGES * 4096);
	for (size_t i = 0; i < PAGES; i++) {
		((volatile char *)p)[i * 4096] = 1;
	}
	struct timespec ts = {.tv_nsec = 60000000};
	nanosleep(&ts, NULL);
	size_t n = runs_hostwatch_poll(w, getpid(), clock_ns(), e), found = 0;
	for (size_t i = 0; i < n; i++) {
		/* With huge pages 80 MB are 40 faults: then there is nothing to see. */
		found += !strcmp(e[i].source, "page-faults") && e[i].code > 1000;
		assert_true(e[i].to_ns > e[i].from_ns);
	}
	print_message("%zu events, page faults %s\n", n, found ? "seen" : "not seen");
	free(p);
	runs_hostwatch_destroy(w);
}

/* Events come by later polls, from a thread that may read half of what is written meanwhile. */
static void the_lookout_hands_them_on(void **state)
{
	const struct place *p = *state;
	struct runs_lookout *l = runs_lookout_create(p->root);
	struct runs_event e[RUNS_HOSTWATCH_EVENTS];
	struct counters c = {.state = 'R', .khz = 3000000};
	bool seen = false;
	write_proc(p, &c);
	for (uint64_t end = clock_ns() + 60000000000u; !seen && clock_ns() < end;) {
		const struct timespec nap = {.tv_nsec = 5000000};
		size_t n = runs_lookout_poll(l, 70, e);
		for (size_t i = 0; i < n; i++) {
			seen |= !strcmp(e[i].source, "preempted") && e[i].to_ns > e[i].from_ns;
		}
		c.waited[0] += 1000000;
		write_proc(p, &c);
		nanosleep(&nap, NULL);
	}
	assert_true(seen);
	assert_int_equal(runs_lookout_poll(l, 0, e), 0);
	runs_lookout_destroy(l);
	runs_lookout_destroy(NULL);
	assert_int_equal(runs_lookout_poll(NULL, 70, e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			each_counter_has_its_event, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			the_lookout_hands_them_on, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			others_on_a_timed_core_are_foreign_load, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			a_late_look_at_the_cpus_is_no_foreign_load, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			only_threads_that_launch_count, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			the_workers_own_helpers_count_never, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			a_process_that_is_gone, place_setup, place_teardown),
		cmocka_unit_test(the_real_proc_is_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
