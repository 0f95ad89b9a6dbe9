/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What barscope doctor tells, in its order: a line a test, evidence and commands unfolded. */
#include <stdio.h>
#include <string.h>

#include "tui/pen.h"
#include "tui/view.h"

static size_t rows(const struct tui_app *a)
{
	return a->checkup.report ? a->checkup.report->nline : 0;
}

static const struct doctor_line *line_at(const struct tui_app *a, size_t i)
{
	return &a->checkup.report->line[i];
}

static void row_text(const struct tui_app *a, size_t i, char *buf, size_t size)
{
	const struct doctor_line *l = line_at(a, i);
	snprintf(buf, size, "%s %s %s %s", doctor_group_name(l->group), l->id, l->tested,
		l->evidence);
}

struct look {
	uint32_t glyph;
	unsigned style;
};

static struct look look_of(const struct tui_glyphs *g, enum doctor_result r)
{
	const struct look looks[] = {
		[DOCTOR_OK] = {g->good, TUI_GOOD},
		[DOCTOR_NOTE] = {g->note, TUI_NOTE},
		[DOCTOR_UNSEEN] = {g->unsure, TUI_UNSURE},
		[DOCTOR_FAULT] = {g->bad, TUI_BAD},
	};
	return looks[r];
}

static void draw_row(
	const void *data, size_t i, bool at_cursor, struct tui_canvas *c, struct tui_rect row)
{
	const struct tui_app *a = data;
	const struct doctor_line *l = line_at(a, i);
	(void)at_cursor;
	enum { GROUP = 16 }; /* the longest name */
	/* A group is named at its first line. */
	bool first = i == 0 || line_at(a, i - 1)->group != l->group;
	int x = 2;
	if (row.w >= 70) {
		if (first) {
			tui_text_fit(c, row, x, 0, GROUP, TUI_TITLE, doctor_group_name(l->group));
		}
		x += GROUP + 1;
	}
	struct look k = look_of(c->glyphs, l->result);
	tui_put(c, row, x, 0, k.style, k.glyph);
	int w = row.w >= 100 ? 44 : row.w - x - 3;
	int end = tui_text_fit(
		c, row, x + 2, 0, w, l->result == DOCTOR_FAULT ? TUI_BAD : TUI_TEXT, l->tested);
	if (row.w >= 70) {
		int at = row.w >= 100 ? x + 2 + w + 2 : end + 2;
		tui_text_fit(c, row, at, 0, row.w - at - 1, TUI_FAINT, l->evidence);
	}
}

static void draw_detail(const struct doctor_line *l, struct tui_pen *p)
{
	struct look k = look_of(p->c->glyphs, l->result);
	tui_pen_mark(p, 0, k.glyph, k.style, TUI_STRONG, l->tested);
	tui_pen_pair(p, 0, 10, "result", k.style, "%s%s", doctor_result_name(l->result),
		l->root_would_tell ? "; root would see more" : "");
	if (*l->evidence) {
		tui_pen_pair(p, 0, 10, "evidence", TUI_TEXT, "%s", l->evidence);
	}
	if (*l->fix) {
		tui_pen_pair(p, 0, 10, "do", TUI_TEXT, "%s", l->fix);
	}
}

static struct tui_rect detail_rect(const struct tui_app *a, struct tui_rect *r)
{
	if (!a->doctor_open || rows(a) == 0) {
		return (struct tui_rect){r->x, r->y, r->w, 0};
	}
	return tui_take_bottom(r, r->h >= 16 ? MAX(r->h * 2 / 5, 8) : r->h);
}

static void prepare(struct tui_app *a, const struct tui_canvas *c, struct tui_rect r)
{
	(void)c;
	detail_rect(a, &r);
	tui_list_settle(&a->doctor, rows(a), (size_t)MAX(r.h - 1, 0));
	if (!a->checkup.report && !a->checkup.running && !*a->checkup.why.text &&
		a->machine.source == NULL && !a->options.demo) {
		tui_checkup_start(&a->checkup);
	}
}

static void draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct tui_checkup *k = &a->checkup;
	struct tui_rect below = detail_rect(a, &r);
	if (r.h > 0) {
		r = tui_section(c, r, TUI_TITLE, "Doctor", k->running ? "looking" : NULL);
		if (rows(a)) {
			tui_list_draw(c, r, &a->doctor, rows(a), draw_row, a);
		} else {
			tui_text_wrap(c, tui_inset(r, 1, 0), 0, *k->why.text ? TUI_BAD : TUI_FAINT,
				*k->why.text ? k->why.text
				: k->running ? "Looking at environment, driver, PCIe, clocks and "
					       "what this program needs"
					     : "The doctor looks at the machine that it runs on, "
					       "and this is another one. Elsewhere its lines "
					       "stand here: environment, driver, BIOS and PCIe, "
					       "clocks and power, each with its evidence and "
					       "what to do; barscope doctor prints them.");
		}
	}
	if (below.h > 0) {
		const struct doctor_line *l = line_at(a, a->doctor.cursor);
		below = tui_inset(tui_section(c, below, TUI_TITLE, l->id, NULL), 1, 0);
		struct tui_pen p = {.c = c, .r = below};
		draw_detail(l, &p);
	}
}

static bool key_pressed(struct tui_app *a, struct tui_input in)
{
	switch (in.key) {
	case TUI_KEY_ENTER:
		a->doctor_open = !a->doctor_open;
		return true;
	case TUI_KEY_ESCAPE:
		if (!a->doctor_open) {
			return false;
		}
		a->doctor_open = false;
		return true;
	case 'r':
		if (a->machine.source == NULL && !a->options.demo) {
			tui_checkup_start(&a->checkup);
		}
		return true;
	default:
		return tui_list_key(&a->doctor, rows(a), in);
	}
}

static struct tui_list *list(struct tui_app *a)
{
	return &a->doctor;
}

static const struct tui_hint hints[] = {
	{"↑↓", "line"},
	{"⏎", "what to do"},
	{"/", "search"},
	{"r", "look again"},
	{NULL, NULL},
};

const struct tui_view tui_view_doctor = {
	.name = "Doctor",
	.draw = draw,
	.key_pressed = key_pressed,
	.hints = hints,
	.prepare = prepare,
	.list = list,
	.rows = rows,
	.row_text = row_text,
};
