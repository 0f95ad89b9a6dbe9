/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Latency in full: the series with its events on one axis, the map of log-latency over time,
 * layers, slow episodes and what is associated with them, what happened. f stops the picture; a
 * cursor then reads any column of the past.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/text.h"
#include "tui/chrome.h"
#include "tui/episodes_panel.h"
#include "tui/figures.h"
#include "tui/latency.h"
#include "tui/view.h"
#include "tui/window.h"

/* What is not drawn has no height. */
struct parts {
	struct tui_rect plot, reading, heat, left, middle, right, episodes;
};

enum { WIDE = 110 };

static struct parts split(const struct tui_app *a, struct tui_rect r)
{
	struct parts p = {0};
	bool tall = r.h >= 18;
	if (a->episodes_open) {
		p.episodes = tui_take_bottom(&r, MAX(r.h / 2, 5));
	} else if (tall) {
		struct tui_rect bottom = tui_take_bottom(&r, MIN(MAX(r.h / 4, 6), 12));
		p.right = tui_take_right(&bottom, r.w >= 76 ? bottom.w * 2 / 5 : 0);
		p.middle = tui_take_right(&bottom, r.w >= WIDE ? bottom.w * 5 / 9 : 0);
		p.left = bottom;
		p.heat = tui_take_bottom(&r, r.h >= 16 ? r.h * 2 / 5 : 0);
	}
	if (a->window.frozen || !tall) {
		p.reading = tui_take_bottom(&r, 1);
	}
	p.plot = r;
	return p;
}

static void prepare(struct tui_app *a, const struct tui_canvas *c, struct tui_rect r)
{
	struct parts p = split(a, r);
	a->window.want_layers = true;
	a->window.heat_rows = MAX(p.heat.h - 1, 0);
	a->window.heat_cols = p.heat.h ? MAX(r.w - 2 - TUI_PLOT_GUTTER, 0) : 0;
	(void)c;
	tui_episodes_ask(&a->slow, a->now_ns);
	/* New ones come in at the top: the cursor stays with its own while the past is read. */
	if (a->window.frozen) {
		a->episodes.cursor +=
			(size_t)(a->slow.count - MIN(a->episodes_seen, a->slow.count));
	}
	a->episodes_seen = a->slow.count;
	tui_list_settle(&a->episodes, a->slow.n, (size_t)tui_episodes_rows(a, p.episodes));
}

/* The worst episode that reaches into [FROM, TO), as its place in the list; -1: none. */
static int episode_in(const struct tui_app *a, uint64_t from, uint64_t to)
{
	int best = -1;
	for (size_t i = 0; i < a->slow.n; i++) {
		const struct runs_episode *k = tui_episodes_at(&a->slow, i);
		bool here = k->from_ns < to && k->to_ns >= from;
		if (here &&
			(best < 0 ||
				k->worst_ns > tui_episodes_at(&a->slow, (size_t)best)->worst_ns)) {
			best = (int)i;
		}
	}
	return best;
}

