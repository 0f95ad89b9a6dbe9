/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of figures: one value a boot, and the layers side by side. */
#include <math.h>
#include <stdio.h>

#include "cli/chart.h"
#include "cli/compare_rows.h"
#include "cli/html.h"

/* Boots of both sides in the order in which they were made. */
struct order {
	struct {
		int side;
		size_t i; /* in the side's values */
	} at[2 * RUNS_BOOTS_MAX];
	size_t n;
};

static struct order order_of(const struct cmd_page *p)
{
	const struct runs_pair *pair = &p->c->pair[p->c->decided];
	const struct runs_side *side[2] = {p->c->a, p->c->b};
	size_t n[2] = {pair->a.n, pair->b.n}, i[2] = {0, 0};
	/* Where a boot lacks this configuration its values have no place in time: A, then B. */
	bool timed = n[0] == side[0]->nboot && n[1] == side[1]->nboot;
	struct order o = {.n = 0};
	while (i[0] < n[0] || i[1] < n[1]) {
		bool b = i[0] >= n[0] ||
			 (timed && i[1] < n[1] &&
				 side[1]->boot[i[1]].started < side[0]->boot[i[0]].started);
		o.at[o.n].side = b;
		o.at[o.n++].i = i[b]++;
	}
	return o;
}

static double value_of(const struct runs_pair *p, int side, size_t i, bool band)
{
	const struct runs_values *v = side ? &p->b : &p->a;
	return band ? 100 * exp(v->log_band[i]) : v->p50[i];
}

/* One panel: a mark for each boot, and each side's median as a line. */
static void draw_panel(struct text *t, const struct cmd_page *p, const struct order *o,
	struct cmd_axis y, double left, double right, bool band)
{
	const struct runs_pair *pair = &p->c->pair[p->c->decided];
	double step = (right - left) / (double)o->n;
	cmd_chart_axis_y(t, &y, left, right, "");
	struct tui_ticks k;
	tui_scale_ticks(&y.scale, 4, &k);
	cmd_chart_text(t, left - 42, y.to - 10, "name", 's', "%s, %s", band ? "band" : "median",
		band ? "±%" : k.unit);
	for (int side = 0; side < 2; side++) {
		const struct runs_values *v = side ? &pair->b : &pair->a;
		double m = runs_boots_median(band ? v->log_band : v->p50, v->n);
		double at = cmd_axis_at(&y, band ? 100 * exp(m) : m);
		cmd_chart_line(t, left, at, right, at, side ? "lb" : "la");
	}
	for (size_t i = 0; i < o->n; i++) {
		int side = o->at[i].side;
		double v = value_of(pair, side, o->at[i].i, band),
		       x = left + step * ((double)i + 0.5);
		char title[80], ns[TEXT_TIME_MAX];
		if (band) {
			snprintf(title, sizeof(title), "%c, boot %zu: %.2f %%", "AB"[side],
				o -> at[i].i + 1, v);
		} else {
			snprintf(title, sizeof(title), "%c, boot %zu: %s", "AB"[side],
				o -> at[i].i + 1, text_ns((uint64_t)v, ns));
		}
		cmd_chart_mark(t, side, x, cmd_axis_at(&y, v), title);
		if (step > 12) {
			cmd_chart_text(
				t, x, y.from + 14, side ? "cb" : "ca", 'm', "%c", "AB"[side]);
		}
	}
	cmd_chart_line(t, left, y.from, right, y.from, "axis");
	cmd_chart_text(t, right, y.from + 29, "name", 'e', "boots, in the order they were made");
}

void cmd_html_boots(struct text *t, const struct cmd_page *p, int w)
{
	const struct runs_pair *pair = &p->c->pair[p->c->decided];
	struct order o = order_of(p);
	double lo = INFINITY, hi = 0, top = 0;
	for (size_t i = 0; i < o.n; i++) {
		top = fmax(top, value_of(pair, o.at[i].side, o.at[i].i, true));
		lo = fmin(lo, value_of(pair, o.at[i].side, o.at[i].i, false));
		hi = fmax(hi, value_of(pair, o.at[i].side, o.at[i].i, false));
	}
	struct cmd_axis band = {.scale = {.lo = 0, .hi = fmax(1.12 * top, 0.1)},
		.from = 190,
		.to = 26,
		.unit = "%"};
	struct cmd_axis p50 = {.from = 190, .to = 26};
	tui_scale_fit(&p50.scale, lo, fmax((lo + hi) / 2, 1), hi, true);
	bool wide = w == CMD_WIDE;
	cmd_chart_begin(t, w, wide ? 226 : 452, "Band and median of each boot");
	draw_panel(t, p, &o, band, 44, wide ? 306 : w - 8, true);
	if (!wide) {
		p50.from += 226;
		p50.to += 226;
	}
	draw_panel(t, p, &o, p50, wide ? 374 : 48, w - 8, false);
	cmd_chart_end(t);
}

