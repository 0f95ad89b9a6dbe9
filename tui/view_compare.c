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
#include "tui/pen.h"
#include "tui/view.h"

enum { LABEL = 10, CELL = 16 };

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

static void draw_baseline(const struct tui_app *a, struct tui_pen *p)
{
	const struct tui_baseline *b = &a->keep.baseline;
	const struct tui_figures *f = &a->window.figures;
	if (!b->band.set) {
		tui_pen_wrap(p, 0, TUI_FAINT,
			"There is no baseline yet. b makes what is on the screen the baseline; it "
			"comes back after a reboot, and this page shows both with what changed in "
			"the machine. Two stored runs are compared from the Runs view with c.");
		return;
	}
	draw_line(p, "", "baseline", "now", NAN, false);
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
	tui_pen_gap(p);
	tui_pen_wrap(p, 0, TUI_NOTE,
		b->same_boot ? "Both are of this boot: a description of the moment, no verdict."
			     : "One boot a side is a description and no verdict: boots differ by "
			       "themselves. barscope study plans the boots that a verdict needs.");
	draw_changes(p, a);
}

static void draw_pair(const struct runs_pair *k, struct tui_pen *p)
{
	char title[120];
	snprintf(
		title, sizeof(title), "%s %s %s, one value a boot", k->backend, k->shape, k->dtype);
	tui_pen_heading(p, title);
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
	if (k->tested) {
		tui_pen_line(p, 0, TUI_TEXT, "spread: factor %.3g (%.3g to %.3g), p %.3g",
			k->ratio.estimate, k->ratio.low, k->ratio.high, k->p);
	}
}

static void draw_stored(const struct tui_comparison *c, struct tui_pen *p)
{
	const struct runs_comparison *k = &c->result;
	unsigned style = k->verdict == RUNS_WORSE    ? TUI_BAD
			 : k->verdict == RUNS_BETTER ? TUI_GOOD
						     : TUI_NOTE;
	tui_pen_pair(p, 0, LABEL, "A", TUI_BASELINE, "%s", c->name[0]);
	tui_pen_pair(p, 0, LABEL, "B", TUI_MEDIAN, "%s", c->name[1]);
	tui_pen_gap(p);
	tui_pen_wrap(p, 0, style, k->sentence);
	for (size_t i = 0; i < k->npair; i++) {
		draw_pair(&k->pair[i], p);
	}
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
	const char *remark =
		a->library.comparison ? "stored runs; Esc: the baseline" : "the baseline and now";
	r = tui_inset(tui_section(c, r, TUI_TITLE, "Compare", remark), 1, 0);
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
		if (!a->library.comparison) {
			return false;
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
