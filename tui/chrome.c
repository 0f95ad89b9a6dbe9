/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/chrome.h"

#include <stdio.h>
#include <string.h>

#include "tui/view.h"

unsigned tui_tone_style(enum tui_tone t)
{
	static const unsigned styles[] = {TUI_TEXT, TUI_GOOD, TUI_NOTE, TUI_BAD};
	return styles[t];
}

void tui_too_small_draw(struct tui_canvas *c, struct tui_rect r)
{
	char s[80];
	snprintf(s, sizeof(s), "This window has %d x %d cells; barscope needs %d x %d.", r.w, r.h,
		TUI_MIN_W, TUI_MIN_H);
	tui_text_wrap(c, r, 0, TUI_TEXT, s);
}

/* How the tabs are laid out: with the program's name, names only, or numbers only. */
struct tabs {
	int first; /* column of the first */
	bool names;
	int x[16], w[16], end;
	size_t n;
};

static void lay_tabs(const struct tui_app *a, int width, struct tabs *t)
{
	int all = 0;
	*t = (struct tabs){0};
	for (; tui_views()[t->n]; t->n++) {
		all += (int)strlen(tui_views()[t->n]->name) + 3;
	}
	int title = a->options.demo ? 6 : 10;
	t->names = all + 2 <= width;
	t->first = all + title + 1 <= width || a->options.demo ? title : 1;
	t->names = t->names && t->first + all <= width + 1;
	int x = t->first;
	for (size_t i = 0; i < t->n; i++) {
		int name = (int)strlen(tui_views()[i]->name);
		t->x[i] = x;
		t->w[i] = t->names || i == a->view ? name + 2 : 1;
		x += t->w[i] + 1;
	}
	t->end = x;
}

int tui_header_hit(const struct tui_app *a, int x)
{
	struct tabs t;
	lay_tabs(a, a->w, &t);
	for (size_t i = 0; i < t.n; i++) {
		if (x >= t.x[i] && x < t.x[i] + t.w[i]) {
			return (int)i;
		}
	}
	return -1;
}

static void draw_host(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r, int from)
{
	const struct pcie_snapshot *s = a->machine.snapshot;
	char right[192] = "";
	if (s && s->host.have_kernel == PCIE_KNOWN) {
		const struct pcie_host *h = &s->host;
		bool product = h->have_dmi == PCIE_KNOWN && *h->product;
		snprintf(right, sizeof(right), "%s%s%s", product ? h->product : "",
			product ? "  " : "", h->kernel);
	}
	int room = r.w - from - 3;
	if (room > 8) {
		int w = MIN(tui_text_width(c, right), room);
		tui_text_fit(c, r, r.w - 1 - w, 0, w, TUI_FAINT, right);
	}
}

void tui_header_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	struct tabs t;
	lay_tabs(a, r.w, &t);
	tui_tint(c, r, TUI_BG_BAR);
	if (a->options.demo) {
		tui_text(c, r, 1, 0, TUI_DEMO, "DEMO");
	} else if (t.first > 1) {
		tui_text(c, r, 1, 0, TUI_TITLE, "barscope");
	}
	for (size_t i = 0; i < t.n; i++) {
		bool here = i == a->view && !a->help;
		struct tui_rect tab = {r.x + t.x[i], r.y, t.w[i], 1};
		if (here) {
			tui_tint(c, tab, TUI_BG_SELECTED);
		}
		int x = tui_textf(c, tab, 0, 0, here ? TUI_TITLE : TUI_KEY, "%zu", i + 1) + 1;
		if (t.w[i] > 1) {
			unsigned style = here ? TUI_STRONG | TUI_UNDERLINE : TUI_TEXT;
			tui_text(c, tab, x, 0, style, tui_views()[i]->name);
		}
	}
	draw_host(a, c, r, t.end);
}

static void clock_text(char *buf, size_t size, uint64_t ns)
{
	uint64_t s = ns / 1000000000u;
	if (s >= 3600) {
		snprintf(buf, size, "%u:%02u:%02u", (unsigned)(s / 3600), (unsigned)(s / 60 % 60),
			(unsigned)(s % 60));
	} else {
		snprintf(buf, size, "%u:%02u", (unsigned)(s / 60), (unsigned)(s % 60));
	}
}

struct state_line {
	uint32_t glyph;
	unsigned style;
	char text[352];
};

