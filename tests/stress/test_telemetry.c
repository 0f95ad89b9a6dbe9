/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's telemetry on the fakes of CUDA and NVML: what is read beside the launches, what a
 * slow, hanging or lost NVML does to a run, what ends one early, and locked clocks on all ways out.
 */
#include "stress/telemetry.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/macros.h"
#include "stress/gpu_facts.h"
#include "stress/nvml.h"
#include "stress/worker.h"

static const uint64_t second = 1000000000u;

enum { KEPT = 200000, EVENTS = 4096 };

struct front {
	struct stress_worker *w;
	struct stress_status status;
	uint64_t gemms, perturbed, hushed;
	struct stress_sample *sample; /* the first KEPT of them */
	size_t samples;
	struct stress_event event[EVENTS];
	size_t events;
};

static struct front f;
static struct stress_config config;

static int set_up(void **state)
{
	struct why why;

	(void)state;
	f = (struct front){.sample = calloc(KEPT, sizeof(*f.sample))};
	stress_config_init(&config);
	snprintf(config.backend, sizeof(config.backend), "cuda");
	config.copies = 3;
	return !f.sample || stress_shape_parse("2x64x40", &config.shape, &why);
}

static int tear_down(void **state)
{
	(void)state;
	stress_worker_destroy(f.w, 5000);
	free(f.sample);
	unsetenv("FAKE_GPU_LOCK");
	unsetenv("FAKE_NVML_CLOCKS");
	return 0;
}

/* Ready for another run. */
static void clear(void)
{
	stress_worker_destroy(f.w, 5000);
	f.w = NULL;
	f.status = (struct stress_status){0};
	f.gemms = f.perturbed = f.hushed = f.samples = f.events = 0;
}

static void start(const char *orders)
{
	struct why why = {""};

	setenv("FAKE_CUDA", "", 1);
	setenv("FAKE_NVML", orders, 1);
	if (stress_worker_start(&config, &f.w, &why) < 0) {
		fail_msg("%s", why.text);
	}
}

static void turn(void)
{
	static struct stress_sample batch[1024];
	struct pollfd p = {.fd = stress_worker_fd(f.w), .events = POLLIN};
	size_t n;

	poll(&p, 1, 20);
	stress_worker_poll(f.w);
	stress_worker_status(f.w, &f.status);
	while ((n = stress_worker_read(f.w, batch, ARRAY_LEN(batch))) > 0) {
		for (size_t i = 0; i < n; i++) {
			f.gemms += stress_series_of(&batch[i]) == STRESS_GEMM;
			f.perturbed += (batch[i].flags & STRESS_PERTURBED) != 0;
			f.hushed += (batch[i].flags & STRESS_HUSHED) != 0;
			if (f.samples < KEPT) {
				f.sample[f.samples++] = batch[i];
			}
		}
	}
	f.events += stress_worker_events(f.w, &f.event[f.events], EVENTS - f.events);
}

/* The last event of KIND, whose text begins with TEXT; NULL: none. */
static const struct stress_event *find(unsigned kind, const char *text)
{
	for (size_t i = f.events; i > 0; i--) {
		const struct stress_event *e = &f.event[i - 1];

		if (e->kind == kind && !strncmp(e->text, text, strlen(text))) {
			return e;
		}
	}
	return NULL;
}

static bool is_over(void)
{
	return f.status.phase == STRESS_DONE || f.status.phase == STRESS_FAILED ||
	       f.status.phase == STRESS_DIED;
}

static void check_patience(uint64_t began)
{
	if (clock_ns() - began > 60 * second) {
		fail_msg("%u samples, %zu events, phase %d: %s", (unsigned)f.gemms, f.events,
			f.status.phase, f.status.why);
	}
}

static const struct stress_event *await_event(unsigned kind, const char *text)
{
	const uint64_t began = clock_ns();
	const struct stress_event *e;

	while (!(e = find(kind, text))) {
		turn();
		check_patience(began);
		assert_false(is_over());
	}
	return e;
}

static void await_gemms(uint64_t n)
{
	const uint64_t began = clock_ns();

	while (f.gemms < n) {
		turn();
		check_patience(began);
		assert_false(is_over());
	}
}

