/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines that flow down a rectangle, wrapped, from a scroll offset on. A pen without a
 * canvas's room only measures: the same code tells how long the text is.
 */
#pragma once

#include "tui/canvas.h"

struct tui_pen {
	struct tui_canvas *c;
	struct tui_rect r;
	int y;      /* next line, in the text */
	int scroll; /* the text's line at the top of R */
	bool measure;
};

/* Text wrapped at INDENT. */
void tui_pen_wrap(struct tui_pen *p, int indent, unsigned style, const char *s);
void tui_pen_line(struct tui_pen *p, int indent, unsigned style, const char *fmt, ...) PRINTF(4, 5);
/* "label   value": the label faint, the value wrapped at COLUMN. */
void tui_pen_pair(struct tui_pen *p, int indent, int column, const char *label, unsigned style,
	const char *fmt, ...) PRINTF(6, 7);
/* A mark before wrapped text. */
void tui_pen_mark(struct tui_pen *p, int indent, uint32_t glyph, unsigned style,
	unsigned text_style, const char *s);
void tui_pen_heading(struct tui_pen *p, const char *s);
void tui_pen_gap(struct tui_pen *p);

/* The offset to draw a text of LINES in H rows at, when SCROLL is asked for. */
int tui_pen_scroll(int scroll, int lines, int h);
