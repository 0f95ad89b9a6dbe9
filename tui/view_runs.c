/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store: its studies, then its runs, newest first, to label, remove and compare. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "tui/figures.h"
#include "tui/pen.h"
#include "tui/view.h"

static size_t rows(const struct tui_app *a)
{
	return a->library.nstudy + a->library.nrun;
}

/* Row I is a study, or a run: one of both. */
static const struct tui_study *study_at(const struct tui_app *a, size_t i)
{
	return i < a->library.nstudy ? &a->library.study[i] : NULL;
}

static const struct tui_run *run_at(const struct tui_app *a, size_t i)
{
	size_t k = i - a->library.nstudy;
	return i >= a->library.nstudy && k < a->library.nrun ? &a->library.run[k] : NULL;
}

static void when_text(int64_t ns, char *buf, size_t size)
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;
	if (!ns || !localtime_r(&t, &tm) || !strftime(buf, size, "%Y-%m-%d %H:%M", &tm)) {
		text_copy(buf, size, "-");
	}
}

static void row_text(const struct tui_app *a, size_t i, char *buf, size_t size)
{
	const struct tui_study *s = study_at(a, i);
	if (s) {
		snprintf(buf, size, "study %s %s", s->study.name, s->study.change);
		return;
	}
	const struct runs_info *k = &run_at(a, i)->info;
	char when[24];
	when_text(k->started, when, sizeof(when));
	snprintf(buf, size, "%lld %s %s %s %s %s", (long long)k->id, k->label, when, k->backend,
		k->shape, k->device);
}

static unsigned state_style(enum runs_state s)
{
	switch (s) {
	case RUNS_RUNNING:
		return TUI_GOOD;
	case RUNS_FAILED:
	case RUNS_DIED:
	case RUNS_MACHINE_DOWN:
		return TUI_BAD;
	default:
		return TUI_FAINT;
	}
}

/* "study", name, what is changed, how far it is, which side is next. */
static void draw_study_row(const struct tui_study *s, struct tui_canvas *c, struct tui_rect row)
{
	char text[80];
	int label = row.w >= 100 ? 24 : row.w >= 70 ? 16 : 12;
	tui_text(c, row, 2, 0, TUI_TITLE, "study");
	tui_text_fit(c, row, 8, 0, label - 1, TUI_STRONG, s->study.name);
	const char *next = !s->next ? "complete" : s->here ? "restart" : "this boot is due";
	snprintf(text, sizeof(text), "%zu of %u boots, %s", s->done, 2 * s->study.boots, next);
	int w = tui_text_width(c, text), x = 8 + label;
	if (x + w + 2 > row.w) {
		snprintf(text, sizeof(text), "%zu of %u boots", s->done, 2 * s->study.boots);
		w = tui_text_width(c, text);
	}
	tui_text_fit(c, row, x, 0, row.w - x - w - 3, TUI_TEXT, s->study.change);
	tui_text_right(c, row, 1, 0, s->next ? TUI_NOTE : TUI_GOOD, text);
}

/* Columns: id, label, start, state, what, p50, band; the later ones need room. */
static void draw_row(
	const void *data, size_t i, bool at_cursor, struct tui_canvas *c, struct tui_rect row)
{
	const struct tui_app *a = data;
	char t[TEXT_TIME_MAX], s[80];
	(void)at_cursor;
	if (study_at(a, i)) {
		draw_study_row(study_at(a, i), c, row);
		return;
	}
	const struct tui_run *k = run_at(a, i);
	snprintf(s, sizeof(s), "%lld", (long long)k->info.id);
	tui_text(c, row, 6 - MIN(tui_text_width(c, s), 4), 0, TUI_FAINT, s);
	int label = row.w >= 100 ? 24 : row.w >= 70 ? 16 : 12;
	int x = tui_text_fit(
		c, row, 7, 0, label, TUI_STRONG, *k->info.label ? k->info.label : "(no label)");
	x = 8 + label;
	when_text(k->info.started, s, sizeof(s));
	tui_text_fit(c, row, x, 0, MIN(16, row.w - x), TUI_TEXT, row.w >= 60 ? s : s + 5);
	x += row.w >= 60 ? 18 : 13;
	if (row.w >= 60) {
		tui_text_fit(c, row, x, 0, 12, state_style(k->info.state),
			runs_state_name(k->info.state));
		x += 13;
	}
	if (row.w >= 96) {
		snprintf(s, sizeof(s), "%s %s %s", k->info.backend, k->info.shape, k->info.dtype);
		tui_text_fit(c, row, x, 0, row.w - x - 22, TUI_TEXT, s);
	}
	if (k->n && row.w >= 60) {
		/* Both in a column of their own. */
		snprintf(s, sizeof(s), "±%.1f %%", k->band * 100);
		tui_text_right(c, row, 1, 0, TUI_STRONG, s);
		tui_text_right(c, row, 11, 0, TUI_STRONG, text_ns(k->p50, t));
	}
}

