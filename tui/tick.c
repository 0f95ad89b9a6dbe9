/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens by itself: worker, scanner, store and clock have their say. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "runs/session.h"
#include "tui/app.h"
#include "tui/window.h"

/* The CPU counts as free while others keep less than a quarter of it busy. */
static void start_on_cpu(struct tui_app *a)
{
	const double load = a->machine.around.load;
	const long cpus = a->cpus;
	if (load < 0) {
		text_copy(a->waits, sizeof(a->waits), "the CPU's load is not known");
	} else if (load > 0.25 * (double)cpus + 0.25) {
		snprintf(a->waits, sizeof(a->waits), "the CPU is in use (load %.1f)", load);
	} else {
		tui_app_start(a);
	}
}

/* The GPU that would run it, when that is NVIDIA's: none is another vendor's, or the CPU's turn. */
static const struct pcie_device *wanted_gpu(const struct tui_app *a)
{
	const struct tui_survey *v = a->machine.survey;
	const struct stress_config *c = &a->live.config;
	for (size_t i = 0; v && i < v->ngpu; i++) {
		const struct pcie_device *d = &a->machine.snapshot->dev[v->listed[i]];
		char address[PCIE_ADDR_MAX];
		pcie_addr_format(d->addr, address);
		if (d->have_ids == PCIE_KNOWN && d->vendor == 0x10de &&
			(!*c->device || !strcmp(c->device, address))) {
			return d;
		}
	}
	return NULL;
}

/* What was asked about the GPU's users is answered. */
static void start_on_gpu(struct tui_app *a)
{
	const struct pcie_device *gpu = wanted_gpu(a);
	switch (a->neighbours.use) {
	case TUI_USE_FREE:
		/* On that one and no other: the driver may count its devices in another order. */
		if (gpu) {
			pcie_addr_format(gpu->addr, a->live.config.device);
		}
		tui_app_start(a);
		break;
	default:
		text_copy(a->waits, sizeof(a->waits), a->neighbours.who);
		break;
	}
}

/*
 * The stress starts by itself only where it disturbs nobody: on an idle CPU, or on a GPU that no
 * other process uses. Who uses a GPU is asked once, aside; one that sleeps is used by nobody. A
 * machine that went down the last time waits for the key.
 */
static void decide_start(struct tui_app *a)
{
	bool opening = a->keep.recorder && a->keep.state.phase == RUNS_REC_OPENING;
	if (a->decided || opening || (a->machine.scanning && !a->machine.snapshot) ||
		a->neighbours.asked) {
		return;
	}
	a->decided = a->dirty = true;
	const char *backend = a->live.config.backend;
	const struct pcie_device *gpu = strcmp(backend, "cpu") != 0 ? wanted_gpu(a) : NULL;
	if (a->options.start == TUI_START_NEVER || tui_live_active(&a->live)) {
		return;
	}
	if (a->options.start == TUI_START_NOW || !strcmp(backend, "script")) {
		tui_app_start(a);
	} else if (a->keep.recorder && runs_recorder_crash(a->keep.recorder)) {
		text_copy(a->waits, sizeof(a->waits), "nothing starts by itself after a crash");
	} else if (a->options.source && strcmp(a->options.source, "live") != 0) {
		text_copy(a->waits, sizeof(a->waits),
			"the machine shown is not the one that would run it");
	} else if (!gpu) {
		start_on_cpu(a);
	} else if (!strcmp(gpu->power, "suspended") || !strcmp(gpu->power, "D3cold")) {
		tui_app_start(a);
	} else if (a->neighbours.answered) {
		start_on_gpu(a);
	} else {
		char address[1][PCIE_ADDR_MAX];
		pcie_addr_format(gpu->addr, address[0]);
		tui_neighbours_ask(&a->neighbours, address, 1);
		a->decided = false; /* when the answer is there */
	}
}

static void end_recording(struct tui_app *a, const struct stress_status *st)
{
	if (!a->keep.session) {
		return;
	}
	bool failed = st->phase != STRESS_DONE;
	tui_keep_stop(&a->keep, st, failed ? RUNS_FAILED : RUNS_STOPPED,
		failed || st->ended ? st->why : "");
	tui_app_event(a, failed ? TUI_TONE_NOTE : TUI_TONE_PLAIN, "recording ended");
}

/* OF: "" for the GPU that is shown, else which one it is. */
static void note_wrong(struct tui_app *a, const struct tui_live *l, const char *of)
{
	tui_app_event(a, TUI_TONE_BAD, "%s%s", of,
		l->status.weight_faults ? "weights changed in memory: corruption"
					: "outputs differ: corruption");
}

