/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stands around every view: header, status line, hints. Pure drawing. */
#pragma once

#include "tui/app.h"

enum { TUI_MIN_W = 40, TUI_MIN_H = 12 };

void tui_header_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r);
/* The view whose tab stands at column X of the header, -1: none. */
int tui_header_hit(const struct tui_app *a, int x);
void tui_status_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r);
void tui_hints_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r);
void tui_too_small_draw(struct tui_canvas *c, struct tui_rect r);

unsigned tui_tone_style(enum tui_tone t);
