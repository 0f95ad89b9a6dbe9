/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/attribute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/sort.h"
#include "base/text.h"
#include "runs/random.h"

enum { SHIFTS = 999, MOST = 2000 }; /* more episodes than MOST are thinned for the test */
static const uint64_t tolerance_ns = 2000000;
static const double half = 0.5, level = 0.01;

/* Events of one source, in order of time. */
struct lane {
	const struct runs_event **event; /* owned */
	double *excess;                  /* of all episodes inside each event; owned */
	uint64_t longest;                /* of them */
	size_t n;
	bool counted; /* events with a value */
};

/* Events that touch [FROM, TO]: the first index, and one past the last. */
static void touching(const struct lane *l, uint64_t from, uint64_t to, size_t *ret_a, size_t *ret_b)
{
	size_t lo = 0, hi = l->n;
	while (lo < hi) { /* the first that could reach FROM */
		size_t mid = lo + (hi - lo) / 2;
		if (l->event[mid]->from_ns + l->longest < from) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	size_t a = lo;
	hi = l->n;
	while (lo < hi) { /* the first that starts behind TO */
		size_t mid = lo + (hi - lo) / 2;
		if (l->event[mid]->from_ns <= to) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	while (a < lo && l->event[a]->to_ns < from) {
		a++;
	}
	*ret_a = a;
	*ret_b = lo;
}

/* The part of an episode of LENGTH at FROM that lies inside E, of 1. */
static double inside(const struct runs_event *e, uint64_t from, uint64_t length)
{
	uint64_t a = MAX(from, e->from_ns), b = MIN(from + length, e->to_ns);
	return b > a && length ? (double)(b - a) / (double)length : 0;
}

/*
 * How much of EXCESS, spread over LENGTH from FROM on, does L account for? 0 … 1; for events
 * without value 1 when one is there.
 */
static double account(const struct lane *l, uint64_t from, uint64_t length, uint64_t excess)
{
	size_t a, b;
	uint64_t early = from > tolerance_ns ? from - tolerance_ns : 0;
	touching(l, early, from + length + tolerance_ns, &a, &b);
	if (!l->counted || a >= b) {
		return a < b;
	}
	double explained = 0;
	for (; a < b; a++) {
		/* What happened in this interval is shared by all that fell into it. */
		double mine = (double)excess * inside(l->event[a], from, length);
		double all = fmax(l->excess[a], mine);
		explained += all > 0 ? fmin(l->event[a]->value, all) * mine / all : 0;
	}
	return excess ? explained / (double)excess : 0;
}

bool runs_is_cause(const char *source)
{
	return strcmp(source, RUNS_NOTE) != 0 && strcmp(source, RUNS_LOST) != 0;
}

static size_t find(struct runs_attribution *a, const char *name)
{
	for (size_t i = 0; i < a->nsource; i++) {
		if (!strcmp(a->source[i].name, name)) {
			return i;
		}
	}
	if (a->nsource == RUNS_SOURCES_MAX) {
		return a->nsource;
	}
	struct runs_source *s = &a->source[a->nsource];
	*s = (struct runs_source){.p = 1, .share = NAN};
	text_copy(s->name, sizeof(s->name), name);
	return a->nsource++;
}

/* Adds, to each event, the part of EPISODE's excess that would lie inside it, were it at AT. */
static void spread(const struct lane *l, const struct runs_episode *e, uint64_t at, double *excess)
{
	size_t a, b;
	uint64_t length = e->to_ns - e->from_ns;
	touching(l, at, at + length, &a, &b);
	for (; a < b; a++) {
		excess[a] += (double)e->excess_ns * inside(l->event[a], at, length);
	}
}

static void lane_fill(struct lane *l, const struct runs_event *events, size_t m, const char *name,
	const struct runs_episode *episodes, size_t n)
{
	l->event = xcalloc(m, sizeof(*l->event));
	l->excess = xcalloc(m, sizeof(*l->excess));
	l->counted = true;
	for (size_t i = 0; i < m; i++) {
		const struct runs_event *e = &events[i];
		if (!strcmp(e->source, name)) {
			l->longest = MAX(l->longest, e->to_ns - e->from_ns);
			l->counted = l->counted && !isnan(e->value);
			l->event[l->n++] = e;
		}
	}
	for (size_t i = 0; i < n; i++) {
		spread(l, &episodes[i], episodes[i].from_ns, l->excess);
	}
}

/* Episodes, or what is left of them by thinning, moved by BY round the run. */
struct slide {
	const struct runs_episode *episode;
	size_t n, step;
	uint64_t from, span, by;
};

static uint64_t moved(const struct slide *s, size_t i)
{
	return s->from + (s->episode[i].from_ns - s->from + s->by) % s->span;
}

/* How many episodes have an event of L beside them. */
static double hits(const struct lane *l, const struct slide *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->n; i += s->step) {
		const struct runs_episode *e = &s->episode[i];
		n += account(l, moved(s, i), e->to_ns - e->from_ns, e->excess_ns) > 0;
	}
	return (double)n;
}

/* How many ns of excess the events of L account for. SCRATCH: room for one double an event. */
static double accounted(const struct lane *l, const struct slide *s, double *scratch)
{
	double sum = 0;
	memset(scratch, 0, l->n * sizeof(*scratch));
	for (size_t i = 0; i < s->n; i += s->step) {
		spread(l, &s->episode[i], moved(s, i), scratch);
	}
	for (size_t i = 0; i < l->n; i++) {
		sum += fmin(l->event[i]->value, scratch[i]);
	}
	return sum;
}

/* hostwatch.h: ns that the worker's own threads did not run, by the kernel's clock. */
static bool is_account(const char *name)
{
	return !strcmp(name, "stopped") || !strcmp(name, "preempted");
}

/* Slides the episodes round the run and counts how often chance reaches the real number. */
static void test(struct runs_source *s, const struct lane *l, struct slide slide)
{
	uint64_t seed = 99991;
	double *scratch = xcalloc(l->n, sizeof(*scratch)), sum = 0, near = 0;
	double real = l->counted ? accounted(l, &slide, scratch) : hits(l, &slide);
	size_t reached = 0;
	for (int k = 0; k < SHIFTS; k++) {
		slide.by = (uint64_t)(runs_random_unit(&seed) * (double)slide.span);
		double now = l->counted ? accounted(l, &slide, scratch) : hits(l, &slide);
		reached += now >= real;
		sum += now;
	}
	free(scratch);
	/* Of ns a share, of episodes a number: both as episodes. */
	near = l->counted ? (real > 0 ? (double)s->near * sum / SHIFTS / real : 0)
			  : sum / SHIFTS * (double)slide.step;
	s->p = real > 0 ? (double)(reached + 1) / (SHIFTS + 1) : 1;
	s->expected = near;
	s->associated = s->p <= level || (l->counted && is_account(s->name));
}

/* Readings of the device come by their own clock: the samples' share is the chance. */
static void test_readings(struct runs_source *s, const struct runs_episode *episodes, size_t n,
	double share, double *near)
{
	double expected = 0, variance = 0;
	for (size_t i = 0; i < n; i++) {
		double p = 1 - pow(1 - fmin(share, 1), episodes[i].n);
		near[i] = episodes[i].perturbed > 0;
		s->near += episodes[i].perturbed > 0;
		expected += p;
		variance += p * (1 - p);
	}
	double z = ((double)s->near - 0.5 - expected) / sqrt(fmax(variance, 1e-9));
	s->expected = expected;
	s->p = s->near ? 0.5 * erfc(z / sqrt(2)) : 1;
	s->associated = s->p <= level;
}

/* NEAR: what the source accounts for of each episode. */
static void judge(struct runs_source *s, const struct lane *l, const struct runs_episode *episodes,
	size_t n, uint64_t from_ns, uint64_t to_ns, double *near)
{
	double explained = 0, excess = 0;
	for (size_t i = 0; i < n; i++) {
		const struct runs_episode *e = &episodes[i];
		near[i] = account(l, e->from_ns, e->to_ns - e->from_ns, e->excess_ns);
		s->near += near[i] >= half;
		explained += near[i] * (double)e->excess_ns;
		excess += (double)e->excess_ns;
	}
	s->share = l->counted && excess > 0 ? explained / excess : NAN;
	if (n && to_ns > from_ns) {
		size_t step = (n + MOST - 1) / MOST;
		test(s, l, (struct slide){episodes, n, step, from_ns, to_ns - from_ns, 0});
	}
}

static int by_named(const void *a, const void *b)
{
	const struct runs_source *x = a, *y = b;
	if (x->named != y->named) {
		return x->named < y->named ? 1 : -1;
	}
	if (x->near != y->near) {
		return x->near < y->near ? 1 : -1;
	}
	return strcmp(x->name, y->name);
}

/*
 * The source that episode I is put down to: shifting says so and chance puts it there least; else
 * it is associated by its account and accounts for most. -1: none.
 */
static int choose(const struct runs_attribution *a, double *const *near, size_t i)
{
	int best = -1, most = -1;
	double least = INFINITY;
	for (size_t k = 0; k < a->nsource; k++) {
		const struct runs_source *s = &a->source[k];
		if (!s->associated || near[k][i] < half) {
			continue;
		}
		double chance = (s->expected + 0.5) / (double)a->episodes;
		if (s->p <= level && chance < least) {
			least = chance;
			best = (int)k;
		}
		if (s->p > level && (most < 0 || near[k][i] > near[most][i])) {
			most = (int)k;
		}
	}
	return best >= 0 ? best : most;
}

/* Most named first; OF keeps pointing at the same sources. */
static void sort(struct runs_attribution *a)
{
	struct runs_source old[RUNS_SOURCES_MAX];
	int moved[RUNS_SOURCES_MAX] = {0};
	memcpy(old, a->source, sizeof(old));
	sort_array(a->source, a->nsource, sizeof(*a->source), by_named);
	for (size_t i = 0; i < a->nsource; i++) {
		for (size_t k = 0; k < a->nsource; k++) {
			if (!strcmp(old[i].name, a->source[k].name)) {
				moved[i] = (int)k;
			}
		}
	}
	for (size_t i = 0; i < a->episodes; i++) {
		a->of[i] = a->of[i] < 0 ? -1 : moved[a->of[i]];
	}
}

void runs_attribute(const struct runs_episode *episodes, size_t n, const struct runs_event *events,
	size_t m, uint64_t from_ns, uint64_t to_ns, double perturbed, struct runs_attribution *ret)
{
	struct runs_attribution a = {.episodes = n, .of = xcalloc(n, sizeof(*a.of))};
	for (size_t i = 0; i < m; i++) {
		size_t k = find(&a, events[i].source);
		if (k < RUNS_SOURCES_MAX) {
			a.source[k].events++;
		}
	}
	size_t reading = perturbed > 0 ? find(&a, "reading") : RUNS_SOURCES_MAX;
	double *near[RUNS_SOURCES_MAX] = {NULL};
	for (size_t k = 0; k < a.nsource; k++) {
		near[k] = xcalloc(n, sizeof(*near[k]));
		if (k == reading) {
			test_readings(&a.source[k], episodes, n, perturbed, near[k]);
			continue;
		}
		struct lane l = {0};
		lane_fill(&l, events, m, a.source[k].name, episodes, n);
		judge(&a.source[k], &l, episodes, n, from_ns, to_ns, near[k]);
		free(l.event);
		free(l.excess);
	}
	for (size_t i = 0; i < n; i++) {
		a.of[i] = choose(&a, near, i);
		a.excess_ns += episodes[i].excess_ns;
		a.part[MIN(episodes[i].part, (uint8_t)(RUNS_PARTS - 1))]++;
		if (a.of[i] < 0) {
			a.unexplained++;
		} else {
			a.source[a.of[i]].named++;
		}
	}
	for (size_t k = 0; k < a.nsource; k++) {
		free(near[k]);
	}
	sort(&a);
	*ret = a;
}

void runs_attribution_finish(struct runs_attribution *a)
{
	free(a->of);
	*a = (struct runs_attribution){0};
}

int runs_attribute_load(struct runs_store *s, const struct runs_info *run,
	struct runs_attribution *ret, struct why *why)
{
	const size_t most = 100000;
	_cleanup_free_ struct runs_episode *episodes = NULL;
	_cleanup_free_ struct runs_event *events = NULL;
	struct runs_totals t;
	size_t n, m, k = 0;
	int r = runs_info_episodes(s, run->id, most, &episodes, &n, why);
	if (!r) {
		r = runs_info_events(s, run->id, most, &events, &m, why);
	}
	if (!r) {
		r = runs_info_totals(s, run->id, &t, why);
	}
	if (r) {
		return r;
	}
	for (size_t i = 0; i < m; i++) {
		if (runs_is_cause(events[i].source)) {
			events[k++] = events[i];
		}
	}
	uint64_t second = 1000000000;
	double perturbed = t.samples ? (double)t.perturbed / (double)t.samples : 0;
	runs_attribute(episodes, n, events, k, run->start_ns,
		run->start_ns + ((uint64_t)t.last + 1) * second, perturbed, ret);
	return 0;
}