/* "cpu 1x4096x11008 f16 avx2, 3 threads, 2 copies": what the back end has of that. */
static void describe_what(const struct runs_info *i, char *buf, size_t size)
{
	struct text t = {0};
	text_addf(&t, "%s %s %s%s%s", i->backend, i->shape, i->dtype, *i->kernel ? " " : "",
		i->kernel);
	if (i->threads) {
		text_addf(&t, ", %u thread%s", i->threads, i->threads == 1 ? "" : "s");
	}
	if (i->copies) {
		text_addf(&t, ", %u cop%s", i->copies, i->copies == 1 ? "y" : "ies");
	}
	text_copy(buf, size, t.s);
	text_finish(&t);
}

static void draw_detail(const struct tui_run *k, struct tui_pen *p)
{
	enum { COLUMN = 11 };
	const struct runs_info *i = &k->info;
	char t[TEXT_TIME_MAX], n[TUI_COUNT_MAX], when[24];
	when_text(i->started, when, sizeof(when));
	tui_pen_pair(
		p, 0, COLUMN, "started", TUI_TEXT, "%s%s", when, i->imported ? ", imported" : "");
	tui_pen_pair(p, 0, COLUMN, "state", state_style(i->state), "%s%s%s",
		runs_state_name(i->state), *i->why ? ": " : "", i->why);
	char what[160];
	describe_what(i, what, sizeof(what));
	tui_pen_pair(p, 0, COLUMN, "what", TUI_TEXT, "%s", what);
	if (*i->device) {
		tui_pen_pair(p, 0, COLUMN, "device", TUI_TEXT, "%s", i->device);
	}
	tui_pen_pair(p, 0, COLUMN, "boot", TUI_TEXT, "%s", *i->boot_id ? i->boot_id : "not known");
	tui_pen_pair(
		p, 0, COLUMN, "samples", TUI_TEXT, "%s in %u s", tui_count(k->n, n), k->seconds);
	if (i->dropped) {
		tui_pen_pair(p, 0, COLUMN, "dropped", TUI_NOTE, "%s", tui_count(i->dropped, n));
	}
	if (k->n) {
		tui_pen_pair(p, 0, COLUMN, "p50", TUI_STRONG, "%s, band ±%.2f %%",
			text_ns(k->p50, t), k->band * 100);
	}
	if (k->n && !isnan(k->p99)) {
		tui_pen_pair(p, 0, COLUMN, "p99", TUI_TEXT, "%s", text_ns((uint64_t)k->p99, t));
	}
	if (i->ceiling > 0 && i->bytes && k->p50) {
		double rate = (double)i->bytes * 1e9 / (double)k->p50;
		tui_pen_pair(p, 0, COLUMN, "rate", TUI_TEXT,
			"%.2f GB/s, %.0f %% of the read ceiling", rate / 1e9,
			rate / i->ceiling * 100);
	}
	if (i->mismatches) {
		tui_pen_pair(p, 0, COLUMN, "bits", TUI_BAD, "%s outputs differ: corruption",
			tui_count(i->mismatches, n));
	}
}

static void draw_study_detail(const struct tui_study *s, struct tui_pen *p)
{
	enum { COLUMN = 11 };
	tui_pen_pair(p, 0, COLUMN, "change", TUI_STRONG, "%s", s->study.change);
	tui_pen_pair(p, 0, COLUMN, "filed by", TUI_TEXT, "%s",
		*s->study.fact ? s->study.fact : "hand (--side)");
	struct text t = {0};
	runs_study_say_next(&s->study, &s->boots, &t);
	t.s[strcspn(t.s, "\n")] = '\0'; /* whether only to restart is seen below */
	tui_pen_pair(p, 0, COLUMN, "next", s->next ? TUI_NOTE : TUI_GOOD, "%s", t.s);
	text_finish(&t);
	for (size_t i = 0; i < s->boots.n; i++) {
		const struct runs_study_boot *b = &s->boots.boot[i];
		char when[24];
		when_text(b->at, when, sizeof(when));
		tui_pen_pair(p, 0, COLUMN, i ? "" : "boots",
			b->outcome == RUNS_DID_NOT_START ? TUI_BAD : TUI_TEXT, "%c  %s  %s%s%s%s%s",
			b->side, when, runs_outcome_name(b->outcome), *b->value ? ", " : "",
			b->value, *b->why ? ": " : "", b->why);
	}
}