enum { LEFT = 92, ROW = 34 };

/* A layer of both sides. Its axis counts in A's median, or B's where A has none. */
struct row {
	unsigned series, layer;
	double unit;
};

static size_t rows_of(const struct cmd_page *p, struct row *ret)
{
	size_t n = 0;
	for (unsigned k = 0; k < STRESS_SERIES * RUNS_LAYERS; k++) {
		unsigned s = k / RUNS_LAYERS, l = k % RUNS_LAYERS;
		double a = cmd_side_middle(p->c->a, s, l, CMD_P50);
		double b = cmd_side_middle(p->c->b, s, l, CMD_P50);
		if (l != RUNS_CYCLES && !(isnan(a) && isnan(b))) {
			ret[n++] = (struct row){s, l, fmax(isnan(a) ? b : a, 1)};
		}
	}
	return n;
}

/* One side of a layer: p5 to p95 as a bar, p50 as a mark, p99 as a tick. */
static void draw_range(struct text *t, const struct cmd_page *p, int side, const struct row *r,
	const struct cmd_axis *x, double y)
{
	const struct runs_side *of = side ? p->c->b : p->c->a;
	unsigned s = r->series, l = r->layer;
	double p50 = cmd_side_middle(of, s, l, CMD_P50), p99 = cmd_side_middle(of, s, l, CMD_P99);
	if (isnan(p50)) {
		return;
	}
	double from = cmd_axis_at(x, cmd_side_middle(of, s, l, CMD_P5) / r->unit);
	double to = cmd_axis_at(x, cmd_side_middle(of, s, l, CMD_P95) / r->unit);
	char value[CMD_WHEN_MAX], band[CMD_WHEN_MAX], title[128];
	cmd_row_value(p50, CMD_NS, value);
	cmd_percent(cmd_side_middle(of, s, l, CMD_BAND), band);
	snprintf(title, sizeof(title), "%c, %s %s: p50 %s ±%s", "AB"[side], runs_series_name(s),
		runs_layer_name(l), value, band);
	cmd_chart_line(t, from, y, to, y, side ? "rb" : "ra");
	if (!isnan(p99)) {
		double at = cmd_axis_at(x, p99 / r->unit);
		cmd_chart_line(t, at, y - 5, at, y + 5, side ? "rb" : "ra");
	}
	cmd_chart_mark(t, side, cmd_axis_at(x, p50 / r->unit), y, title);
	cmd_chart_text(t, x->to + 8, y + 4, side ? "cb" : "ca", 's', "%s", value);
}

/* From about half to twice the median at most: what lies beyond stands at the edge. */
static struct tui_scale range_of(const struct cmd_page *p, const struct row *row, size_t n)
{
	struct tui_scale r = {.lo = 0.95, .hi = 1.05, .log = true};
	for (size_t i = 0; i < n; i++) {
		for (int side = 0; side < 2; side++) {
			const struct runs_side *of = side ? p->c->b : p->c->a;
			unsigned s = row[i].series, l = row[i].layer;
			r.lo = fmin(r.lo, cmd_side_middle(of, s, l, CMD_P5) / row[i].unit);
			r.hi = fmax(r.hi, cmd_side_middle(of, s, l, CMD_P95) / row[i].unit);
			r.hi = fmax(r.hi, cmd_side_middle(of, s, l, CMD_P99) / row[i].unit);
		}
	}
	r.lo = fmax(r.lo * 0.97, 0.55);
	r.hi = fmin(r.hi * 1.03, 2.1);
	return r;
}

void cmd_html_layers(struct text *t, const struct cmd_page *p, int w)
{
	struct row row[STRESS_SERIES * RUNS_LAYERS];
	size_t n = rows_of(p, row);
	struct cmd_axis x = {
		.scale = range_of(p, row, n), .from = LEFT, .to = w - 62.0, .unit = ""};
	double bottom = 8 + ROW * (double)n;
	cmd_chart_begin(
		t, w, (int)bottom + 34, "Layers of a launch, each against A's median of it");
	cmd_chart_axis_x(t, &x, bottom, 6, "times A’s median of the layer");
	cmd_chart_line(t, cmd_axis_at(&x, 1), 6, cmd_axis_at(&x, 1), bottom, "axis");
	for (size_t i = 0; i < n; i++) {
		double y = 8 + ROW * (double)i;
		cmd_chart_text(t, LEFT - 8, y + ROW / 2.0 + 4, "", 'e', "%s %s",
			runs_series_name(row[i].series), runs_layer_name(row[i].layer));
		draw_range(t, p, 0, &row[i], &x, y + 10);
		draw_range(t, p, 1, &row[i], &x, y + 24);
		cmd_chart_line(t, 0, y + ROW, w, y + ROW, "grid");
	}
	cmd_chart_end(t);
}
