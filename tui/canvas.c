/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/canvas.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

static int bounded(int v, int lo, int hi)
{
	return v < lo ? lo : v > hi ? hi : v;
}

void tui_canvas_init(struct tui_canvas *c, int w, int h, const struct tui_glyphs *glyphs)
{
	*c = (struct tui_canvas){.glyphs = glyphs};
	tui_canvas_resize(c, w, h);
}

void tui_canvas_finish(struct tui_canvas *c)
{
	free(c->cell);
	*c = (struct tui_canvas){0};
}

void tui_canvas_resize(struct tui_canvas *c, int w, int h)
{
	w = bounded(w, 1, TUI_MAX_SIDE);
	h = bounded(h, 1, TUI_MAX_SIDE);
	if (w != c->w || h != c->h) {
		c->cell = xreallocarray(c->cell, (size_t)w * (size_t)h, sizeof(*c->cell));
		c->w = w;
		c->h = h;
	}
	tui_canvas_clear(c);
}

void tui_canvas_clear(struct tui_canvas *c)
{
	size_t n = (size_t)c->w * (size_t)c->h;
	for (size_t i = 0; i < n; i++) {
		c->cell[i] = (struct tui_cell){.ch = ' '};
	}
}

void tui_canvas_copy(struct tui_canvas *dst, const struct tui_canvas *src)
{
	memcpy(dst->cell, src->cell, (size_t)src->w * (size_t)src->h * sizeof(*src->cell));
}

struct tui_rect tui_canvas_rect(const struct tui_canvas *c)
{
	return (struct tui_rect){0, 0, c->w, c->h};
}

struct tui_rect tui_clip(const struct tui_canvas *c, struct tui_rect r)
{
	int x0 = MAX(r.x, 0), y0 = MAX(r.y, 0);
	int x1 = MIN(r.x + r.w, c->w), y1 = MIN(r.y + r.h, c->h);
	return (struct tui_rect){x0, y0, MAX(x1 - x0, 0), MAX(y1 - y0, 0)};
}

struct tui_rect tui_inset(struct tui_rect r, int dx, int dy)
{
	return (struct tui_rect){r.x + dx, r.y + dy, MAX(r.w - 2 * dx, 0), MAX(r.h - 2 * dy, 0)};
}

struct tui_rect tui_take_top(struct tui_rect *r, int n)
{
	n = bounded(n, 0, r->h);
	struct tui_rect taken = {r->x, r->y, r->w, n};
	r->y += n;
	r->h -= n;
	return taken;
}

struct tui_rect tui_take_bottom(struct tui_rect *r, int n)
{
	n = bounded(n, 0, r->h);
	r->h -= n;
	return (struct tui_rect){r->x, r->y + r->h, r->w, n};
}

struct tui_rect tui_take_left(struct tui_rect *r, int n)
{
	n = bounded(n, 0, r->w);
	struct tui_rect taken = {r->x, r->y, n, r->h};
	r->x += n;
	r->w -= n;
	return taken;
}

struct tui_rect tui_take_right(struct tui_rect *r, int n)
{
	n = bounded(n, 0, r->w);
	r->w -= n;
	return (struct tui_rect){r->x + r->w, r->y, n, r->h};
}

static bool inside(const struct tui_canvas *c, struct tui_rect r, int x, int y)
{
	return x >= 0 && y >= 0 && x < r.w && y < r.h && r.x + x >= 0 && r.y + y >= 0 &&
	       r.x + x < c->w && r.y + y < c->h;
}

static struct tui_cell *cell_at(const struct tui_canvas *c, struct tui_rect r, int x, int y)
{
	return &c->cell[(size_t)(r.y + y) * (size_t)c->w + (size_t)(r.x + x)];
}

static void set_cell(struct tui_cell *cell, unsigned style, uint32_t ch)
{
	unsigned bg = style >> 16;
	cell->ch = ch;
	cell->role = (uint8_t)style;
	cell->attr = (uint8_t)(style >> 8);
	if (bg) {
		cell->bg = (uint8_t)bg;
	}
}

