/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Before and after: two stored sides, when the Runs view compared them, else the baseline
 * against what runs now. One boot a side is a description and no verdict.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tui/figures.h"
#include "tui/latency.h"
#include "tui/pen.h"
#include "tui/view.h"

enum { LABEL = 10, CELL = 16, WIDE = 100 };

/* One line of a table: name, before, after, factor. */
static void draw_line(struct tui_pen *p, const char *name, const char *a, const char *b,
	double factor, bool less_is_better)
{
	int y = p->y - p->scroll;
	if (!p->measure && y >= 0 && y < p->r.h) {
		tui_text_fit(p->c, p->r, 0, y, LABEL, TUI_FAINT, name);
		tui_text_fit(p->c, p->r, LABEL, y, CELL - 1, TUI_BASELINE, a);
		tui_text_fit(p->c, p->r, LABEL + CELL, y, CELL - 1, TUI_MEDIAN, b);
		if (isfinite(factor) && factor > 0 && p->r.w > LABEL + 2 * CELL + 8) {
			bool same = fabs(factor - 1) < 0.01;
			unsigned style = same || !less_is_better ? TUI_TEXT
					 : factor < 1            ? TUI_GOOD
								 : TUI_NOTE;
			tui_textf(p->c, p->r, LABEL + 2 * CELL, y, style, "x %.3g", factor);
		}
	}
	p->y++;
}

static void draw_times(struct tui_pen *p, const char *name, double a, double b)
{
	char t[2][TEXT_TIME_MAX];
	text_copy(t[0], sizeof(t[0]), "too few");
	text_copy(t[1], sizeof(t[1]), "too few");
	if (a > 0) {
		text_ns((uint64_t)a, t[0]);
	}
	if (b > 0) {
		text_ns((uint64_t)b, t[1]);
	}
	draw_line(p, name, t[0], t[1], a > 0 && b > 0 ? b / a : NAN, true);
}

static void draw_bands(struct tui_pen *p, double a, double b)
{
	char t[2][24];
	snprintf(t[0], sizeof(t[0]), "±%.2f %%", a * 100);
	snprintf(t[1], sizeof(t[1]), "±%.2f %%", b * 100);
	draw_line(p, "band", isfinite(a) ? t[0] : "not known", isfinite(b) ? t[1] : "not known",
		b / a, true);
}

/* What changed, or the sentence NONE. */
static void draw_lines(struct tui_pen *p, const struct tui_changes *c, const char *none)
{
	for (size_t i = 0; i < c->n; i++) {
		tui_pen_mark(p, 0, p->c->glyphs->note, TUI_NOTE, TUI_TEXT, c->text[i]);
	}
	if (c->more) {
		tui_pen_line(p, 2, TUI_FAINT, "%zu more", c->more);
	}
	if (!c->n) {
		tui_pen_wrap(p, 0, TUI_FAINT, none);
	}
}

static void draw_changes(struct tui_pen *p, const struct tui_app *a)
{
	tui_pen_heading(p, "What changed in between");
	draw_lines(p, &a->since,
		a->compared ? "Nothing that is known to matter."
			    : "The machine of the baseline is not known.");
}

/* The verdict on its ladder, with what holds it there. */
static void draw_ladder(struct tui_pen *p, enum runs_verdict at, const char *why)
{
	static const struct {
		enum runs_verdict verdict;
		const char *name;
		unsigned style;
	} rungs[] = {
		{RUNS_BETTER, "better: steadier than boots differ by themselves", TUI_GOOD},
		{RUNS_WORSE, "worse: less steady than boots differ by themselves", TUI_BAD},
		{RUNS_NO_DIFFERENCE, "no difference shown", TUI_STRONG},
		{RUNS_DESCRIPTION, "a description: too few boots for a verdict", TUI_NOTE},
		{RUNS_NOT_COMPARABLE, "not comparable", TUI_BAD},
	};
	tui_pen_heading(p, "Ladder");
	for (size_t i = 0; i < ARRAY_LEN(rungs); i++) {
		bool here = rungs[i].verdict == at;
		int y = p->y++ - p->scroll;
		if (p->measure || y < 0 || y >= p->r.h) {
			continue;
		}
		const struct tui_glyphs *g = p->c->glyphs;
		tui_put(p->c, p->r, 0, y, here ? rungs[i].style : TUI_FRAME,
			here ? g->pointer : g->vline);
		int x = tui_text_fit(p->c, p->r, 2, y, p->r.w - 2,
			here ? rungs[i].style : TUI_FAINT, rungs[i].name);
		if (here && x + 4 < p->r.w) {
			tui_textf(p->c, p->r, x, y, TUI_TEXT, " (%s)", why);
		}
	}
}

