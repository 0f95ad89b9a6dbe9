/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/svg.h"

#include <string.h>

#include "base/macros.h"
#include "base/text.h"

enum { CELL_W = 8, CELL_H = 17, MARGIN = 10, BASELINE = 13 };

static const uint32_t ground = 0x101216, ink = 0xcccccc;

/* xterm's palette: 16 named, a cube of 6³, 24 greys. */
static uint32_t rgb(int n)
{
	static const uint32_t named[] = {0x000000, 0xcd3131, 0x0dbc79, 0xe5e510, 0x2472c8, 0xbc3fbc,
		0x11a8cd, 0xe5e5e5, 0x666666, 0xf14c4c, 0x23d18b, 0xf5f543, 0x3b8eea, 0xd670d6,
		0x29b8db, 0xffffff};
	static const uint8_t level[] = {0, 95, 135, 175, 215, 255};
	if (n < 16) {
		return named[n];
	}
	if (n < 232) {
		n -= 16;
		return (uint32_t)(level[n / 36] << 16 | level[n / 6 % 6] << 8 | level[n % 6]);
	}
	uint32_t grey = (uint32_t)(8 + (n - 232) * 10);
	return grey << 16 | grey << 8 | grey;
}

struct paint {
	uint32_t fg, bg;
	bool bold, underline, has_bg;
};

static struct paint paint_of(const struct tui_cell *k)
{
	struct tui_look look = tui_theme_look(TUI_256, k->role);
	struct tui_ground g = tui_theme_ground(TUI_256, k->bg);
	unsigned attr = look.attr | (unsigned)k->attr << 8;
	struct paint p = {
		.fg = look.fg < 0 ? ink : rgb(look.fg),
		.bg = g.bg < 0 ? ground : rgb(g.bg),
		.bold = attr & TUI_BOLD,
		.underline = attr & TUI_UNDERLINE,
		.has_bg = g.bg >= 0,
	};
	if (attr & TUI_REVERSE) {
		uint32_t t = p.fg;
		p.fg = p.bg;
		p.bg = t;
		p.has_bg = true;
	}
	return p;
}

static bool same(struct paint a, struct paint b)
{
	return a.fg == b.fg && a.bg == b.bg && a.bold == b.bold && a.underline == b.underline &&
	       a.has_bg == b.has_bg;
}

static void add_escaped(struct text *t, uint32_t ch)
{
	char buf[4];
	switch (ch) {
	case '<':
		text_add(t, "&lt;");
		break;
	case '&':
		text_add(t, "&amp;");
		break;
	default:
		text_addn(t, buf, text_utf8_encode(ch, buf));
		break;
	}
}

static void add_box(struct text *path, int x, int y, int w, int h)
{
	text_addf(path, "M%d %dh%dv%dh%dz", x, y, w, h, -w);
}

/* Which arms a line character has, from its cell's middle. */
enum { LEFT = 1, RIGHT = 2, UP = 4, DOWN = 8, THICK = 16 };

static int arms_of(uint32_t ch)
{
	static const struct {
		uint32_t ch;
		int arms;
	} lines[] = {
		{0x2500, LEFT | RIGHT},
		{0x2501, LEFT | RIGHT | THICK},
		{0x2502, UP | DOWN},
		{0x250c, RIGHT | DOWN},
		{0x2510, LEFT | DOWN},
		{0x2514, RIGHT | UP},
		{0x2518, LEFT | UP},
		{0x251c, UP | DOWN | RIGHT},
		{0x2524, UP | DOWN | LEFT},
		{0x252c, LEFT | RIGHT | DOWN},
		{0x256d, RIGHT | DOWN},
		{0x256e, LEFT | DOWN},
		{0x256f, LEFT | UP},
		{0x2570, RIGHT | UP},
	};
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		if (lines[i].ch == ch) {
			return lines[i].arms;
		}
	}
	return 0;
}

static void add_line(struct text *path, int x, int y, int arms)
{
	enum { MID_X = CELL_W / 2, MID_Y = CELL_H / 2 };
	int thick = arms & THICK ? 3 : 1;
	if (arms & (LEFT | RIGHT)) {
		int from = arms & LEFT ? 0 : MID_X, to = arms & RIGHT ? CELL_W : MID_X + 1;
		add_box(path, x + from, y + MID_Y - thick / 2, to - from, thick);
	}
	if (arms & (UP | DOWN)) {
		int from = arms & UP ? 0 : MID_Y, to = arms & DOWN ? CELL_H : MID_Y + 1;
		add_box(path, x + MID_X, y + from, 1, to - from);
	}
}

