/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices with their BARs above, latency below: the first thing one sees. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "tui/devices.h"
#include "tui/figures.h"
#include "tui/view.h"
#include "tui/window.h"

static struct tui_rect frame(
	struct tui_canvas *c, struct tui_rect r, const char *title, const char *remark)
{
	return tui_section(c, r, TUI_TITLE, title, remark);
}

static void draw_devices(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct tui_machine *m = &a->machine;
	char remark[80] = "";
	if (m->snapshot) {
		snprintf(remark, sizeof(remark), "%zu GPU%s, %zu device%s", m->ngpu,
			m->ngpu == 1 ? "" : "s", m->snapshot->ndev,
			m->snapshot->ndev == 1 ? "" : "s");
	}
	if (m->why.text[0] && m->snapshot) {
		snprintf(remark, sizeof(remark), "last reading failed");
	}
	tui_devices_draw(a, c, frame(c, r, "Devices", remark));
}

static void stress_remark(const struct tui_app *a, char *buf, size_t size)
{
	const struct stress_status *st = &a->live.status;
	const struct stress_config *k = &a->live.config;
	if (!a->live.have_status) {
		buf[0] = '\0';
		return;
	}
	size_t n = (size_t)snprintf(buf, size, "%s %ux%ux%u %s", st->backend, k->shape.m,
		k->shape.k, k->shape.n, k->dtype == STRESS_F16 ? "f16" : "f32");
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
	char t[TEXT_TIME_MAX], date[32] = "", text[400];
	time_t marked = (time_t)(b->marked / 1000000000);
	struct tm tm;
	if (localtime_r(&marked, &tm)) {
		strftime(date, sizeof(date), "%e %b %H:%M", &tm);
	}
	tui_put(c, row, 1, 0, TUI_BASELINE, c->glyphs->dash);
	tui_put(c, row, 2, 0, TUI_BASELINE, c->glyphs->dash);
	snprintf(text, sizeof(text), "baseline p50 %s ±%.1f %%, %s%s",
		text_ns((uint64_t)b->band.p50, t),
		(b->band.p95 - b->band.p5) / 2 / b->band.p50 * 100,
		date[0] == ' ' ? date + 1 : date, b->same_boot ? "" : ", another boot");
	int x = tui_text_fit(c, row, 4, 0, row.w - 5, TUI_BASELINE, text);
	if (a->since.n && x + 12 < row.w) {
		tui_changes_join(&a->since, text, sizeof(text));
		x = tui_text(c, row, x + 2, 0, TUI_FAINT, "since: ");
		tui_text_fit(c, row, x, 0, row.w - x - 1, TUI_TEXT, text);
	}
}

static void draw_latency(
	const struct tui_app *a, struct tui_canvas *c, struct tui_rect r, bool compact)
{
	char remark[160];
	stress_remark(a, remark, sizeof(remark));
	r = frame(c, r, a->layer == TUI_HOST ? "Latency" : "Latency, device", remark);
	const struct tui_window *w = &a->window;
	struct tui_plot p = {
		.column = w->column,
		.ncolumn = w->ncolumn,
		.y = w->y,
		.baseline = a->layer == TUI_HOST ? a->keep.baseline.band : (struct tui_band){0},
		.seconds = (double)w->column_ns * (double)w->ncolumn / 1e9,
		.stands = w->stands,
		.empty = why_empty(a),
		.cursor = -1,
	};
	if (p.baseline.set && !compact && r.h > 6) {
		draw_legend(a, c, tui_take_top(&r, 1));
	}
	tui_plot_draw(c, tui_inset(r, 1, 0), &p);
}

static void draw_histogram(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct tui_window *w = &a->window;
	r = tui_inset(frame(c, r, "Histogram", NULL), 1, 0);
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

static void draw_overview(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	bool compact = r.h < 16 || r.w < 60;
	int want = tui_devices_rows(a) + 1;
	int devices = compact ? MAX(r.h / 3, 3) : MIN(MAX(want, 4), MAX(r.h / 3 - 1, 6));
	draw_devices(a, c, tui_take_top(&r, devices));
	if (compact) {
		struct tui_rect line = tui_take_bottom(&r, 1);
		draw_latency(a, c, r, true);
		tui_figures_line(a, c, line);
		return;
	}
	struct tui_rect bottom = tui_take_bottom(&r, MIN(MAX(r.h * 2 / 5, 6), 10));
	draw_latency(a, c, r, false);
	struct tui_rect right = tui_take_right(&bottom, MIN(MAX(bottom.w * 2 / 5, 38), 48));
	draw_histogram(a, c, bottom);
	tui_figures_draw(a, c, tui_inset(frame(c, right, "Figures", NULL), 2, 0));
}

static bool overview_key(struct tui_app *a, struct tui_input in)
{
	size_t n = a->machine.nlisted;
	switch (in.key) {
	case TUI_KEY_UP:
	case 'k':
		a->selected -= a->selected > 0;
		return true;
	case TUI_KEY_DOWN:
	case 'j':
		a->selected += a->selected + 1 < n;
		return true;
	case TUI_KEY_HOME:
		a->selected = 0;
		return true;
	case TUI_KEY_END:
		a->selected = n ? n - 1 : 0;
		return true;
	default:
		return false;
	}
}

static const struct tui_hint hints[] = {
	{"↑↓", "device"},
	{"+-", "window"},
	{"b", "baseline"},
	{"l", "log scale"},
	{"r", "read again"},
	{NULL, NULL},
};

const struct tui_view tui_view_overview = {
	.name = "Overview",
	.draw = draw_overview,
	.key_pressed = overview_key,
	.hints = hints,
};
