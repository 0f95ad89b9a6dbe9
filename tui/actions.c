/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What keys ask for: start, stop, pause, the form of what runs, baseline, recording. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "runs/session.h"
#include "tui/app.h"
#include "tui/window.h"

enum { FEW = 30 };

/* Addresses of NVIDIA's GPUs on the machine, at most MAX. */
static size_t find_gpus(const struct tui_app *a, char (*ret)[PCIE_ADDR_MAX], size_t max)
{
	const struct tui_survey *v = a->machine.survey;
	size_t n = 0;
	for (size_t i = 0; v && i < v->ngpu && n < max; i++) {
		const struct pcie_device *d = &a->machine.snapshot->dev[v->listed[i]];
		if (d->have_ids == PCIE_KNOWN && d->vendor == 0x10de) {
			pcie_addr_format(d->addr, ret[n++]);
		}
	}
	return n;
}

/* With the one that is shown all others too, when that is wanted. */
static void start_fleet(struct tui_app *a)
{
	char address[TUI_FLEET + 1][PCIE_ADDR_MAX];
	struct why why;
	size_t n = find_gpus(a, address, ARRAY_LEN(address));
	if (tui_fleet_start(&a->fleet, &a->live, address, n, a->now_ns, &why) < 0) {
		tui_app_say(a, TUI_TONE_BAD, "%s", why.text);
	}
}

void tui_app_next_gpu(struct tui_app *a)
{
	if (!a->fleet.n) {
		tui_app_say(a, TUI_TONE_NOTE, "one GPU runs at most: e starts all of them");
		return;
	}
	if (a->keep.session) {
		tui_app_say(a, TUI_TONE_NOTE, "the GPU shown is recorded: R ends that first");
		return;
	}
	tui_fleet_next(&a->fleet, &a->live);
	tui_window_forget(&a->window);
	tui_episodes_start(&a->slow, a->now_ns, false);
	tui_app_say(a, TUI_TONE_PLAIN, "%s", a->live.config.device);
}

void tui_app_start(struct tui_app *a)
{
	struct why why;
	tui_fleet_end(&a->fleet, &a->live, 0);
	/* A recorded run is of one worker. */
	tui_keep_stop(&a->keep, a->live.have_status ? &a->live.status : NULL, RUNS_STOPPED,
		"another start");
	runs_choices_lend(&a->machine.around.choices, &a->live.config);
	if (tui_live_start(&a->live, a->now_ns, &why) < 0) {
		tui_app_say(a, TUI_TONE_BAD, "%s", why.text);
		return;
	}
	a->waits[0] = '\0';
	if (a->fleet.wanted) {
		start_fleet(a);
	}
	tui_window_forget(&a->window);
	const struct stress_config *c = &a->live.config;
	bool own_clock = a->options.demo || (!strcmp(c->backend, "script") && c->script_speed != 1);
	tui_episodes_start(&a->slow, a->now_ns, own_clock);
	a->dirty = true;
}

