/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store behind the screen: a slow disk, none at all, and clocks that others lock meanwhile. */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "runs/clocks.h"
#include "runs/env.h"
#include "runs/recorder.h"
#include "scene.h"
#include "tui/library_job.h"
#include "tui/machine.h"

/* A slow disk: no run begins before a byte is written here. */
static int gate[2];
static atomic_bool at_gate;

static int wait_at_gate(
	const char *root, bool with_log, bool wake, char **ret, size_t *ret_len, struct why *why)
{
	char c;
	(void)root, (void)with_log, (void)wake, (void)ret, (void)ret_len;
	why_set(why, "no machine");
	at_gate = true;
	return read(gate[0], &c, 1) == 1 ? -1 : -2;
}

static void record_run(struct tui_app *a, const char *label)
{
	struct why why = {""};
	if (tui_keep_record(&a->keep, label, &a->live.config, a->now_ns, &why) < 0) {
		fail_msg("%s: %s", label, why.text);
	}
}

static void stop(struct tui_app *a)
{
	tui_keep_stop(&a->keep, &a->live.status, RUNS_STOPPED, "");
}

static void attach(struct tui_app *a, const char *path, runs_capture_fn *capture)
{
	const struct runs_recorder_options o = {.path = path, .capture = capture};
	struct why why = {""};
	if (runs_recorder_create(&o, &a->keep.recorder, &why) < 0) {
		fail_msg("%s", why.text);
	}
}

/* Goes on until N runs are still undecided. */
static void until(struct tui_app *a, size_t n)
{
	for (uint64_t end = clock_ns() + 60000000000u; a->keep.nending > n;) {
		struct pollfd p = {.fd = tui_keep_fd(&a->keep), .events = POLLIN};
		assert_true(clock_ns() < end);
		poll(&p, 1, 1000);
		tui_app_tick(a, a->now_ns + 1);
	}
	assert_int_equal(a->keep.nending, n);
}

/* Each run is told by its own name, whatever is recorded by then. */
static void runs_are_told_by_name(void **state)
{
	(void)state;
	char dir[] = "/tmp/barscope-keep-XXXXXX", path[64], name[8];
	struct why why = {""};
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s.db", dir);
	assert_int_equal(pipe(gate), 0);
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct tui_app *a = &s->app;
	attach(a, path, wait_at_gate);

	record_run(a, "one");
	stop(a);
	record_run(a, "two");
	tui_app_tick(a, a->now_ns + 1);
	assert_null(strstr(a->message.text, "stored"));
	assert_int_equal(write(gate[1], "x", 1), 1);
	until(a, 0);
	assert_string_equal(a->message.text, "the run is stored as 'one'");
	assert_non_null(a->keep.session); /* "two" is recorded still */

	stop(a);
	for (int i = 3; i < TUI_ENDINGS + 2; i++) {
		snprintf(name, sizeof(name), "%d", i);
		record_run(a, name);
		stop(a);
	}
	assert_int_equal(
		tui_keep_record(&a->keep, "one more", &a->live.config, a->now_ns, &why), -EBUSY);
	assert_non_null(strstr(why.text, "the disk is slow"));
	assert_int_equal(write(gate[1], "x", 1), 1);
	until(a, TUI_ENDINGS - 1);
	assert_string_equal(a->message.text, "the run is stored as 'two'");
	assert_int_equal(write(gate[1], "xxxxxxxx", TUI_ENDINGS - 1), TUI_ENDINGS - 1);
	until(a, 0);
	snprintf(path, sizeof(path), "the run is stored as '%s'", name);
	assert_string_equal(a->message.text, path);
	scene_destroy(s);
	close(gate[0]);
	close(gate[1]);
	snprintf(path, sizeof(path), "rm -r %s", dir);
	assert_int_equal(system(path), 0);
}

/* The second failure takes the first one's place in the status line, and not in the lane. */
static void every_failure_is_told(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct tui_app *a = &s->app;
	attach(a, "/proc/nowhere/s.db", NULL);
	record_run(a, "one");
	stop(a);
	record_run(a, "two");
	stop(a);
	until(a, 0);
	bool told[2] = {false, false};
	for (size_t i = 0; i < a->nevent; i++) {
		const char *text = tui_app_event_at(a, i)->text;
		told[0] |= !strcmp(text, "'one' could not be stored");
		told[1] |= !strcmp(text, "'two' could not be stored");
	}
	assert_true(told[0] && told[1]);
	assert_non_null(strstr(a->message.text, "the run 'two' could not be stored: "));
	scene_destroy(s);
}

