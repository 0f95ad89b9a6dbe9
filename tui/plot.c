/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"

/* Braille: bit of the dot in column 0–1, row 0–3 (Unicode, block 2800). */
static const uint8_t dot_bit[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};

/* What lies in one cell, as dots of each layer. */
struct spot {
	uint8_t strip, median, spike;
	bool above;
};

/* How finely a cell is divided on this canvas. */
struct grain {
	int cols, rows;
};

static struct grain grain_of(const struct tui_canvas *c)
{
	return c->glyphs->set == TUI_UTF8 ? (struct grain){2, 4} : (struct grain){1, 2};
}

static struct tui_rect plot_area(struct tui_rect r, bool lane)
{
	int below = lane ? 2 : 1;
	return (struct tui_rect){
		r.x + TUI_PLOT_GUTTER, r.y, MAX(r.w - TUI_PLOT_GUTTER, 0), MAX(r.h - below, 0)};
}

size_t tui_plot_columns(const struct tui_canvas *c, struct tui_rect r)
{
	return (size_t)(plot_area(r, false).w * grain_of(c).cols);
}

/* The row of dots, counted from the top, that holds V; may lie outside. */
static int dot_row(const struct tui_scale *y, int rows, double v)
{
	double share = tui_scale_share(y, v);
	if (share > 2) {
		share = 2;
	}
	if (share < -1) {
		share = -1;
	}
	return rows - 1 - (int)floor(share * rows);
}

static void set_dot(
	struct spot *spots, struct tui_rect a, struct grain g, int col, int row, size_t layer)
{
	if (row < 0 || row >= a.h * g.rows) {
		return;
	}
	struct spot *s = &spots[(size_t)(row / g.rows) * (size_t)a.w + (size_t)(col / g.cols)];
	uint8_t bit = dot_bit[col % g.cols][row % g.rows];
	if (layer == 0) {
		s->strip |= bit;
	} else if (layer == 1) {
		s->median |= bit;
	} else {
		s->spike |= bit;
	}
}

static void gather(const struct tui_plot *p, struct tui_rect a, struct grain g, struct spot *spots)
{
	int rows = a.h * g.rows;
	size_t n = MIN(p->ncolumn, (size_t)(a.w * g.cols));
	for (size_t i = 0; i < n; i++) {
		const struct runs_column *k = &p->column[i];
		if (k->n == 0) {
			continue;
		}
		int col = (int)i;
		int top = dot_row(&p->y, rows, (double)k->p95);
		int bottom = dot_row(&p->y, rows, (double)k->p5);
		for (int y = MAX(top, 0); y <= MIN(bottom, rows - 1); y++) {
			set_dot(spots, a, g, col, y, 0);
		}
		set_dot(spots, a, g, col, dot_row(&p->y, rows, (double)k->p50), 1);
		int worst = dot_row(&p->y, rows, (double)k->max);
		if (worst < 0) {
			spots[col / g.cols].above = true;
		} else if (worst < top - 1) {
			set_dot(spots, a, g, col, worst, 2);
		}
	}
}

static void draw_braille(
	struct tui_canvas *c, struct tui_rect a, int x, int y, const struct spot *s)
{
	if (s->median) {
		/* Inside a wide strip the median stands alone, with some air around it. */
		bool wide = __builtin_popcount(s->strip) >= 7;
		tui_put(c, a, x, y, TUI_MEDIAN, 0x2800u + (s->median | (wide ? 0 : s->strip)));
	} else if (s->strip) {
		tui_put(c, a, x, y, TUI_STRIP, 0x2800u + s->strip);
	} else if (s->spike) {
		tui_put(c, a, x, y, TUI_SPIKE, 0x2800u + s->spike);
	}
}