static struct tui_rect detail_rect(const struct tui_app *a, struct tui_rect *r)
{
	if (!a->run_open || rows(a) == 0) {
		return (struct tui_rect){r->x, r->y, r->w, 0};
	}
	return tui_take_bottom(r, r->h >= 16 ? 12 : r->h);
}

static void prepare(struct tui_app *a, const struct tui_canvas *c, struct tui_rect r)
{
	(void)c;
	detail_rect(a, &r);
	tui_list_settle(&a->runs, rows(a), (size_t)MAX(r.h - 1, 0));
	if (!a->library.loaded && !a->library.asked) {
		tui_library_reload(&a->library);
	}
}

/* What stands in place of a list. */
static const char *nothing_text(const struct tui_app *a)
{
	if (a->options.demo) {
		return "The demo stores nothing. Elsewhere the runs stand here that R has recorded, or "
		       "barscope stress --record LABEL, newest first: label, start, how it ended, "
		       "median and band. c compares two of them, label against label, and says "
		       "whether boots differ by more than they do by themselves; b draws one behind "
		       "what runs. Studies stand above them, with the boots that are still due.";
	}
	return a->library.loaded ? "No run is stored yet. R records what runs now under a label; "
				   "barscope stress --record LABEL does so without the screen."
				 : "Reading the store";
}

static void draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct tui_library *l = &a->library;
	char remark[192];
	struct tui_rect below = detail_rect(a, &r);
	char studies[48] = "";
	if (l->nstudy) {
		snprintf(studies, sizeof(studies), "%zu %s, ", l->nstudy,
			l->nstudy == 1 ? "study" : "studies");
	}
	snprintf(remark, sizeof(remark), "%s%zu run%s%s%s", studies, l->nrun,
		l->nrun == 1 ? "" : "s", *l->chosen ? ", chosen: " : "", l->chosen);
	if (r.h > 0) {
		r = tui_section(c, r, TUI_TITLE, "Runs", remark);
		bool failed = *l->why.text && !a->options.demo;
		if (failed) {
			tui_text_fit(c, tui_take_top(&r, 1), 1, 0, r.w - 2, TUI_BAD, l->why.text);
		}
		if (rows(a)) {
			tui_list_draw(c, r, &a->runs, rows(a), draw_row, a);
		} else if (!failed) {
			tui_text_wrap(c, tui_inset(r, 1, 0), 0, TUI_FAINT, nothing_text(a));
		}
	}
	if (below.h > 0) {
		const struct tui_study *s = study_at(a, a->runs.cursor);
		const struct tui_run *k = run_at(a, a->runs.cursor);
		char title[96];
		if (s) {
			snprintf(title, sizeof(title), "Study %s", s->study.name);
		} else {
			snprintf(title, sizeof(title), "Run %lld %s", (long long)k->info.id,
				k->info.label);
		}
		below = tui_inset(tui_section(c, below, TUI_TITLE, title, NULL), 1, 0);
		struct tui_pen p = {.c = c, .r = below};
		if (s) {
			draw_study_detail(s, &p);
		} else {
			draw_detail(k, &p);
		}
	}
}

static bool take_label(struct tui_app *a, struct tui_modal *m)
{
	if (strlen(m->field[0].value) >= sizeof(a->library.run->info.label)) {
		text_copy(m->error, sizeof(m->error), "The label is too long.");
		return false;
	}
	tui_library_label(&a->library, m->about, m->field[0].value);
	return true;
}

static bool take_removal(struct tui_app *a, struct tui_modal *m)
{
	tui_library_remove(&a->library, m->about);
	return true;
}

