/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The recorder: what it stores, that it never waits, and what is left when everything breaks. */
#include "runs/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "runs/bundle.h"
#include "runs/raw.h"
#include "runs/session.h"
#include "runs/write.h"
#include "tests/runs/place.h"

static const char record[] = "P: /devices/pci0000:00/0000:00:01.0\nE: PCI_CLASS=30000\n";

static int capture(
	const char *root, bool with_log, bool wake, char **ret, size_t *ret_len, struct why *why)
{
	(void)with_log;
	(void)wake;
	(void)why;
	assert_non_null(strstr(root, "/root"));
	*ret = xstrdup(record);
	*ret_len = strlen(record);
	return 0;
}

static struct runs_recorder *start(const struct place *p)
{
	struct runs_recorder *r;
	struct why why;
	struct runs_recorder_options o = {p->store, p->root, capture};
	assert_int_equal(runs_recorder_create(&o, &r, &why), 0);
	return r;
}

static uint64_t begin(struct runs_recorder *r, const char *label)
{
	struct runs_info run = {.start_ns = 0, .seed = 3, .asked_s = 60};
	snprintf(run.label, sizeof(run.label), "%s", label);
	snprintf(run.backend, sizeof(run.backend), "cpu");
	snprintf(run.shape, sizeof(run.shape), "1x4096x11008");
	snprintf(run.dtype, sizeof(run.dtype), "f16");
	return runs_recorder_begin(r, &run);
}

static void wait_for(struct runs_recorder *r, uint64_t ticket)
{
	struct why why = {""};
	int e = runs_recorder_wait(r, ticket, 20000, &why);
	if (e) {
		fail_msg("%s", why.text);
	}
}

static struct runs_store *reopen(const struct place *p)
{
	struct runs_store *s;
	struct why why;
	assert_int_equal(runs_store_open(p->store, RUNS_STORE_READ, &s, &why), 0);
	assert_int_equal(runs_db_check(runs_store_db(s), &why), 0);
	return s;
}

static struct runs_info only_run(struct runs_store *s, const char *boot)
{
	struct runs_list l;
	struct why why;
	assert_int_equal(runs_info_list(s, NULL, boot, &l, &why), 0);
	assert_int_equal(l.n, 1);
	struct runs_info run = l.run[0];
	runs_list_finish(&l);
	return run;
}

