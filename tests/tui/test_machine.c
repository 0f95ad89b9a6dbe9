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
#include "base/file.h"

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

static char *record_of(const char *name, size_t *ret_len)
{
	char path[600], *record;
	struct why why;
	snprintf(path, sizeof(path), "%s/tests/corpus/%s", getenv("BARSCOPE_SOURCE"), name);
	assert_int_equal(file_read_all(path, 1 << 22, &record, ret_len, &why), 0);
	return record;
}

/* Polls until one of NEWS comes; false: the scanner rests before that. */
static bool comes(struct tui_machine *m, unsigned news)
{
	for (uint64_t end = clock_ns() + 60 * second; clock_ns() < end;) {
		struct pollfd p = {.fd = tui_machine_fd(m), .events = POLLIN};
		if (tui_machine_poll(m, second) & news) {
			return true;
		}
		if (!m->scanning && !tui_machine_settling(m)) {
			return false;
		}
		poll(&p, 1, 1000);
	}
	return false;
}

/* What differs from the baseline's machine is worked out on the scanner, whatever comes first. */
static void the_machine_then_is_compared_by_the_scanner(void **state)
{
	(void)state;
	char source[600];
	size_t len;
	snprintf(source, sizeof(source), "%s/tests/corpus/091-rebar-off/machine.rec",
		getenv("BARSCOPE_SOURCE"));
	char *then = record_of("090-rebar-full/machine.rec", &len);
	struct tui_machine m;
	tui_machine_init(&m, source);
	tui_machine_parse_then(&m, then, len);
	assert_int_equal(tui_machine_scan(&m, second), 0);
	assert_true(comes(&m, TUI_MACHINE_COMPARED));
	assert_true(m.has_since && m.then && m.snapshot);
	char text[2000];
	tui_changes_join(&m.since, text, sizeof(text));
	assert_non_null(strstr(text, "BAR 0 16 GiB"));

	/* Another look at the machine: compared again, and the old answer stands until then. */
	assert_int_equal(tui_machine_scan(&m, second), 0);
	assert_true(comes(&m, TUI_MACHINE_SCANNED));
	assert_true(m.has_since);
	assert_true(!m.comparing || comes(&m, TUI_MACHINE_COMPARED));

	/* Forgotten while it is looked at: no news of it, and nothing is freed too early. */
	assert_int_equal(tui_machine_scan(&m, second), 0);
	assert_true(comes(&m, TUI_MACHINE_SCANNED));
	tui_machine_set_then(&m, NULL);
	assert_false(m.has_since);
	assert_false(comes(&m, TUI_MACHINE_COMPARED));

	/* Two records on their way: the later one counts. */
	tui_machine_parse_then(&m, then, len);
	size_t same_len;
	char *same = record_of("091-rebar-off/machine.rec", &same_len);
	tui_machine_parse_then(&m, same, same_len);
	assert_int_equal(m.parsing, 2);
	assert_true(comes(&m, TUI_MACHINE_COMPARED));
	assert_int_equal(m.since.n, 0);
	assert_int_equal(tui_machine_scan(&m, second), 0);
	assert_int_equal(tui_machine_finish(&m, 10000), 0);
	free(then);
	free(same);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(choices_follow_their_file),
		cmocka_unit_test(the_machine_then_is_compared_by_the_scanner),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
