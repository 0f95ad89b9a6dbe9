/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Several GPUs at once: what each has to say, whichever is shown, and their ends. This program is
 * front and worker: it re-executes itself, as barscope does.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "scene.h"
#include "stress/shared.h"

/* Of several GPUs each comes to be shown in turn, with what is its own. */
static void all_gpus_take_turns(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct tui_app *a = &s->app;
	struct tui_fleet *f = &a->fleet;
	static const char *const address[] = {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"};
	strcpy(a->live.config.device, address[0]);
	for (size_t i = 1; i < ARRAY_LEN(address); i++) {
		struct tui_live *l = calloc(1, sizeof(*l));
		tui_live_init(l);
		strcpy(l->config.device, address[i]);
		f->other[f->n++] = l;
	}
	scene_phase(s, STRESS_RUNNING, true);
	scene_run(s, 20);
	_cleanup_free_ char *text = scene_text(s);
	assert_non_null(strstr(text, "running 1:23 on 3 GPUs, 0000:01:00.0"));
	uint64_t samples = a->live.samples;
	assert_true(samples > 0);
	for (size_t i = 1; i <= ARRAY_LEN(address); i++) {
		scene_keys(s, "D");
		assert_string_equal(a->live.config.device, address[i % ARRAY_LEN(address)]);
		assert_int_equal(a->live.samples, i % ARRAY_LEN(address) ? 0 : samples);
		free(scene_text(s));
	}
	assert_true(tui_fleet_moving(f) == false);
	scene_destroy(s);
}

/* How many events hold S. */
static size_t said(const struct tui_app *a, const char *s)
{
	size_t n = 0;
	for (size_t i = 0; i < a->nevent; i++) {
		n += strstr(tui_app_event_at(a, i)->text, s) != NULL;
	}
	return n;
}

/* A message goes after a while, but not while a box is open: it is read once that is answered. */
static void messages_wait_behind_boxes(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct tui_app *a = &s->app;
	tui_app_say(a, TUI_TONE_NOTE, "first");
	tui_app_tick(a, a->now_ns + TUI_MESSAGE_NS - 1);
	_cleanup_free_ char *early = scene_text(s);
	assert_non_null(strstr(early, "first"));
	tui_app_tick(a, a->now_ns + 1);
	_cleanup_free_ char *late = scene_text(s);
	assert_null(strstr(late, "first"));

	tui_app_say(a, TUI_TONE_NOTE, "second");
	tui_modal_notice(&a->modal, "A box", "in front");
	tui_app_tick(a, a->now_ns + 10 * (uint64_t)TUI_MESSAGE_NS);
	tui_modal_key(a, &a->modal, (struct tui_input){.key = TUI_KEY_ESCAPE});
	tui_app_tick(a, a->now_ns + 1);
	_cleanup_free_ char *answered = scene_text(s);
	assert_non_null(strstr(answered, "second"));
	tui_app_tick(a, a->now_ns + TUI_MESSAGE_NS);
	_cleanup_free_ char *gone = scene_text(s);
	assert_null(strstr(gone, "second"));
	scene_destroy(s);
}

/* What befalls a GPU is said once, whichever is shown, and again by no change of the one shown. */
static void faults_of_hidden_gpus_are_said(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct tui_app *a = &s->app;
	static const char *const address[] = {
		"0000:01:00.0", "0000:02:00.0", "0000:03:00.0", "0000:04:00.0"};
	scene_phase(s, STRESS_RUNNING, false);
	strcpy(a->live.config.device, address[0]);
	struct tui_live *other[ARRAY_LEN(address)] = {NULL};
	for (size_t i = 1; i < ARRAY_LEN(address); i++) {
		struct tui_live *l = other[i] = calloc(1, sizeof(*l));
		assert_non_null(l);
		tui_live_init(l);
		strcpy(l->config.device, address[i]);
		l->have_status = true;
		l->status.phase = l->told.phase = STRESS_RUNNING;
		a->fleet.other[a->fleet.n++] = l;
	}
	tui_app_tick(a, a->now_ns);
	assert_int_equal(said(a, "0000:0"), 0);

	other[1]->status.ended = STRESS_ENDED_XID;
	strcpy(other[1]->status.why, "Xid 79: the GPU has fallen off the bus");
	other[1]->status.phase = STRESS_DONE;
	other[2]->status.weight_faults = 1;
	other[3]->status.stalled = true;
	for (int i = 0; i < 3; i++) {
		tui_app_tick(a, a->now_ns);
	}
	assert_int_equal(said(a, "0000:02:00.0: Xid 79: the GPU has fallen off the bus"), 1);
	assert_int_equal(said(a, "0000:03:00.0: weights changed in memory"), 1);
	assert_int_equal(said(a, "0000:04:00.0: the worker stalled"), 1);
	_cleanup_free_ char *text = scene_text(s);
	assert_non_null(strstr(text, "0000:04:00.0: the worker stalled"));
	other[3]->status.stalled = false;
	tui_app_tick(a, a->now_ns);
	assert_int_equal(said(a, "0000:04:00.0: the worker goes on"), 1);

	/* An output that was wrong in a sample; a stop that was asked for is nothing bad. */
	const struct stress_sample k = {.flags = STRESS_GEMM | STRESS_MISMATCH, .done_ns = 1};
	tui_live_feed(other[3], &k, 1);
	tui_app_tick(a, a->now_ns);
	assert_int_equal(said(a, "0000:04:00.0: outputs differ"), 1);
	other[3]->status.phase = STRESS_DONE;
	size_t n = a->nevent;
	for (size_t i = 0; i < ARRAY_LEN(address); i++) {
		tui_app_tick(a, a->now_ns);
		tui_app_next_gpu(a);
	}
	tui_app_tick(a, a->now_ns);
	assert_int_equal(a->nevent, n);
	scene_destroy(s);
}

enum { TOLD = 3 * STRESS_RING_EVENTS / 2 };

/* A worker whose readings are more than a ring holds: it waits until there is room. */
static void tell_much(int sock)
{
	struct stress_config c;
	struct stress_shared *shared;
	struct stress_ring ring;
	int wake;
	if (stress_shared_receive(sock, &c, &shared, &wake) < 0) {
		_exit(1);
	}
	stress_ring_init(&ring, &shared->readings, shared->reading_slots, STRESS_RING_EVENTS);
	for (int i = 1; i <= TOLD; i++) {
		const struct stress_event e = {
			.ns = (uint64_t)i, .kind = STRESS_EVENT_TEMPERATURE, .value = i};
		while (!stress_ring_has_room(&ring)) {
			poll(NULL, 0, 1);
		}
		stress_ring_push(&ring, &e);
	}
}

/* The rings are emptied though nobody listens. */
static void rings_are_emptied_always(void **state)
{
	(void)state;
	struct tui_live l;
	struct why why;
	tui_live_init(&l);
	setenv("TEST_WORKER", "telling", 1);
	assert_int_equal(tui_live_start(&l, 1, &why), 0);
	unsetenv("TEST_WORKER");
	const int64_t *last = &l.readings.value[STRESS_EVENT_TEMPERATURE];
	for (int i = 0; i < 3000 && *last < TOLD; i++) {
		poll(NULL, 0, 10);
		tui_live_poll(&l, 1, NULL);
	}
	assert_int_equal(*last, TOLD);
	assert_int_equal(l.readings.least[STRESS_EVENT_TEMPERATURE], 1);
	tui_live_finish(&l, 0);
}

/* Workers that follow no stop are killed, and the screen does not wait for their ends. */
static void deaf_workers_are_killed_aside(void **state)
{
	(void)state;
	const uint64_t now = 1000000000u;
	struct tui_fleet f = {.wanted = true};
	struct tui_live shown;
	char address[][PCIE_ADDR_MAX] = {"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"};
	struct why why;
	tui_live_init(&shown);
	strcpy(shown.config.device, address[0]);
	setenv("TEST_WORKER", "deaf", 1);
	assert_int_equal(tui_live_start(&shown, now, &why), 0);
	assert_int_equal(tui_fleet_start(&f, &shown, address, ARRAY_LEN(address), now, &why), 0);
	unsetenv("TEST_WORKER");
	assert_int_equal(f.n, 2);
	struct tui_live *l = f.other[0];
	tui_live_stop(l, now);
	tui_live_poll(l, now + 1, NULL);
	assert_true(tui_live_active(l));
	tui_live_poll(l, now + 3000000000u, NULL);
	assert_false(tui_live_active(l));
	assert_int_equal(l->status.phase, STRESS_DIED);
	assert_non_null(strstr(l->status.why, "was killed"));
	/* Its end is seen by a later look, and says nothing else. */
	for (int i = 0; i < 3000 && l->worker; i++) {
		poll(NULL, 0, 10);
		tui_live_poll(l, now + 3000000000u, NULL);
	}
	assert_null(l->worker);
	assert_non_null(strstr(l->status.why, "was killed"));

	const pid_t pid[] = {shown.status.pid, f.other[1]->status.pid};
	tui_fleet_end(&f, &shown, 0);
	assert_int_equal(f.n, 0);
	assert_null(shown.worker);
	for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
		/* Gone, or about to be: a machine that is busy takes its time. */
		for (int k = 0; k < 3000 && !kill(pid[i], 0) && !waitpid(pid[i], NULL, WNOHANG);
			k++) {
			poll(NULL, 0, 10);
		}
		assert_int_equal(kill(pid[i], 0), -1);
	}
	tui_live_finish(&shown, 0);
}

