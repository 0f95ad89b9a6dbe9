/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Golden screens: every view at every size, and what the screen says in trouble. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "scene.h"

static const struct {
	int w, h;
} sizes[] = {{40, 12}, {80, 24}, {120, 40}, {200, 60}};

static void overview_at_every_size(void **state)
{
	(void)state;
	static const char *const sets[] = {"ascii", "blocks", "utf8"};
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		for (int set = TUI_ASCII; set <= TUI_UTF8; set++) {
			struct scene *s = scene_create("001-h200-vm/machine", sizes[i].w,
				sizes[i].h, (enum tui_charset)set);
			scene_phase(s, STRESS_RUNNING, true);
			scene_run(s, 50);
			scene_baseline(s);
			char name[64];
			snprintf(name, sizeof(name), "overview-%dx%d-%s", sizes[i].w, sizes[i].h,
				sets[set]);
			assert_true(scene_golden(s, name));
			scene_destroy(s);
		}
	}
}

/* What each state of the worker looks like: the whole screen once, then the line that matters. */
static void trouble_is_said(void **state)
{
	(void)state;
	static const struct {
		enum stress_phase phase;
		bool alive, stalled;
		const char *why, *says;
	} cases[] = {
		{STRESS_STARTING, true, false, "", "starting"},
		{STRESS_PAUSED, true, false, "", "paused"},
		{STRESS_DONE, false, false, "", "stopped"},
		{STRESS_RUNNING, true, true, "",
			"stalled: no sign of the worker (process 4242) for 3.2 s"},
		{STRESS_FAILED, false, false, "not enough memory", "not enough memory; s starts"},
		{STRESS_DIED, false, false, "the worker process was ended by signal 9 (Killed)",
			"signal 9 (Killed); s starts another"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
		scene_phase(s, cases[i].phase, cases[i].alive);
		s->app.live.status.stalled = cases[i].stalled;
		s->app.live.status.silent_ns = cases[i].stalled ? 3200000000u : 0;
		strcpy(s->app.live.status.why, cases[i].why);
		scene_run(s, 20);
		_cleanup_free_ char *text = scene_text(s);
		if (!strstr(text, cases[i].says)) {
			fprintf(stderr, "'%s' is missing:\n%s", cases[i].says, text);
			fail();
		}
		scene_destroy(s);
	}
}

static void small_and_empty_machines(void **state)
{
	(void)state;
	/* No GPU: said in one line, the devices with BARs follow. */
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct pcie_snapshot *m = pcie_snapshot_create("empty");
	tui_machine_set(&s->app.machine, m, NULL);
	_cleanup_free_ char *none = scene_text(s);
	assert_non_null(strstr(none, "No PCI device with BARs"));
	scene_destroy(s);

	s = scene_create(NULL, 80, 24, TUI_UTF8);
	_cleanup_free_ char *reading = scene_text(s);
	assert_non_null(strstr(reading, "Reading the machine"));
	why_set(&s->app.machine.why, "/sys/bus/pci/devices: No such file or directory");
	_cleanup_free_ char *failed = scene_text(s);
	assert_non_null(strstr(failed, "No such file or directory"));
	scene_destroy(s);

	s = scene_create("demo", 39, 11, TUI_UTF8);
	_cleanup_free_ char *small = scene_text(s);
	assert_non_null(strstr(small, "39 x 11"));
	assert_non_null(strstr(small, "40 x 12"));
	scene_destroy(s);
}

static void help_names_every_key(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	s->app.help = true;
	assert_true(scene_golden(s, "help-80x24-utf8"));
	scene_destroy(s);
}

/* No size, key or state may write outside the canvas or divide by nothing. */
static void any_size_and_key(void **state)
{
	(void)state;
	static const uint32_t keys[] = {'j', 'k', '+', '-', '-', '-', 'l', '?', '?', 'b', 'p',
		TUI_KEY_END, TUI_KEY_HOME, TUI_KEY_UP, TUI_KEY_DOWN, TUI_KEY_ESCAPE, 0xe9, 7};
	size_t k = 0;
	for (int w = 1; w < 140; w += 13) {
		for (int h = 1; h < 50; h += 5) {
			struct scene *s = scene_create(
				"002-switch-rebar/machine.rec", w, h, (enum tui_charset)(k % 3));
			scene_phase(s, STRESS_RUNNING, true);
			s->app.live.worker = NULL; /* keys act on it */
			scene_run(s, (unsigned)(k % 7) * 10);
			for (int i = 0; i < 6; i++) {
				tui_app_key(&s->app,
					(struct tui_input){.key = keys[k++ % ARRAY_LEN(keys)]});
				_cleanup_free_ char *text = scene_text(s);
				assert_non_null(text);
			}
			scene_destroy(s);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overview_at_every_size),
		cmocka_unit_test(trouble_is_said),
		cmocka_unit_test(small_and_empty_machines),
		cmocka_unit_test(help_names_every_key),
		cmocka_unit_test(any_size_and_key),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
