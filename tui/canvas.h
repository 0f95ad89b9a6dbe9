/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A grid of cells: what every view draws on, what a test reads as text, and what
 * screen.c brings to the terminal. Drawing only; no terminal, no state besides the
 * cells. Everything is clipped to the rectangle given and to the canvas.
 *
 * A style is a colour role (theme.h) with attributes: TUI_GOOD | TUI_BOLD, and may
 * name a background: TUI_TEXT | TUI_ON(TUI_BG_SELECTED). Without one the cell keeps its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "tui/glyphs.h"
#include "tui/theme.h"

struct tui_rect {
	int x, y, w, h;
};

struct tui_cell {
	uint32_t ch; /* 0: the right half of the wide character before it */
	uint8_t role, bg, attr;
	uint8_t unused;
};

struct tui_canvas {
	int w, h;
	struct tui_cell *cell; /* row-major, w * h; owned */
	const struct tui_glyphs *glyphs;
};

enum {
	TUI_BOLD = 1 << 8,
	TUI_DIM = 1 << 9,
	TUI_REVERSE = 1 << 10,
	TUI_UNDERLINE = 1 << 11,
};
#define TUI_ON(bg) ((unsigned)(bg) << 16)

enum { TUI_MAX_SIDE = 1024 };

/* A blank canvas; sides are bounded to 1 … TUI_MAX_SIDE. */
void tui_canvas_init(struct tui_canvas *c, int w, int h, const struct tui_glyphs *glyphs);
void tui_canvas_finish(struct tui_canvas *c);
/* New sides, blank. */
void tui_canvas_resize(struct tui_canvas *c, int w, int h);
void tui_canvas_clear(struct tui_canvas *c);
/* SRC and DST have the same sides. */
void tui_canvas_copy(struct tui_canvas *dst, const struct tui_canvas *src);

struct tui_rect tui_canvas_rect(const struct tui_canvas *c);
/* R cut down to what lies on C; w or h is 0 when nothing does. */
struct tui_rect tui_clip(const struct tui_canvas *c, struct tui_rect r);
/* R without its outer DX columns and DY rows; never negative. */
struct tui_rect tui_inset(struct tui_rect r, int dx, int dy);
/* Takes N rows or columns off R and returns them. */
struct tui_rect tui_take_top(struct tui_rect *r, int n);
struct tui_rect tui_take_bottom(struct tui_rect *r, int n);
struct tui_rect tui_take_left(struct tui_rect *r, int n);
struct tui_rect tui_take_right(struct tui_rect *r, int n);

/* Below, X and Y count from R's corner. */

void tui_put(struct tui_canvas *c, struct tui_rect r, int x, int y, unsigned style, uint32_t ch);
void tui_hline(
	struct tui_canvas *c, struct tui_rect r, int x, int y, int n, unsigned style, uint32_t ch);
void tui_fill(struct tui_canvas *c, struct tui_rect r, unsigned style, uint32_t ch);
/* Only the background of what is there. */
void tui_tint(struct tui_canvas *c, struct tui_rect r, enum tui_bg bg);
/* Only attributes, added to what is there. */
void tui_add_attr(struct tui_canvas *c, struct tui_rect r, unsigned attr);

/* UTF-8 text from X on, cut at R's edge (a wide character that does not fit is left out).
 * Control characters show as "?". Returns the X behind it. */
int tui_text(struct tui_canvas *c, struct tui_rect r, int x, int y, unsigned style, const char *s);
int tui_textf(struct tui_canvas *c, struct tui_rect r, int x, int y, unsigned style,
	const char *fmt, ...) PRINTF(6, 7);
/* The same within W columns, an ellipsis in the last one when it does not fit. Returns the X
 * behind what was drawn. */
int tui_text_fit(struct tui_canvas *c, struct tui_rect r, int x, int y, int w, unsigned style,
	const char *s);
/* Ends at R's right edge less MARGIN; returns the X where it starts. */
int tui_text_right(
	struct tui_canvas *c, struct tui_rect r, int margin, int y, unsigned style, const char *s);
/* Breaks at blanks into R from row Y on; returns the rows used. */
int tui_text_wrap(struct tui_canvas *c, struct tui_rect r, int y, unsigned style, const char *s);
/* Rows that tui_text_wrap would use at width W. */
int tui_text_rows(const struct tui_canvas *c, int w, const char *s);

/* Columns that S takes on C, with its stand-ins. */
int tui_text_width(const struct tui_canvas *c, const char *s);

/* A frame with a title at the left and a remark at the right of its top line (each may be
 * NULL). Returns what is inside. */
struct tui_rect tui_panel(struct tui_canvas *c, struct tui_rect r, unsigned style,
	const char *title, const char *remark);
/* The same without sides: one title line. */
struct tui_rect tui_section(struct tui_canvas *c, struct tui_rect r, unsigned style,
	const char *title, const char *remark);

/* The canvas as UTF-8 text: rows without trailing blanks, each ended by a newline. The caller
 * frees it. */
char *tui_canvas_text(const struct tui_canvas *c);
/* The same for copying: without the title lines' rules, without blank lines at the end. */
char *tui_canvas_plain(const struct tui_canvas *c);