/* When the baseline was marked, and whether it will come back. */
static void draw_kept(const struct tui_app *a, struct tui_pen *p)
{
	const struct tui_keep *k = &a->keep;
	char when[TUI_DATE_MAX];
	if (*k->baseline.name) { /* runs of the store */
		return;
	}
	tui_date(k->baseline.marked, when);
	if (k->baseline.stored) {
		tui_pen_line(p, 0, TUI_FAINT, "marked %s, stored", when);
	} else if (k->mark_ticket) {
		tui_pen_line(p, 0, TUI_FAINT, "marked %s, being stored", when);
	} else {
		tui_pen_line(p, 0, TUI_NOTE, "marked %s, not stored: %s", when, k->why.text);
	}
}

static void draw_baseline(const struct tui_app *a, struct tui_pen *p)
{
	const struct tui_baseline *b = &a->keep.baseline;
	const struct tui_figures *f = &a->window.figures;
	if (!b->band.set) {
		tui_pen_wrap(p, 0, TUI_FAINT,
			"There is no baseline yet. b makes what is on the screen the baseline; it "
			"comes back after a reboot, and this page shows both with what changed in "
			"the machine. In the Runs view b draws stored runs behind what runs now, "
			"and c compares two runs, labels or studies.");
		return;
	}
	draw_line(p, "", *b->name ? b->name : "baseline", "now", NAN, false);
	draw_times(p, "p50", b->band.p50, (double)f->p50);
	draw_bands(p, (b->band.p95 - b->band.p5) / 2 / b->band.p50, f->band);
	draw_times(p, "p5", b->band.p5, (double)f->p5);
	draw_times(p, "p95", b->band.p95, (double)f->p95);
	bool known = runs_enough((double)b->hist.total, 0.99);
	draw_times(p, "p99", known ? (double)runs_hist_quantile(&b->hist, 0.99) : 0,
		f->p99_known ? (double)f->p99 : 0);
	draw_times(p, "max", (double)b->hist.max, (double)f->max);
	char n[2][TUI_COUNT_MAX];
	draw_line(p, "samples", tui_count(b->hist.total, n[0]), tui_count(f->n, n[1]), NAN, false);
	draw_kept(a, p);
	draw_ladder(p, RUNS_DESCRIPTION,
		b->same_boot ? "both of this boot: of the moment" : "one boot a side");
	tui_pen_wrap(p, 0, TUI_FAINT,
		b->same_boot ? "Two moments of one boot tell nothing of a change between boots."
			     : "Boots differ by themselves: barscope study plans those that a "
			       "verdict needs, four a side at least.");
	draw_changes(p, a);
}

/* Each boot's band as a mark on one logarithmic axis, a line a side: is the difference larger
 * than what boots differ by? */
static void draw_strip(const struct runs_pair *k, struct tui_pen *p)
{
	const struct runs_values *sides[] = {&k->a, &k->b};
	double lo = INFINITY, hi = -INFINITY;
	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; i < sides[s]->n; i++) {
			lo = fmin(lo, sides[s]->log_band[i]);
			hi = fmax(hi, sides[s]->log_band[i]);
		}
	}
	struct tui_rect bar = {p->r.x + LABEL, 0, MIN(p->r.w - LABEL, 2 * CELL + 12), 1};
	if (!isfinite(lo) || !isfinite(hi) || bar.w < 12) {
		return;
	}
	double margin = fmax((hi - lo) * 0.05, 0.01);
	lo -= margin;
	hi += margin;
	for (size_t s = 0; s < 3; s++) {
		int y = p->y++ - p->scroll;
		bar.y = p->r.y + y;
		if (p->measure || y < 0 || y >= p->r.h) {
			continue;
		}
		if (s == 2) {
			char t[2][24];
			snprintf(t[0], sizeof(t[0]), "±%.3g %%", exp(lo) * 100);
			snprintf(t[1], sizeof(t[1]), "±%.3g %%", exp(hi) * 100);
			tui_text(p->c, bar, 0, 0, TUI_FAINT, t[0]);
			tui_text_right(p->c, bar, 0, 0, TUI_FAINT, t[1]);
			continue;
		}
		tui_text(p->c, p->r, 0, y, TUI_FAINT, s ? "band of B" : "band of A");
		tui_hline(p->c, bar, 0, 0, bar.w, TUI_FRAME, p->c->glyphs->hline);
		for (size_t i = 0; i < sides[s]->n; i++) {
			double share = (sides[s]->log_band[i] - lo) / (hi - lo);
			tui_put(p->c, bar, (int)(share * (bar.w - 1)), 0,
				s ? TUI_MEDIAN : TUI_BASELINE, p->c->glyphs->up);
		}
	}
}

