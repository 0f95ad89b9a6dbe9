/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The form of what to run: what is typed into it, which values go together, and small screens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "scene.h"
#include "tui/chrome.h"

static void forms_take_what_is_typed(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	scene_keys(s, "e");
	assert_true(scene_golden(s, "form-80x24-utf8"));
	/* To the shape, away with what stands there, nonsense, Enter: it stays open and says why.
	 */
	scene_keys(s, "\t\t");
	tui_app_key(&s->app, (struct tui_input){.key = 21});
	scene_keys(s, "4xö");
	tui_app_key(&s->app, (struct tui_input){.key = TUI_KEY_BACKSPACE});
	assert_string_equal(s->app.modal.field[2].value, "4x");
	tui_app_key(&s->app, (struct tui_input){.key = TUI_KEY_ENTER});
	assert_int_equal(s->app.modal.kind, TUI_MODAL_FORM);
	assert_true(s->app.modal.error[0] != '\0');
	_cleanup_free_ char *text = scene_text(s);
	assert_non_null(strstr(text, "4x"));
	/* Keys of the screen are letters here. */
	scene_keys(s, "q");
	assert_false(s->app.quit);
	tui_app_key(&s->app, (struct tui_input){.key = TUI_KEY_ESCAPE});
	assert_int_equal(s->app.modal.kind, TUI_MODAL_NONE);
	assert_int_equal(s->app.live.config.shape.k, 4096);
	scene_destroy(s);
}

/* A scene whose form has FIELD at VALUE; Enter was pressed. */
static struct scene *scene_form(size_t field, const char *value)
{
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	scene_keys(s, "e");
	strcpy(s->app.modal.field[field].value, value);
	return s;
}

static void modes_are_for_cuda(void **state)
{
	(void)state;
	enum { BACKEND = 0, SHAPE = 2, MODE = 4, PACE = 6 };
	static const struct {
		const char *backend, *shape, *mode, *pace, *error; /* NULL: taken */
	} cases[] = {
		{"cuda", "1x256x256", "queued", "", NULL},
		{"best", "1x256x256", "graph", "", NULL},
		{"cpu", "1x256x256", "isolated", "10ms", NULL},
		{"cpu", "1x256x256", "queued", "", "by the cuda back end alone"},
		{"cuda", "1x256x256", "graph", "10ms", "a graph has many"},
		{"cuda", "1x256x256", "queued", "10ms", "a queue has many"},
		{"cuda", "decode7b", "graph", "10ms", NULL},
		{"cuda", "decode7b", "queued", "10ms", "a queue has many"},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scene *s = scene_form(BACKEND, cases[i].backend);
		struct tui_modal *m = &s->app.modal;
		strcpy(m->field[SHAPE].value, cases[i].shape);
		strcpy(m->field[MODE].value, cases[i].mode);
		strcpy(m->field[PACE].value, cases[i].pace);
		tui_app_key(&s->app, (struct tui_input){.key = TUI_KEY_ENTER});
		if (cases[i].error) {
			assert_int_equal(m->kind, TUI_MODAL_FORM);
			assert_non_null(strstr(m->error, cases[i].error));
		} else {
			assert_int_equal(m->kind, TUI_MODAL_NONE);
			assert_string_equal(
				stress_mode_name(s->app.live.config.mode), cases[i].mode);
			stress_worker_destroy(s->app.live.worker, 0);
		}
		scene_destroy(s);
	}
}

/* On the smallest screen the field that is typed into, its help and the keys are all there. */
static void forms_scroll(void **state)
{
	(void)state;
	static const char *const label[] = {
		"back end", "device", "shape", "type", "mode", "weights", "pace", "threads"};
	struct scene *s = scene_create("demo", TUI_MIN_W, TUI_MIN_H, TUI_UTF8);
	scene_keys(s, "e");
	for (size_t i = 0; i < ARRAY_LEN(label); i++) {
		_cleanup_free_ char *text = scene_text(s);
		assert_non_null(strstr(text, label[i]));
		assert_non_null(strstr(text, "Esc leave"));
		assert_int_equal(s->app.modal.focus, i);
		scene_keys(s, "\t");
	}
	assert_int_equal(s->app.modal.focus, 0);
	assert_true(scene_golden(s, "form-40x12-utf8"));
	scene_destroy(s);
}

int main(int argc, char **argv)
{
	/* A form that is taken starts a worker: this program again. It has nothing to say. */
	if (argc > 1 && !strcmp(argv[1], "--worker")) {
		return 1;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms_take_what_is_typed),
		cmocka_unit_test(modes_are_for_cuda),
		cmocka_unit_test(forms_scroll),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
