/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/episodes_panel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tui/figures.h"

enum { SOURCES = 3 }; /* named in the panel; the rest of them explain little */

/* How many sources there is something to say of. */
static int named(const struct tui_episodes *e)
{
	int n = 0;
	for (size_t i = 0; i < e->of.nsource && n < SOURCES; i++) {
		n += e->of.source[i].associated && e->of.source[i].named;
	}
	return n;
}

static bool judged(const struct tui_episodes *e)
{
	return e->of_last > e->of_first;
}

/* Two lines of summary and one a source. */
static int head_rows(const struct tui_app *a, int h)
{
	int n = judged(&a->slow) ? 2 + named(&a->slow) : 1;
	return h >= 3 ? MIN(n, h - 2) : 0;
}

int tui_episodes_rows(const struct tui_app *a, struct tui_rect r)
{
	return MAX(r.h - 1 - head_rows(a, r.h - 1), 0);
}

static void draw_sources(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct tui_episodes *e = &a->slow;
	int y = 0;
	for (size_t i = 0; i < e->of.nsource && y < SOURCES; i++) {
		const struct runs_source *s = &e->of.source[i];
		if (!s->associated || !s->named) {
			continue;
		}
		int x = tui_text_fit(c, r, 0, y, r.w, TUI_FAINT, "associated with ");
		x = tui_text_fit(c, r, x, y, r.w - x, TUI_STRONG, s->name) + 2;
		char text[120];
		int n = snprintf(text, sizeof(text), "%zu, chance puts %.1f there, p %.2g",
			s->named, s->expected, s->p);
		if (!isnan(s->share)) {
			snprintf(text + n, sizeof(text) - (size_t)n, ", %.0f %% of the excess",
				s->share * 100);
		}
		tui_text_fit(c, r, x, y, r.w - x, TUI_TEXT, text);
		y++;
	}
	if (y < r.h) {
		tui_text(c, r, 0, y, TUI_FAINT, "unexplained");
		tui_textf(c, r, 16, y, e->of.unexplained ? TUI_STRONG : TUI_TEXT, "%zu of %zu",
			e->of.unexplained, e->of.episodes);
	}
	char parts[200] = "by layer:";
	size_t n = strlen(parts);
	for (unsigned i = 0; i < RUNS_PARTS && n < sizeof(parts); i++) {
		if (e->of.part[i]) {
			n += (size_t)snprintf(parts + n, sizeof(parts) - n, " %zu %s,",
				e->of.part[i], runs_part_name(i));
		}
	}
	parts[MIN(n, sizeof(parts)) - 1] = '\0';
	if (y + 1 < r.h) {
		tui_text_fit(c, r, 0, y + 1, r.w, TUI_FAINT, parts);
	}
}

static void draw_row(
	const void *data, size_t i, bool at_cursor, struct tui_canvas *c, struct tui_rect row)
{
	const struct tui_app *a = data;
	const struct runs_episode *k = tui_episodes_at(&a->slow, i);
	const char *source = tui_episodes_source(&a->slow, i);
	char clock[16], t[TEXT_TIME_MAX];
	(void)at_cursor;
	tui_app_clock(a, k->from_ns, clock, sizeof(clock));
	tui_text(c, row, 2, 0, TUI_FAINT, clock);
	tui_text_fit(c, row, 12, 0, 8, TUI_STRONG, text_ns(k->worst_ns, t));
	int x = tui_text_fit(c, row, 21, 0, row.w - 21, TUI_TEXT, runs_part_name(k->part)) + 2;
	x = row.w >= 50 ? MAX(x, 38) : x;
	const char *words = !source   ? (row.w >= 60 ? "not judged yet" : "")
			    : *source ? source
				      : "unexplained";
	tui_text_fit(c, row, x, 0, row.w - x, source && *source ? TUI_NOTE : TUI_FAINT, words);
	if (row.w >= 72 && k->n > 1) {
		char n[TUI_COUNT_MAX], s[48];
		snprintf(s, sizeof(s), "%s launches", tui_count(k->n, n));
		tui_text_right(c, row, 1, 0, TUI_FAINT, s);
	}
}

static void remark(const struct tui_app *a, char *buf, size_t size)
{
	const struct tui_episodes *e = &a->slow;
	char n[TUI_COUNT_MAX];
	snprintf(buf, size, "%s slow%s", tui_count(e->count, n),
		e->count > e->n ? ", the newest shown" : "");
}

/* "9 preempted, 2 reading, 30 unexplained" */
static void draw_summary(const struct tui_app *a, struct tui_canvas *c, struct tui_rect row)
{
	const struct tui_episodes *e = &a->slow;
	if (!judged(e)) {
		tui_text_fit(c, row, 0, 0, row.w, TUI_FAINT, "looking for what stands beside them");
		return;
	}
	int x = 0;
	for (size_t i = 0; i < e->of.nsource && x + 8 < row.w; i++) {
		const struct runs_source *s = &e->of.source[i];
		if (s->associated && s->named) {
			char text[48];
			snprintf(text, sizeof(text), "%zu %s, ", s->named, s->name);
			x = tui_text_fit(c, row, x, 0, row.w - x, TUI_NOTE, text);
		}
	}
	char text[48];
	snprintf(text, sizeof(text), "%zu unexplained", e->of.unexplained);
	tui_text_fit(c, row, x, 0, row.w - x, TUI_TEXT, text);
}

void tui_episodes_draw(
	const struct tui_app *a, struct tui_canvas *c, struct tui_rect r, bool is_short)
{
	const struct tui_episodes *e = &a->slow;
	char text[64];
	remark(a, text, sizeof(text));
	r = tui_inset(tui_section(c, r, TUI_TITLE, "Episodes", e->count ? text : NULL), 1, 0);
	if (r.h < 1) {
		return;
	}
	if (!e->n) {
		tui_text_wrap(c, r, 0, TUI_FAINT,
			a->live.have_status
				? "none yet: no launch took far longer than those around it"
				: "launches that take far longer than those around them come here");
		return;
	}
	if (is_short) {
		draw_summary(a, c, tui_take_top(&r, r.h >= 2 ? 1 : 0));
		r.x -= 2; /* no cursor here */
		r.w += 2;
		for (int y = 0; y < r.h && (size_t)y < e->n; y++) {
			draw_row(a, (size_t)y, false, c, (struct tui_rect){r.x, r.y + y, r.w, 1});
		}
		return;
	}
	int head = head_rows(a, r.h);
	struct tui_rect top = tui_take_top(&r, head);
	if (judged(e)) {
		draw_sources(a, c, top);
	} else if (head) {
		draw_summary(a, c, top);
	}
	r.x -= 1;
	r.w += 1;
	tui_list_draw(c, r, &a->episodes, e->n, draw_row, a);
}
