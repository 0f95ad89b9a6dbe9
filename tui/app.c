/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/app.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runs/session.h"
#include "tui/chrome.h"
#include "tui/view.h"
#include "tui/window.h"

enum { WORKER_PATIENCE_MS = 300, SCAN_PATIENCE_MS = 500, STORE_PATIENCE_MS = 3000, FEW = 30 };

static const uint64_t message_ns = 6000000000u;

void tui_app_init(struct tui_app *a, const struct tui_options *o, uint64_t now_ns)
{
	*a = (struct tui_app){.options = *o, .now_ns = now_ns, .begun_ns = now_ns, .dirty = true};
	tui_machine_init(&a->machine, o->source);
	tui_live_init(&a->live);
	a->live.config = o->config;
	tui_window_init(&a->window);
	tui_keep_init(&a->keep, o->store, o->demo || o->no_store);
}

bool tui_app_finish(struct tui_app *a)
{
	tui_live_finish(&a->live, WORKER_PATIENCE_MS);
	tui_window_finish(&a->window);
	/* The store first: what was recorded matters more than a tidy scanner. */
	bool kept = tui_keep_finish(&a->keep, STORE_PATIENCE_MS) == 0;
	return tui_machine_finish(&a->machine, SCAN_PATIENCE_MS) == 0 && kept;
}

void tui_app_say(struct tui_app *a, enum tui_tone tone, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(a->message.text, sizeof(a->message.text), fmt, ap);
	va_end(ap);
	a->message.tone = tone;
	a->message.until_ns = a->now_ns + message_ns;
	a->dirty = true;
}

void tui_app_event(struct tui_app *a, enum tui_tone tone, const char *fmt, ...)
{
	struct tui_event *e = &a->event[(a->first_event + a->nevent) % TUI_EVENTS];
	if (a->nevent == TUI_EVENTS) {
		a->first_event = (a->first_event + 1) % TUI_EVENTS;
	} else {
		a->nevent++;
	}
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	e->t_ns = a->now_ns;
	e->tone = tone;
	a->dirty = true;
}

static void start(struct tui_app *a)
{
	struct why why;
	if (tui_live_start(&a->live, a->now_ns, &why) < 0) {
		tui_app_say(a, TUI_TONE_BAD, "%s", why.text);
		return;
	}
	tui_window_forget(&a->window);
	a->phase_seen = STRESS_STARTING;
	a->stall_seen = false;
}

void tui_app_start_stop(struct tui_app *a)
{
	if (tui_live_active(&a->live)) {
		tui_live_stop(&a->live, a->now_ns);
	} else {
		start(a);
	}
	a->dirty = true;
}

void tui_app_pause(struct tui_app *a)
{
	if (!tui_live_active(&a->live)) {
		tui_app_say(a, TUI_TONE_NOTE, "nothing runs: s starts the stress");
		return;
	}
	tui_live_pause(&a->live, !a->live.want_pause);
	a->dirty = true;
}

/*
 * The stress starts by itself only where it disturbs nobody: on an idle CPU. A GPU's
 * users cannot be seen from here without the driver's libraries, so a machine that
 * has one waits for the key.
 */
static void decide_start(struct tui_app *a)
{
	if (a->decided || (a->machine.scanning && !a->machine.snapshot)) {
		return;
	}
	a->decided = true;
	if (a->options.start == TUI_START_NEVER) {
		return;
	}
	bool script = !strcmp(a->live.config.backend, "script");
	bool cpu = !strcmp(a->live.config.backend, "cpu") || a->machine.ngpu == 0;
	if (a->options.start == TUI_START_NOW || script) {
		start(a);
		return;
	}
	double load;
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (!cpu) {
		tui_app_say(
			a, TUI_TONE_NOTE, "the GPU may be in use by others: s starts the stress");
	} else if (getloadavg(&load, 1) != 1) {
		tui_app_say(a, TUI_TONE_NOTE, "the CPU's load is not known: s starts the stress");
	} else if (load > 0.25 * (double)cpus + 0.25) {
		tui_app_say(a, TUI_TONE_NOTE, "the CPU is in use (load %.1f): s starts the stress",
			load);
	} else {
		start(a);
	}
}

