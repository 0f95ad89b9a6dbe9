/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/collect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/text.h"
#include "runs/raw.h"

enum { SECOND = 1000000000, LATE = 250000000, MAX_EVENTS = 256 };

/* One series' layer: the open second, the whole run, and what the next value needs. */
struct track {
	bool used;
	struct runs_hist now, all;
	struct runs_moments m_now, m_all;
	double origin; /* ln of the first value */
	double last;   /* x of the value before; NaN: none */
};

struct runs_collect {
	uint64_t start;
	bool keep;
	uint32_t second; /* the open one */
	uint64_t samples, dropped, lost;
	struct runs_second *open;
	size_t cap_event, cap_episode;
	struct runs_second *first, **end; /* finished, not taken */
	struct track track[STRESS_SERIES][RUNS_LAYERS];
	struct stress_sample last;
	bool has_last;
	struct runs_raw raw;
};

void runs_moments_merge(struct runs_moments *dst, const struct runs_moments *src)
{
	dst->n += src->n;
	dst->npair += src->npair;
	dst->s1 += src->s1;
	dst->s2 += src->s2;
	dst->lag += src->lag;
}

static double variance(const struct runs_moments *m)
{
	double mean = m->s1 / (double)m->n;
	return m->s2 / (double)m->n - mean * mean;
}

double runs_moments_lag1(const struct runs_moments *m)
{
	if (m->npair < 3 || variance(m) <= 1e-14) {
		return NAN;
	}
	double mean = m->s1 / (double)m->n;
	double rho = (m->lag / (double)m->npair - mean * mean) / variance(m);
	return fmax(-1, fmin(1, rho));
}

double runs_moments_log_sd(const struct runs_moments *m)
{
	return m->n ? sqrt(fmax(0, variance(m))) : NAN;
}

void runs_second_destroy(struct runs_second *s)
{
	for (struct runs_second *next; s; s = next) {
		next = s->next;
		for (size_t i = 0; i < s->nblock; i++) {
			free(s->block[i].hist);
		}
		free(s->block);
		free(s->event);
		free(s->episode);
		free(s->status);
		free(s->raw);
		free(s);
	}
}

struct runs_collect *runs_collect_create(uint64_t start_ns, bool keep)
{
	struct runs_collect *c = xcalloc(1, sizeof(*c));
	c->start = start_ns;
	c->keep = keep;
	c->end = &c->first;
	c->open = xcalloc(1, sizeof(*c->open));
	for (size_t s = 0; s < STRESS_SERIES; s++) {
		for (size_t l = 0; l < RUNS_LAYERS; l++) {
			runs_hist_init(&c->track[s][l].now, RUNS_HIST_1PCT);
			runs_hist_init(&c->track[s][l].all, RUNS_HIST_TENTH_PCT);
		}
	}
	return c;
}

void runs_collect_destroy(struct runs_collect *c)
{
	if (!c) {
		return;
	}
	runs_second_destroy(c->first);
	for (size_t s = 0; s < STRESS_SERIES; s++) {
		for (size_t l = 0; l < RUNS_LAYERS; l++) {
			runs_hist_finish(&c->track[s][l].now);
			runs_hist_finish(&c->track[s][l].all);
		}
	}
	runs_second_destroy(c->open);
	runs_raw_finish(&c->raw);
	free(c);
}

/* One event, beyond those that a second holds, tells of those that it could not. */
static void tell_lost(struct runs_collect *c, struct runs_second *sec)
{
	if (!sec->lost) {
		return;
	}
	const uint64_t from = c->start + c->second * (uint64_t)SECOND;
	sec->event = xgrow(sec->event, sec->nevent, &c->cap_event, sizeof(*sec->event));
	struct runs_event *e = &sec->event[sec->nevent++];
	*e = (struct runs_event){
		.from_ns = from, .to_ns = from + SECOND, .code = (int64_t)sec->lost, .value = NAN};
	text_copy(e->source, sizeof(e->source), RUNS_LOST);
}

/* Turns the open second into a finished one and opens NEXT. */
static void close_second(struct runs_collect *c, uint32_t next)
{
	struct runs_second *sec = c->open;
	sec->second = c->second;
	sec->block = xcalloc((size_t)STRESS_SERIES * RUNS_LAYERS, sizeof(*sec->block));
	for (unsigned s = 0; s < STRESS_SERIES; s++) {
		for (unsigned l = 0; l < RUNS_LAYERS; l++) {
			struct track *t = &c->track[s][l];
			if (!t->now.total) {
				continue;
			}
			if (!runs_layer_in_blocks(s, l)) {
				runs_hist_reset(&t->now);
				continue;
			}
			struct runs_block *b = &sec->block[sec->nblock++];
			b->series = (uint8_t)s;
			b->layer = (uint8_t)l;
			b->has_moments = l == RUNS_HOST || l == RUNS_DEVICE;
			b->moments = t->m_now;
			b->len = runs_hist_pack(&t->now, &b->hist);
			runs_hist_reset(&t->now);
			t->m_now = (struct runs_moments){0};
		}
	}
	/* Out of memory inside gzip: the second goes without its raw samples. */
	(void)runs_raw_take(&c->raw, &sec->raw, &sec->nraw);
	tell_lost(c, sec);

	*c->end = sec;
	c->end = &sec->next;
	c->open = xcalloc(1, sizeof(*c->open));
	c->cap_event = c->cap_episode = 0;
	c->second = next;
}