/* A wide character loses both halves when one is overwritten. */
static void mend(struct tui_canvas *c, int x, int y)
{
	struct tui_cell *row = &c->cell[(size_t)y * (size_t)c->w];
	if (row[x].ch == 0 && x > 0) {
		row[x - 1].ch = ' ';
	}
	if (x + 1 < c->w && row[x + 1].ch == 0) {
		row[x + 1].ch = ' ';
	}
}

void tui_put(struct tui_canvas *c, struct tui_rect r, int x, int y, unsigned style, uint32_t ch)
{
	if (!inside(c, r, x, y)) {
		return;
	}
	mend(c, r.x + x, r.y + y);
	set_cell(cell_at(c, r, x, y), style, ch);
}

void tui_hline(
	struct tui_canvas *c, struct tui_rect r, int x, int y, int n, unsigned style, uint32_t ch)
{
	for (int i = 0; i < n; i++) {
		tui_put(c, r, x + i, y, style, ch);
	}
}

void tui_fill(struct tui_canvas *c, struct tui_rect r, unsigned style, uint32_t ch)
{
	struct tui_rect k = tui_clip(c, r);
	for (int y = 0; y < k.h; y++) {
		tui_hline(c, k, 0, y, k.w, style, ch);
	}
}

void tui_tint(struct tui_canvas *c, struct tui_rect r, enum tui_bg bg)
{
	struct tui_rect k = tui_clip(c, r);
	for (int y = 0; y < k.h; y++) {
		for (int x = 0; x < k.w; x++) {
			cell_at(c, k, x, y)->bg = (uint8_t)bg;
		}
	}
}

void tui_add_attr(struct tui_canvas *c, struct tui_rect r, unsigned attr)
{
	struct tui_rect k = tui_clip(c, r);
	for (int y = 0; y < k.h; y++) {
		for (int x = 0; x < k.w; x++) {
			cell_at(c, k, x, y)->attr |= (uint8_t)(attr >> 8);
		}
	}
}

/* Places one character of known width; returns the columns it took, 0 when it did not fit. */
static int place(struct tui_canvas *c, struct tui_rect r, int x, int y, unsigned style, uint32_t ch)
{
	int w = text_width(ch);
	if (w == 0 || x + w > r.w) {
		return 0;
	}
	if (w == 2 && (!inside(c, r, x, y) || !inside(c, r, x + 1, y))) {
		return 2; /* cut by the canvas: takes its room, is not drawn */
	}
	tui_put(c, r, x, y, style, ch);
	if (w == 2) {
		tui_put(c, r, x + 1, y, style, ' ');
		cell_at(c, r, x, y)->ch = ch; /* mend() saw no pair yet */
		cell_at(c, r, x + 1, y)->ch = 0;
	}
	return w;
}

/* What CH becomes on this canvas: a short string in BUF or a table. */
static const char *shown(const struct tui_canvas *c, uint32_t ch, char buf[static 8])
{
	if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0)) {
		return "?";
	}
	const char *s = tui_glyphs_instead(c->glyphs, ch);
	if (!s) {
		buf[text_utf8_encode(ch, buf)] = '\0';
		s = buf;
	}
	return s;
}

/* Returns the columns taken, or -1 when the text ends here. */
static int put_shown(
	struct tui_canvas *c, struct tui_rect r, int x, int y, unsigned style, const char *s)
{
	int taken = 0;
	size_t n = strlen(s);
	while (n > 0) {
		uint32_t ch;
		size_t used = text_utf8_decode(s, n, &ch);
		int w = place(c, r, x + taken, y, style, ch);
		if (w == 0 && text_width(ch) > 0) {
			return -1;
		}
		taken += w;
		s += used;
		n -= used;
	}
	return taken;
}

