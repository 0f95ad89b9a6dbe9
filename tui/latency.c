/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/latency.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "tui/chrome.h"
#include "tui/figures.h"
#include "tui/window.h"

static void stress_remark(const struct tui_app *a, char *buf, size_t size)
{
	const struct stress_status *st = &a->live.status;
	const struct stress_config *k = &a->live.config;
	char shape[STRESS_SHAPE_MAX];
	if (!a->live.have_status) {
		buf[0] = '\0';
		return;
	}
	size_t n =
		(size_t)snprintf(buf, size, "%s %s %s%s", st->backend, stress_shape_name(k, shape),
			k->dtype == STRESS_F16 ? "f16" : "f32", st->copies == 1 ? " hot" : "");
	if (*st->kernel && n < size) {
		n += (size_t)snprintf(buf + n, size - n, " %s", st->kernel);
	}
	if (st->threads && n < size) {
		n += (size_t)snprintf(buf + n, size - n, ", %u thread%s", st->threads,
			st->threads == 1 ? "" : "s");
	}
	if (n < size) {
		snprintf(buf + n, size - n, ", last %s", tui_window_name(&a->window));
	}
}

static const char *why_empty(const struct tui_app *a)
{
	const struct tui_live *l = &a->live;
	if (!l->have_status) {
		return "s starts the GEMM; its latency is drawn here";
	}
	if (l->status.phase == STRESS_FAILED || l->status.phase == STRESS_DIED) {
		return l->status.why;
	}
	return tui_live_active(l) ? "waiting for the first samples" : "no samples";
}

/* What the baseline is, and what changed since: the plot's legend. */
static void draw_legend(const struct tui_app *a, struct tui_canvas *c, struct tui_rect row)
{
	const struct tui_baseline *b = &a->keep.baseline;
	char t[TEXT_TIME_MAX], date[TUI_DATE_MAX], text[400];
	tui_date(b->marked, date);
	tui_put(c, row, 1, 0, TUI_BASELINE, c->glyphs->dash);
	tui_put(c, row, 2, 0, TUI_BASELINE, c->glyphs->dash);
	snprintf(text, sizeof(text), "%s p50 %s ±%.1f %%, %s%s", *b->name ? b->name : "baseline",
		text_ns((uint64_t)b->band.p50, t),
		(b->band.p95 - b->band.p5) / 2 / b->band.p50 * 100, date,
		b->same_boot ? "" : ", another boot");
	int x = tui_text_fit(c, row, 4, 0, row.w - 5, TUI_BASELINE, text);
	if (a->since.n && x + 12 < row.w) {
		tui_changes_join(&a->since, text, sizeof(text));
		x = tui_text(c, row, x + 2, 0, TUI_FAINT, "since: ");
		tui_text_fit(c, row, x, 0, row.w - x - 1, TUI_TEXT, text);
	}
}

/* Events inside the window. */
static size_t find_marks(const struct tui_app *a, struct tui_mark ret[static TUI_EVENTS])
{
	const struct tui_window *w = &a->window;
	uint64_t span = w->ncolumn * w->column_ns;
	size_t n = 0;
	for (size_t i = 0; i < a->nevent; i++) {
		const struct tui_event *e = tui_app_event_at(a, i);
		if (e->t_ns <= w->end_ns && w->end_ns - e->t_ns < span) {
			bool plain = e->tone == TUI_TONE_PLAIN;
			ret[n++] = (struct tui_mark){
				.before = (double)(w->end_ns - e->t_ns) / 1e9,
				.style = plain ? TUI_FAINT : tui_tone_style(e->tone),
				.name = e->text,
			};
		}
	}
	return n;
}

void tui_latency_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r, bool legend)
{
	char remark[160], title[64];
	snprintf(title, sizeof(title), "Latency%s%s", a->layer == TUI_HOST ? "" : ", ",
		a->layer == TUI_HOST ? "" : tui_layer_name(a->layer));
	stress_remark(a, remark, sizeof(remark));
	r = tui_section(c, r, TUI_TITLE, title, remark);
	const struct tui_window *w = &a->window;
	struct tui_mark mark[TUI_EVENTS];
	struct tui_plot p = {
		.mark = mark,
		.nmark = find_marks(a, mark),
		.column = w->column,
		.ncolumn = w->ncolumn,
		.y = w->y,
		.baseline = a->layer == TUI_HOST ? a->keep.baseline.band : (struct tui_band){0},
		.seconds = (double)w->column_ns * (double)w->ncolumn / 1e9,
		.stands = w->stands,
		.empty = why_empty(a),
		.cursor = w->frozen ? w->cursor : -1,
	};
	if (p.baseline.set && legend && r.h > 6) {
		draw_legend(a, c, tui_take_top(&r, 1));
	}
	p.lane = r.h >= 10;
	tui_plot_draw(c, tui_inset(r, 1, 0), &p);
}

void tui_histogram_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct tui_window *w = &a->window;
	r = tui_inset(tui_section(c, r, TUI_TITLE, "Histogram", NULL), 1, 0);
	size_t n = tui_hist_bins(c, r);
	_cleanup_free_ double *count = xcalloc(MAX(n, 1), sizeof(*count));
	struct tui_bins b = {.count = count, .n = n, .x = w->y, .empty = "no samples"};
	if (w->hist.total == 0 || !(w->y.hi > w->y.lo)) {
		b.n = 0;
		tui_hist_draw(c, r, &b);
		return;
	}
	b.over = tui_hist_spread(&w->hist, &w->y, count, n);
	_cleanup_free_ double *behind = NULL;
	const struct tui_baseline *base = &a->keep.baseline;
	if (base->band.set && a->layer == TUI_HOST) {
		behind = xcalloc(MAX(n, 1), sizeof(*behind));
		tui_hist_spread(&base->hist, &w->y, behind, n);
		b.behind = behind;
	}
	b.p5 = (double)w->figures.p5;
	b.p50 = (double)w->figures.p50;
	b.p95 = (double)w->figures.p95;
	b.p99 = w->figures.p99_known ? (double)w->figures.p99 : 0;
	tui_hist_draw(c, r, &b);
}
