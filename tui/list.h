/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list with a cursor that scrolls, of any length: only the rows on the screen are
 * drawn. Pure; the state belongs to the view.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "tui/canvas.h"
#include "tui/screen.h"

struct tui_list {
	size_t cursor;
	size_t top;  /* first row shown, as last laid out */
	size_t page; /* rows that fitted then */
};

/* Moves by KEY over N rows; true when the key was one of the list's. */
bool tui_list_key(struct tui_list *l, size_t n, struct tui_input in);
void tui_list_clamp(struct tui_list *l, size_t n);

/* The first row to show in H rows, with the cursor in sight. Pure: L is not changed. */
size_t tui_list_top(const struct tui_list *l, size_t n, size_t h);
/* Remembers where it was drawn, so that it does not jump. */
void tui_list_settle(struct tui_list *l, size_t n, size_t h);

/* Draws row I of DATA into ROW (one line high, its background set). */
typedef void tui_row_fn(
	const void *data, size_t i, bool at_cursor, struct tui_canvas *c, struct tui_rect row);
void tui_list_draw(struct tui_canvas *c, struct tui_rect r, const struct tui_list *l, size_t n,
	tui_row_fn *fn, const void *data);