/* How the store names row I: a label stands for all of its runs, grouped by boot. */
static void refer(const struct tui_app *a, size_t i, char *ret, size_t size)
{
	const struct tui_study *s = study_at(a, i);
	const struct tui_run *k = run_at(a, i);
	if (s) {
		snprintf(ret, size, "study:%s", s->study.name);
	} else if (*k->info.label) {
		snprintf(ret, size, "label:%s", k->info.label);
	} else {
		snprintf(ret, size, "run:%lld", (long long)k->info.id);
	}
}

static void choose(struct tui_app *a, size_t i)
{
	struct tui_library *l = &a->library;
	char ref[sizeof(l->chosen) - 2], side[2][sizeof(l->chosen)];
	refer(a, i, ref, sizeof(ref));
	bool again = !strcmp(l->chosen, ref), study = study_at(a, i) != NULL;
	if (!*l->chosen || (again && !study)) {
		text_copy(l->chosen, sizeof(l->chosen), ref);
		tui_app_say(a, TUI_TONE_PLAIN, "%s chosen; c on another one compares both%s", ref,
			study ? ", c again its two sides" : "");
		return;
	}
	snprintf(side[0], sizeof(side[0]), again ? "%s/A" : "%s", again ? ref : l->chosen);
	snprintf(side[1], sizeof(side[1]), again ? "%s/B" : "%s", ref);
	tui_library_compare(l, side[0], side[1]);
	tui_app_say(a, TUI_TONE_PLAIN, "comparing %s with %s", side[0], side[1]);
	l->chosen[0] = '\0';
}

/* The row's runs behind what runs now; of a study those without the change. */
static void draw_behind(struct tui_app *a, size_t i)
{
	char ref[128];
	refer(a, i, ref, sizeof(ref) - 2);
	if (study_at(a, i)) {
		strcat(ref, "/A");
	}
	tui_library_refer(&a->library, ref);
	tui_app_say(a, TUI_TONE_PLAIN, "reading %s", ref);
}

static void ask_label(struct tui_app *a, const struct runs_info *run)
{
	tui_modal_form(&a->modal, "Label", take_label);
	tui_modal_field(&a->modal, "label", run->label,
		"Runs of one label are one side of a comparison, grouped by boot.");
	a->modal.about = run->id;
}

static void ask_removal(struct tui_app *a, const struct runs_info *run)
{
	char text[240];
	snprintf(text, sizeof(text),
		"Remove run %lld%s%s with all its samples? It cannot be brought back.",
		(long long)run->id, *run->label ? " of " : "", run->label);
	tui_modal_question(&a->modal, "Remove", text, take_removal, run->id);
}

static bool row_key(struct tui_app *a, uint32_t key)
{
	size_t i = a->runs.cursor;
	const struct tui_run *run = run_at(a, i);
	if (i >= rows(a)) {
		return key != 'S';
	}
	switch (key) {
	case 'c':
		choose(a, i);
		return true;
	case 'b':
		draw_behind(a, i);
		return true;
	case 'S':
		if (!run) {
			tui_app_study(a, study_at(a, i));
		}
		return !run;
	default:
		break;
	}
	if (!run) {
		tui_app_say(a, TUI_TONE_NOTE, "that is for runs; this is a study");
	} else if (key == 'l') {
		ask_label(a, &run->info);
	} else {
		ask_removal(a, &run->info);
	}
	return true;
}

static bool key_pressed(struct tui_app *a, struct tui_input in)
{
	switch (in.key) {
	case TUI_KEY_ENTER:
		a->run_open = !a->run_open;
		return true;
	case TUI_KEY_ESCAPE:
		if (!a->run_open && !*a->library.chosen) {
			return false;
		}
		a->run_open = false;
		a->library.chosen[0] = '\0';
		return true;
	case 'r':
		tui_library_reload(&a->library);
		return true;
	case 'b':
	case 'c':
	case 'd':
	case 'l':
	case 'S':
		return row_key(a, in.key);
	default:
		return tui_list_key(&a->runs, rows(a), in);
	}
}

static struct tui_list *list(struct tui_app *a)
{
	return &a->runs;
}

static const struct tui_hint hints[] = {
	{"⏎", "open"},
	{"c", "compare"},
	{"b", "behind now"},
	{"l", "label"},
	{"d", "remove"},
	{"/", "search"},
	{"r", "read again"},
	{NULL, NULL},
};

const struct tui_view tui_view_runs = {
	.name = "Runs",
	.draw = draw,
	.key_pressed = key_pressed,
	.hints = hints,
	.prepare = prepare,
	.list = list,
	.rows = rows,
	.row_text = row_text,
};
