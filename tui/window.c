/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/window.h"

#include <string.h>

static const uint64_t second = 1000000000u;
static const uint64_t figures_ns = 500000000u;
static const uint64_t shrink_after_ns = 3000000000u;

static const struct {
	uint32_t seconds;
	const char *name;
} zooms[] = {
	{5, "5 s"},
	{15, "15 s"},
	{60, "60 s"},
	{300, "5 min"},
	{900, "15 min"},
	{3600, "1 h"},
	{6 * 3600, "6 h"},
	{24 * 3600, "24 h"},
};

void tui_window_init(struct tui_window *w)
{
	memset(w, 0, sizeof(*w));
	w->zoom = 2;
	w->cursor = -1;
	runs_hist_init(&w->hist, RUNS_HIST_1PCT);
}

void tui_window_finish(struct tui_window *w)
{
	tui_heat_finish(&w->heat);
	runs_hist_finish(&w->hist);
}

void tui_window_forget(struct tui_window *w)
{
	w->column_ns = 0;
	w->ncolumn = 0;
	w->figured_ns = 0;
	w->low_since_ns = 0;
	w->y.lo = w->y.hi = 0;
	runs_hist_reset(&w->hist);
	w->figures = (struct tui_figures){0};
	memset(w->layer, 0, sizeof(w->layer));
	w->heat.cols = 0;
	w->frozen = false;
	w->cursor = -1;
}

void tui_window_freeze(struct tui_window *w, bool freeze)
{
	if (freeze && !w->frozen) {
		w->frozen_ns = w->end_ns ? w->end_ns - 1 : 0;
	}
	w->frozen = freeze;
	w->cursor = freeze ? w->cursor : -1;
	w->figured_ns = 0;
}

void tui_window_scroll(
	struct tui_window *w, int step, const struct tui_live *live, enum tui_layer layer)
{
	const struct runs_series *s = live->series[layer];
	uint64_t half = w->ncolumn / 2 * w->column_ns;
	uint64_t first = runs_series_first(s), last = runs_series_last(s);
	if (!w->frozen || !half) {
		return;
	}
	if (step < 0) {
		/* No further than to where the first sample stands at the left. */
		uint64_t least = MIN(first + 2 * half, last);
		w->frozen_ns = w->frozen_ns > least + half ? w->frozen_ns - half
							   : MIN(least, w->frozen_ns);
	} else {
		w->frozen_ns = MIN(w->frozen_ns + half, last);
	}
	w->column_ns = 0; /* all columns anew */
	w->figured_ns = 0;
}

void tui_window_seek(
	struct tui_window *w, uint64_t t_ns, const struct tui_live *live, enum tui_layer layer)
{
	uint64_t span = w->ncolumn * w->column_ns;
	tui_window_freeze(w, true);
	w->seek_ns = t_ns;
	if (t_ns >= w->end_ns || w->end_ns - t_ns > span) {
		w->frozen_ns = MIN(t_ns + span / 2, runs_series_last(live->series[layer]));
		w->column_ns = 0; /* all columns anew */
		w->figured_ns = 0;
	}
}

/* The column that holds T_NS, or -1. */
static int column_of(const struct tui_window *w, uint64_t t_ns)
{
	uint64_t back = t_ns < w->end_ns ? (w->end_ns - 1 - t_ns) / w->column_ns : w->ncolumn;
	return back < w->ncolumn ? (int)(w->ncolumn - 1 - back) : -1;
}

void tui_window_zoom(struct tui_window *w, int step)
{
	int z = (int)w->zoom + step;
	if (z >= 0 && z < (int)ARRAY_LEN(zooms)) {
		w->zoom = (unsigned)z;
		w->figured_ns = 0;
	}
}

void tui_window_log(struct tui_window *w)
{
	w->y = (struct tui_scale){.log = !w->y.log};
	w->figured_ns = 0;
}

uint64_t tui_window_ns(const struct tui_window *w)
{
	return zooms[w->zoom].seconds * second;
}

const char *tui_window_name(const struct tui_window *w)
{
	return zooms[w->zoom].name;
}

/* Columns are whole multiples of the series' slots where they can be. */
static uint64_t column_width(uint64_t window_ns, size_t ncolumn)
{
	uint64_t w = window_ns / MAX(ncolumn, 1);
	uint64_t unit = w >= second     ? second
			: w >= 50000000 ? 50000000
			: w >= 10000000 ? 10000000
					: 1000000;
	return MAX((w + unit - 1) / unit, 1) * unit;
}

static bool stands_still(const struct tui_live *live)
{
	return !tui_live_active(live) || live->status.phase == STRESS_PAUSED;
}

static uint64_t right_edge(const struct tui_window *w, const struct tui_live *live,
	const struct runs_series *s, uint64_t now_ns)
{
	uint64_t last = runs_series_last(s);
	if (w->frozen) {
		return w->frozen_ns;
	}
	/* What has stopped stands still; what should run and does not shows a gap. */
	return stands_still(live) && last ? last : MAX(now_ns, last);
}

