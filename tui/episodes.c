/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/episodes.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"

/* A new answer each so often at most, and the job takes at most a hundredth of a core. */
static const uint64_t least_ns = 2000000000u;
enum { REST = 100 };

struct question {
	struct job_item item;
	struct runs_episode *episode; /* owned, as EVENT */
	struct runs_event *event;
	size_t n, nevent;
	uint64_t first, from_ns, to_ns, took_ns;
	double read;
	struct runs_attribution answer;
};

static void question_destroy(struct question *q)
{
	runs_attribution_finish(&q->answer);
	free(q->episode);
	free(q->event);
	free(q);
}

static void run_question(struct job_item *item)
{
	struct question *q = (struct question *)item;
	uint64_t begun = clock_ns();
	runs_attribute(
		q->episode, q->n, q->event, q->nevent, q->from_ns, q->to_ns, q->read, &q->answer);
	q->took_ns = clock_ns() - begun;
}

void tui_episodes_start(struct tui_episodes *e, uint64_t now_ns, bool own_clock)
{
	runs_episodes_destroy(e->find);
	runs_lookout_destroy(e->watch);
	runs_attribution_finish(&e->of);
	if (!e->episode) {
		e->episode = xmalloc(TUI_EPISODES * sizeof(*e->episode));
		e->event = xmalloc(TUI_EPISODE_EVENTS * sizeof(*e->event));
		/* Taken at once, so that a run does not seem to grow. */
		memset(e->episode, 0, TUI_EPISODES * sizeof(*e->episode));
		memset(e->event, 0, TUI_EPISODE_EVENTS * sizeof(*e->event));
	}
	e->find = runs_episodes_create();
	e->watch = own_clock ? NULL : runs_lookout_create(NULL);
	e->n = e->nevent = 0;
	e->count = e->of_first = e->of_last = e->samples = e->read = 0;
	e->from_ns = now_ns;
	e->due_ns = now_ns + least_ns;
}

int tui_episodes_finish(struct tui_episodes *e, int timeout_ms)
{
	int r = 0;
	if (e->job) {
		struct pollfd p = {.fd = job_fd(e->job), .events = POLLIN};
		if (e->asked && poll(&p, 1, timeout_ms) > 0) {
			tui_episodes_poll(e, 0);
		}
		r = job_destroy(e->job, e->asked ? 0 : 200);
	}
	runs_episodes_destroy(e->find);
	runs_lookout_destroy(e->watch);
	runs_attribution_finish(&e->of);
	free(e->episode);
	free(e->event);
	*e = (struct tui_episodes){0};
	return r;
}

int tui_episodes_fd(const struct tui_episodes *e)
{
	return e->job ? job_fd(e->job) : -1;
}

void tui_episodes_samples(struct tui_episodes *e, const struct stress_sample *s, size_t n)
{
	if (!e->find) {
		return;
	}
	runs_episodes_add(e->find, s, n);
	for (size_t i = 0; i < n; i++) {
		bool counts = stress_series_of(&s[i]) == STRESS_GEMM &&
			      !(s[i].flags & (uint32_t)STRESS_WARMUP);
		e->samples += counts;
		e->read += counts && (s[i].flags & (uint32_t)STRESS_PERTURBED);
	}
}

void tui_episodes_event(struct tui_episodes *e, const struct runs_event *k)
{
	if (!e->event || !runs_is_cause(k->source)) {
		return;
	}
	if (e->nevent == TUI_EPISODE_EVENTS) {
		size_t drop = TUI_EPISODE_EVENTS / 4;
		e->nevent -= drop;
		memmove(e->event, e->event + drop, e->nevent * sizeof(*e->event));
		/* Of the time before it is not known what happened. */
		e->from_ns = MAX(e->from_ns, e->event[0].from_ns);
	}
	e->event[e->nevent++] = *k;
}

static void keep_episode(struct tui_episodes *e, const struct runs_episode *k)
{
	if (e->n == TUI_EPISODES) {
		size_t drop = TUI_EPISODES / 4;
		e->n -= drop;
		memmove(e->episode, e->episode + drop, e->n * sizeof(*e->episode));
		e->from_ns = MAX(e->from_ns, e->episode[0].from_ns);
	}
	e->episode[e->n++] = *k;
	e->count++;
}

void tui_episodes_tick(struct tui_episodes *e, int pid, uint64_t now_ns)
{
	struct runs_event event[RUNS_HOSTWATCH_EVENTS];
	struct runs_episode episode[32];
	size_t n;
	if (!e->find) {
		return;
	}
	n = runs_lookout_poll(e->watch, pid, event);
	for (size_t i = 0; i < n; i++) {
		tui_episodes_event(e, &event[i]);
	}
	while ((n = runs_episodes_take(e->find, now_ns, episode, ARRAY_LEN(episode))) > 0) {
		for (size_t i = 0; i < n; i++) {
			keep_episode(e, &episode[i]);
		}
	}
}

void tui_episodes_ask(struct tui_episodes *e, uint64_t now_ns)
{
	if (e->asked || !e->n || e->of_last == e->count || now_ns < e->due_ns) {
		return;
	}
	if (!e->job && job_create("episodes", &e->job) < 0) {
		e->job = NULL;
		e->due_ns = now_ns + least_ns;
		return;
	}
	struct question *q = xcalloc(1, sizeof(*q));
	size_t from = 0;
	while (from + 1 < e->n && e->episode[from].from_ns < e->from_ns) {
		from++;
	}
	q->item.run = run_question;
	q->n = e->n - from;
	q->nevent = e->nevent;
	q->episode = xcalloc(q->n, sizeof(*q->episode));
	q->event = xcalloc(MAX(q->nevent, 1), sizeof(*q->event));
	memcpy(q->episode, e->episode + from, q->n * sizeof(*q->episode));
	memcpy(q->event, e->event, q->nevent * sizeof(*q->event));
	q->first = e->count - q->n;
	q->from_ns = MIN(e->from_ns, q->episode[0].from_ns);
	q->to_ns = MAX(now_ns, q->episode[q->n - 1].to_ns + 1);
	q->read = e->samples ? (double)e->read / (double)e->samples : 0;
	e->asked = true;
	job_post(e->job, &q->item);
}

bool tui_episodes_poll(struct tui_episodes *e, uint64_t now_ns)
{
	bool any = false;
	for (struct job_item *i; e->job && (i = job_collect(e->job));) {
		struct question *q = (struct question *)i;
		e->asked = false;
		e->due_ns = now_ns + MAX(least_ns, REST * q->took_ns);
		/* Another run may have begun since. */
		if (q->first + q->n <= e->count && e->find && q->to_ns > e->from_ns) {
			runs_attribution_finish(&e->of);
			e->of = q->answer;
			q->answer = (struct runs_attribution){0};
			e->of_first = q->first;
			e->of_last = q->first + q->n;
			any = true;
		}
		question_destroy(q);
	}
	return any;
}

const struct runs_episode *tui_episodes_at(const struct tui_episodes *e, size_t i)
{
	return i < e->n ? &e->episode[e->n - 1 - i] : NULL;
}

const char *tui_episodes_source(const struct tui_episodes *e, size_t i)
{
	uint64_t number = e->count - 1 - i;
	if (i >= e->n || number < e->of_first || number >= e->of_last) {
		return NULL;
	}
	int k = e->of.of[number - e->of_first];
	return k < 0 ? "" : e->of.source[k].name;
}