static void note_phase(struct tui_app *a)
{
	const struct stress_status *st = &a->live.status;
	if (!a->live.have_status) {
		return;
	}
	if (st->phase != a->phase_seen) {
		a->phase_seen = st->phase;
		a->dirty = true;
		if (st->phase == STRESS_DIED || st->phase == STRESS_FAILED) {
			tui_app_event(a, TUI_TONE_BAD, "%s", st->why);
		} else if (st->phase == STRESS_RUNNING) {
			tui_app_event(a, TUI_TONE_PLAIN, "running on %s",
				*st->device ? st->device : st->backend);
		} else if (st->phase == STRESS_PAUSED) {
			tui_app_event(a, TUI_TONE_PLAIN, "paused");
		} else if (st->phase == STRESS_DONE) {
			tui_app_event(a, TUI_TONE_PLAIN, "stopped");
		}
	}
	if (st->stalled != a->stall_seen) {
		a->stall_seen = st->stalled;
		tui_app_event(a, st->stalled ? TUI_TONE_BAD : TUI_TONE_GOOD,
			st->stalled ? "the worker stalled" : "the worker goes on");
	}
}

void tui_app_compare_then(struct tui_app *a)
{
	const struct tui_baseline *b = &a->keep.baseline;
	const struct stress_status *st = &a->live.status;
	a->since = b->env;
	if (*b->device && *st->device && strcmp(b->device, st->device) != 0) {
		tui_changes_add(&a->since, "device %.40s → %.40s", b->device, st->device);
	}
	a->compared = a->machine.then && a->machine.snapshot;
	if (a->compared) {
		tui_changes_find(a->machine.then, a->machine.snapshot, &a->since);
	}
	a->dirty = true;
}

void tui_app_mark(struct tui_app *a)
{
	const struct runs_hist *h = &a->window.hist;
	if (h->total < FEW) {
		tui_app_say(a, TUI_TONE_NOTE, "too few samples for a baseline: %llu, at least %d",
			(unsigned long long)h->total, FEW);
		return;
	}
	if (a->layer != TUI_HOST) {
		tui_app_say(a, TUI_TONE_NOTE, "a baseline is of the host layer");
		return;
	}
	tui_keep_mark(&a->keep, &a->live.status, &a->live.config, h, tui_window_ns(&a->window));
	pcie_snapshot_destroy(a->machine.then);
	a->machine.then = NULL;
	a->announce = false;
	tui_app_compare_then(a);
	tui_app_event(a, TUI_TONE_PLAIN, "baseline marked");
	if (a->keep.recorder) {
		tui_app_say(a, TUI_TONE_PLAIN, "the last %s are the baseline now; storing it",
			tui_window_name(&a->window));
	} else {
		tui_app_say(a, TUI_TONE_NOTE, "baseline marked, not stored: %s", a->keep.why.text);
	}
}

/* A baseline of before is back, and the machine then is known or never will be. */
static void announce(struct tui_app *a)
{
	if (!a->announce || a->machine.parsing || !a->machine.snapshot) {
		return;
	}
	a->announce = false;
	tui_app_compare_then(a);
	char text[200];
	tui_changes_join(&a->since, text, sizeof(text));
	const char *when =
		a->keep.baseline.same_boot ? "this boot's baseline" : "baseline of before";
	if (a->since.n) {
		tui_app_say(a, TUI_TONE_NOTE, "%s; since then: %s", when, text);
	} else {
		tui_app_say(a, TUI_TONE_PLAIN, "%s; %s", when,
			a->compared ? "nothing known to matter has changed since"
				    : "the machine then is not known");
	}
}

static void tick_store(struct tui_app *a)
{
	struct tui_keep *k = &a->keep;
	const char *record;
	size_t len;
	unsigned news = tui_keep_poll(k, &record, &len);
	if (news & TUI_KEEP_LOADED) {
		if (record) {
			tui_machine_parse_then(&a->machine, record, len);
		}
		a->announce = true;
		a->dirty = true;
	}
	if (news & TUI_KEEP_MARKED) {
		tui_app_say(
			a, TUI_TONE_GOOD, "baseline stored; it will be drawn after a reboot too");
	}
	if (news & TUI_KEEP_UNMARKED) {
		tui_app_say(a, TUI_TONE_BAD, "the baseline could not be stored: %s", k->why.text);
	}
	a->dirty |= (news & TUI_KEEP_CHANGED) != 0;

	/* The baseline of what runs, or will run. */
	const struct stress_status *st = &a->live.status;
	bool known = a->live.have_status && *st->backend;
	struct runs_info info = {0};
	runs_info_configured(&info, &a->live.config);
	const char *backend = known ? st->backend : a->live.config.backend;
	if (known && k->baseline.band.set && strcmp(k->baseline.backend, st->backend) != 0 &&
		!a->options.demo) {
		k->baseline.band.set = false;
	}
	tui_keep_ask(k, backend, info.shape, info.dtype);
}