static void draw_reading(const struct tui_app *a, struct tui_canvas *c, struct tui_rect row)
{
	const struct tui_window *w = &a->window;
	if (!w->frozen || w->cursor < 0 || (size_t)w->cursor >= w->ncolumn) {
		tui_figures_line(a, c, row);
		return;
	}
	const struct runs_column *k = &w->column[w->cursor];
	uint64_t t = w->end_ns - (uint64_t)(w->ncolumn - (size_t)w->cursor) * w->column_ns;
	char clock[16], p5[TEXT_TIME_MAX], p50[TEXT_TIME_MAX], p95[TEXT_TIME_MAX],
		max[TEXT_TIME_MAX], s[240];
	tui_app_clock(a, t, clock, sizeof(clock));
	int x = tui_text(c, row, 1, 0, TUI_TITLE, clock) + 2;
	if (k->n == 0) {
		tui_text(c, row, x, 0, TUI_FAINT, "no samples");
		return;
	}
	snprintf(s, sizeof(s), "p50 %s  p5 %s  p95 %s  max %s  n %llu", text_ns(k->p50, p50),
		text_ns(k->p5, p5), text_ns(k->p95, p95), text_ns(k->max, max),
		(unsigned long long)k->n);
	x = tui_text_fit(c, row, x, 0, row.w - x - 1, TUI_STRONG, s) + 2;
	int slow = episode_in(a, t, t + w->column_ns);
	if (slow >= 0 && x < row.w - 8) {
		const char *source = tui_episodes_source(&a->slow, (size_t)slow);
		snprintf(s, sizeof(s), "slow: %s%s%s",
			runs_part_name(tui_episodes_at(&a->slow, (size_t)slow)->part),
			source && *source ? ", associated with " : "", source ? source : "");
		x = tui_text_fit(c, row, x, 0, row.w - x - 1, TUI_NOTE, s) + 2;
	}
	/* What happened in this column. */
	for (size_t i = 0; i < a->nevent; i++) {
		const struct tui_event *e = tui_app_event_at(a, i);
		if (e->t_ns >= t && e->t_ns < t + w->column_ns && x < row.w - 8) {
			x = tui_text_fit(
				    c, row, x, 0, row.w - x - 1, tui_tone_style(e->tone), e->text) +
			    2;
		}
	}
}

static void draw_layers(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	static const unsigned styles[] = {TUI_MEDIAN, TUI_LAYER2, TUI_LAYER1, TUI_LAYER3};
	const struct tui_window *w = &a->window;
	r = tui_inset(tui_section(c, r, TUI_TITLE, "Layers", "p50, p99, share"), 1, 0);
	int y = 0;
	for (int i = 0; i < TUI_LAYERS; i++) {
		const struct tui_figures *f = &w->layer[i];
		char t[TEXT_TIME_MAX];
		if (!a->live.has[i] || f->n == 0) {
			continue;
		}
		bool chosen = a->layer == (enum tui_layer)i;
		tui_put(c, r, 0, y, TUI_KEY, chosen ? c->glyphs->pointer : ' ');
		tui_text(c, r, 2, y, chosen ? TUI_STRONG : TUI_TEXT,
			tui_layer_name((enum tui_layer)i));
		tui_text(c, r, 10, y, TUI_STRONG, text_ns(f->p50, t));
		tui_text(c, r, 20, y, f->p99_known ? TUI_TEXT : TUI_UNSURE,
			f->p99_known ? text_ns(f->p99, t) : "too few");
		double share = w->layer[TUI_HOST].p50
				       ? (double)f->p50 / (double)w->layer[TUI_HOST].p50
				       : 0;
		int room = r.w - 32;
		if (i != TUI_HOST && room >= 6 && share > 0) {
			tui_meter(c, r, 30, y, room, styles[i], share);
		}
		y++;
	}
	if (y == 0) {
		tui_text(c, r, 0, 0, TUI_FAINT, "no samples");
	} else if (y == 1 && r.h > 1) {
		tui_text_fit(c, r, 2, 1, r.w - 2, TUI_FAINT,
			r.w < 40 ? "the host layer only" : "this back end has the host layer only");
	}
}

static void draw_events(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	r = tui_inset(tui_section(c, r, TUI_TITLE, "Events", "newest first"), 1, 0);
	for (int y = 0; y < r.h && (size_t)y < a->nevent; y++) {
		const struct tui_event *e = tui_app_event_at(a, a->nevent - 1 - (size_t)y);
		char clock[16];
		tui_app_clock(a, e->t_ns, clock, sizeof(clock));
		int x = tui_text(c, r, 0, y, TUI_FAINT, clock) + 1;
		tui_text_fit(c, r, x, y, r.w - x, tui_tone_style(e->tone), e->text);
	}
	if (a->nevent == 0) {
		tui_text(c, r, 0, 0, TUI_FAINT, "nothing yet");
	}
}