static void a_run_is_kept_whole(void **state)
{
	const struct place *p = *state;
	struct runs_recorder *r = start(p);
	struct runs_recorder_state st;
	uint64_t t = begin(r, "before");
	wait_for(r, t);
	runs_recorder_state(r, &st);
	assert_int_equal(st.phase, RUNS_REC_RECORDING);
	assert_true(st.run > 0 && st.last_commit_ns);
	assert_null(runs_recorder_crash(r));
	wait_for(r, runs_recorder_intent(r, "first launch of gemv", "{\"temperature\":61}"));

	struct runs_collect *c = runs_collect_create(0, false);
	uint64_t seed = 1;
	for (uint64_t i = 0; i < 5000; i++) { /* 5 s at 1 kHz */
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		uint64_t submit = i * 1000000;
		struct stress_sample s = {.seq = i,
			.submit_ns = submit,
			.done_ns = submit + 30000 + (seed >> 33) % 3000,
			.flags = STRESS_GEMM};
		runs_collect_add(c, &s, 1);
	}
	struct stress_status status = {.threads = 3,
		.copies = 8,
		.bytes = 90000000,
		.produced = 5000,
		.ceiling_bytes_per_s = 4e12,
		.max_error = 1e-4,
		.golden_hash = UINT64_MAX};
	snprintf(status.backend, sizeof(status.backend), "cuda");
	snprintf(status.device, sizeof(status.device), "Test GPU");
	runs_recorder_facts(r, &status);
	runs_recorder_seconds(r, runs_collect_take(c, UINT64_MAX));
	runs_recorder_rollups(r, c);
	wait_for(r, runs_recorder_end(r, RUNS_DONE, ""));
	runs_recorder_state(r, &st);
	assert_int_equal(st.phase, RUNS_REC_READY);
	assert_int_equal(st.waiting_ns, 0);
	assert_int_equal(runs_recorder_destroy(r, -1), 0);
	char reserve[128];
	snprintf(reserve, sizeof(reserve), "%s.reserve", p->store);
	assert_int_not_equal(access(reserve, F_OK), 0);

	_cleanup_store_ struct runs_store *s = reopen(p);
	struct runs_info run = only_run(s, "x");
	struct why why;
	assert_int_equal(run.state, RUNS_DONE);
	assert_string_equal(run.label, "before");
	assert_string_equal(run.backend, "cuda");
	assert_string_equal(run.device, "Test GPU");
	assert_string_equal(run.boot_id, "11111111-0000-0000-0000-000000000000");
	assert_true(run.threads == 3 && run.copies == 8 && run.bytes == 90000000);
	assert_true(run.golden == UINT64_MAX && run.ceiling == 4e12 && run.max_error == 1e-4);
	assert_true(run.ended >= run.started && run.touched >= run.started);
	char *machine;
	size_t len;
	assert_int_equal(runs_info_machine(s, run.machine, &machine, &len, &why), 0);
	assert_string_equal(machine, record);
	free(machine);
	struct js *env;
	assert_int_equal(runs_info_env(s, run.id, &env, &why), 0);
	assert_string_equal(js_get_str(env, "kernel"), "6.1.0-test");
	assert_string_equal(js_get_str(env, "cpu"), "Test CPU");
	js_free(env);
	struct runs_hist h, blocks;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	runs_hist_init(&blocks, RUNS_HIST_1PCT);
	assert_int_equal(runs_info_hist(s, &run, STRESS_GEMM, RUNS_HOST, &h, &why), 0);
	assert_int_equal(h.bits, RUNS_HIST_TENTH_PCT);
	assert_int_equal(h.total, 5000);
	const struct runs_hist *mine = runs_collect_rollup(c, STRESS_GEMM, RUNS_HOST);
	assert_true(runs_hist_quantile(&h, 0.99) == runs_hist_quantile(mine, 0.99));
	/* Its blocks say the same, a little coarser. */
	run.state = RUNS_DIED;
	assert_int_equal(runs_info_hist(s, &run, STRESS_GEMM, RUNS_HOST, &blocks, &why), 0);
	assert_true(blocks.total == h.total && blocks.sum == h.sum && blocks.max == h.max);
	runs_hist_finish(&h);
	runs_hist_finish(&blocks);
	struct runs_intent intent;
	assert_int_equal(runs_info_last_intent(s, run.id, &intent, &why), 0);
	assert_string_equal(intent.step, "first launch of gemv");
	runs_collect_destroy(c);
}

/* A child that records and is killed when a byte arrives that says so. */
static void record_and_die(const struct place *p, const char *label)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct runs_recorder *r = start(p);
		wait_for(r, begin(r, label));
		wait_for(r, runs_recorder_intent(r, "ramp level 3",
				    "{\"temperature\":83,\"link\":\"Gen4 x16\"}"));
		struct runs_second *sec = place_second(125, 50, 30000);
		sec->status = xstrdup("{\"temperature\":84,\"power\":448}");
		runs_recorder_seconds(r, sec);
		wait_for(r, runs_recorder_intent(r, "ramp level 4", NULL));
		raise(SIGKILL);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void an_open_run_is_closed_as_what_it_was(void **state)
{
	const struct place *p = *state;
	record_and_die(p, "up");
	{ /* The same boot: barscope died, not the machine. */
		struct runs_recorder *r = start(p);
		wait_for(r, runs_recorder_load(r, NULL, NULL, NULL));
		assert_null(runs_recorder_crash(r));
		assert_int_equal(runs_recorder_destroy(r, -1), 0);
		_cleanup_store_ struct runs_store *s = reopen(p);
		assert_int_equal(only_run(s, NULL).state, RUNS_DIED);
	}
	unlink(p->store);
	record_and_die(p, "down");
	place_boot(p, "22222222-0000-0000-0000-000000000000\n");
	place_file(p, "sys/fs/pstore/dmesg-efi-1",
		"<6>[ 7100.1] usb 1-1: reset\n<4>[ 7261.5] pcieport 0000:00:01.0: AER: Corrected error\n"
		"<3>[ 7262.9] NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus.\n"
		"<6>[ 7262.9] something else\n");
	/* The panic of last year, which nobody deleted, is not this crash's. */
	char old[PATH_MAX];
	place_file(p, "sys/fs/pstore/dmesg-efi-9",
		"<0>[ 12.5] Kernel panic - not syncing: of another year\n");
	snprintf(old, sizeof(old), "%s/sys/fs/pstore/dmesg-efi-9", p->root);
	const struct timespec then[2] = {{.tv_sec = 1700000000}, {.tv_sec = 1700000000}};
	assert_int_equal(utimensat(AT_FDCWD, old, then, 0), 0);
	struct runs_recorder *r = start(p);
	wait_for(r, runs_recorder_load(r, NULL, NULL, NULL));
	const struct runs_crash *crash = runs_recorder_crash(r);
	assert_non_null(crash);
	assert_null(strstr(crash->text, "another year"));
	assert_string_equal(crash->label, "down");
	assert_non_null(strstr(crash->text, "The machine went down during run"));
	assert_non_null(strstr(crash->text, "2 min 6 s in"));
	assert_non_null(strstr(crash->text, "ramp level 4"));
	assert_non_null(strstr(crash->text, "temperature 84, power 448"));
	assert_non_null(strstr(crash->text, "last words: NVRM: Xid (PCI:0000:01:00): 79, GPU has"));
	/* The next run opens beside it. */
	wait_for(r, begin(r, "again"));
	wait_for(r, runs_recorder_end(r, RUNS_STOPPED, "by the user"));
	assert_int_equal(runs_recorder_destroy(r, -1), 0);
	_cleanup_store_ struct runs_store *s = reopen(p);
	struct runs_list l;
	struct why why;
	assert_int_equal(runs_info_list(s, NULL, NULL, &l, &why), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.run[0].state, RUNS_MACHINE_DOWN);
	assert_true(l.run[0].ended == l.run[0].touched);
	assert_int_equal(l.run[1].state, RUNS_STOPPED);
	assert_string_equal(l.run[1].why, "by the user");
	runs_list_finish(&l);
}

