/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker process seen from the front: it plays scripts, is paused, stopped, killed,
 * crashes, hangs, and loses its front. This program is front and worker: it re-executes
 * itself, as barscope does.
 */
#include "stress/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/macros.h"

static const uint64_t second = 1000000000u;
/* What any machine needs, however busy: what is longer than this does not come. */
static const uint64_t patience = 60000000000u;

struct front {
	struct stress_worker *w;
	struct stress_status status;
	struct stress_sample last;
	uint64_t samples, gaps; /* read so far; steps in SEQ other than 1 */
	char path[64];
};

static void write_script(struct front *f, const char *text)
{
	snprintf(f->path, sizeof(f->path), "/tmp/barscope-script-XXXXXX");
	int fd = mkstemp(f->path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void start(struct front *f, const char *script, double speed)
{
	*f = (struct front){0};
	write_script(f, script);
	struct stress_config c;
	stress_config_init(&c);
	snprintf(c.backend, sizeof(c.backend), "script");
	snprintf(c.script, sizeof(c.script), "%s", f->path);
	c.script_speed = speed;
	struct why why;
	assert_int_equal(stress_worker_start(&c, &f->w, &why), 0);
}

static void finish(struct front *f)
{
	stress_worker_destroy(f->w, 1000);
	unlink(f->path);
}

/* One turn of a front's loop. */
static void turn(struct front *f)
{
	struct pollfd p = {.fd = stress_worker_fd(f->w), .events = POLLIN};
	poll(&p, 1, 50);
	stress_worker_poll(f->w);
	stress_worker_status(f->w, &f->status);
	static struct stress_sample batch[4096];
	size_t n;
	while ((n = stress_worker_read(f->w, batch, ARRAY_LEN(batch))) > 0) {
		for (size_t i = 0; i < n; i++) {
			uint64_t expected = f->samples ? f->last.seq + 1 : 0;
			f->gaps += batch[i].seq != expected;
			f->last = batch[i];
			f->samples++;
		}
	}
}

/* Turns until the phase is PHASE; returns the ns that it took. Fails when that never comes. */
static uint64_t await_phase(struct front *f, enum stress_phase phase)
{
	uint64_t began = clock_ns();
	do {
		turn(f);
		if (clock_ns() - began > patience) {
			fail_msg("phase %d instead of %d: %s", f->status.phase, phase,
				f->status.why);
		}
	} while (f->status.phase != phase);
	return clock_ns() - began;
}

static void await_samples(struct front *f, uint64_t n)
{
	uint64_t began = clock_ns();
	while (f->samples < n) {
		turn(f);
		assert_true(clock_ns() - began < patience);
	}
}

static void plays_a_script_exactly(void **state)
{
	(void)state;
	struct front f;
	start(&f,
		"# launch device notify gap\n"
		"1000 30000 2000 500 hash=abc cycles=77 copy=3\n"
		"900 31000 1900 400 h2d nodevice repeat=2\n",
		0);
	await_phase(&f, STRESS_DONE);
	assert_int_equal(f.samples, 3);
	assert_int_equal(f.gaps, 0);
	assert_int_equal(f.status.produced, 3);
	assert_int_equal(f.status.dropped, 0);
	assert_int_equal(f.status.golden_hash, 0xabc);
	assert_int_equal(stress_series_of(&f.last), STRESS_H2D);
	assert_int_equal(f.last.flags & STRESS_HAS_DEVICE, 0);
	assert_int_equal(stress_host_ns(&f.last), 900 + 31000 + 1900);
	assert_string_equal(f.status.backend, "script");
	finish(&f);
}

static void a_fast_script_loses_nothing(void **state)
{
	(void)state;
	/* Four times what the ring holds; the front sleeps first, so that it fills. */
	struct front f;
	start(&f, "10 20 5 1 repeat=262144\n", 0);
	struct timespec nap = {.tv_nsec = 300000000};
	nanosleep(&nap, NULL);
	await_phase(&f, STRESS_DONE);
	turn(&f);
	assert_int_equal(f.samples, 262144);
	assert_int_equal(f.gaps, 0);
	assert_int_equal(f.status.dropped, 0);
	finish(&f);
}

static void counts_wrong_hashes(void **state)
{
	(void)state;
	struct front f;
	start(&f, "1 2 3 4 hash=1 repeat=5\n1 2 3 4 hash=2\n1 2 3 4 hash=1\n", 0);
	await_phase(&f, STRESS_DONE);
	assert_int_equal(f.samples, 7);
	assert_int_equal(f.status.mismatches, 1);
	finish(&f);
}

static const char *const steady = "1000 1000000 1000 10000\nagain\n"; /* 1 ms each */

static void pauses_resumes_and_stops(void **state)
{
	(void)state;
	struct front f;
	start(&f, steady, 1);
	await_samples(&f, 20);
	stress_worker_pause(f.w, true);
	assert_true(await_phase(&f, STRESS_PAUSED) < second / 2);
	turn(&f);
	uint64_t before = f.samples;
	for (int i = 0; i < 20; i++) {
		turn(&f);
		assert_false(f.status.stalled);
	}
	assert_int_equal(f.samples, before);
	stress_worker_pause(f.w, false);
	await_samples(&f, before + 20);
	assert_int_equal(f.gaps, 0);
	stress_worker_stop(f.w);
	assert_true(await_phase(&f, STRESS_DONE) < second);
	finish(&f);
}

static void a_killed_worker_is_told_apart(void **state)
{
	(void)state;
	struct front f;
	start(&f, steady, 1);
	await_samples(&f, 20);
	kill(f.status.pid, SIGKILL);
	assert_true(await_phase(&f, STRESS_DIED) < second);
	assert_non_null(strstr(f.status.why, "signal 9"));
	assert_true(f.samples >= 20); /* what was read stays */
	struct front again;
	start(&again, steady, 1);
	await_samples(&again, 5); /* and another can be started */
	finish(&again);
	finish(&f);
}

static void a_stopped_worker_is_seen_within_a_second(void **state)
{
	(void)state;
	struct front f;
	start(&f, steady, 1);
	await_samples(&f, 20);
	kill(f.status.pid, SIGSTOP);
	uint64_t began = clock_ns(), longest = 0;
	while (!f.status.stalled) {
		uint64_t t = clock_ns();
		turn(&f);
		longest = MAX(longest, clock_ns() - t);
		/* Who looks a second after the stop sees it, however late a busy machine looks. */
		assert_true(f.status.stalled || t - began < second);
	}
	/* The stopped worker would hold the front up for ever: any end of a turn is early enough.
	 */
	assert_true(longest < patience);
	print_message("seen after %.0f ms\n", (double)(clock_ns() - began) / 1e6);

	/* Requests meanwhile do not block, however many; the last wish holds later. */
	for (int i = 0; i < 2000; i++) {
		stress_worker_pause(f.w, i % 2);
	}
	stress_worker_pause(f.w, false);
	assert_true(clock_ns() - began < patience);
	kill(f.status.pid, SIGCONT);
	uint64_t before = f.samples;
	await_samples(&f, before + 20);
	assert_false(f.status.stalled);

	/* A stopped worker is ended all the same. */
	kill(f.status.pid, SIGSTOP);
	began = clock_ns();
	stress_worker_destroy(f.w, 200);
	assert_true(clock_ns() - began < patience);
	assert_int_equal(kill(f.status.pid, 0), -1);
	unlink(f.path);
}

static void crash_hang_and_failure_have_names(void **state)
{
	(void)state;
	struct front f;
	start(&f, "1 1 1 1 repeat=9\n1 1 1 1 crash\n", 0);
	await_phase(&f, STRESS_DIED);
	assert_non_null(strstr(f.status.why, "signal 11"));
	assert_int_equal(f.samples, 9);
	finish(&f);

	start(&f, "1 1 1 1 repeat=9\n1 1 1 1 fail\n", 0);
	await_phase(&f, STRESS_FAILED);
	assert_string_equal(f.status.why, "script line 2 says that this launch fails");
	assert_int_equal(f.samples, 9);
	finish(&f);

	start(&f, "1 1 1 1 repeat=9\n1 1 1 1 hang\n", 0);
	uint64_t began = clock_ns();
	do {
		turn(&f);
		assert_true(clock_ns() - began < patience);
		assert_true(f.status.stalled || f.status.silent_ns < second);
	} while (!f.status.stalled);
	began = clock_ns();
	stress_worker_destroy(f.w, 100);
	assert_true(clock_ns() - began < patience);
	unlink(f.path);
}

static void a_bad_configuration_is_one_sentence(void **state)
{
	(void)state;
	struct front f;
	start(&f, "1 2 3 4\n1 2 x 4\n", 0);
	await_phase(&f, STRESS_FAILED);
	assert_string_equal(f.status.why, "script line 2: not a number of ns up to an hour: 'x'");
	finish(&f);

	struct stress_config c;
	stress_config_init(&c);
	snprintf(c.backend, sizeof(c.backend), "abacus");
	struct why why;
	f = (struct front){0};
	assert_int_equal(stress_worker_start(&c, &f.w, &why), 0);
	await_phase(&f, STRESS_FAILED);
	assert_string_equal(f.status.why, "there is no back end 'abacus'");
	finish(&f);
}

/* Is PID still a running process? A zombie that waits for init is not. */
static bool is_alive(pid_t pid)
{
	char path[64], text[256] = "";
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	int fd = open(path, O_RDONLY);
	if (fd < 0) {
		return false;
	}
	ssize_t n = read(fd, text, sizeof(text) - 1);
	close(fd);
	const char *end = n > 0 ? strrchr(text, ')') : NULL;
	return end && end[2] != 'Z' && end[2] != 'X';
}

static void no_worker_outlives_its_front(void **state)
{
	(void)state;
	int pipes[2];
	assert_int_equal(pipe(pipes), 0);
	pid_t front = fork();
	if (front == 0) {
		struct front f;
		start(&f, "1 1 1 1 hang\n", 0); /* it cannot look at its socket */
		await_phase(&f, STRESS_RUNNING);
		unlink(f.path);
		if (write(pipes[1], &f.status.pid, sizeof(pid_t)) != sizeof(pid_t)) {
			_exit(1);
		}
		pause();
	}
	pid_t worker = 0;
	assert_int_equal(read(pipes[0], &worker, sizeof(worker)), sizeof(worker));
	assert_true(is_alive(worker));
	kill(front, SIGKILL);
	waitpid(front, NULL, 0);
	uint64_t began = clock_ns();
	while (is_alive(worker)) {
		assert_true(clock_ns() - began < patience);
		usleep(10000);
	}
	close(pipes[0]);
	close(pipes[1]);
}

/* Workers that do not follow are ended in one wait, not in one each. */
static void many_end_in_one_wait(void **state)
{
	(void)state;
	enum { MANY = 8, PATIENCE_MS = 1000 };
	static struct front f[MANY];
	struct stress_worker *w[MANY + 1] = {NULL}; /* one that is none */
	for (int i = 0; i < MANY; i++) {
		start(&f[i], steady, 1);
		w[i] = f[i].w;
		stress_worker_status(w[i], &f[i].status);
		assert_int_equal(kill(f[i].status.pid, SIGSTOP), 0);
	}
	const uint64_t before = clock_ns();
	stress_worker_destroy_all(w, ARRAY_LEN(w), PATIENCE_MS);
	/* One wait is a second and one each eight: a busy machine has seven to spare. */
	assert_in_range(clock_ns() - before, PATIENCE_MS * (second / 1000),
		MANY * PATIENCE_MS * (second / 1000) - 1);
	for (int i = 0; i < MANY; i++) {
		/* A busy machine takes its time. */
		const pid_t pid = f[i].status.pid;
		for (int k = 0; k < 3000 && !kill(pid, 0) && !waitpid(pid, NULL, WNOHANG); k++) {
			poll(NULL, 0, 10);
		}
		assert_int_equal(kill(pid, 0), -1);
		unlink(f[i].path);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--worker")) {
		return stress_worker_main(argc, argv);
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plays_a_script_exactly),
		cmocka_unit_test(a_fast_script_loses_nothing),
		cmocka_unit_test(many_end_in_one_wait),
		cmocka_unit_test(counts_wrong_hashes),
		cmocka_unit_test(pauses_resumes_and_stops),
		cmocka_unit_test(a_killed_worker_is_told_apart),
		cmocka_unit_test(a_stopped_worker_is_seen_within_a_second),
		cmocka_unit_test(crash_hang_and_failure_have_names),
		cmocka_unit_test(a_bad_configuration_is_one_sentence),
		cmocka_unit_test(no_worker_outlives_its_front),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
