/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/job.h"

#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

struct task {
	struct job_item item;
	int number;
	_Atomic int doubled;
	int sleep_ms;
};

static void work(struct job_item *item)
{
	struct task *t = (struct task *)item;
	struct timespec ts = {0, (long)t->sleep_ms * 1000000};
	nanosleep(&ts, NULL);
	atomic_store(&t->doubled, 2 * t->number);
}

static void items_come_back_in_order(void **state)
{
	(void)state;
	struct job *job;
	assert_int_equal(job_create("test", &job), 0);
	enum { N = 1000 };
	struct task *tasks = calloc(N, sizeof(*tasks));
	for (int i = 0; i < N; i++) {
		tasks[i] = (struct task){.item.run = work, .number = i};
		job_post(job, &tasks[i].item);
	}
	int got = 0;
	while (got < N) {
		struct pollfd p = {.fd = job_fd(job), .events = POLLIN};
		assert_int_equal(poll(&p, 1, 5000), 1);
		struct job_item *item;
		while ((item = job_collect(job))) {
			struct task *t = (struct task *)item;
			assert_int_equal(t->number, got);
			assert_int_equal(t->doubled, 2 * got);
			got++;
		}
	}
	assert_int_equal(job_pending(job), 0);
	struct pollfd p = {.fd = job_fd(job), .events = POLLIN};
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(job_destroy(job, 5000), 0);
	free(tasks);
}

static void posting_does_not_wait_for_the_work(void **state)
{
	(void)state;
	struct job *job;
	assert_int_equal(job_create("test", &job), 0);
	struct task slow = {.item.run = work, .number = 4, .sleep_ms = 200};
	job_post(job, &slow.item);
	assert_null(job_collect(job));
	assert_int_equal(job_pending(job), 1);
	/* What was queued is finished before the thread ends. */
	assert_int_equal(job_destroy(job, 5000), 0);
	assert_int_equal(slow.doubled, 8);
	assert_int_equal(job_destroy(NULL, 0), 0);
}

static void a_stuck_thread_is_left_behind(void **state)
{
	(void)state;
	struct job *job;
	assert_int_equal(job_create("test", &job), 0);
	/* The thread may touch it for as long as it lives. */
	static struct task slow = {.item.run = work, .number = 4, .sleep_ms = 900};
	job_post(job, &slow.item);
	assert_int_equal(job_destroy(job, 20), -ETIMEDOUT);
	while (atomic_load(&slow.doubled) == 0) {
		struct timespec ts = {0, 10000000};
		nanosleep(&ts, NULL);
	}
	assert_int_equal(slow.doubled, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(items_come_back_in_order),
		cmocka_unit_test(posting_does_not_wait_for_the_work),
		cmocka_unit_test(a_stuck_thread_is_left_behind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