static void await_end(enum stress_phase phase)
{
	const uint64_t began = clock_ns();

	while (!is_over()) {
		turn();
		check_patience(began);
	}
	if (f.status.phase != phase) {
		fail_msg("phase %d: %s", f.status.phase, f.status.why);
	}
}

static void readings_come_beside_the_launches(void **state)
{
	(void)state;
	start("celsius=61,step=15,reasons=0x4,capped=30");
	assert_int_equal(await_event(STRESS_EVENT_TEMPERATURE, "Temperature")->value, 61000);
	assert_int_equal(await_event(STRESS_EVENT_MEM_TEMPERATURE, "FieldValues")->value, 67000);
	assert_int_equal(await_event(STRESS_EVENT_POWER, "PowerUsage")->value, 300000);
	assert_int_equal(await_event(STRESS_EVENT_THROTTLE, "CurrentClocksEventReasons")->value, 4);
	assert_int_equal(await_event(STRESS_EVENT_LINK, "CurrPcieLinkWidth")->value, 4 << 8 | 16);
	assert_int_equal(await_event(STRESS_EVENT_CLOCK_MEM, "ClockInfo")->value, 3201);
	assert_true(await_event(STRESS_EVENT_THROTTLED, "power")->value > 0);
	assert_null(find(STRESS_EVENT_THROTTLED, "thermal"));
	assert_null(find(STRESS_EVENT_ECC, "")); /* two corrected ones are old */
	assert_null(find(STRESS_EVENT_REPLAY, ""));
	const int64_t mhz = await_event(STRESS_EVENT_CLOCK_SM, "")->value;

	assert_true(mhz == 1980 || mhz == 1965);
	assert_string_equal(f.status.address, "0000:41:00.0");
	assert_string_equal(f.status.telemetry, "");
	assert_int_equal(f.status.limit_celsius, 92);
	for (size_t i = 0; i < f.events; i++) {
		assert_true(f.event[i].ns > 0 && f.event[i].took_ns < 60 * second);
	}
	stress_worker_stop(f.w);
	await_end(STRESS_DONE);
	assert_int_equal(f.status.ended, STRESS_ENDED_WELL);
	assert_string_equal(f.status.why, "");
}

/* No sample that overlaps a call goes unmarked, and not all are marked. */
static void disturbed_launches_are_marked(void **state)
{
	char path[] = "/tmp/barscope-lock-XXXXXX";
	const int fd = mkstemp(path);
	size_t unmarked = 0, long_calls = 0;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	setenv("FAKE_GPU_LOCK", path, 1);
	start("slow=4000");
	await_gemms(2000);
	await_event(STRESS_EVENT_TEMPERATURE, "");
	await_event(STRESS_EVENT_LINK, "");
	await_gemms(f.gemms + 1000);
	stress_worker_stop(f.w);
	await_end(STRESS_DONE);
	unlink(path);
	for (size_t i = 0; i < f.events; i++) {
		const struct stress_event *e = &f.event[i];

		long_calls += e->took_ns >= 4000000;
		for (size_t k = 0; k < f.samples; k++) {
			const struct stress_sample *s = &f.sample[k];

			unmarked += e->took_ns && s->submit_ns <= e->ns + e->took_ns &&
				    s->done_ns >= e->ns && !(s->flags & STRESS_PERTURBED);
		}
	}
	assert_true(long_calls >= 10);
	assert_true(f.perturbed > 0 && f.perturbed < f.samples);
	assert_int_equal(unmarked, 0);
}

static void a_hanging_nvml_costs_the_readings_only(void **state)
{
	(void)state;
	start("hang=GetPowerUsage");
	await_event(STRESS_EVENT_CLOCK_SM, "");
	await_gemms(4000);
	stress_worker_stop(f.w);
	await_end(STRESS_DONE);
	assert_null(find(STRESS_EVENT_POWER, ""));
	clear();

	start("hang=nvmlInit");
	await_gemms(2000);
	stress_worker_stop(f.w);
	await_end(STRESS_DONE);
	assert_int_equal(f.events, 0);
}

static void without_nvml_the_reason_is_said(void **state)
{
	const uint64_t began = clock_ns();

	(void)state;
	start("nodriver");
	while (!f.status.telemetry[0]) {
		turn();
		check_patience(began);
	}
	assert_non_null(strstr(f.status.telemetry, "Driver Not Loaded"));
	await_gemms(100);
	assert_non_null(await_event(STRESS_EVENT_READING, "sysfs"));
}