static void note_changes(struct tui_app *a)
{
	const struct tui_machine *m = &a->machine;
	if (!m->previous || !m->snapshot || m->why.text[0]) {
		return;
	}
	struct tui_changes c = {0};
	tui_changes_find(m->previous, m->snapshot, &c);
	for (size_t i = 0; i < c.n; i++) {
		tui_app_event(a, TUI_TONE_NOTE, "%s", c.text[i]);
	}
	if (c.n) {
		tui_app_say(a, TUI_TONE_NOTE, "%s%s", c.text[0], c.n > 1 ? ", and more" : "");
	}
}

static void tick_machine(struct tui_app *a)
{
	unsigned news = tui_machine_poll(&a->machine, a->now_ns);
	if (news & TUI_MACHINE_SCANNED) {
		a->dirty = true;
		note_changes(a);
		if (a->selected >= a->machine.nlisted) {
			a->selected = a->machine.nlisted ? a->machine.nlisted - 1 : 0;
		}
	}
	if (news && a->keep.baseline.band.set) {
		tui_app_compare_then(a);
	}
}

void tui_app_tick(struct tui_app *a, uint64_t now_ns)
{
	a->now_ns = now_ns;
	tick_machine(a);
	decide_start(a);
	if (tui_live_poll(&a->live, now_ns, NULL)) {
		a->dirty = true;
	}
	note_phase(a);
	tick_store(a);
	announce(a);
	if (a->message.until_ns && now_ns >= a->message.until_ns) {
		a->message.until_ns = 0;
		a->dirty = true;
	}
}

void tui_app_prepare(struct tui_app *a, const struct tui_canvas *c)
{
	const struct tui_band none = {0};
	tui_window_update(&a->window, &a->live, a->layer,
		a->layer == TUI_HOST ? &a->keep.baseline.band : &none, a->now_ns,
		tui_plot_columns(c, (struct tui_rect){0, 0, c->w - 2, 2}));
}

bool tui_app_moving(const struct tui_app *a)
{
	return tui_live_active(&a->live) && a->live.status.phase != STRESS_PAUSED;
}

const struct pcie_device *tui_app_device(const struct tui_app *a)
{
	const struct tui_machine *m = &a->machine;
	return m->snapshot && a->selected < m->nlisted ? &m->snapshot->dev[m->listed[a->selected]]
						       : NULL;
}

void tui_app_draw(const struct tui_app *a, struct tui_canvas *c)
{
	tui_canvas_clear(c);
	struct tui_rect r = tui_canvas_rect(c);
	if (r.w < TUI_MIN_W || r.h < TUI_MIN_H) {
		tui_too_small_draw(c, r);
		return;
	}
	const struct tui_view *v = tui_views()[a->view];
	tui_header_draw(a, c, tui_take_top(&r, 1));
	tui_hints_draw(a, c, tui_take_bottom(&r, 1));
	tui_status_draw(a, c, tui_take_bottom(&r, 1));
	if (a->help) {
		tui_help_draw(a, c, r);
	} else {
		v->draw(a, c, r);
	}
}

static bool common_key(struct tui_app *a, uint32_t key)
{
	switch (key) {
	case 'q':
		a->quit = true;
		return true;
	case '?':
	case 'h':
		a->help = !a->help;
		return true;
	case 's':
		tui_app_start_stop(a);
		return true;
	case 'p':
	case ' ':
		tui_app_pause(a);
		return true;
	case '+':
	case '=':
		tui_window_zoom(&a->window, -1);
		return true;
	case '-':
		tui_window_zoom(&a->window, 1);
		return true;
	case 'l':
		tui_window_log(&a->window);
		return true;
	case 'b':
		tui_app_mark(a);
		return true;
	case 'r':
		tui_machine_scan(&a->machine, a->now_ns);
		tui_app_say(a, TUI_TONE_PLAIN, "reading the machine again");
		return true;
	default:
		return false;
	}
}

void tui_app_key(struct tui_app *a, struct tui_input in)
{
	a->dirty = true;
	if (in.key == TUI_KEY_END_OF_INPUT) {
		a->quit = true;
		return;
	}
	if (a->help && (in.key == TUI_KEY_ESCAPE || in.key == TUI_KEY_ENTER)) {
		a->help = false;
		return;
	}
	const struct tui_view *v = tui_views()[a->view];
	if (!a->help && v->key_pressed && v->key_pressed(a, in)) {
		return;
	}
	common_key(a, in.key);
}
