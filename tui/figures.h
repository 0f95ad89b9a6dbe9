/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The figures of a window of samples, in words and numbers. Pure drawing. */
#pragma once

#include "tui/app.h"

/* Rows of labels and figures; what matters most comes first. */
void tui_figures_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r);
/* The same in one line. */
void tui_figures_line(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r);

enum { TUI_COUNT_MAX = 32 };
/* "1,204,331". Returns BUF. */
const char *tui_count(uint64_t n, char buf[static TUI_COUNT_MAX]);

enum { TUI_DATE_MAX = 32 };
/* UNIX ns as "30 Nov 17:47", local time. Returns BUF. */
const char *tui_date(int64_t unix_ns, char buf[static TUI_DATE_MAX]);