static void note_shown(struct tui_app *a)
{
	const struct stress_status *st = &a->live.status;
	if (!a->live.have_status) {
		return;
	}
	const unsigned news = tui_live_news(&a->live);
	a->dirty |= news != 0;
	if (news & TUI_NEWS_WRONG) {
		note_wrong(a, &a->live, "");
	}
	if (news & TUI_NEWS_PHASE) {
		switch (st->phase) {
		case STRESS_DIED:
		case STRESS_FAILED:
			tui_app_event(a, TUI_TONE_BAD, "%s", st->why);
			end_recording(a, st);
			break;
		case STRESS_DONE:
			tui_app_event(a, st->ended ? TUI_TONE_BAD : TUI_TONE_PLAIN, "%s",
				st->ended ? st->why : "stopped");
			end_recording(a, st);
			break;
		case STRESS_RUNNING:
			tui_app_event(a, TUI_TONE_PLAIN, "running on %s",
				*st->device ? st->device : st->backend);
			break;
		case STRESS_PAUSED:
			tui_app_event(a, TUI_TONE_PLAIN, "paused");
			break;
		default:
			break;
		}
	}
	if (news & TUI_NEWS_STALL) {
		tui_app_event(a, st->stalled ? TUI_TONE_BAD : TUI_TONE_GOOD,
			st->stalled ? "the worker stalled" : "the worker goes on");
	}
}

/* Of a GPU that is not shown only what is wrong, and in the status line too: no figure tells. */
static void note_hidden(struct tui_app *a, struct tui_live *l)
{
	const struct stress_status *st = &l->status;
	const unsigned news = tui_live_news(l);
	char of[sizeof(l->config.device) + 2];
	snprintf(of, sizeof(of), "%s: ", l->config.device);
	a->dirty |= news != 0;
	if (news & TUI_NEWS_WRONG) {
		note_wrong(a, l, of);
		tui_app_say(a, TUI_TONE_BAD, "%scorruption; D shows the next GPU", of);
	}
	if (news & TUI_NEWS_STALL) {
		tui_app_event(a, st->stalled ? TUI_TONE_BAD : TUI_TONE_GOOD, "%s%s", of,
			st->stalled ? "the worker stalled" : "the worker goes on");
		if (st->stalled) {
			tui_app_say(a, TUI_TONE_BAD, "%sthe worker stalled", of);
		}
	}
	if ((news & TUI_NEWS_PHASE) && (st->phase == STRESS_FAILED || st->phase == STRESS_DIED ||
					       (st->phase == STRESS_DONE && st->ended))) {
		tui_app_event(a, TUI_TONE_BAD, "%s%s", of, st->why);
		tui_app_say(a, TUI_TONE_BAD, "%s%s", of, st->why);
	}
}

static bool is_fault(const struct stress_event *e)
{
	return e->kind == STRESS_EVENT_XID || e->kind == STRESS_EVENT_ECC;
}

static void note_event(struct tui_app *a, const char *of, bool bad, const struct runs_event *k)
{
	const enum tui_tone tone = bad ? TUI_TONE_BAD : TUI_TONE_NOTE;
	if (isfinite(k->value)) {
		tui_app_event(a, tone, "%s%s %g %s", of, k->source, k->value, k->note);
	} else {
		tui_app_event(a, tone, "%s%s %lld %s", of, k->source, (long long)k->code, k->note);
	}
}

struct hidden {
	struct tui_app *app;
	const struct tui_live *live;
};

static void hear_hidden(void *data, const struct stress_event *e, const struct runs_event *k)
{
	const struct hidden *h = data;
	if (is_fault(e)) {
		char of[sizeof(h->live->config.device) + 2];
		snprintf(of, sizeof(of), "%s: ", h->live->config.device);
		note_event(h->app, of, true, k);
	}
}

/* Launches that are queued have a device layer and no host layer of their own: what is there is
 * drawn. */
static void follow_layer(struct tui_app *a)
{
	const struct tui_live *l = &a->live;
	for (int i = 0; l->samples && !l->has[a->layer] && i < TUI_LAYERS; i++) {
		if (l->has[i]) {
			a->layer = (enum tui_layer)i;
			tui_window_forget(&a->window);
		}
	}
}

/* The GPUs that are not shown. */
static void tick_fleet(struct tui_app *a)
{
	for (size_t i = 0; i < a->fleet.n; i++) {
		struct hidden h = {a, a->fleet.other[i]};
		const struct tui_live_sink sink = {.event = hear_hidden, .data = &h};
		a->dirty |= tui_live_poll(a->fleet.other[i], a->now_ns, &sink);
		note_hidden(a, a->fleet.other[i]);
	}
}