static void put(struct runs_collect *c, unsigned series, enum runs_layer layer, uint64_t value)
{
	struct track *t = &c->track[series][layer];
	runs_hist_add(&t->now, value);
	runs_hist_add(&t->all, value);
	if (layer != RUNS_HOST && layer != RUNS_DEVICE) {
		return;
	}
	double x = log((double)MAX(value, (uint64_t)1));
	if (!t->used) {
		t->used = true;
		t->origin = x;
		t->last = NAN;
	}
	x -= t->origin;
	struct runs_moments m = {.n = 1, .s1 = x, .s2 = x * x};
	if (!isnan(t->last)) {
		m.npair = 1;
		m.lag = x * t->last;
	}
	t->last = x;
	runs_moments_merge(&t->m_now, &m);
	runs_moments_merge(&t->m_all, &m);
}

static uint64_t span(uint64_t from, uint64_t to)
{
	/* The joined device clock has an error: a layer may come out a little below zero. */
	return to > from ? to - from : 0;
}

static void put_layers(struct runs_collect *c, const struct stress_sample *s)
{
	unsigned series = stress_series_of(s);
	bool batch = s->flags & STRESS_BATCH;
	if (!batch) {
		put(c, series, RUNS_HOST, stress_host_ns(s));
	}
	if (s->flags & STRESS_HAS_DEVICE) {
		put(c, series, RUNS_DEVICE, span(s->start_ns, s->end_ns));
		if (!batch) {
			put(c, series, RUNS_LAUNCH, span(s->submit_ns, s->start_ns));
			put(c, series, RUNS_NOTIFY, span(s->end_ns, s->done_ns));
		}
	}
	if (s->flags & STRESS_HAS_CYCLES) {
		put(c, series, RUNS_CYCLES, s->cycles);
	}
	if (!c->has_last || s->seq != c->last.seq + 1) {
		return;
	}
	if (s->flags & STRESS_RESUMED) {
		/* what lies between is not the launches' */
	} else if (!batch) {
		put(c, stress_series_of(&c->last), RUNS_GAP, span(c->last.done_ns, s->submit_ns));
	} else if ((s->flags & c->last.flags & STRESS_HAS_DEVICE) &&
		   s->submit_ns == c->last.submit_ns) {
		/* Within a batch the device itself goes from one launch to the next. */
		put(c, series, RUNS_GAP, span(c->last.end_ns, s->start_ns));
	}
}

void runs_collect_add(struct runs_collect *c, const struct stress_sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct stress_sample *s = &samples[i];
		if ((unsigned)stress_series_of(s) >= STRESS_SERIES) {
			continue;
		}
		uint64_t second = span(c->start, s->done_ns) / SECOND;
		if (second > c->second) {
			close_second(c, (uint32_t)second);
		}
		struct runs_second *open = c->open;
		if (s->flags & STRESS_WARMUP) {
			open->warmups++;
			c->has_last = false;
			continue;
		}
		open->samples++;
		open->missed += (s->flags & STRESS_MISSED) != 0;
		open->mismatches += (s->flags & STRESS_MISMATCH) != 0;
		open->perturbed += (s->flags & STRESS_PERTURBED) != 0;
		c->samples++;
		put_layers(c, s);
		if (c->keep) {
			runs_raw_add(&c->raw, s);
		}
		c->last = *s;
		c->has_last = true;
	}
}

void runs_collect_event(struct runs_collect *c, const struct runs_event *e)
{
	struct runs_second *open = c->open;
	if (open->nevent < MAX_EVENTS) {
		open->event = xgrow(open->event, open->nevent, &c->cap_event, sizeof(*e));
		open->event[open->nevent++] = *e;
	} else {
		open->lost++;
	}
}

void runs_collect_episode(struct runs_collect *c, const struct runs_episode *e)
{
	struct runs_second *open = c->open;
	if (open->nepisode < MAX_EVENTS) {
		open->episode = xgrow(open->episode, open->nepisode, &c->cap_episode, sizeof(*e));
		open->episode[open->nepisode++] = *e;
	} else {
		open->lost++;
	}
}

void runs_collect_dropped(struct runs_collect *c, uint64_t total)
{
	c->open->dropped += span(c->dropped, total);
	c->dropped = MAX(c->dropped, total);
}

void runs_collect_lost(struct runs_collect *c, uint64_t total)
{
	c->open->lost += span(c->lost, total);
	c->lost = MAX(c->lost, total);
}

void runs_collect_status(struct runs_collect *c, const char *json)
{
	free(c->open->status);
	c->open->status = xstrdup(json);
}

static bool is_empty(const struct runs_second *s)
{
	return !s->samples && !s->warmups && !s->dropped && !s->lost && !s->nevent &&
	       !s->nepisode && !s->status;
}

struct runs_second *runs_collect_take(struct runs_collect *c, uint64_t now_ns)
{
	uint64_t end = c->start + ((uint64_t)c->second + 1) * SECOND;
	if (now_ns == UINT64_MAX) {
		if (!is_empty(c->open)) {
			close_second(c, c->second + 1);
		}
	} else if (now_ns > end && now_ns - end > LATE) {
		/* A stall is stored too: an empty second, and on to the present one. */
		close_second(c, (uint32_t)((now_ns - LATE - c->start) / SECOND));
	}
	struct runs_second *chain = c->first;
	c->first = NULL;
	c->end = &c->first;
	return chain;
}

const struct runs_hist *runs_collect_rollup(
	const struct runs_collect *c, unsigned series, unsigned layer)
{
	const struct runs_hist *h = &c->track[series][layer].all;
	return h->total ? h : NULL;
}

const struct runs_moments *runs_collect_moments(
	const struct runs_collect *c, unsigned series, unsigned layer)
{
	return &c->track[series][layer].m_all;
}

uint64_t runs_collect_samples(const struct runs_collect *c)
{
	return c->samples;
}