static void posting_never_waits(void **state)
{
	const struct place *p = *state;
	struct why why;
	struct runs_recorder *r = start(p);
	wait_for(r, begin(r, "slow"));
	/* Somebody holds the store: the disk is as slow as can be. */
	struct runs_store *other;
	assert_int_equal(runs_store_open(p->store, RUNS_STORE_WRITE, &other, &why), 0);
	assert_int_equal(runs_write_open(other, &why), 0);
	struct runs_second *chain[1000];
	for (uint32_t i = 0; i < ARRAY_LEN(chain); i++) {
		chain[i] = place_second(i, 5, 30000);
	}
	uint64_t from = clock_ns(), ticket = 0;
	for (uint32_t i = 0; i < ARRAY_LEN(chain); i++) {
		runs_recorder_seconds(r, chain[i]);
		if (i == 0) {
			ticket = runs_recorder_intent(r, "step", NULL);
		}
		runs_recorder_poll(r);
	}
	/* Who waited for the store would do so for ten seconds, each time. */
	assert_true(clock_ns() - from < 8000000000u);
	struct runs_recorder_state st;
	runs_recorder_state(r, &st);
	assert_int_equal(st.phase, RUNS_REC_RECORDING);
	assert_true(st.waiting_ns > 0);
	assert_int_equal(st.waiting_seconds, 600); /* what waits is bounded */
	assert_int_equal(st.lost_seconds, 400);
	assert_int_equal(runs_recorder_done(r, ticket), 0);
	assert_int_equal(runs_recorder_wait(r, ticket, 100, &why), -ETIMEDOUT);
	assert_int_equal(runs_db_end(runs_store_db(other), 0, &why), 0);
	runs_store_close(other);
	wait_for(r, runs_recorder_end(r, RUNS_DONE, ""));
	assert_int_equal(runs_recorder_done(r, ticket), 1);
	assert_int_equal(runs_recorder_destroy(r, -1), 0);
	_cleanup_store_ struct runs_store *s = reopen(p);
	struct runs_totals t;
	assert_int_equal(runs_info_totals(s, only_run(s, NULL).id, &t, &why), 0);
	assert_int_equal(t.samples, 600 * 5);
}

static void a_hung_disk_does_not_hold_the_exit(void **state)
{
#ifdef TEST_LEAKS
	skip(); /* the recorder is left behind with its thread, which a leak checker must call a
		   leak */
#endif
	const struct place *p = *state;
	struct why why;
	struct runs_recorder *r = start(p);
	wait_for(r, begin(r, "hung"));
	struct runs_store *other;
	assert_int_equal(runs_store_open(p->store, RUNS_STORE_WRITE, &other, &why), 0);
	assert_int_equal(runs_write_open(other, &why), 0);
	runs_recorder_end(r, RUNS_DONE, "");
	uint64_t from = clock_ns();
	assert_int_equal(runs_recorder_destroy(r, 300), -ETIMEDOUT);
	assert_true(clock_ns() - from < 8000000000u); /* the disk hangs for ten */
	assert_int_equal(runs_db_end(runs_store_db(other), 0, &why), 0);
	runs_store_close(other);
	struct timespec ts = {.tv_sec = 1}; /* let the stray thread end before the folder goes */
	nanosleep(&ts, NULL);
}