void tui_app_start_stop(struct tui_app *a)
{
	if (tui_live_active(&a->live)) {
		tui_live_stop(&a->live, a->now_ns);
		tui_fleet_stop(&a->fleet, a->now_ns);
	} else {
		tui_app_start(a);
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
	tui_fleet_pause(&a->fleet, a->live.want_pause);
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
		tui_app_say(a, TUI_TONE_NOTE, "a baseline is of the host layer; L changes it");
		return;
	}
	tui_keep_mark(&a->keep, &a->live.status, &a->live.config, h, tui_window_ns(&a->window));
	tui_machine_set_then(&a->machine, NULL);
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

/* -- recording ----------------------------------------------------------------------- */

static bool take_record(struct tui_app *a, struct tui_modal *m)
{
	struct why why;
	struct stress_config c = a->live.config;
	text_copy(c.backend, sizeof(c.backend), a->live.status.backend);
	if (tui_keep_record(&a->keep, m->field[0].value, &c, a->now_ns, &why) < 0) {
		text_copy(m->error, sizeof(m->error), why.text);
		return false;
	}
	tui_app_event(a, TUI_TONE_PLAIN, "recording as '%s'", m->field[0].value);
	return true;
}

void tui_app_record(struct tui_app *a)
{
	if (a->keep.session) {
		tui_keep_stop(&a->keep, &a->live.status, RUNS_STOPPED, "");
		tui_app_event(a, TUI_TONE_PLAIN, "recording ended");
		tui_app_say(a, TUI_TONE_PLAIN, "storing the run");
		return;
	}
	if (!tui_live_active(&a->live)) {
		tui_app_say(a, TUI_TONE_NOTE, "nothing runs that could be recorded: s starts it");
		return;
	}
	if (!a->keep.recorder) {
		tui_app_say(a, TUI_TONE_BAD, "nothing can be recorded: %s", a->keep.why.text);
		return;
	}
	tui_modal_form(&a->modal, "Record", take_record);
	if (a->fleet.n) {
		snprintf(a->modal.text, sizeof(a->modal.text),
			"Of the %zu GPUs that run, the one that is shown is recorded: %s. All of "
			"them: barscope stress --device all --record LABEL.",
			a->fleet.n + 1, a->live.config.device);
	}
	tui_modal_field(&a->modal, "label", a->keep.label,
		"What runs from now on is stored under this label, with the machine and its "
		"environment. Runs of one label in several boots are one side of a comparison.");
}

/* -- studies -------------------------------------------------------------------------- */

static bool take_study(struct tui_app *a, struct tui_modal *m)
{
	const struct tui_library *l = &a->library;
	for (size_t i = 0; i < l->nstudy; i++) {
		const struct runs_study *s = &l->study[i].study;
		if (s->id == m->about && l->study[i].next) {
			text_copy(a->study, sizeof(a->study), s->name);
			a->study_side = *s->fact ? '\0' : l->study[i].next;
			a->quit = true;
		} else if (s->id == m->about) {
			char side[2][64];
			snprintf(side[0], sizeof(side[0]), "study:%s/A", s->name);
			snprintf(side[1], sizeof(side[1]), "study:%s/B", s->name);
			tui_library_compare(&a->library, side[0], side[1]);
		}
	}
	return true;
}

void tui_app_study(struct tui_app *a, const struct tui_study *s)
{
	if (!s) {
		tui_app_say(a, TUI_TONE_NOTE,
			"no study is in progress; 'barscope study new' plans one");
		return;
	}
	struct text t = {0};
	char title[64];
	snprintf(title, sizeof(title), "Study %s", s->study.name);
	text_addf(&t, "%s: %zu of %u boots are there. ", s->study.change, s->done,
		2 * s->study.boots);
	if (s->next && !s->here) {
		text_addf(&t, "This boot is not measured yet; by the plan it is one %s it (%c). ",
			s->next == 'B' ? "with" : "without", s->next);
		if (!*s->study.fact) {
			text_addf(&t, "The study has no fact, so it is filed as %c. ", s->next);
		}
		text_add(&t, "Leave the screen and measure it now?");
	} else if (s->next) {
		text_add(&t, "This boot is measured. ");
		runs_study_say_next(&s->study, &s->boots, &t);
	} else {
		text_add(&t, "It is complete. Show its comparison?");
	}
	for (size_t i = 0; i < t.len; i++) {
		t.s[i] = t.s[i] == '\n' ? ' ' : t.s[i];
	}
	if (s->next && s->here) {
		tui_modal_notice(&a->modal, title, t.s);
	} else {
		tui_modal_question(&a->modal, title, t.s, take_study, s->study.id);
	}
	text_finish(&t);
}

/* -- the form of what runs ----------------------------------------------------------- */

enum { BACKEND, DEVICE, SHAPE, DTYPE, MODE, WEIGHTS, PACE, THREADS };

static const char any_device[] = "the first", all_devices[] = "all GPUs";

static bool parse_pace(const char *s, uint64_t *ret)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	if (!*s) {
		*ret = 0;
		return true;
	}
	double v = strtod(s, &end);
	while (*end == ' ') {
		end++;
	}
	for (size_t i = 0; end != s && i < ARRAY_LEN(units); i++) {
		double ns = v * units[i].ns;
		if (!strcmp(end, units[i].unit) && ns >= 1e3 && ns <= 3600e9) {
			*ret = (uint64_t)ns;
			return true;
		}
	}
	return false;
}

/* How launches follow one another, and how often; both of one field's making. */
static bool take_rhythm(struct tui_modal *m, struct stress_config *c)
{
	c->mode = STRESS_ISOLATED;
	for (unsigned i = 0; i < STRESS_MODES; i++) {
		if (!strcmp(m->field[MODE].value, stress_mode_name(i))) {
			c->mode = (enum stress_mode)i;
		}
	}
	m->focus = MODE;
	if (c->mode != STRESS_ISOLATED && *c->backend && strcmp(c->backend, "cuda") != 0) {
		snprintf(m->error, sizeof(m->error),
			"Launches are queued, or made a graph, by the cuda back end alone.");
		return false;
	}
	m->focus = PACE;
	if (!parse_pace(m->field[PACE].value, &c->paced_ns)) {
		text_copy(m->error, sizeof(m->error),
			"The pace is a time from 1us to an hour, such as 250us or 10ms, or nothing.");
		return false;
	}
	/* A token's graph is waited for as a whole; what is queued is not. */
	if (c->paced_ns && (c->mode == STRESS_QUEUED || (c->mode == STRESS_GRAPH && !c->layers))) {
		snprintf(m->error, sizeof(m->error),
			"A pace is for launches that are waited for one by one: a %s has many.",
			c->mode == STRESS_GRAPH ? "graph" : "queue");
		return false;
	}
	return true;
}