static void draw_blocks(struct tui_canvas *c, struct tui_rect a, int x, int y, const struct spot *s)
{
	const struct tui_glyphs *g = c->glyphs;
	bool upper = dot_bit[0][0] & s->median;
	if (s->median) {
		tui_put(c, a, x, y, TUI_MEDIAN, upper ? g->half_up : g->half_down);
	} else if (s->strip) {
		tui_put(c, a, x, y, TUI_STRIP, g->set == TUI_ASCII ? ':' : g->shade[1]);
	} else if (s->spike) {
		tui_put(c, a, x, y, TUI_SPIKE, g->set == TUI_ASCII ? '\'' : g->dots);
	}
}

/* A cell row's share of the axis: does [LO, HI] reach into row Y of H? */
static bool row_meets(const struct tui_scale *s, int h, int y, double lo, double hi)
{
	double top = tui_scale_value(s, (double)(h - y) / h);
	double bottom = tui_scale_value(s, (double)(h - y - 1) / h);
	return hi >= bottom && lo < top;
}

/* Behind everything: a tinted field between p5 and p95, sparse dots for terminals without
 * colours, and the median as a broken line. */
static void draw_baseline(struct tui_canvas *c, struct tui_rect a, const struct tui_plot *p)
{
	const struct tui_glyphs *g = c->glyphs;
	int row_in_band = 0;
	for (int y = 0; p->baseline.set && y < a.h; y++) {
		struct tui_rect row = {a.x, a.y + y, a.w, 1};
		if (!row_meets(&p->y, a.h, y, p->baseline.p5, p->baseline.p95)) {
			continue;
		}
		bool median = row_meets(&p->y, a.h, y, p->baseline.p50, p->baseline.p50);
		tui_tint(c, row, TUI_BG_BASELINE);
		for (int x = 0; x < a.w; x++) {
			if (median) {
				tui_put(c, row, x, 0, TUI_BASELINE, g->dash);
			} else if (row_in_band % 2 == 0 && (x + row_in_band) % 6 == 2) {
				tui_put(c, row, x, 0, TUI_BASELINE_DOTS, g->dots);
			}
		}
		row_in_band++;
	}
}

void tui_y_axis_draw(struct tui_canvas *c, struct tui_rect r, const struct tui_scale *y)
{
	struct tui_ticks t;
	tui_scale_ticks(y, (size_t)MAX(r.h / 2, 2), &t);
	for (int i = 0; i < r.h; i++) {
		tui_put(c, r, TUI_PLOT_GUTTER - 1, i, TUI_FRAME, c->glyphs->vline);
	}
	int last = r.h;
	for (size_t i = 0; i < t.n; i++) {
		int row = dot_row(y, r.h, t.at[i].v);
		row = row == -1 ? 0 : row; /* the top edge itself */
		if (row < 0 || row >= r.h || row == last) {
			continue;
		}
		last = row;
		int w = tui_text_width(c, t.at[i].label);
		tui_text(c, r, MAX(TUI_PLOT_GUTTER - 2 - w, 0), row, TUI_FAINT, t.at[i].label);
		tui_put(c, r, TUI_PLOT_GUTTER - 1, row, TUI_FRAME, c->glyphs->tick_left);
	}
}

static void draw_unit(struct tui_canvas *c, struct tui_rect r, int row, const struct tui_scale *y)
{
	struct tui_ticks t;
	tui_scale_ticks(y, 2, &t);
	tui_text(c, r, TUI_PLOT_GUTTER - 2 - tui_text_width(c, t.unit), row, TUI_FAINT, t.unit);
}

/* Steps between two labels of the time axis, in seconds. */
static const struct {
	double s;
	double unit;
	const char *name;
} time_steps[] = {
	{1, 1, "s"},
	{2, 1, "s"},
	{5, 1, "s"},
	{10, 1, "s"},
	{15, 1, "s"},
	{30, 1, "s"},
	{60, 60, "min"},
	{120, 60, "min"},
	{300, 60, "min"},
	{600, 60, "min"},
	{900, 60, "min"},
	{1800, 60, "min"},
	{3600, 3600, "h"},
	{7200, 3600, "h"},
	{10800, 3600, "h"},
	{21600, 3600, "h"},
	{86400, 86400, "d"},
};

static int mark_x(const struct tui_mark *m, int w, double cells)
{
	return w - 1 - (int)(m->before * cells);
}