static void errors_come_as_one_sentence(void **state)
{
	const struct place *p = *state;
	FILE *f = fopen(p->store, "w");
	fputs("this is not a store, but it is longer than a header of SQLite: 0123456789 "
	      "0123456789 0123456789",
		f);
	fclose(f);
	struct runs_recorder *r = start(p);
	struct why why = {""};
	assert_int_equal(runs_recorder_wait(r, begin(r, "x"), 10000, &why), -EMEDIUMTYPE);
	assert_non_null(strstr(why.text, "not a barscope store"));
	struct runs_recorder_state st;
	runs_recorder_seconds(r, place_second(0, 5, 30000));
	runs_recorder_state(r, &st);
	assert_int_equal(st.phase, RUNS_REC_FAILED);
	assert_string_equal(st.why, why.text);
	assert_int_equal(st.lost_seconds, 1);
	assert_int_equal(runs_recorder_destroy(r, -1), 0);
}

/* Without a byte for the log's index the store can still be read, and exported elsewhere. */
static int read_from_full_disk(const struct place *p)
{
	static const char zeros[4096];
	char filler[128], bundle[128], index[128];
	/* A reader before has left it. */
	snprintf(index, sizeof(index), "%s-shm", p->store);
	unlink(index);
	snprintf(filler, sizeof(filler), "%s/filler", p->dir);
	snprintf(bundle, sizeof(bundle), "%s.barscope", p->dir);
	int fd = open(filler, O_WRONLY | O_CREAT, 0600);
	while (write(fd, zeros, sizeof(zeros)) > 0) {
	}
	close(fd);
	struct runs_store *s = reopen(p);
	struct runs_list list;
	struct why why;
	int r = runs_info_list(s, NULL, NULL, &list, &why);
	if (r || list.n != 1) {
		return 5;
	}
	runs_store_close(s);
	r = runs_bundle_export(p->store, &list, bundle, &why);
	runs_list_finish(&list);
	return r || unlink(bundle) ? 6 : 0;
}

/* In a mount namespace of its own, on a tmpfs of eight MiB. */
static int fill_a_disk(const struct place *p)
{
	char options[] = "size=8m";
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("tmpfs", p->dir, "tmpfs", 0, options)) {
		return 77;
	}
	place_boot(p, "11111111-0000-0000-0000-000000000000\n");
	struct runs_recorder *r = start(p);
	struct runs_recorder_state st;
	wait_for(r, begin(r, "full"));
	runs_recorder_state(r, &st);
	if (!strstr(st.warning, "tmpfs")) {
		return 1;
	}
	uint32_t sent = 0;
	for (; sent < 20000; sent++) {
		runs_recorder_seconds(r, place_second(sent, 200, 30000));
		struct why why;
		int e = runs_recorder_wait(r, runs_recorder_intent(r, "", NULL), 20000, &why);
		if (e) {
			if (e != -ENOSPC || !strstr(why.text, "full")) {
				return 2;
			}
			break;
		}
	}
	if (sent < 100 || sent == 20000) {
		return 3;
	}
	runs_recorder_destroy(r, -1);
	struct runs_store *s = reopen(p);
	struct runs_info run = only_run(s, NULL);
	struct runs_totals t;
	struct why why;
	if (runs_info_totals(s, run.id, &t, &why) || t.seconds < sent ||
		run.state != RUNS_STOPPED || !strstr(run.why, "full")) {
		return 4;
	}
	runs_store_close(s);
	return read_from_full_disk(p);
}

