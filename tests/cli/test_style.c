/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may have colours: one table for text and screen. */
#include "cli/style.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/macros.h"

static void colours_are_decided_here(void **state)
{
	(void)state;
	static const struct {
		struct cmd_terminal t;
		bool text;
		enum tui_colours screen;
	} cases[] = {
		/* Plain cases: a terminal with colours, one without, and a pipe. */
		{{.is_one = true, .colours = 256}, true, TUI_256},
		{{.is_one = true, .colours = 16}, true, TUI_16},
		{{.is_one = true, .colours = 8}, true, TUI_16},
		{{.is_one = true, .colours = 2}, false, TUI_MONO},
		{{.is_one = true, .colours = 0}, false, TUI_MONO},
		{{.is_one = false}, false, TUI_MONO},
		/* NO_COLOR beats everything, but for the empty one. */
		{{.is_one = true, .colours = 256, .no_color = "1"}, false, TUI_MONO},
		{{.is_one = true, .colours = 256, .no_color = "0"}, false, TUI_MONO},
		{{.is_one = true, .colours = 256, .no_color = "1", .force = "1"}, false, TUI_MONO},
		{{.is_one = true, .colours = 256, .no_color = ""}, true, TUI_256},
		/* Forced: text only, wherever it goes. */
		{{.is_one = false, .force = "1"}, true, TUI_MONO},
		{{.is_one = false, .force = "0"}, false, TUI_MONO},
		{{.is_one = false, .force = ""}, false, TUI_MONO},
		/* COLORTERM tells of a terminal that terminfo does not know, and of no pipe. */
		{{.is_one = true, .colours = -1, .colorterm = "truecolor"}, true, TUI_MONO},
		{{.is_one = true, .colours = -1}, false, TUI_MONO},
		/* It is inherited by terminals that are known to have none. */
		{{.is_one = true, .colours = 0, .colorterm = "truecolor"}, false, TUI_MONO},
		{{.is_one = false, .colorterm = "truecolor"}, false, TUI_MONO},
		{{.is_one = true, .colorterm = ""}, false, TUI_MONO},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (cmd_colours_in_text(&cases[i].t) != cases[i].text ||
			cmd_colours_of_screen(&cases[i].t) != cases[i].screen) {
			fail_msg("case %zu", i);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(colours_are_decided_here),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