/* Marks with as much of their names as there is room for: to the right, the last one to the left
 * when it stands at the edge. */
static void draw_lane(
	struct tui_canvas *c, struct tui_rect row, const struct tui_plot *p, double cells)
{
	enum { SHORTEST = 6 };
	int free_from = 0;
	for (size_t i = 0; i < p->nmark; i++) {
		const struct tui_mark *m = &p->mark[i];
		int x = mark_x(m, row.w, cells);
		int next = i + 1 < p->nmark ? mark_x(&p->mark[i + 1], row.w, cells) : row.w + 1;
		int w = m->name ? tui_text_width(c, m->name) : 0, room = next - x - 2;
		tui_put(c, row, x, 0, m->style, c->glyphs->up);
		if (w == 0 || x < 0) {
			free_from = MAX(free_from, x + 2);
		} else if (next > row.w && w > room && x - 1 - free_from >= w) {
			tui_text(c, row, x - w, 0, m->style, m->name);
		} else if (room >= MIN(w, SHORTEST)) {
			free_from = tui_text_fit(c, row, x + 1, 0, room, m->style, m->name) + 1;
		} else {
			free_from = x + 2;
		}
	}
}

/* Without a lane: on the axis, beside its words where they stand in the way. */
static void draw_axis_marks(
	struct tui_canvas *c, struct tui_rect row, const struct tui_plot *p, double cells)
{
	enum { ASIDE = 9 };
	struct tui_rect on = tui_clip(c, row);
	for (size_t i = 0; i < p->nmark; i++) {
		int x = mark_x(&p->mark[i], row.w, cells);
		for (int k = 0; k <= 2 * ASIDE; k++) {
			int at = x + (k % 2 ? (k + 1) / 2 : -(k / 2));
			bool inside = at >= 0 && at < on.w && on.h > 0;
			if (inside &&
				c->cell[(size_t)on.y * (size_t)c->w + (size_t)(on.x + at)].ch ==
					' ') {
				tui_put(c, row, at, 0, p->mark[i].style, c->glyphs->up);
				break;
			}
		}
	}
}

/* Round times, as far apart as their labels need: "30 s", "15 s", … and "now" at the end. */
static void draw_time_axis(
	struct tui_canvas *c, struct tui_rect r, struct tui_rect a, const struct tui_plot *p)
{
	struct tui_rect row = {a.x, r.y + a.h + p->lane, a.w, 1};
	if (!(p->seconds > 0)) {
		return;
	}
	size_t k = 0;
	double cells = a.w / p->seconds; /* a second's width */
	while (k + 1 < ARRAY_LEN(time_steps) && time_steps[k].s * cells < 14) {
		k++;
	}
	double step = time_steps[k].s;
	int free_to = a.w;
	const char *edge = p->stands ? "end" : "now";
	tui_text_right(c, row, 0, 0, TUI_FAINT, edge);
	free_to -= 4;
	for (double t = step; t <= p->seconds; t += step) {
		char label[32];
		int x = a.w - 1 - (int)lround(t * cells);
		snprintf(label, sizeof(label), p->stands ? "-%.3g %s" : "%.3g %s ago",
			t / time_steps[k].unit, time_steps[k].name);
		int w = tui_text_width(c, label);
		x -= w / 2;
		if (x >= 0 && x + w < free_to) {
			tui_text(c, row, x, 0, TUI_FAINT, label);
			free_to = x - 1;
		}
	}
	struct tui_rect lane = {a.x, r.y + a.h, a.w, 1};
	if (p->lane) {
		draw_lane(c, lane, p, cells);
	} else {
		draw_axis_marks(c, lane, p, cells);
	}
}

static void draw_empty(struct tui_canvas *c, struct tui_rect a, const char *s)
{
	int rows = tui_text_rows(c, MAX(a.w - 4, 1), s);
	struct tui_rect k = tui_inset(a, 2, 0);
	if (rows == 1) {
		int w = tui_text_width(c, s);
		tui_text(c, a, MAX((a.w - w) / 2, 0), a.h / 2, TUI_FAINT, s);
	} else {
		tui_text_wrap(c, k, MAX((a.h - rows) / 2, 0), TUI_FAINT, s);
	}
}