static void draw_pair(const struct runs_pair *k, struct tui_pen *p)
{
	char title[216];
	snprintf(title, sizeof(title), "%s%s%s %s %s, one value a boot", k->backend,
		*k->device ? " " : "", k->device, k->shape, k->dtype);
	tui_pen_heading(p, title);
	if (strcmp(k->device, k->device_b) != 0) {
		char moved[128];
		snprintf(moved, sizeof(moved), "in B it is %s", k->device_b);
		tui_pen_wrap(p, 0, TUI_NOTE, moved);
	}
	char n[2][24];
	snprintf(n[0], sizeof(n[0]), "%zu", k->a.n);
	snprintf(n[1], sizeof(n[1]), "%zu", k->b.n);
	draw_line(p, "boots", n[0], n[1], NAN, false);
	for (size_t i = 0; i < MAX(k->a.n, k->b.n) && i < 8; i++) {
		char name[24];
		snprintf(name, sizeof(name), "boot %zu", i + 1);
		double a = i < k->a.n ? exp(k->a.log_band[i]) : NAN;
		double b = i < k->b.n ? exp(k->b.log_band[i]) : NAN;
		char s[2][40] = {"", ""}, t[TEXT_TIME_MAX];
		if (i < k->a.n) {
			snprintf(s[0], sizeof(s[0]), "%s ±%.1f%%",
				text_ns((uint64_t)k->a.p50[i], t), a * 100);
		}
		if (i < k->b.n) {
			snprintf(s[1], sizeof(s[1]), "%s ±%.1f%%",
				text_ns((uint64_t)k->b.p50[i], t), b * 100);
		}
		draw_line(p, name, s[0], s[1], NAN, false);
	}
	draw_strip(k, p);
	if (k->tested) {
		tui_pen_line(p, 0, TUI_TEXT, "spread: factor %.3g (%.3g to %.3g), p %.3g",
			k->ratio.estimate, k->ratio.low, k->ratio.high, k->p);
	}
}

/* The median of a side's medians; 0: no run has such samples. */
static double middle(const struct runs_side *s, unsigned series, unsigned layer)
{
	double v[RUNS_BOOTS_MAX];
	size_t n = 0;
	for (size_t i = 0; i < s->n && n < RUNS_BOOTS_MAX; i++) {
		const struct runs_description *d = &s->run[i].layer[series][layer];
		if (d->n) {
			v[n++] = (double)d->p50;
		}
	}
	return n ? runs_boots_median(v, n) : 0;
}

/* Layers of the GEMM and the probes beside it: description, never a verdict. */
static void draw_layers(const struct tui_comparison *c, struct tui_pen *p)
{
	bool any = false;
	for (unsigned s = 0; s < STRESS_SERIES; s++) {
		for (unsigned l = 0; l < RUNS_CYCLES; l++) {
			double a = middle(&c->side[0], s, l), b = middle(&c->side[1], s, l);
			bool whole = s == STRESS_GEMM && l == RUNS_HOST; /* stands above */
			if (whole || (a <= 0 && b <= 0) || (s != STRESS_GEMM && l != RUNS_HOST)) {
				continue;
			}
			if (!any) {
				tui_pen_heading(p, "Layers and probes, p50, described only");
			}
			any = true;
			draw_times(p, s == STRESS_GEMM ? runs_layer_name(l) : runs_series_name(s),
				a, b);
		}
	}
}

/* ", 3 samples dropped" onto T when there are any. */
static void add_count(struct text *t, uint64_t n, const char *what)
{
	char digits[TUI_COUNT_MAX];
	if (n) {
		text_addf(t, "%s%s %s", t->len ? ", " : "", tui_count(n, digits), what);
	}
}

/* What a side's figures lack, and what is wrong with its runs: below its name. */
static void draw_lacks(const struct runs_side *s, struct tui_pen *p)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct runs_totals *k = &s->run[i].totals;
		struct text t = {0};
		add_count(&t, k->dropped, "samples dropped");
		add_count(&t, k->events_lost, "events lost");
		add_count(&t, k->mismatches, "wrong outputs: corruption");
		if (t.len) {
			tui_pen_line(p, LABEL, k->mismatches ? TUI_BAD : TUI_NOTE, "run %lld: %s",
				(long long)s->run[i].info.id, t.s);
		}
		text_finish(&t);
	}
}

