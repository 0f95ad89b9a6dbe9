/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store: its runs, newest first, to label, remove and compare. */
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
	return a->library.nrun;
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
	const struct runs_info *k = &a->library.run[i].info;
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

/* Columns: id, label, start, state, what, p50, band; the later ones need room. */
static void draw_row(
	const void *data, size_t i, bool at_cursor, struct tui_canvas *c, struct tui_rect row)
{
	const struct tui_app *a = data;
	const struct tui_run *k = &a->library.run[i];
	char t[TEXT_TIME_MAX], s[80];
	(void)at_cursor;
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
		snprintf(s, sizeof(s), "%s  ±%.1f %%", text_ns(k->p50, t), k->band * 100);
		tui_text_right(c, row, 1, 0, TUI_STRONG, s);
	}
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
	tui_pen_pair(p, 0, COLUMN, "what", TUI_TEXT, "%s %s %s %s, %u thread%s, %u copies",
		i->backend, i->shape, i->dtype, i->kernel, i->threads, i->threads == 1 ? "" : "s",
		i->copies);
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

static void draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct tui_library *l = &a->library;
	char remark[192];
	struct tui_rect below = detail_rect(a, &r);
	snprintf(remark, sizeof(remark), "%zu run%s%s%s", l->nrun, l->nrun == 1 ? "" : "s",
		*l->chosen ? ", chosen: " : "", l->chosen);
	if (r.h > 0) {
		r = tui_section(c, r, TUI_TITLE, "Runs", remark);
		if (*l->why.text) {
			tui_text_fit(c, tui_take_top(&r, 1), 1, 0, r.w - 2, TUI_BAD, l->why.text);
		}
		if (rows(a)) {
			tui_list_draw(c, r, &a->runs, rows(a), draw_row, a);
		} else if (!*l->why.text) {
			tui_text_wrap(c, tui_inset(r, 1, 0), 0, TUI_FAINT,
				l->loaded ? "No run is stored yet. R records what runs now under a "
					    "label; barscope stress --record LABEL does so "
					    "without the screen."
					  : "Reading the store");
		}
	}
	if (below.h > 0) {
		const struct tui_run *k = &l->run[a->runs.cursor];
		char title[96];
		snprintf(title, sizeof(title), "Run %lld %s", (long long)k->info.id, k->info.label);
		below = tui_inset(tui_section(c, below, TUI_TITLE, title, NULL), 1, 0);
		struct tui_pen p = {.c = c, .r = below};
		draw_detail(k, &p);
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

static void choose(struct tui_app *a, const struct runs_info *run)
{
	struct tui_library *l = &a->library;
	char ref[sizeof(l->chosen)];
	/* A label stands for all of its runs, grouped by boot. */
	if (*run->label) {
		snprintf(ref, sizeof(ref), "label:%s", run->label);
	} else {
		snprintf(ref, sizeof(ref), "run:%lld", (long long)run->id);
	}
	if (!*l->chosen || !strcmp(l->chosen, ref)) {
		text_copy(l->chosen, sizeof(l->chosen), ref);
		tui_app_say(a, TUI_TONE_PLAIN, "%s chosen; c on another one compares both", ref);
		return;
	}
	tui_library_compare(l, l->chosen, ref);
	tui_app_say(a, TUI_TONE_PLAIN, "comparing %s with %s", l->chosen, ref);
	l->chosen[0] = '\0';
}

static bool key_pressed(struct tui_app *a, struct tui_input in)
{
	const struct runs_info *run = rows(a) ? &a->library.run[a->runs.cursor].info : NULL;
	char text[240];
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
	case 'l':
	case 'd':
	case 'c':
		break;
	default:
		return tui_list_key(&a->runs, rows(a), in);
	}
	if (!run) {
		return true;
	}
	if (in.key == 'l') {
		tui_modal_form(&a->modal, "Label", take_label);
		tui_modal_field(&a->modal, "label", run->label,
			"Runs of one label are one side of a comparison, grouped by boot.");
		a->modal.about = run->id;
	} else if (in.key == 'd') {
		snprintf(text, sizeof(text),
			"Remove run %lld%s%s with all its samples? It cannot be brought back.",
			(long long)run->id, *run->label ? " of " : "", run->label);
		tui_modal_question(&a->modal, "Remove", text, take_removal, run->id);
	} else {
		choose(a, run);
	}
	return true;
}

static struct tui_list *list(struct tui_app *a)
{
	return &a->runs;
}

static const struct tui_hint hints[] = {
	{"⏎", "open"},
	{"c", "compare"},
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
