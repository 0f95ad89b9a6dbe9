/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys, and how to read what is drawn. */
#include "tui/pen.h"
#include "tui/view.h"

struct chapter {
	const char *title;
	struct tui_hint key[20];
};

static const struct chapter chapters[] = {
	{"Everywhere",
		{{"1 … 8", "the views; also Tab, Shift-Tab"}, {"s", "start or stop the stress"},
			{"p", "pause, go on; also space"},
			{"e", "what runs: back end, device, shape, mode, pace"},
			{"b", "what is shown becomes the baseline"},
			{"R", "record what runs under a label; again: end it"},
			{"D", "when all GPUs run: show the next one"},
			{"S", "the study in progress: what comes next"},
			{"+ -", "shorter, longer window"}, {"l", "linear or logarithmic axis"},
			{"f", "freeze, go on"}, {"/ n N", "search in a list, next, previous"},
			{"r", "read the machine again"}, {"y", "this view as plain text, to copy"},
			{"?", "this help; also h"}, {"q", "quit"}}},
	{"In lists", {{"↑ ↓", "one row; also k j"}, {"PgUp PgDn", "a page"},
			     {"Home End", "first, last; also g G"}, {"⏎", "open, close"},
			     {"J K", "scroll what is open"}}},
	{"Map", {{"⏎", "the ruler over this range alone; Esc: over all"}}},
	{"Verdicts", {{"< >", "the size that the plan aims at"}}},
	{"Latency", {{"⏎", "slow episodes; ↑ ↓ show where each stands"},
			    {"← →", "freeze, and read a column"},
			    {"PgUp PgDn", "back and forth in time"}, {"End", "to the present"},
			    {"L", "host, device, launch, notify"}}},
	{"Runs", {{"c", "choose, then on another one: compare both; twice on a study: its sides"},
			 {"b", "drawn behind what runs now; Esc in Compare ends it"},
			 {"l", "label"}, {"d", "remove, after a question"}}},
	{"Terminal", {{"Ctrl-L", "draw the screen anew"}, {"Ctrl-Z", "suspend; fg comes back"}}},
};

static const char *const reading[] = {
	/* clang-format off */
	("The bright line is the median of each column, the strip around it holds the 5th to the "
	 "95th percentile, single dots are the worst launch, an arrow at the top one beyond the "
	 "axis, an arrow below an event."),
	("Band is (p95 - p5) / 2 / p50 of the window. Floor is the time that the bytes of one "
	 "launch take at the measured read ceiling; the rate's share of that ceiling says how "
	 "close the GEMM comes."),
	("The map shows for each moment which share of its launches took how long: two bright "
	 "rows are two states."),
	/* clang-format on */
};

static void draw_text(struct tui_pen *p)
{
	for (size_t i = 0; i < ARRAY_LEN(chapters); i++) {
		tui_pen_heading(p, chapters[i].title);
		for (const struct tui_hint *h = chapters[i].key; h->key; h++) {
			int y = p->y - p->scroll;
			if (!p->measure && y >= 0) {
				tui_text(p->c, p->r, 0, y, TUI_KEY, h->key);
			}
			tui_pen_wrap(p, 10, TUI_TEXT, h->what);
		}
	}
	tui_pen_heading(p, "How to read it");
	for (size_t i = 0; i < ARRAY_LEN(reading); i++) {
		tui_pen_wrap(p, 0, TUI_TEXT, reading[i]);
		tui_pen_gap(p);
	}
}

void tui_help_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	r = tui_inset(tui_section(c, r, TUI_TITLE, "Help", NULL), 2, 0);
	r.w = MIN(r.w, 78);
	struct tui_pen measure = {.c = c, .r = r, .measure = true};
	draw_text(&measure);
	struct tui_pen p = {.c = c, .r = r};
	p.scroll = tui_pen_scroll(a->help_scroll, measure.y, r.h);
	draw_text(&p);
	if (p.scroll + r.h < measure.y) {
		tui_put(c, r, r.w - 1, r.h - 1, TUI_KEY, c->glyphs->down);
	}
	if (p.scroll > 0) {
		tui_put(c, r, r.w - 1, 0, TUI_KEY, c->glyphs->up);
	}
}