static void draw_stored(const struct tui_comparison *c, struct tui_pen *p)
{
	const struct runs_comparison *k = &c->result;
	unsigned style = k->verdict == RUNS_WORSE    ? TUI_BAD
			 : k->verdict == RUNS_BETTER ? TUI_GOOD
						     : TUI_NOTE;
	tui_pen_pair(p, 0, LABEL, "A", TUI_BASELINE, "%s", c->name[0]);
	draw_lacks(&c->side[0], p);
	tui_pen_pair(p, 0, LABEL, "B", TUI_MEDIAN, "%s", c->name[1]);
	draw_lacks(&c->side[1], p);
	tui_pen_gap(p);
	tui_pen_wrap(p, 0, style, k->sentence);
	char boots[64];
	snprintf(boots, sizeof(boots), "%zu and %zu boot%s", c->side[0].nboot, c->side[1].nboot,
		c->side[1].nboot == 1 ? "" : "s");
	draw_ladder(p, k->verdict, boots);
	for (size_t i = 0; i < k->npair; i++) {
		draw_pair(&k->pair[i], p);
	}
	draw_layers(c, p);
	if (k->nreason) {
		tui_pen_heading(p, "Not comparable because of");
	}
	for (size_t i = 0; i < k->nreason; i++) {
		tui_pen_pair(p, 0, 20, k->reason[i].name, TUI_BAD, "%s → %s", k->reason[i].a,
			k->reason[i].b);
	}
	tui_pen_heading(p, "The machines");
	draw_lines(p, &c->machines,
		c->machines_known ? "No difference is known."
				  : "One side kept no machine, so nothing is known.");
	for (size_t i = 0; i < k->nnoted; i++) {
		tui_pen_pair(p, 0, 30, k->noted[i].name, TUI_FAINT, "%s → %s", k->noted[i].a,
			k->noted[i].b);
	}
}

static void draw_text(const struct tui_app *a, struct tui_pen *p)
{
	if (a->library.comparison) {
		draw_stored(a->library.comparison, p);
	} else {
		draw_baseline(a, p);
	}
}

static void draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const char *remark = a->library.comparison    ? "stored runs; Esc: the baseline"
			     : *a->keep.baseline.name ? "stored and now; Esc: the baseline"
						      : "the baseline and now";
	r = tui_inset(tui_section(c, r, TUI_TITLE, "Compare", remark), 1, 0);
	if (!a->library.comparison && a->keep.baseline.band.set && r.w >= WIDE) {
		struct tui_rect side = tui_take_right(&r, r.w * 2 / 5);
		tui_histogram_draw(a, c, tui_take_top(&side, MIN(side.h, 16)));
	}
	struct tui_pen measure = {.c = c, .r = r, .measure = true};
	draw_text(a, &measure);
	struct tui_pen p = {.c = c, .r = r};
	p.scroll = tui_pen_scroll(a->compare_scroll, measure.y, r.h);
	draw_text(a, &p);
	if (p.scroll + r.h < measure.y) {
		tui_put(c, r, r.w - 1, r.h - 1, TUI_KEY, c->glyphs->down);
	}
}

static bool key_pressed(struct tui_app *a, struct tui_input in)
{
	int page = MAX(a->h - 8, 1), step = 0;
	switch (in.key) {
	case TUI_KEY_UP:
	case 'k':
		step = -1;
		break;
	case TUI_KEY_DOWN:
	case 'j':
		step = 1;
		break;
	case TUI_KEY_PAGE_UP:
		step = -page;
		break;
	case TUI_KEY_PAGE_DOWN:
		step = page;
		break;
	case TUI_KEY_MOUSE:
		step = 3 * in.wheel;
		break;
	case TUI_KEY_ESCAPE:
		if (!a->library.comparison && !*a->keep.baseline.name) {
			return false;
		}
		if (!a->library.comparison) {
			tui_keep_unrefer(&a->keep);
		}
		tui_library_forget(&a->library);
		a->compare_scroll = 0;
		return true;
	default:
		return false;
	}
	a->compare_scroll = MAX(a->compare_scroll + step, 0);
	return true;
}

static const struct tui_hint hints[] = {
	{"b", "baseline"},
	{"↑↓", "scroll"},
	{"7", "runs"},
	{NULL, NULL},
};

const struct tui_view tui_view_compare = {
	.name = "Compare",
	.draw = draw,
	.key_pressed = key_pressed,
	.hints = hints,
};