static void take_samples(void *data, const struct stress_sample *s, size_t n)
{
	struct tui_app *a = data;
	tui_keep_samples(&a->keep, s, n);
	tui_episodes_samples(&a->slow, s, n);
	struct runs_event k;
	for (size_t i = 0; a->live.witness && i < n; i++) {
		if (a->live.witness(&s[i], &k)) {
			tui_episodes_event(&a->slow, &k);
		}
	}
}

static void keep_events(void *data, const struct stress_event *e, size_t n)
{
	struct tui_app *a = data;
	tui_keep_events(&a->keep, e, n);
}

static void take_event(void *data, const struct stress_event *e, const struct runs_event *k)
{
	struct tui_app *a = data;
	tui_episodes_event(&a->slow, k);
	if (e->kind !=
		STRESS_EVENT_THROTTLED) { /* each second while it lasts: the figures say it */
		note_event(a, "", is_fault(e), k);
	}
}

/* -- the store ----------------------------------------------------------------------- */

/* A baseline of before is back, and what changed since is known or never will be. */
static void announce(struct tui_app *a)
{
	if (!a->announce || !a->machine.snapshot || tui_machine_settling(&a->machine)) {
		return;
	}
	a->announce = false;
	tui_app_compare_then(a);
	char text[200];
	tui_changes_join(&a->since, text, sizeof(text));
	const struct tui_baseline *b = &a->keep.baseline;
	const char *when = *b->name       ? b->name
			   : b->same_boot ? "this boot's baseline"
					  : "baseline of before";
	if (a->since.n) {
		tui_app_say(a, TUI_TONE_NOTE, "%s; since then: %s", when, text);
	} else {
		tui_app_say(a, TUI_TONE_PLAIN, "%s; %s", when,
			a->compared ? "nothing known to matter has changed since"
				    : "the machine then is not known");
	}
}

/* What a crash of before left: said before anything else. */
static void tell_crash(struct tui_app *a)
{
	const struct runs_crash *k =
		a->keep.recorder ? runs_recorder_crash(a->keep.recorder) : NULL;
	if (k && !a->crash_told) {
		tui_modal_notice(&a->modal, "The machine went down", k->text);
	}
	a->crash_told = true;
}

static bool take_unlock(struct tui_app *a, struct tui_modal *m)
{
	(void)m;
	tui_library_unlock(&a->library);
	tui_app_say(a, TUI_TONE_PLAIN, "unlocking");
	return true;
}

/* Clocks that a killed run has left locked: they would hold whatever is measured from now on. Asked
 * once, when no other box is open. */
static void ask_clocks(struct tui_app *a)
{
	const struct tui_library *l = &a->library;
	if (a->clocks_told || !l->nclocks || a->modal.kind != TUI_MODAL_NONE) {
		return;
	}
	a->clocks_told = true;
	struct text t = {0};
	for (size_t i = 0; i < l->nclocks; i++) {
		text_addf(&t, "The clocks of %s are still locked at %u MHz. ", l->clocks[i].address,
			l->clocks[i].mhz);
	}
	text_add(&t, "A run that was killed has left them so, and until they are unlocked nothing "
		     "measured there is of the GPU as it is. Unlock now?");
	tui_modal_question(&a->modal, "Locked clocks", t.s, take_unlock, 0);
	text_finish(&t);
	a->dirty = true;
}

/* Stored runs come into the baseline's place, with their machine. */
static void take_reference(struct tui_app *a)
{
	const struct tui_reference *r = a->library.reference;
	const struct stress_status *st = &a->live.status;
	if (a->live.have_status && *st->backend &&
		strcmp(st->backend, r->loaded.baseline.backend) != 0) {
		tui_app_say(a, TUI_TONE_NOTE, "%s ran on %s, and %s runs now: not comparable",
			r->name, r->loaded.baseline.backend, st->backend);
		return;
	}
	tui_keep_refer(&a->keep, r->name, &r->loaded);
	if (r->loaded.machine) {
		tui_machine_parse_then(&a->machine, r->loaded.machine, r->loaded.machine_len);
	} else {
		tui_machine_set_then(&a->machine, NULL);
	}
	a->announce = true;
	a->compare_scroll = 0;
	tui_library_forget(&a->library);
	tui_app_view(a, TUI_VIEW_COMPARE);
}

static void ask_baseline(struct tui_app *a)
{
	const struct stress_status *st = &a->live.status;
	struct tui_keep *k = &a->keep;
	bool known = a->live.have_status && *st->backend;
	struct runs_info info = {0};
	runs_info_configured(&info, &a->live.config);
	const char *backend = known ? st->backend : a->live.config.backend;
	bool other = known && strcmp(k->baseline.backend, st->backend) != 0;
	if (other && !a->options.demo) {
		k->baseline.band.set = false; /* what is drawn must be of what runs */
	}
	tui_keep_ask(k, backend, info.shape, info.dtype);
}