/* Room is made, or what lay in the way is gone: the next run is stored. */
static void a_store_that_failed_is_tried_again(void **state)
{
	(void)state;
	char dir[] = "/tmp/barscope-keep-XXXXXX", path[64], other[64];
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s.db", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	FILE *f = fopen(path, "w");
	assert_non_null(f);
	for (int i = 0; i < 100; i++) {
		fputs("this is another program's file. ", f);
	}
	fclose(f);
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct tui_app *a = &s->app;
	tui_keep_finish(&a->keep, 0);
	tui_keep_init(&a->keep, path, false);
	record_run(a, "one");
	stop(a);
	until(a, 0);
	assert_non_null(strstr(a->message.text, "the run 'one' could not be stored: "));
	assert_int_equal(rename(path, other), 0);
	/* Something may still wait for the store that failed. */
	struct why why;
	for (uint64_t end = clock_ns() + 60000000000u;
		tui_keep_record(&a->keep, "two", &a->live.config, a->now_ns, &why) < 0;) {
		assert_true(clock_ns() < end);
		tui_app_tick(a, a->now_ns + 1);
	}
	stop(a);
	until(a, 0);
	assert_string_equal(a->message.text, "the run is stored as 'two'");
	assert_int_equal(tui_keep_finish(&a->keep, 10000), 0);
	tui_keep_init(&a->keep, NULL, true);
	scene_destroy(s);
	snprintf(path, sizeof(path), "rm -r %s", dir);
	assert_int_equal(system(path), 0);
}

/* A recorder that hangs is left behind with the witness that it may still ask. */
static void what_is_stuck_keeps_its_witness(void **state)
{
	(void)state;
	/* What is left behind on purpose, for leak checkers. */
	static struct runs_recorder *left;
	static const struct pcie_driver *d;
	char dir[] = "/tmp/barscope-keep-XXXXXX", path[64];
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s.db", dir);
	assert_int_equal(pipe(gate), 0);
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct tui_app *a = &s->app;
	struct tui_sizes known = {.n = 1};
	known.gpu[0].addr = (struct pcie_addr){.bus = 0x41, .known = true};
	known.gpu[0].memory = 8192000000;
	tui_keep_sizes(&a->keep, &known);
	d = tui_keep_witness(&a->keep);
	attach(a, path, wait_at_gate);
	at_gate = false;
	record_run(a, "one");
	stop(a);
	for (uint64_t end = clock_ns() + 60000000000u; !at_gate; poll(NULL, 0, 1)) {
		assert_true(clock_ns() < end);
	}

	/* It is given up once, and again when the screen ends: told both times. */
	left = a->keep.recorder;
	assert_int_equal(tui_keep_give_up(&a->keep, 0), -ETIMEDOUT);
	assert_null(a->keep.recorder);
	assert_int_equal(tui_keep_finish(&a->keep, 0), -ETIMEDOUT);
	struct pcie_gpu_sizes asked = {.addr = known.gpu[0].addr};
	d->sizes(d, &asked, 1);
	assert_true(asked.memory == 8192000000);
	assert_non_null(left); /* its thread waits at the gate until the program ends */

	tui_keep_init(&a->keep, NULL, true);
	scene_destroy(s);
	snprintf(path, sizeof(path), "rm -r %s", dir);
	assert_int_equal(system(path), 0);
}

static struct library_errand *unlock(const char *path, const char *address)
{
	struct library_errand *e = xcalloc(1, sizeof(*e));
	e->request = LIBRARY_UNLOCK;
	e->nclocks = 1;
	e->clocks[0].mhz = 1300;
	snprintf(e->clocks[0].address, sizeof(e->clocks[0].address), "%s", address);
	snprintf(e->path, sizeof(e->path), "%s", path);
	tui_errand_run(&e->item);
	return e;
}