static void a_full_disk_ends_the_run_and_keeps_it(void **state)
{
	const struct place *p = *state;
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		_exit(fill_a_disk(p));
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("[  NOTE    ] no right to mount a tmpfs here: full disk not tried\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_baseline_survives_the_reboot(void **state)
{
	const struct place *p = *state;
	struct runs_recorder *r = start(p);
	wait_for(r, runs_recorder_load(r, "cpu", "1x8x8", "f16"));
	assert_null(runs_recorder_loaded(r));
	struct runs_baseline b = {.threads = 3, .window_ns = 60000000000u};
	snprintf(b.backend, sizeof(b.backend), "cpu");
	snprintf(b.shape, sizeof(b.shape), "1x8x8");
	snprintf(b.dtype, sizeof(b.dtype), "f16");
	runs_hist_init(&b.hist, RUNS_HIST_1PCT);
	runs_hist_add_n(&b.hist, 40000, 500);
	wait_for(r, runs_recorder_mark(r, &b));
	runs_hist_add_n(&b.hist, 80000, 400); /* the newest counts */
	wait_for(r, runs_recorder_mark(r, &b));
	runs_hist_finish(&b.hist);
	assert_int_equal(runs_recorder_destroy(r, -1), 0);

	place_boot(p, "33333333-0000-0000-0000-000000000000\n");
	place_file(p, "proc/sys/kernel/osrelease", "6.2.0-test\n");
	r = start(p);
	wait_for(r, runs_recorder_load(r, "cpu", "1x8x8", "f16"));
	const struct runs_loaded *l = runs_recorder_loaded(r);
	assert_non_null(l);
	assert_false(l->same_boot);
	assert_int_equal(l->baseline.hist.total, 900);
	assert_int_equal(l->baseline.threads, 3);
	assert_string_equal(l->machine, record);
	assert_int_equal(l->ndiff, 1);
	assert_string_equal(l->diff[0].name, "kernel");
	assert_string_equal(l->diff[0].a, "6.1.0-test");
	assert_string_equal(l->diff[0].b, "6.2.0-test");
	wait_for(r, runs_recorder_load(r, "cpu", "1x9x9", "f16"));
	assert_null(runs_recorder_loaded(r));
	assert_int_equal(runs_recorder_destroy(r, -1), 0);
}

static void a_session_does_all_of_it(void **state)
{
	const struct place *p = *state;
	struct runs_recorder *r = start(p);
	struct stress_config c;
	stress_config_init(&c);
	snprintf(c.backend, sizeof(c.backend), "script");
	uint64_t ticket;
	struct runs_session *se = runs_session_begin(r, "session", &c, 3, true, &ticket);
	wait_for(r, ticket);
	struct stress_status st = {.dropped = 7, .max_error = -1};
	uint64_t now = clock_ns();
	for (uint64_t i = 0; i < 300; i++) { /* three seconds of a clock that runs ahead */
		struct stress_sample s = {.seq = i,
			.submit_ns = now + i * 10000000,
			.done_ns = now + i * 10000000 + 50000,
			.flags = STRESS_GEMM};
		runs_session_samples(se, &s, 1);
		runs_session_tick(se, &st);
	}
	assert_int_equal(runs_collect_samples(runs_session_collect(se)), 300);
	wait_for(r, runs_session_end(se, &st, RUNS_DONE, ""));
	assert_int_equal(runs_recorder_destroy(r, -1), 0);
	_cleanup_store_ struct runs_store *s = reopen(p);
	struct runs_info run = only_run(s, NULL);
	struct runs_totals t;
	struct why why;
	assert_int_equal(runs_info_totals(s, run.id, &t, &why), 0);
	assert_true(t.samples == 300 && t.dropped == 7);
	_cleanup_rows_ struct runs_rows *q = NULL;
	size_t kept = 0;
	assert_int_equal(runs_db_query(runs_store_db(s), &q, &why,
				 "SELECT raw FROM seconds WHERE raw NOT NULL", ""),
		0);
	while (runs_rows_next(q, &why) > 0) {
		size_t len, n;
		struct stress_sample *raw;
		const uint8_t *blob = runs_rows_blob(q, 0, &len);
		assert_int_equal(runs_raw_parse(blob, len, &raw, &n), 0);
		kept += n;
		free(raw);
	}
	assert_int_equal(kept, 300);
	assert_string_equal(run.shape, "1x4096x11008");
	assert_int_equal(run.dropped, 7);
	struct runs_hist h;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	assert_int_equal(runs_info_hist(s, &run, STRESS_GEMM, RUNS_HOST, &h, &why), 0);
	assert_true(h.total == 300 && h.min == 50000 && h.bits == RUNS_HIST_TENTH_PCT);
	runs_hist_finish(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_run_is_kept_whole, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			an_open_run_is_closed_as_what_it_was, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(posting_never_waits, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			a_hung_disk_does_not_hold_the_exit, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			errors_come_as_one_sentence, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			a_full_disk_ends_the_run_and_keeps_it, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			a_baseline_survives_the_reboot, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			a_session_does_all_of_it, place_setup, place_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