/* The last readings go with their GPU, without anybody who listens. */
static void readings_go_with_their_gpu(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct tui_app *a = &s->app;
	struct tui_live *l = calloc(1, sizeof(*l));
	assert_non_null(l);
	tui_live_init(l);
	strcpy(l->config.device, "0000:02:00.0");
	a->fleet.other[a->fleet.n++] = l;
	const struct stress_event e[] = {
		{.ns = 1, .kind = STRESS_EVENT_TEMPERATURE, .value = 71000},
		{.ns = 2, .kind = STRESS_EVENT_ECC, .value = 1},
		{.ns = 3, .kind = STRESS_EVENT_ECC, .value = 2},
	};
	tui_live_feed_events(l, e, ARRAY_LEN(e), NULL);
	tui_app_next_gpu(a);
	assert_string_equal(a->live.config.device, "0000:02:00.0");
	assert_int_equal(a->live.readings.value[STRESS_EVENT_TEMPERATURE], 71000);
	assert_int_equal(a->live.readings.value[STRESS_EVENT_ECC], 3);
	tui_app_next_gpu(a);
	assert_false(a->live.readings.has[STRESS_EVENT_TEMPERATURE]);
	scene_destroy(s);
}

/* A run is of one worker: of several GPUs it is said which one is recorded. */
static void recording_names_its_gpu(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct tui_app *a = &s->app;
	scene_phase(s, STRESS_RUNNING, true);
	strcpy(a->live.config.device, "0000:02:00.0");
	/* Never touched: the form is only opened. */
	a->keep.recorder = (struct runs_recorder *)(void *)s;
	for (size_t others = 0; others < 2; others++) {
		a->fleet.n = others;
		tui_app_record(a);
		assert_int_equal(a->modal.kind, TUI_MODAL_FORM);
		assert_int_equal(*a->modal.text != '\0', others);
		scene_keys(s, "x");
		a->modal.kind = TUI_MODAL_NONE;
	}
	assert_non_null(strstr(a->modal.text, "Of the 2 GPUs that run"));
	assert_non_null(strstr(a->modal.text, "recorded: 0000:02:00.0"));
	a->keep.recorder = NULL;
	a->fleet.n = 0;
	scene_destroy(s);
}

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "--worker")) {
		const char *as = getenv("TEST_WORKER");
		if (as && !strcmp(as, "telling")) {
			tell_much(atoi(argv[2]));
		}
		while (as) {
			pause(); /* and hears nothing */
		}
		return 1;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_gpus_take_turns),
		cmocka_unit_test(messages_wait_behind_boxes),
		cmocka_unit_test(recording_names_its_gpu),
		cmocka_unit_test(faults_of_hidden_gpus_are_said),
		cmocka_unit_test(rings_are_emptied_always),
		cmocka_unit_test(deaf_workers_are_killed_aside),
		cmocka_unit_test(readings_go_with_their_gpu),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