static void nothing_is_read_when_told_so(void **state)
{
	(void)state;
	config.no_telemetry = true;
	start("");
	await_gemms(2000);
	assert_int_equal(f.events, 0);
	assert_int_equal(f.perturbed, 0);
}

static void the_self_test_reads_every_other_second(void **state)
{
	const uint64_t began = clock_ns();

	(void)state;
	config.telemetry_test = true;
	start("");
	while (f.hushed < 100 || f.gemms - f.hushed < 100 || clock_ns() - began < 3 * second) {
		turn();
		check_patience(began);
	}
	/* In a silent second, once the last call has ended, there is none. */
	for (size_t i = 0; i < f.samples; i++) {
		assert_int_not_equal(f.sample[i].flags & (STRESS_PERTURBED | STRESS_HUSHED),
			STRESS_PERTURBED | STRESS_HUSHED);
	}
}

static void an_xid_ends_the_run(void **state)
{
	(void)state;
	start("xid=79:1500");
	await_end(STRESS_DONE);
	assert_int_equal(f.status.ended, STRESS_ENDED_XID);
	assert_non_null(strstr(f.status.why, "Xid 79, GPU has fallen off the bus"));
	assert_non_null(find(STRESS_EVENT_XID, "GPU has fallen"));
}

static void heat_ends_the_run(void **state)
{
	(void)state;
	start("celsius=91,heat=1");
	await_end(STRESS_DONE);
	assert_int_equal(f.status.ended, STRESS_ENDED_HOT);
	assert_non_null(strstr(f.status.why, "reached 92 °C; the run stops at 92 °C"));
	clear();

	config.max_celsius = 50;
	start("celsius=48,heat=1");
	await_end(STRESS_DONE);
	assert_int_equal(f.status.ended, STRESS_ENDED_HOT);
	assert_non_null(strstr(f.status.why, "stops at 50 °C"));
	clear();

	config.max_celsius = 0;
	start("margin=3,heat=2");
	await_end(STRESS_DONE);
	assert_int_equal(f.status.ended, STRESS_ENDED_HOT);
	assert_non_null(strstr(f.status.why, "1 °C from its temperature limit"));
}

static void a_lost_gpu_ends_the_run(void **state)
{
	(void)state;
	start("lost=30");
	await_end(STRESS_DONE);
	assert_int_equal(f.status.ended, STRESS_ENDED_LOST);
	assert_non_null(strstr(f.status.why, "NVML has lost the GPU at 0000:41:00.0"));
}

/* -- locked clocks ---------------------------------------------------------------------- */

static char clocks[] = "/tmp/barscope-clocks-XXXXXX";

static long locked(void)
{
	FILE *file = fopen(clocks, "re");
	long mhz = -1;

	assert_non_null(file);
	if (fscanf(file, "%ld", &mhz) != 1) {
		mhz = 0;
	}
	fclose(file);
	return mhz;
}

static void locked_clocks_are_restored(void **state)
{
	(void)state;
	setenv("FAKE_NVML_CLOCKS", clocks, 1);
	config.lock_mhz = 1200;
	start("");
	await_gemms(100);
	assert_int_equal(locked(), 1200);
	assert_int_equal(f.status.locked_mhz, 1200);
	assert_int_equal(await_event(STRESS_EVENT_CLOCK_SM, "")->value, 1200);
	stress_worker_stop(f.w);
	await_end(STRESS_DONE);
	assert_int_equal(locked(), 0);
	assert_int_equal(f.status.locked_mhz, 0);
	clear();

	/* A launch that fails is another way out, an Xid a third one. */
	setenv("FAKE_CUDA", "fail=2000", 1);
	setenv("FAKE_NVML", "", 1);
	struct why why;

	assert_int_equal(stress_worker_start(&config, &f.w, &why), 0);
	await_end(STRESS_FAILED);
	assert_int_equal(locked(), 0);
	clear();

	start("xid=31:500");
	await_end(STRESS_DONE);
	assert_int_equal(locked(), 0);
}