/* What was lost on the way from the worker: ", 12 samples dropped, 3 readings lost", or "". */
static bool describe_lost(const struct stress_status *st, char *buf, size_t size)
{
	size_t n = 0;
	buf[0] = '\0';
	if (st->dropped) {
		n = (size_t)snprintf(buf, size, ", %llu sample%s dropped",
			(unsigned long long)st->dropped, st->dropped == 1 ? "" : "s");
	}
	if (st->events_dropped && n < size) {
		snprintf(buf + n, size - n, ", %llu reading%s lost",
			(unsigned long long)st->events_dropped, st->events_dropped == 1 ? "" : "s");
	}
	return *buf != '\0';
}

static void describe_running(const struct tui_app *a, struct state_line *ret)
{
	const struct stress_status *st = &a->live.status;
	char t[24], lost[96];
	clock_text(t, sizeof(t), a->now_ns - MIN(a->live.started_ns, a->now_ns));
	if (st->stalled) {
		ret->style = TUI_BAD;
		snprintf(ret->text, sizeof(ret->text),
			"stalled: no sign of the worker (process %d) for %.1f s", (int)st->pid,
			(double)st->silent_ns / 1e9);
	} else {
		ret->style = describe_lost(st, lost, sizeof(lost)) ? TUI_NOTE : ret->style;
		snprintf(ret->text, sizeof(ret->text), "running %s%s", t, lost);
	}
	size_t n = strlen(ret->text);
	if (a->fleet.n) {
		n += (size_t)snprintf(ret->text + n, sizeof(ret->text) - n, " on %zu GPUs, %s",
			a->fleet.n + 1, a->live.config.device);
	}
	if (a->keep.session) {
		clock_text(t, sizeof(t), a->now_ns - MIN(a->keep.since_ns, a->now_ns));
		n += (size_t)snprintf(ret->text + n, sizeof(ret->text) - n, ", recording '%s' %s",
			a->keep.label, t);
	}
	if (a->window.frozen && n < sizeof(ret->text)) {
		snprintf(ret->text + n, sizeof(ret->text) - n, ", picture frozen");
	}
}

static void describe_state(
	const struct tui_app *a, const struct tui_glyphs *g, struct state_line *ret)
{
	const struct tui_live *l = &a->live;
	const struct stress_status *st = &l->status;
	*ret = (struct state_line){.glyph = g->stopped, .style = TUI_FAINT};
	char *t = ret->text, lost[96];
	size_t size = sizeof(ret->text);
	if (!l->have_status) {
		bool waits = *a->waits;
		ret->style = waits ? TUI_NOTE : ret->style;
		snprintf(t, size, "not started%s%s%s", waits ? ": " : "", a->waits,
			waits ? "; s starts the stress" : "");
		return;
	}
	if (l->worker && l->want_stop && st->phase < STRESS_DONE) {
		snprintf(t, size, "stopping");
		return;
	}
	switch (st->phase) {
	case STRESS_STARTING:
	case STRESS_WARMING:
		ret->glyph = g->running;
		ret->style = st->silent_ns > 1000000000u ? TUI_NOTE : TUI_GOOD;
		if (st->silent_ns > 1000000000u) {
			snprintf(t, size, "starting: no sign of the worker for %.0f s",
				(double)st->silent_ns / 1e9);
		} else {
			snprintf(t, size, st->phase == STRESS_STARTING ? "starting" : "warming up");
		}
		break;
	case STRESS_RUNNING:
	case STRESS_STOPPING:
		ret->glyph = st->stalled ? g->dead : g->running;
		ret->style = TUI_GOOD;
		describe_running(a, ret);
		break;
	case STRESS_PAUSED:
		ret->glyph = g->paused;
		ret->style = TUI_NOTE;
		snprintf(t, size, "paused");
		break;
	case STRESS_DONE:
		ret->style = st->ended ? TUI_BAD : ret->style;
		ret->style =
			describe_lost(st, lost, sizeof(lost)) && !st->ended ? TUI_NOTE : ret->style;
		snprintf(t, size, "%s%s", st->ended ? st->why : "stopped", lost);
		break;
	case STRESS_FAILED:
	case STRESS_DIED:
		ret->glyph = g->dead;
		ret->style = TUI_BAD;
		snprintf(t, size, "%s; s starts another", st->why);
		break;
	}
}