static void add_braille(struct text *path, int x, int y, uint32_t bits)
{
	static const uint8_t bit[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
	for (int col = 0; col < 2; col++) {
		for (int row = 0; row < 4; row++) {
			if (bits & bit[col][row]) {
				add_box(path, x + 1 + col * CELL_W / 2, y + 1 + row * CELL_H / 4, 2,
					3);
			}
		}
	}
}

/*
 * Lines, blocks and braille as shapes: fonts draw them at widths and heights of their own.
 * False: CH is none of them.
 */
static bool add_shape(struct text *path, int x, int y, uint32_t ch)
{
	int arms = arms_of(ch);
	if (arms) {
		add_line(path, x, y, arms);
	} else if (ch == 0x254c) {
		add_box(path, x + 1, y + CELL_H / 2, 2, 1);
		add_box(path, x + 5, y + CELL_H / 2, 2, 1);
	} else if (ch == 0x2580) {
		add_box(path, x, y, CELL_W, CELL_H / 2);
	} else if (ch >= 0x2581 && ch <= 0x2588) {
		int h = (int)(ch - 0x2580) * CELL_H / 8;
		add_box(path, x, y + CELL_H - h, CELL_W, h);
	} else if (ch > 0x2800 && ch <= 0x28ff) {
		add_braille(path, x, y, ch - 0x2800);
	} else {
		return false;
	}
	return true;
}

/* A word of cells FROM … TO - 1; its length is forced, so that no font can shift a column. */
static void add_word(
	struct text *t, const struct tui_cell *row, int y, int from, int to, struct paint p)
{
	text_addf(t, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"#%06x\"%s>",
		MARGIN + from * CELL_W, MARGIN + y * CELL_H + BASELINE, (to - from) * CELL_W, p.fg,
		p.bold ? " font-weight=\"bold\"" : "");
	for (int i = from; i < to; i++) {
		if (row[i].ch) {
			add_escaped(t, row[i].ch);
		}
	}
	text_add(t, "</text>\n");
}

static bool is_shade(uint32_t ch)
{
	return ch >= 0x2591 && ch <= 0x2593;
}

/* "░▒▓" of cells FROM … TO - 1: a quarter, a half, three quarters of the colour. */
static void add_shades(
	struct text *t, const struct tui_cell *row, int top, int from, int to, struct paint p)
{
	for (int i = from; i < to; i++) {
		uint32_t ch = row[i].ch;
		if (!is_shade(ch)) {
			continue;
		}
		int n = 1;
		while (i + n < to && row[i + n].ch == ch) {
			n++;
		}
		text_addf(t,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\" "
			"fill-opacity=\"0.%u\"/>\n",
			MARGIN + i * CELL_W, top, n * CELL_W, CELL_H, p.fg, 25 * (ch - 0x2590));
		i += n - 1;
	}
}

/* Cells FROM … TO - 1 of a row, all of one paint. */
static void add_run(
	struct text *t, const struct tui_cell *row, int y, int from, int to, struct paint p)
{
	int x = MARGIN + from * CELL_W, top = MARGIN + y * CELL_H, w = (to - from) * CELL_W;
	struct text path = {0};
	if (p.has_bg) {
		text_addf(t,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", x,
			top, w, CELL_H, p.bg);
	}
	if (p.underline) {
		add_box(&path, x, top + CELL_H - 2, w, 1);
	}
	add_shades(t, row, top, from, to, p);
	int word = -1;
	for (int i = from; i <= to; i++) {
		bool text = i < to && row[i].ch != ' ' && !is_shade(row[i].ch) &&
			    !add_shape(&path, MARGIN + i * CELL_W, top, row[i].ch);
		if (text && word < 0) {
			word = i;
		} else if (!text && word >= 0) {
			add_word(t, row, y, word, i, p);
			word = -1;
		}
	}
	if (path.len) {
		text_addf(t, "<path fill=\"#%06x\" d=\"%s\"/>\n", p.fg, path.s);
	}
	text_finish(&path);
}

char *tui_canvas_svg(const struct tui_canvas *c)
{
	struct text t = {0};
	int w = c->w * CELL_W + 2 * MARGIN, h = c->h * CELL_H + 2 * MARGIN;
	text_addf(&t,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n"
		"<style>text { font: 13px 'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, "
		"monospace }</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#%06x\"/>\n",
		w, h, w, h, ground);
	for (int y = 0; y < c->h; y++) {
		const struct tui_cell *row = &c->cell[(size_t)y * (size_t)c->w];
		int from = 0;
		for (int x = 1; x <= c->w; x++) {
			if (x == c->w || !same(paint_of(&row[x]), paint_of(&row[from]))) {
				add_run(&t, row, y, from, x, paint_of(&row[from]));
				from = x;
			}
		}
	}
	text_add(&t, "</svg>\n");
	return text_steal(&t);
}
