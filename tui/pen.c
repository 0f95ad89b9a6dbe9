/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/pen.h"

#include <stdarg.h>
#include <stdio.h>

void tui_pen_wrap(struct tui_pen *p, int indent, unsigned style, const char *s)
{
	struct tui_rect text = {p->r.x + indent, p->r.y, MAX(p->r.w - indent, 1), p->r.h};
	int rows = MAX(tui_text_rows(p->c, text.w, s), 1);
	int y = p->y - p->scroll;
	if (!p->measure && y + rows > 0 && y < p->r.h) {
		tui_text_wrap(p->c, text, y, style, s);
	}
	p->y += rows;
}

void tui_pen_line(struct tui_pen *p, int indent, unsigned style, const char *fmt, ...)
{
	char buf[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	tui_pen_wrap(p, indent, style, buf);
}

static bool on_screen(const struct tui_pen *p)
{
	int y = p->y - p->scroll;
	return !p->measure && y >= 0 && y < p->r.h;
}

void tui_pen_pair(struct tui_pen *p, int indent, int column, const char *label, unsigned style,
	const char *fmt, ...)
{
	char buf[1024];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	if (on_screen(p)) {
		tui_text_fit(p->c, p->r, indent, p->y - p->scroll, column - indent - 1, TUI_FAINT,
			label);
	}
	tui_pen_wrap(p, column, style, buf);
}

void tui_pen_mark(struct tui_pen *p, int indent, uint32_t glyph, unsigned style,
	unsigned text_style, const char *s)
{
	if (on_screen(p)) {
		tui_put(p->c, p->r, indent, p->y - p->scroll, style, glyph);
	}
	tui_pen_wrap(p, indent + 2, text_style, s);
}

void tui_pen_heading(struct tui_pen *p, const char *s)
{
	if (p->y > 0) {
		p->y++;
	}
	tui_pen_wrap(p, 0, TUI_TITLE, s);
}

void tui_pen_gap(struct tui_pen *p)
{
	p->y++;
}

int tui_pen_scroll(int scroll, int lines, int h)
{
	return MAX(MIN(scroll, lines - h), 0);
}