void tui_plot_draw(struct tui_canvas *c, struct tui_rect r, const struct tui_plot *p)
{
	struct tui_rect a = plot_area(r, p->lane);
	if (a.w < 1 || a.h < 1 || a.w > TUI_MAX_SIDE || a.h > TUI_MAX_SIDE) {
		return;
	}
	bool any = false;
	for (size_t i = 0; i < p->ncolumn && !any; i++) {
		any = p->column[i].n > 0;
	}
	bool scaled = p->y.hi > p->y.lo;
	if (scaled) {
		draw_baseline(c, a, p);
		tui_y_axis_draw(c, (struct tui_rect){r.x, r.y, r.w, a.h}, &p->y);
		draw_unit(c, r, a.h + p->lane, &p->y);
	}
	draw_time_axis(c, r, a, p);
	if (!any || !scaled) {
		if (p->empty) {
			draw_empty(c, a, p->empty);
		}
		return;
	}

	struct grain g = grain_of(c);
	_cleanup_free_ struct spot *spots = xcalloc((size_t)a.w * (size_t)a.h, sizeof(struct spot));
	gather(p, a, g, spots);
	for (int y = 0; y < a.h; y++) {
		for (int x = 0; x < a.w; x++) {
			const struct spot *s = &spots[(size_t)y * (size_t)a.w + (size_t)x];
			if (g.cols == 2) {
				draw_braille(c, a, x, y, s);
			} else {
				draw_blocks(c, a, x, y, s);
			}
			if (s->above && !s->median) {
				tui_put(c, a, x, y, TUI_SPIKE, c->glyphs->above);
			}
		}
	}
	if (p->cursor >= 0) {
		for (int y = 0; y < a.h; y++) {
			struct tui_rect cell = {a.x + p->cursor / g.cols, a.y + y, 1, 1};
			tui_add_attr(c, cell, TUI_REVERSE);
		}
	}
}

size_t tui_hist_bins(const struct tui_canvas *c, struct tui_rect r)
{
	(void)c;
	return (size_t)MAX(r.w, 0);
}

double tui_hist_spread(const struct runs_hist *h, const struct tui_scale *x, double *bin, size_t n)
{
	double over = 0;
	for (size_t i = 0; i < n; i++) {
		bin[i] = 0;
	}
	for (uint32_t i = 0; i < h->n; i++) {
		if (!h->count[i]) {
			continue;
		}
		uint64_t width, edge = runs_hist_edge(h->bits, h->lo + i, &width);
		double count = (double)h->count[i];
		double lo = tui_scale_share(x, (double)edge) * (double)n;
		double hi = tui_scale_share(x, (double)(edge + width)) * (double)n;
		if (lo >= (double)n) {
			over += count;
			continue;
		}
		for (size_t k = (size_t)MAX(lo, 0); k < n && (double)k < hi; k++) {
			double part = MIN(hi, (double)k + 1) - MAX(lo, (double)k);
			bin[k] += count * part / (hi - lo);
		}
	}
	return over;
}

static void draw_bars(struct tui_canvas *c, struct tui_rect r, const struct tui_bins *b)
{
	double most = 1e-9, most_behind = 1e-9;
	for (size_t i = 0; i < b->n; i++) {
		most = MAX(most, b->count[i]);
		if (b->behind) {
			most_behind = MAX(most_behind, b->behind[i]);
		}
	}
	for (size_t i = 0; i < b->n; i++) {
		int eighths = (int)lround(b->count[i] / most * r.h * 8);
		/* One sample in a million is still there to be seen. */
		eighths = b->count[i] > 0 ? MAX(eighths, 1) : 0;
		for (int y = 0; y < r.h; y++) {
			int fill = MIN(MAX(eighths - (r.h - 1 - y) * 8, 0), 8);
			if (fill) {
				tui_put(c, r, (int)i, y, TUI_BAR, c->glyphs->eighth[fill]);
			}
		}
		if (b->behind && b->behind[i] > 0) {
			int row = r.h - 1 - (int)(b->behind[i] / most_behind * (r.h - 1));
			if (eighths <= (r.h - 1 - row) * 8) {
				tui_put(c, r, (int)i, row, TUI_BASELINE, c->glyphs->dots);
			}
		}
	}
}