static void draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	struct parts p = split(a, r);
	tui_latency_draw(a, c, p.plot, true);
	if (p.reading.h) {
		draw_reading(a, c, p.reading);
	}
	if (p.heat.h > 1) {
		struct tui_rect in =
			tui_section(c, p.heat, TUI_TITLE, "Map", "share of each moment's launches");
		tui_heat_draw(c, tui_inset(in, 1, 0), &a->window.heat);
	}
	if (p.left.h > 1) {
		draw_layers(a, c, p.left);
	}
	if (p.middle.h > 1 && p.middle.w > 0) {
		tui_episodes_draw(a, c, p.middle, true);
	}
	if (p.episodes.h > 1) {
		tui_episodes_draw(a, c, p.episodes, false);
	}
	if (p.right.h > 1 && p.right.w > 0) {
		draw_events(a, c, p.right);
	}
}

static void move_cursor(struct tui_app *a, int step)
{
	struct tui_window *w = &a->window;
	tui_window_freeze(w, true);
	int last = (int)w->ncolumn - 1;
	if (w->cursor < 0) {
		w->cursor = last;
	} else if (w->cursor + step < 0) {
		tui_window_scroll(w, -1, &a->live, a->layer);
		w->cursor = MIN(w->cursor + (int)w->ncolumn / 2 + step, last);
	} else if (w->cursor + step > last) {
		tui_window_scroll(w, 1, &a->live, a->layer);
		w->cursor = MAX(w->cursor - (int)w->ncolumn / 2 + step, 0);
	} else {
		w->cursor += step;
	}
}

static void next_layer(struct tui_app *a)
{
	for (int i = 1; i <= TUI_LAYERS; i++) {
		enum tui_layer l = (enum tui_layer)(((int)a->layer + i) % TUI_LAYERS);
		if (a->live.has[l]) {
			a->layer = l;
			break;
		}
	}
	tui_window_forget(&a->window);
}

/* The list of episodes, open beneath the plot, moves the plot's cursor. */
static bool episodes_key(struct tui_app *a, struct tui_input in)
{
	if (in.key == TUI_KEY_PAGE_UP || in.key == TUI_KEY_PAGE_DOWN || in.key == TUI_KEY_END ||
		!tui_list_key(&a->episodes, a->slow.n, in)) {
		return false;
	}
	const struct runs_episode *k = tui_episodes_at(&a->slow, a->episodes.cursor);
	if (k) {
		/* A column holds what ended in it: the slow launch's end. */
		tui_window_seek(&a->window, k->to_ns, &a->live, a->layer);
	}
	return true;
}

static bool key_pressed(struct tui_app *a, struct tui_input in)
{
	struct tui_window *w = &a->window;
	if (a->episodes_open && episodes_key(a, in)) {
		return true;
	}
	switch (in.key) {
	case TUI_KEY_ENTER:
		a->episodes_open = !a->episodes_open;
		a->episodes.cursor = 0;
		return true;
	case TUI_KEY_LEFT:
		move_cursor(a, -1);
		return true;
	case TUI_KEY_RIGHT:
		move_cursor(a, 1);
		return true;
	case TUI_KEY_PAGE_UP:
		tui_window_freeze(w, true);
		tui_window_scroll(w, -1, &a->live, a->layer);
		return true;
	case TUI_KEY_PAGE_DOWN:
		tui_window_scroll(w, 1, &a->live, a->layer);
		return true;
	case TUI_KEY_END:
	case TUI_KEY_ESCAPE:
		if (!w->frozen && !a->episodes_open) {
			return false;
		}
		a->episodes_open = a->episodes_open && in.key == TUI_KEY_END;
		tui_window_freeze(w, false);
		return true;
	case 'L':
		next_layer(a);
		return true;
	default:
		return false;
	}
}

static const struct tui_hint hints[] = {
	{"⏎", "episodes"},
	{"f", "freeze"},
	{"←→", "read"},
	{"+-", "window"},
	{"L", "layer"},
	{"l", "log scale"},
	{"b", "baseline"},
	{NULL, NULL},
};

const struct tui_view tui_view_latency = {
	.name = "Latency",
	.draw = draw,
	.key_pressed = key_pressed,
	.hints = hints,
	.prepare = prepare,
};
