/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the scanner reads beside the devices: the main thread reads no file. */
#include "tui/machine.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"

static const uint64_t second = 1000000000u;

static void choose(const char *path, const char *kernel)
{
	struct runs_choices c = {0};
	struct stress_choice own = {.m = 1, .k = 64, .n = 24};
	struct why why;
	snprintf(own.kernel, sizeof(own.kernel), "%s", kernel);
	runs_choices_put(&c, &own);
	if (runs_choices_save(path, &c, &why) < 0) {
		fail_msg("%s", why.text);
	}
	runs_choices_finish(&c);
}

/* Waits for the scanner until WANT was found, or nothing at all for NULL; asks again meanwhile. */
static bool finds(struct tui_machine *m, uint64_t *now, const char *want)
{
	for (uint64_t end = clock_ns() + 60 * second; clock_ns() < end; *now += 2 * second) {
		struct pollfd p = {.fd = tui_machine_fd(m), .events = POLLIN};
		poll(&p, 1, 1000);
		tui_machine_poll(m, *now);
		const struct runs_choices *c = &m->around.choices;
		bool found = want ? c->own_n == 1 && !strcmp(c->own[0].kernel, want) : !c->own_n;
		if (m->snapshot && found) {
			return true;
		}
		tui_machine_pulse(m, *now);
	}
	return false;
}

static void choices_follow_their_file(void **state)
{
	(void)state;
	char dir[] = "/tmp/barscope-machine-XXXXXX", folder[256], path[300], machine[600];
	assert_non_null(mkdtemp(dir));
	snprintf(folder, sizeof(folder), "%s/barscope", dir);
	snprintf(path, sizeof(path), "%s/choices.json", folder);
	snprintf(machine, sizeof(machine), "%s/tests/corpus/002-switch-rebar/machine.rec",
		getenv("BARSCOPE_SOURCE"));
	assert_int_equal(mkdir(folder, 0700), 0);
	setenv("XDG_CACHE_HOME", dir, 1);
	choose(path, "first");

	struct tui_machine m;
	uint64_t now = second;
	tui_machine_init(&m, machine);
	assert_true(m.around.load < 0); /* not known yet */
	assert_int_equal(tui_machine_scan(&m, now), 0);
	assert_true(finds(&m, &now, "first"));
	assert_true(m.around.load >= 0);
	choose(path, "second");
	assert_true(finds(&m, &now, "second"));
	assert_int_equal(unlink(path), 0);
	assert_true(finds(&m, &now, NULL));
	assert_int_equal(tui_machine_finish(&m, 10000), 0);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choices_follow_their_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