static int bin_of(const struct tui_bins *b, int w, double v)
{
	return (int)floor(tui_scale_share(&b->x, v) * w);
}

static void draw_hist_marks(struct tui_canvas *c, struct tui_rect row, const struct tui_bins *b)
{
	const struct {
		double v;
		const char *name;
		unsigned style;
	} marks[] = {
		/* Drawn in this order; a later one gives way. */
		{b->p50, "50", TUI_MEDIAN},
		{b->p95, "95", TUI_FAINT},
		{b->p5, "5", TUI_FAINT},
		{b->p99, "99", TUI_FAINT},
	};
	tui_hline(c, row, 0, 0, row.w, TUI_FRAME, c->glyphs->hline);
	bool taken[TUI_MAX_SIDE] = {false};
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		int x = marks[i].v > 0 ? bin_of(b, row.w, marks[i].v) : -1;
		int w = 1 + (int)strlen(marks[i].name);
		if (x < 0 || x + w > row.w || row.w > TUI_MAX_SIDE) {
			continue;
		}
		bool free_room = true;
		/* A blank on both sides, or the figures run together. */
		for (int k = MAX(x - 1, 0); k < MIN(x + w + 1, row.w); k++) {
			free_room = free_room && !taken[k];
		}
		if (!free_room) {
			continue;
		}
		memset(taken + x, true, (size_t)w);
		tui_put(c, row, x, 0, marks[i].style, c->glyphs->up);
		tui_text(c, row, x + 1, 0, marks[i].style, marks[i].name);
	}
}

static void draw_hist_axis(struct tui_canvas *c, struct tui_rect row, const struct tui_bins *b)
{
	struct tui_ticks t;
	tui_scale_ticks(&b->x, (size_t)MAX(row.w / 12, 2), &t);
	int free_from = 0;
	int unit_w = tui_text_width(c, t.unit) + 1;
	for (size_t i = 0; i < t.n; i++) {
		int w = tui_text_width(c, t.at[i].label);
		int x = bin_of(b, row.w, t.at[i].v) - w / 2;
		x = MAX(MIN(x, row.w - w - unit_w), 0);
		if (x < free_from) {
			continue;
		}
		free_from = tui_text(c, row, x, 0, TUI_FAINT, t.at[i].label) + 2;
	}
	tui_text_right(c, row, 0, 0, TUI_FAINT, t.unit);
}

void tui_hist_draw(struct tui_canvas *c, struct tui_rect r, const struct tui_bins *b)
{
	if (r.w < 4 || r.h < 1 || r.w > TUI_MAX_SIDE) {
		return;
	}
	struct tui_rect axis = tui_take_bottom(&r, r.h >= 3 ? 1 : 0);
	struct tui_rect marks = tui_take_bottom(&r, r.h >= 2 ? 1 : 0);
	if (!(b->x.hi > b->x.lo) || b->n == 0) {
		if (b->empty) {
			draw_empty(c, r, b->empty);
		}
		return;
	}
	draw_bars(c, r, b);
	if (b->over) {
		tui_put(c, r, r.w - 1, 0, TUI_SPIKE, c->glyphs->right);
	}
	draw_hist_marks(c, marks, b);
	draw_hist_axis(c, axis, b);
}

void tui_meter(
	struct tui_canvas *c, struct tui_rect r, int x, int y, int w, unsigned style, double share)
{
	int full = (int)lround(MIN(MAX(share, 0), 1) * w);
	tui_hline(c, r, x, y, full, style, c->glyphs->meter);
	tui_hline(c, r, x + full, y, w - full, TUI_FRAME, c->glyphs->meter_rest);
}