static void a_killed_worker_leaves_them_to_the_front(void **state)
{
	struct why why = {""};

	(void)state;
	setenv("FAKE_NVML_CLOCKS", clocks, 1);
	config.lock_mhz = 1300;
	start("");
	await_gemms(100);
	assert_int_equal(locked(), 1300);
	kill(f.status.pid, SIGKILL);
	await_end(STRESS_DIED);
	assert_int_equal(f.status.locked_mhz, 1300);
	assert_int_equal(locked(), 1300);
	if (stress_gpu_unlock(f.status.address, 20000, &why) < 0) {
		fail_msg("%s", why.text);
	}
	assert_int_equal(locked(), 0);

	setenv("FAKE_NVML", "denied=ResetGpu", 1);
	assert_true(stress_gpu_unlock(f.status.address, 20000, &why) < 0);
	assert_non_null(strstr(why.text, "locked clocks cannot be released"));
}

static void clocks_that_cannot_be_locked_end_it(void **state)
{
	(void)state;
	setenv("FAKE_NVML_CLOCKS", clocks, 1);
	config.lock_mhz = 1200;
	start("denied=SetGpuLocked");
	await_end(STRESS_FAILED);
	assert_non_null(strstr(f.status.why, "clocks cannot be locked"));
	assert_non_null(strstr(f.status.why, "it needs root"));
	assert_int_equal(f.status.locked_mhz, 0);
	clear();

	start("nodriver");
	await_end(STRESS_FAILED);
	assert_non_null(strstr(f.status.why, "Driver Not Loaded"));
	clear();

	snprintf(config.backend, sizeof(config.backend), "cpu");
	start("");
	await_end(STRESS_FAILED);
	assert_non_null(strstr(f.status.why, "with the cuda back end only"));
}

/* -- pieces -------------------------------------------------------------------------------- */

static void calls_are_found_by_time(void **state)
{
	static struct stress_calls c;
	struct stress_span s[4];

	(void)state;
	assert_int_equal(stress_calls_since(&c, 0, s, 4), 0);
	for (uint64_t i = 1; i <= 200; i++) {
		stress_calls_begin(&c, i * 100);
		stress_calls_end(&c, i * 100 + 10);
	}
	assert_int_equal(stress_calls_since(&c, 19905, s, 4), 2);
	assert_int_equal(s[0].from_ns, 20000);
	assert_int_equal(s[1].from_ns, 19900);
	assert_int_equal(stress_calls_since(&c, 0, s, 4), 4);
	assert_true(stress_spans_touch(s, 4, 19910, 19950));
	assert_false(stress_spans_touch(s, 4, 19911, 19999));
	stress_calls_begin(&c, 20100);
	assert_int_equal(stress_calls_since(&c, 20050, s, 4), 1);
	assert_true(s[0].to_ns == UINT64_MAX);
	assert_true(stress_spans_touch(s, 1, 50000, 50001));
}

static void errors_have_names(void **state)
{
	(void)state;
	assert_string_equal(stress_xid_name(79), "GPU has fallen off the bus");
	assert_string_equal(stress_xid_name(7777), "");
	for (uint64_t i = 0; i < 200; i++) {
		assert_true(strlen(stress_xid_name(i)) < sizeof(((struct stress_event *)0)->text));
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--worker")) {
		return stress_worker_main(argc, argv);
	}
	const int fd = mkstemp(clocks);

	if (fd < 0) {
		return 1;
	}
	close(fd);
#define RUN(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_are_found_by_time),
		cmocka_unit_test(errors_have_names),
		RUN(readings_come_beside_the_launches),
		RUN(disturbed_launches_are_marked),
		RUN(a_hanging_nvml_costs_the_readings_only),
		RUN(without_nvml_the_reason_is_said),
		RUN(nothing_is_read_when_told_so),
		RUN(the_self_test_reads_every_other_second),
		RUN(an_xid_ends_the_run),
		RUN(heat_ends_the_run),
		RUN(a_lost_gpu_ends_the_run),
		RUN(locked_clocks_are_restored),
		RUN(a_killed_worker_leaves_them_to_the_front),
		RUN(clocks_that_cannot_be_locked_end_it),
	};
	const int r = cmocka_run_group_tests(tests, NULL, NULL);

	unlink(clocks);
	return r;
}