int tui_text(struct tui_canvas *c, struct tui_rect r, int x, int y, unsigned style, const char *s)
{
	size_t n = strlen(s);
	while (n > 0) {
		uint32_t ch;
		char buf[8] = "";
		size_t used = text_utf8_decode(s, n, &ch);
		int taken = put_shown(c, r, x, y, style, shown(c, ch, buf));
		if (taken < 0) {
			return x;
		}
		x += taken;
		s += used;
		n -= used;
	}
	return x;
}

int tui_textf(
	struct tui_canvas *c, struct tui_rect r, int x, int y, unsigned style, const char *fmt, ...)
{
	char buf[512];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(buf, sizeof(buf), fmt, ap);
	va_end(ap);
	return tui_text(c, r, x, y, style, buf);
}

int tui_text_width(const struct tui_canvas *c, const char *s)
{
	int w = 0;
	size_t n = strlen(s);
	while (n > 0) {
		uint32_t ch;
		char buf[8] = "";
		size_t used = text_utf8_decode(s, n, &ch);
		const char *t = shown(c, ch, buf);
		w += t == buf ? text_width(ch) : (int)strlen(t);
		s += used;
		n -= used;
	}
	return w;
}

int tui_text_fit(
	struct tui_canvas *c, struct tui_rect r, int x, int y, int w, unsigned style, const char *s)
{
	w = MIN(w, r.w - x);
	if (w <= 0) {
		return x;
	}
	struct tui_rect k = {r.x + x, r.y, w, r.h};
	if (tui_text_width(c, s) <= w) {
		return x + tui_text(c, k, 0, y, style, s);
	}
	k.w = w - 1;
	int end = tui_text(c, k, 0, y, style, s);
	k.w = w;
	tui_put(c, k, end, y, style, c->glyphs->ellipsis);
	return x + end + 1;
}

int tui_text_right(
	struct tui_canvas *c, struct tui_rect r, int margin, int y, unsigned style, const char *s)
{
	int x = MAX(r.w - margin - tui_text_width(c, s), 0);
	tui_text_fit(c, r, x, y, r.w - margin - x, style, s);
	return x;
}

/* The bytes of S that go on a line of W columns, and where the next line starts. */
static size_t line_break(const struct tui_canvas *c, int w, const char *s, size_t *ret_next)
{
	size_t n = strlen(s), i = 0, blank = 0;
	int cols = 0;
	while (i < n) {
		uint32_t ch;
		char buf[8] = "";
		size_t used = text_utf8_decode(s + i, n - i, &ch);
		if (ch == '\n') {
			*ret_next = i + 1;
			return i;
		}
		const char *t = shown(c, ch, buf);
		int cw = t == buf ? text_width(ch) : (int)strlen(t);
		if (ch == ' ') {
			blank = i;
		}
		if (cols + cw > w) {
			if (ch == ' ') {
				*ret_next = i + 1;
				return i;
			}
			if (blank > 0) {
				*ret_next = blank + 1;
				return blank;
			}
			*ret_next = i > 0 ? i : used;
			return i > 0 ? i : used;
		}
		cols += cw;
		i += used;
	}
	*ret_next = n;
	return n;
}

static int wrap(
	struct tui_canvas *c, struct tui_rect r, int y, unsigned style, const char *s, bool draw)
{
	int rows = 0;
	while (*s && r.w > 0) {
		size_t next, len = line_break(c, r.w, s, &next);
		if (draw) {
			char buf[1024];
			text_copy(buf, MIN(sizeof(buf), len + 1), s);
			tui_text(c, r, 0, y + rows, style, buf);
		}
		rows++;
		s += next;
	}
	return rows;
}

int tui_text_wrap(struct tui_canvas *c, struct tui_rect r, int y, unsigned style, const char *s)
{
	return wrap(c, r, y, style, s, true);
}

int tui_text_rows(const struct tui_canvas *c, int w, const char *s)
{
	struct tui_canvas measure = *c; /* drawn on by nobody */
	return wrap(&measure, (struct tui_rect){0, 0, w, 0}, 0, 0, s, false);
}