static void update_columns(struct tui_window *w, const struct runs_series *s, uint64_t edge_ns,
	uint64_t width, size_t n)
{
	uint64_t end = (edge_ns / width + 1) * width;
	bool same = width == w->column_ns && n == w->ncolumn && end >= w->end_ns;
	size_t shift = same ? (size_t)MIN((end - w->end_ns) / width, n) : n;
	/* Those at the edge may still have grown. */
	size_t fresh = same ? MIN(shift + 2, n) : n;
	if (same && shift > 0 && shift < n) {
		memmove(w->column, w->column + shift, (n - shift) * sizeof(*w->column));
	}
	uint64_t from = end - MIN(fresh * width, end);
	runs_series_columns(s, from, end, fresh, w->column + (n - fresh));
	w->end_ns = end;
	w->column_ns = width;
	w->ncolumn = n;
}

/* Room for the baseline, unless it is so far away that the live line would be flat. */
static void include_band(const struct tui_band *b, double p50, double *lo, double *hi)
{
	if (b->set && b->p50 < 3 * p50 && b->p50 > p50 / 3) {
		*lo = MIN(*lo, b->p5);
		*hi = MAX(*hi, b->p95);
	}
}

/* AT_ONCE: without the patience that spares a moving picture an axis that jumps. */
static void update_scale(
	struct tui_window *w, const struct tui_band *band, bool at_once, uint64_t now_ns)
{
	const struct runs_hist *h = &w->hist;
	if (h->total == 0) {
		return;
	}
	double lo = (double)runs_hist_quantile(h, w->y.log ? 0 : 0.005);
	double hi = (double)(w->y.log ? h->max : runs_hist_quantile(h, 0.99));
	include_band(band, (double)w->figures.p50, &lo, &hi);
	struct tui_scale before = w->y, wanted = w->y;
	tui_scale_fit(&wanted, lo, (double)w->figures.p50, hi, true);
	bool same = wanted.lo == before.lo && wanted.hi == before.hi;
	tui_scale_fit(&w->y, lo, (double)w->figures.p50, hi, false);
	bool grown = w->y.lo != before.lo || w->y.hi != before.hi;
	if (same || grown) {
		w->low_since_ns = now_ns;
	} else if (at_once || now_ns - w->low_since_ns > shrink_after_ns) {
		w->y = wanted;
		w->low_since_ns = now_ns;
	}
}

static void update_layers(struct tui_window *w, const struct tui_live *live, uint64_t from_ns)
{
	struct runs_hist h;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	for (int i = 0; i < TUI_LAYERS; i++) {
		runs_hist_reset(&h);
		if (live->has[i]) {
			runs_series_hist(live->series[i], from_ns, w->end_ns, &h);
		}
		tui_figures_make(&h, &live->status, &w->layer[i]);
	}
	runs_hist_finish(&h);
}

void tui_window_update(struct tui_window *w, const struct tui_live *live, enum tui_layer layer,
	const struct tui_band *band, uint64_t now_ns, size_t ncolumn)
{
	const struct runs_series *s = live->series[layer];
	size_t n = MIN(ncolumn, (size_t)TUI_COLUMNS_MAX);
	uint64_t width = column_width(tui_window_ns(w), n);
	uint64_t edge = right_edge(w, live, s, now_ns);
	update_columns(w, s, edge, width, n);
	w->stands = w->frozen || stands_still(live);
	w->cursor = MIN(w->cursor, (int)n - 1);
	if (w->seek_ns) {
		w->cursor = column_of(w, w->seek_ns);
		w->seek_ns = 0;
	}

	bool heat_fits = w->heat.cols == w->heat_cols && w->heat.rows == w->heat_rows;
	uint64_t span = n * width;
	/* No other redraw may follow on a picture that stands: it is right at once. */
	uint64_t samples = w->frozen ? 0 : live->samples;
	bool other = w->figured.end_ns != w->end_ns || w->figured.span_ns != span ||
		     w->figured.samples != samples;
	bool due =
		w->figured_ns == 0 || now_ns - w->figured_ns >= figures_ns || (w->stands && other);
	if (!due && (w->heat_cols == 0 || heat_fits)) {
		return;
	}
	uint64_t from = w->end_ns - MIN(span, w->end_ns);
	runs_hist_reset(&w->hist);
	runs_series_hist(s, from, w->end_ns, &w->hist);
	tui_figures_make(&w->hist, &live->status, &w->figures);
	w->figured_ns = now_ns;
	w->figured.end_ns = w->end_ns;
	w->figured.span_ns = span;
	w->figured.samples = samples;
	update_scale(w, band, stands_still(live) && !w->frozen, now_ns);
	if (w->want_layers) {
		update_layers(w, live, from);
	}
	if (w->heat_cols > 0) {
		uint64_t cell = span / (uint64_t)w->heat_cols;
		tui_heat_fill(
			&w->heat, s, &w->hist, w->end_ns, MAX(cell, 1), w->heat_cols, w->heat_rows);
	}
}
