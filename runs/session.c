/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "base/macros.h"
#include "runs/episode.h"
#include "runs/lookout.h"
#include "runs/readings.h"

/* The rollup is rewritten once a minute: it may be a few hundred KiB. */
static const uint64_t rollup_ns = 60000000000u;

struct runs_session {
	struct runs_recorder *recorder;
	struct runs_collect *collect;
	uint64_t rolled_ns;
	struct runs_readings readings;
	struct runs_episodes *episodes;
	struct runs_lookout *watch; /* NULL: the samples have a clock of their own */
	bool found, noted;          /* the finding, the note is an event already */
};

const char *runs_dtype_name(enum stress_dtype d)
{
	return d == STRESS_F32 ? "f32" : "f16";
}

void runs_info_configured(struct runs_info *ret, const struct stress_config *c)
{
	text_copy(ret->backend, sizeof(ret->backend), *c->backend ? c->backend : "auto");
	char shape[STRESS_SHAPE_MAX], name[STRESS_SHAPE_MAX + 16];

	/* Another mode is another thing to compare. */
	snprintf(name, sizeof(name), "%s%s%s", stress_shape_name(c, shape),
		c->mode == STRESS_ISOLATED ? "" : " ",
		c->mode == STRESS_ISOLATED ? "" : stress_mode_name(c->mode));
	text_copy(ret->shape, sizeof(ret->shape), name);
	text_copy(ret->dtype, sizeof(ret->dtype), runs_dtype_name(c->dtype));
	ret->seed = c->seed;
	ret->paced_ns = c->paced_ns;
	ret->threads = c->threads;
}

struct runs_session *runs_session_begin(struct runs_recorder *r, const char *label,
	const struct stress_config *c, uint32_t asked_s, bool keep, uint64_t *ret_ticket)
{
	struct runs_info run = {.asked_s = asked_s, .start_ns = clock_ns()};
	text_copy(run.label, sizeof(run.label), label);
	runs_info_configured(&run, c);
	uint64_t ticket = runs_recorder_begin(r, &run);
	if (ret_ticket) {
		*ret_ticket = ticket;
	}
	struct runs_session *s = xcalloc(1, sizeof(*s));
	s->recorder = r;
	s->collect = runs_collect_create(run.start_ns, keep);
	s->rolled_ns = run.start_ns;
	s->episodes = runs_episodes_create();
	bool own_clock = !strcmp(c->backend, "script") && c->script_speed != 1;
	s->watch = own_clock ? NULL : runs_lookout_create(NULL);
	return s;
}

void runs_session_samples(struct runs_session *s, const struct stress_sample *samples, size_t n)
{
	runs_collect_add(s->collect, samples, n);
	runs_episodes_add(s->episodes, samples, n);
}

void runs_session_event(struct runs_session *s, const struct runs_event *e)
{
	runs_collect_event(s->collect, e);
}

void runs_session_readings(struct runs_session *s, const struct stress_event *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct runs_event event;
		if (runs_readings_take(&s->readings, &e[i], &event)) {
			runs_collect_event(s->collect, &event);
		}
	}
	if (s->readings.fresh) {
		_cleanup_free_ char *json = runs_readings_json(&s->readings);
		runs_collect_status(s->collect, json);
	}
}

uint64_t runs_session_intent(struct runs_session *s, const char *step)
{
	_cleanup_free_ char *json = runs_readings_json(&s->readings);
	return runs_recorder_intent(s->recorder, step, json);
}

/* What was wrong first, kept with what can be said of its inputs. */
static void take_finding(struct runs_session *s, const struct stress_finding *f)
{
	char text[STRESS_FINDING_TEXT];
	struct runs_event e = {
		.from_ns = f->ns, .to_ns = f->ns, .code = (int64_t)f->kind, .value = NAN};
	if (s->found || f->kind == STRESS_WRONG_NOTHING) {
		return;
	}
	s->found = true;
	stress_finding_text(f, text);
	text_copy(e.source, sizeof(e.source), "corruption");
	text_copy(e.note, sizeof(e.note), text);
	runs_collect_event(s->collect, &e);
}

/* What the worker says of its device or kernel, once. */
static void take_note(struct runs_session *s, const char *note)
{
	const uint64_t now = clock_ns();
	struct runs_event e = {.from_ns = now, .to_ns = now, .value = NAN};
	if (s->noted || !*note) {
		return;
	}
	s->noted = true;
	text_copy(e.source, sizeof(e.source), RUNS_NOTE);
	text_copy(e.note, sizeof(e.note), note);
	runs_collect_event(s->collect, &e);
}

static void take_in(struct runs_session *s, const struct stress_status *st)
{
	if (st) {
		take_finding(s, &st->finding);
		take_note(s, st->note);
		runs_collect_dropped(s->collect, st->dropped);
		runs_collect_lost(s->collect, st->events_dropped);
		runs_recorder_facts(s->recorder, st);
	}
}

/* Episodes that have ended, into the open second. */
static void take_episodes(struct runs_session *s, uint64_t now)
{
	struct runs_episode e[32];
	size_t n;
	while ((n = runs_episodes_take(s->episodes, now, e, ARRAY_LEN(e))) > 0) {
		for (size_t i = 0; i < n; i++) {
			runs_collect_episode(s->collect, &e[i]);
		}
	}
}

void runs_session_tick(struct runs_session *s, const struct stress_status *st)
{
	uint64_t now = clock_ns();
	if (s->watch && st) {
		struct runs_event e[RUNS_HOSTWATCH_EVENTS];
		size_t n = runs_lookout_poll(s->watch, st->pid, e);
		for (size_t i = 0; i < n; i++) {
			runs_collect_event(s->collect, &e[i]);
		}
	}
	take_episodes(s, now);
	take_in(s, st);
	runs_recorder_seconds(s->recorder, runs_collect_take(s->collect, now));
	if (now - s->rolled_ns >= rollup_ns) {
		s->rolled_ns = now;
		runs_recorder_rollups(s->recorder, s->collect);
	}
}

const struct runs_collect *runs_session_collect(const struct runs_session *s)
{
	return s->collect;
}

uint64_t runs_session_end(struct runs_session *s, const struct stress_status *st,
	enum runs_state state, const char *reason)
{
	take_episodes(s, UINT64_MAX);
	take_in(s, st);
	runs_recorder_seconds(s->recorder, runs_collect_take(s->collect, UINT64_MAX));
	runs_recorder_rollups(s->recorder, s->collect);
	uint64_t ticket = runs_recorder_end(s->recorder, state, reason);
	runs_collect_destroy(s->collect);
	runs_episodes_destroy(s->episodes);
	runs_lookout_destroy(s->watch);
	free(s);
	return ticket;
}