/* What is wrong with the store, as long as it is; "" when nothing is. */
static void describe_store(const struct tui_app *a, char *buf, size_t size)
{
	const struct tui_keep *k = &a->keep;
	uint64_t lag = tui_keep_lag_ns(k);
	buf[0] = '\0';
	if (k->recorder && k->state.phase == RUNS_REC_FAILED) {
		snprintf(buf, size, "not stored: %s", k->state.why);
	} else if (lag) {
		snprintf(buf, size, "the store is slow: waiting for %.0f s", (double)lag / 1e9);
	} else if (k->recorder && k->state.lost_seconds) {
		snprintf(buf, size, "%llu s could not be stored: the store was too slow",
			(unsigned long long)k->state.lost_seconds);
	}
}

/* The study that waits for its next boot, where there is room to say it; "" when none does. */
static void describe_study(const struct tui_app *a, int room, char *buf, size_t size)
{
	const struct tui_study *s = tui_library_due(&a->library);
	buf[0] = '\0';
	if (!s) {
		return;
	}
	int n = snprintf(buf, size, "study %s: %zu of %u boots, S: the next step", s->study.name,
		s->done, 2 * s->study.boots);
	if (n > room) {
		n = snprintf(buf, size, "study %zu/%u: S", s->done, 2 * s->study.boots);
	}
	if (n > room) {
		buf[0] = '\0';
	}
}

void tui_status_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	struct state_line s;
	char store[320];
	describe_state(a, c->glyphs, &s);
	describe_store(a, store, sizeof(store));
	/* A store's trouble beats good news; either steps in front of the state where there is
	 * no room for both. */
	bool said = a->message.until_ns && (a->message.tone >= TUI_TONE_NOTE || !*store);
	const char *text = said ? a->message.text : *store ? store : NULL;
	unsigned style = said ? tui_tone_style(a->message.tone) : TUI_BAD;
	int w = tui_text_width(c, s.text) + 3;
	char study[160];
	if (!text) {
		describe_study(a, r.w - w - 4, study, sizeof(study));
		text = *study ? study : NULL;
		style = TUI_NOTE;
	}
	if (text && w + 3 + tui_text_width(c, text) > r.w - 1) {
		tui_text_fit(c, r, 1, 0, r.w - 2, style, text);
		return;
	}
	tui_put(c, r, 1, 0, s.style, s.glyph);
	int x = tui_text_fit(c, r, 3, 0, r.w - 4, s.style, s.text);
	if (text) {
		tui_put(c, r, x + 1, 0, TUI_FRAME, c->glyphs->sep);
		tui_text(c, r, x + 3, 0, style, text);
	}
}

static int draw_hint(struct tui_canvas *c, struct tui_rect r, int x, const struct tui_hint *h)
{
	x = tui_text(c, r, x, 0, TUI_KEY, h->key) + 1;
	return tui_text(c, r, x, 0, TUI_FAINT, h->what) + 2;
}

void tui_hints_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	static const struct tui_hint in_help[] = {
		{"↑↓", "scroll"}, {"?", "back"}, {"q", "quit"}, {NULL, NULL}};
	static const struct tui_hint last[] = {{"?", "help"}, {"q", "quit"}, {NULL, NULL}};
	bool active = tui_live_active(&a->live);
	const struct tui_hint stress[] = {
		{"s", active ? "stop" : "start"},
		{active ? "p" : "e", active ? (a->live.want_pause ? "go on" : "pause") : "edit"},
		{NULL, NULL},
	};
	if (a->searching) {
		int x = tui_text(c, r, 1, 0, TUI_KEY, "/");
		x = tui_text_fit(c, r, x, 0, r.w - x - 2, TUI_STRONG, a->search);
		tui_put(c, r, x, 0, TUI_TEXT | TUI_REVERSE, ' ');
		return;
	}
	const struct tui_hint *const groups[] = {a->help ? in_help : stress,
		a->help ? NULL : tui_views()[a->view]->hints, a->help ? NULL : last};
	/* Help and quit always find room. */
	int keep = a->help ? 0 : 14;
	int x = 1;
	for (size_t g = 0; g < ARRAY_LEN(groups); g++) {
		for (const struct tui_hint *h = groups[g]; h && h->key; h++) {
			int w = tui_text_width(c, h->key) + 1 + tui_text_width(c, h->what) + 2;
			if (x + w > r.w + (g < 2 ? -keep : 2)) {
				break;
			}
			x = draw_hint(c, r, x, h);
		}
	}
}