/* The question may stand for hours: what holds when it is answered decides. */
static void a_late_yes_unlocks_no_other_run(void **state)
{
	(void)state;
	char dir[] = "/tmp/barscope-keep-XXXXXX", path[64], boot[RUNS_BOOT_ID_MAX];
	static const char address[] = "0000:41:00.0";
	struct runs_clocks left[2];
	struct runs_store *run, *look;
	struct why why = {""};
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s.db", dir);
	runs_env_boot_id(NULL, boot);
	assert_int_equal(runs_store_open(path, RUNS_STORE_CREATE, &run, &why), 0);
	assert_int_equal(runs_clocks_mark(run, boot, address, 1300, &why), 0);

	struct library_errand *e = unlock(path, address);
	assert_int_equal(e->status, -EBUSY);
	assert_non_null(strstr(e->why.text, "another run has locked the clocks of 0000:41:00.0"));
	tui_errand_destroy(e);

	runs_store_close(run); /* killed: its mark is still there, and is what may be unlocked */
	assert_int_equal(runs_store_open(path, RUNS_STORE_WRITE, &look, &why), 0);
	assert_int_equal(runs_clocks_left(look, boot, left, 2, &why), 1);
	e = unlock(path, address);
	assert_true(e->status < 0); /* tried: there is no such GPU here */
	assert_non_null(strstr(e->why.text, "stay locked"));
	tui_errand_destroy(e);

	/* Unlocked by somebody else since: nothing is done, which would fail here. */
	assert_int_equal(runs_clocks_clear(look, address, &why), 0);
	e = unlock(path, address);
	assert_int_equal(e->status, 0);
	tui_errand_destroy(e);
	runs_store_close(look);
	snprintf(path, sizeof(path), "rm -r %s", dir);
	assert_int_equal(system(path), 0);
}

static void put(const char *root, const char *name, const char *text)
{
	char path[160];
	snprintf(path, sizeof(path), "%s/sys/devices/pci0000:00/0000:41:00.0/%s", root, name);
	FILE *f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* A run's machine has the sizes that the scanner knows; the driver is not asked again. */
static void machines_have_what_the_scanner_knows(void **state)
{
	(void)state;
	char dir[] = "/tmp/barscope-keep-XXXXXX", path[64], shell[600], *record = NULL;
	size_t len = 0;
	struct why why = {""};
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/s.db", dir);
	snprintf(shell, sizeof(shell),
		"cd %s && mkdir -p proc sys/bus/pci/devices &&"
		" mkdir -p sys/devices/pci0000:00/0000:41:00.0/power &&"
		" ln -s ../../../devices/pci0000:00/0000:41:00.0 sys/bus/pci/devices &&"
		" ln -s ../../../bus/pci/drivers/nvidia"
		" sys/devices/pci0000:00/0000:41:00.0/driver",
		dir);
	assert_int_equal(system(shell), 0);
	put(dir, "vendor", "0x10de\n");
	put(dir, "device", "0x2335\n");
	put(dir, "class", "0x030200\n");
	put(dir, "power/runtime_status", "active\n");
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct tui_app *a = &s->app;
	struct tui_sizes known = {.n = 1};
	known.gpu[0].addr = (struct pcie_addr){.bus = 0x41, .known = true};
	known.gpu[0].memory = 8192000000;
	struct pcie_gpu_sizes asked[2] = {{.addr = {.bus = 0x42, .known = true}}, known.gpu[0]};
	asked[1].memory = 0;
	tui_keep_sizes(&a->keep, &known);
	const struct pcie_driver *d = tui_keep_witness(&a->keep);
	d->sizes(d, asked, 2);
	assert_true(asked[0].memory == 0 && asked[1].memory == 8192000000);

	const struct runs_recorder_options o = {.path = path, .root = dir, .driver = d};
	assert_int_equal(runs_recorder_create(&o, &a->keep.recorder, &why), 0);
	record_run(a, "one");
	stop(a);
	until(a, 0);
	struct runs_store *store;
	assert_int_equal(runs_store_open(path, RUNS_STORE_READ, &store, &why), 0);
	assert_int_equal(runs_info_machine(store, 1, &record, &len, &why), 0);
	assert_non_null(strstr(record, "A: nvml_memory_total=8192000000\n"));
	free(record);
	runs_store_close(store);
	scene_destroy(s);
	snprintf(shell, sizeof(shell), "rm -r %s", dir);
	assert_int_equal(system(shell), 0);
}

int main(int argc, char **argv)
{
	/* This program again, asked to unlock clocks: it cannot. */
	if (argc > 1 && !strcmp(argv[1], "--worker")) {
		return 1;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_are_told_by_name), cmocka_unit_test(every_failure_is_told),
		cmocka_unit_test(a_store_that_failed_is_tried_again),
		cmocka_unit_test(a_late_yes_unlocks_no_other_run),
		cmocka_unit_test(machines_have_what_the_scanner_knows),
		cmocka_unit_test(
			what_is_stuck_keeps_its_witness), /* the last: it stays at the gate */
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
