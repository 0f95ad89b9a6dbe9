/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/svg.h"

#include <string.h>

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

/* Cells FROM … TO - 1 of a row, all of one paint. */
static void add_run(
	struct text *t, const struct tui_cell *row, int y, int from, int to, struct paint p)
{
	int x = MARGIN + from * CELL_W, w = (to - from) * CELL_W;
	if (p.has_bg) {
		text_addf(t,
			"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06x\"/>\n", x,
			MARGIN + y * CELL_H, w, CELL_H, p.bg);
	}
	bool blank = true;
	for (int i = from; i < to && blank; i++) {
		blank = row[i].ch == ' ' || row[i].ch == 0;
	}
	if (blank) {
		return;
	}
	/* The length is forced, so that no font can shift a column. */
	text_addf(t, "<text x=\"%d\" y=\"%d\" textLength=\"%d\" fill=\"#%06x\"%s%s>", x,
		MARGIN + y * CELL_H + BASELINE, w, p.fg, p.bold ? " font-weight=\"bold\"" : "",
		p.underline ? " text-decoration=\"underline\"" : "");
	for (int i = from; i < to; i++) {
		if (row[i].ch) {
			add_escaped(t, row[i].ch);
		}
	}
	text_add(t, "</text>\n");
}

char *tui_canvas_svg(const struct tui_canvas *c)
{
	struct text t = {0};
	int w = c->w * CELL_W + 2 * MARGIN, h = c->h * CELL_H + 2 * MARGIN;
	text_addf(&t,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\">\n"
		"<style>text { font: 13px 'DejaVu Sans Mono', 'Liberation Mono', Menlo, Consolas, "
		"monospace; white-space: pre }</style>\n"
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
