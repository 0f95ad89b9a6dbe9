/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Slow episodes in words: how many, by layer, associated with what, and the list. */
#pragma once

#include "tui/app.h"

/* SHORT: one line of summary and the newest ones; else all that is known, as a list whose cursor
 * is a->episodes. */
void tui_episodes_draw(
	const struct tui_app *a, struct tui_canvas *c, struct tui_rect r, bool is_short);

/* Rows that the list has when the panel is R. */
int tui_episodes_rows(const struct tui_app *a, struct tui_rect r);