static void title_line(struct tui_canvas *c, struct tui_rect r, int x, int w, unsigned style,
	const char *title, const char *remark)
{
	struct tui_rect k = {r.x + x, r.y, MAX(w, 0), MIN(r.h, 1)};
	tui_hline(c, k, 0, 0, k.w, TUI_FRAME, c->glyphs->hline);
	int used = 0;
	if (title && k.w > 4) {
		tui_put(c, k, 0, 0, TUI_FRAME, ' ');
		used = tui_text_fit(c, k, 1, 0, k.w - 2, style, title);
		tui_put(c, k, used++, 0, TUI_FRAME, ' ');
	}
	if (remark && *remark && k.w - used > 8) {
		int n = MIN(tui_text_width(c, remark), k.w - used - 4);
		tui_put(c, k, k.w - n - 2, 0, TUI_FRAME, ' ');
		tui_text_fit(c, k, k.w - n - 1, 0, n, TUI_FAINT, remark);
		tui_put(c, k, k.w - 1, 0, TUI_FRAME, ' ');
	}
}

struct tui_rect tui_panel(struct tui_canvas *c, struct tui_rect r, unsigned style,
	const char *title, const char *remark)
{
	const struct tui_glyphs *g = c->glyphs;
	if (r.w < 2 || r.h < 2) {
		return (struct tui_rect){r.x, r.y, 0, 0};
	}
	for (int y = 1; y < r.h - 1; y++) {
		tui_put(c, r, 0, y, TUI_FRAME, g->vline);
		tui_put(c, r, r.w - 1, y, TUI_FRAME, g->vline);
	}
	tui_hline(c, r, 1, r.h - 1, r.w - 2, TUI_FRAME, g->hline);
	tui_put(c, r, 0, 0, TUI_FRAME, g->tl);
	tui_put(c, r, r.w - 1, 0, TUI_FRAME, g->tr);
	tui_put(c, r, 0, r.h - 1, TUI_FRAME, g->bl);
	tui_put(c, r, r.w - 1, r.h - 1, TUI_FRAME, g->br);
	tui_put(c, r, 1, 0, TUI_FRAME, g->hline);
	tui_put(c, r, r.w - 2, 0, TUI_FRAME, g->hline);
	title_line(c, r, 2, r.w - 4, style, title, remark);
	return tui_inset(r, 1, 1);
}

struct tui_rect tui_section(struct tui_canvas *c, struct tui_rect r, unsigned style,
	const char *title, const char *remark)
{
	if (r.h < 1) {
		return r;
	}
	tui_put(c, r, 0, 0, TUI_FRAME, c->glyphs->hline);
	tui_put(c, r, r.w - 1, 0, TUI_FRAME, c->glyphs->hline);
	title_line(c, r, 1, r.w - 2, style, title, remark);
	tui_take_top(&r, 1);
	return r;
}

static void add_row(struct text *t, const struct tui_cell *row, int w, bool rules)
{
	while (w > 0 && (row[w - 1].ch == ' ' || (!rules && row[w - 1].role == TUI_FRAME))) {
		w--;
	}
	for (int x = 0; x < w; x++) {
		char buf[4];
		bool rule = !rules && row[x].role == TUI_FRAME && row[x].ch > 0x7f;
		uint32_t ch = rule ? ' ' : row[x].ch;
		if (ch) {
			text_addn(t, buf, text_utf8_encode(ch, buf));
		}
	}
	text_add(t, "\n");
}

char *tui_canvas_text(const struct tui_canvas *c)
{
	struct text t = {0};
	for (int y = 0; y < c->h; y++) {
		add_row(&t, &c->cell[(size_t)y * (size_t)c->w], c->w, true);
	}
	return text_steal(&t);
}

char *tui_canvas_plain(const struct tui_canvas *c)
{
	struct text t = {0};
	size_t end = 0;
	for (int y = 0; y < c->h; y++) {
		size_t before = t.len;
		add_row(&t, &c->cell[(size_t)y * (size_t)c->w], c->w, false);
		if (t.len > before + 1) {
			end = t.len;
		}
	}
	char *s = text_steal(&t);
	s[end] = '\0';
	return s;
}
