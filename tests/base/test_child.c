/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This test, started again, plays the children: one that answers, one that crashes, one that hangs.
 */
#include "base/child.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

enum { LONG_S = 60 };

static uint64_t in_seconds(unsigned s)
{
	return clock_ns() + s * (uint64_t)1000000000;
}

static struct child start(const char *role)
{
	char name[] = "test", word[16];
	char *argv[] = {name, word, NULL};
	struct child c;
	strncpy(word, role, sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	assert_int_equal(child_start(argv, NULL, &c), 0);
	return c;
}

static void its_answer_comes_in_pieces(void **state)
{
	(void)state;
	struct child c = start("answer");
	char buf[8] = "";
	assert_int_equal(child_read(&c, buf, 6, in_seconds(LONG_S)), 6);
	assert_string_equal(buf, "onetwo");
	assert_int_equal(child_read(&c, buf, 6, in_seconds(LONG_S)), 2); /* its end */
	int status = child_end(&c, false);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

static void it_crashes(void **state)
{
	(void)state;
	struct child c = start("crash");
	char buf[8];
	assert_int_equal(child_read(&c, buf, 6, in_seconds(LONG_S)), 0);
	int status = child_end(&c, false);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void it_hangs(void **state)
{
	(void)state;
	struct child c = start("hang");
	char buf[8];
	uint64_t began = clock_ns();
	assert_int_equal(child_read(&c, buf, 6, began + 50000000), -ETIMEDOUT);
	assert_true(clock_ns() - began >= 50000000);
	int status = child_end(&c, true);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
}

/* What a child said before it hung is there, however late it is asked for. */
static void what_came_before_the_deadline_counts(void **state)
{
	(void)state;
	struct child c = start("half");
	char buf[8] = "";
	size_t have = 99;
	assert_int_equal(child_read(&c, buf, 1, in_seconds(LONG_S)), 1);
	assert_int_equal(child_read_some(&c, buf + 1, 6, clock_ns(), &have), -ETIMEDOUT);
	assert_int_equal(have, 2);
	assert_string_equal(buf, "one");
	assert_int_equal(child_read(&c, buf, 1, clock_ns()), -ETIMEDOUT);
	assert_int_equal(child_read_some(&c, buf, 6, clock_ns() + 20000000, &have), -ETIMEDOUT);
	assert_int_equal(have, 0);
	child_end(&c, true);
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* A signal ends the waiting early, and nothing waits past the deadline for it. */
static void a_signal_while_waiting(void **state)
{
	(void)state;
	struct sigaction act = {.sa_handler = on_alarm, .sa_flags = SA_RESTART}, old;
	const struct itimerval often = {{0, 5000}, {0, 5000}}, never = {{0, 0}, {0, 0}};
	struct child c = start("hang");
	char buf[8];
	sigaction(SIGALRM, &act, &old);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(child_read(&c, buf, 6, clock_ns() + 50000000), -ETIMEDOUT);
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &old, NULL);
	child_end(&c, true);
}

/* No descriptor of this process and no blocked signal. */
static void nothing_is_handed_on(void **state)
{
	(void)state;
	int fd = open("/dev/null", O_RDONLY);
	assert_true(fd > 2);
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	struct child c = start("look");
	char word[8] = "";
	assert_int_equal(child_read(&c, word, 2, in_seconds(LONG_S)), 2);
	assert_string_equal(word, "ok");
	child_end(&c, false);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	close(fd);
}

static int play(const char *role)
{
	if (!strcmp(role, "answer")) {
		return write(1, "one", 3) == 3 && write(1, "two", 3) == 3 && write(1, "..", 2) == 2
			       ? 7
			       : 1;
	}
	if (!strcmp(role, "half")) {
		if (write(1, "one", 3) != 3) {
			return 1;
		}
		pause();
	}
	if (!strcmp(role, "crash")) {
		abort();
	}
	if (!strcmp(role, "look")) {
		sigset_t set;
		bool ok = sigprocmask(SIG_BLOCK, NULL, &set) == 0 && !sigismember(&set, SIGTERM);
		for (int fd = 3; fd < 64; fd++) {
			ok = ok && fcntl(fd, F_GETFD) < 0;
		}
		return write(1, ok ? "ok" : "no", 2) != 2;
	}
	for (;;) {
		pause();
	}
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		return play(argv[1]);
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_answer_comes_in_pieces),
		cmocka_unit_test(it_crashes),
		cmocka_unit_test(it_hangs),
		cmocka_unit_test(what_came_before_the_deadline_counts),
		cmocka_unit_test(a_signal_while_waiting),
		cmocka_unit_test(nothing_is_handed_on),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