static bool take_form(struct tui_app *a, struct tui_modal *m)
{
	struct stress_config c = a->live.config;
	struct why why;
	uint64_t n = 0;
	const char *backend = m->field[BACKEND].value, *device = m->field[DEVICE].value;
	text_copy(c.backend, sizeof(c.backend), !strcmp(backend, "best") ? "" : backend);
	bool all = !strcmp(device, all_devices), any = !strcmp(device, any_device);
	text_copy(c.device, sizeof(c.device), all || any ? "" : device);
	if (!any && (!strcmp(backend, "cpu") || !strcmp(backend, "script"))) {
		snprintf(m->error, sizeof(m->error),
			"The %s back end has no devices: choose '%s', or another back end.",
			backend, any_device);
		m->focus = DEVICE;
		return false;
	}
	char address[TUI_FLEET + 1][PCIE_ADDR_MAX];
	if (all && find_gpus(a, address, ARRAY_LEN(address)) > 0) {
		text_copy(c.device, sizeof(c.device), address[0]);
		text_copy(c.backend, sizeof(c.backend), "cuda");
	}
	if (stress_config_shape(&c, m->field[SHAPE].value, &why) < 0) {
		text_copy(m->error, sizeof(m->error), why.text);
		m->focus = SHAPE;
		return false;
	}
	c.dtype = !strcmp(m->field[DTYPE].value, "f32") ? STRESS_F32 : STRESS_F16;
	if (*m->field[THREADS].value &&
		(text_parse_u64(m->field[THREADS].value, 10, &n) < 0 || n < 1 || n > 1024)) {
		text_copy(m->error, sizeof(m->error),
			"Threads are a number from 1 to 1024, or nothing for cores - 1.");
		m->focus = THREADS;
		return false;
	}
	c.threads = (uint32_t)n;
	if (!take_rhythm(m, &c)) {
		return false;
	}
	if (c.threads && !strcmp(c.backend, "cuda")) {
		text_copy(m->error, sizeof(m->error), "Threads are for the cpu back end.");
		m->focus = THREADS;
		return false;
	}
	const bool hot = !strcmp(m->field[WEIGHTS].value, "hot");
	c.copies = hot ? 1 : c.copies == 1 ? 0 : c.copies;
	a->live.config = c;
	a->fleet.wanted = all;
	tui_app_start(a);
	return true;
}

static void add_devices(const struct tui_app *a, struct tui_field *f)
{
	tui_field_choice(f, any_device);
	char address[2][PCIE_ADDR_MAX];
	if (find_gpus(a, address, 2) == 2) {
		tui_field_choice(f, all_devices);
	}
	const struct tui_survey *v = a->machine.survey;
	for (size_t i = 0; v && i < v->ngpu; i++) {
		char addr[PCIE_ADDR_MAX];
		const struct pcie_device *d = &a->machine.snapshot->dev[v->listed[i]];
		tui_field_choice(f, pcie_addr_format(d->addr, addr));
	}
}

void tui_app_edit(struct tui_app *a)
{
	const struct stress_config *c = &a->live.config;
	struct tui_modal *m = &a->modal;
	char s[STRESS_SHAPE_MAX];
	if (a->options.demo) {
		tui_app_say(a, TUI_TONE_NOTE,
			"the demo plays its script; start barscope without --demo");
		return;
	}
	tui_modal_form(m, "What runs", take_form);
	bool best = !*c->backend || !strcmp(c->backend, "auto");
	struct tui_field *f = tui_modal_field(m, "back end", best ? "best" : c->backend,
		"cuda on an NVIDIA GPU, cpu anywhere; best takes the first that works.");
	tui_field_choice(f, "best");
	tui_field_choice(f, "cuda");
	tui_field_choice(f, "cpu");
	if (*c->script) {
		tui_field_choice(f, "script");
	}
	f = tui_modal_field(m, "device",
		a->fleet.wanted ? all_devices
		: *c->device    ? c->device
				: any_device,
		"The GPU, for cuda. Of all GPUs one is shown; D shows the next.");
	add_devices(a, f);
	tui_modal_field(m, "shape", stress_shape_name(c, s),
		"M x K x N: rows of x, length of a product, rows of W. decode7b: a token's chain.");
	f = tui_modal_field(m, "type", c->dtype == STRESS_F32 ? "f32" : "f16",
		"Of the elements; sums are f32 in both.");
	tui_field_choice(f, "f16");
	tui_field_choice(f, "f32");
	f = tui_modal_field(m, "mode", stress_mode_name(c->mode),
		"isolated: each launch is waited for. queued: many, waited for once. graph: the same "
		"as a CUDA graph. cuda alone.");
	for (unsigned i = 0; i < STRESS_MODES; i++) {
		tui_field_choice(f, stress_mode_name(i));
	}
	f = tui_modal_field(m, "weights", c->copies == 1 ? "hot" : "cold",
		"cold: copies in turn, so that no cache holds the next; hot: one copy.");
	tui_field_choice(f, "cold");
	tui_field_choice(f, "hot");
	s[0] = '\0';
	if (c->paced_ns) {
		snprintf(s, sizeof(s), "%gus", (double)c->paced_ns / 1e3);
	}
	tui_modal_field(m, "pace", s,
		"One launch each 10ms or 250us, counted from when it was due. Nothing: back to back.");
	s[0] = '\0';
	if (c->threads) {
		snprintf(s, sizeof(s), "%u", c->threads);
	}
	tui_modal_field(m, "threads", s, "For cpu. Nothing: cores - 1.");
}