/* The next message takes the place of the one before: what failed is an event too. */
static void tell_endings(struct tui_app *a)
{
	struct tui_keep *k = &a->keep;
	char label[sizeof(k->label)];
	for (int done; (done = tui_keep_ended(k, label));) {
		if (done > 0) {
			tui_app_say(a, TUI_TONE_GOOD, "the run is stored as '%s'", label);
			a->library.loaded = false; /* there is one more */
			continue;
		}
		tui_app_event(a, TUI_TONE_BAD, "'%s' could not be stored", label);
		tui_app_say(a, TUI_TONE_BAD, "the run '%s' could not be stored: %s", label,
			k->why.text);
	}
}

static void tick_store(struct tui_app *a)
{
	struct tui_keep *k = &a->keep;
	const char *record;
	size_t len;
	tui_keep_tick(k, a->live.have_status ? &a->live.status : NULL);
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
	tell_endings(a);
	if (news & TUI_KEEP_CHANGED) {
		a->dirty = true;
		if (k->state.phase != RUNS_REC_OPENING) {
			tell_crash(a);
		}
	}
	ask_baseline(a);
	/* The studies, once the recorder has looked at the store. */
	if (!a->studies_asked && k->state.phase != RUNS_REC_OPENING) {
		a->studies_asked = true;
		tui_library_studies(&a->library);
	}

	unsigned library = tui_library_poll(&a->library);
	a->dirty |= library != 0;
	if (library & TUI_LIBRARY_COMPARED) {
		a->compare_scroll = 0;
		tui_app_view(a, TUI_VIEW_COMPARE);
	}
	if (library & TUI_LIBRARY_REFERRED) {
		take_reference(a);
	}
	if (library & TUI_LIBRARY_UNLOCKED) {
		a->library.nclocks = 0;
		tui_app_event(a, TUI_TONE_GOOD, "clocks unlocked");
		tui_app_say(a, TUI_TONE_GOOD, "the clocks are unlocked");
	}
	ask_clocks(a);
	if (library & TUI_LIBRARY_FAILED) {
		tui_app_say(a, TUI_TONE_BAD, "%s", a->library.why.text);
	}
}

/* -- the machine --------------------------------------------------------------------- */

static void note_changes(struct tui_app *a)
{
	const struct tui_machine *m = &a->machine;
	const struct tui_changes *c = &m->changes;
	if (!m->snapshot || m->why.text[0]) {
		return;
	}
	for (size_t i = 0; i < c->n; i++) {
		tui_app_event(a, TUI_TONE_NOTE, "%s", c->text[i]);
	}
	if (c->n) {
		tui_app_say(a, TUI_TONE_NOTE, "%s%s", c->text[0], c->n > 1 ? ", and more" : "");
	}
}

static void tick_machine(struct tui_app *a)
{
	unsigned news = tui_machine_poll(&a->machine, a->now_ns);
	if (news & TUI_MACHINE_SCANNED) {
		a->dirty = true;
		a->plan_stale = true;
		tui_keep_sizes(&a->keep, &a->machine.sizes);
		note_changes(a);
		tui_list_clamp(&a->devices, tui_machine_listed(&a->machine));
	}
	if (news && a->keep.baseline.band.set) {
		tui_app_compare_then(a);
	}
	tui_machine_pulse(&a->machine, a->now_ns);
}

/* What was said goes after a while, but not behind a box: nobody reads there. */
static void tick_message(struct tui_app *a)
{
	if (a->message.until_ns && a->modal.kind != TUI_MODAL_NONE) {
		a->message.until_ns = a->now_ns + TUI_MESSAGE_NS;
	} else if (a->message.until_ns && a->now_ns >= a->message.until_ns) {
		a->message.until_ns = 0;
		a->dirty = true;
	}
}

void tui_app_tick(struct tui_app *a, uint64_t now_ns)
{
	const struct tui_live_sink sink = {take_samples, keep_events, take_event, a};
	a->now_ns = now_ns;
	tick_machine(a);
	tui_neighbours_poll(&a->neighbours);
	decide_start(a);
	if (tui_live_poll(&a->live, now_ns, &sink)) {
		a->dirty = true;
	}
	note_shown(a);
	follow_layer(a);
	tick_fleet(a);
	tui_episodes_tick(&a->slow, a->live.worker ? (int)a->live.status.pid : 0, now_ns);
	a->dirty |= tui_episodes_poll(&a->slow, now_ns);
	tick_store(a);
	a->dirty |= tui_checkup_poll(&a->checkup);
	announce(a);
	tick_message(a);
}
