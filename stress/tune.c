/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/tune.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/sort.h"
#include "base/text.h"
#include "stress/tune_parts.h"

enum { LAUNCHES_LEAST = 20, ROUNDS_LEAST = 5, P99_LEAST = 100 };

static const uint64_t warm_ns = 300000000;
static const float hopeless = 3; /* times the fastest: a few rounds are enough */

/* A graph of launches over all copies in turn, a whole number of times. */
static int make_graph(struct tune *t, struct tune_candidate *c, struct why *why)
{
	const struct cuda_api *api = &t->gpu->dev->api;
	CUgraph graph = NULL;
	CUresult e = api->StreamBeginCapture(t->gpu->dev->stream, CUDA_CAPTURE_THREAD_LOCAL);
	CUresult launched = e;

	for (uint32_t i = 0; launched == CUDA_SUCCESS && i < t->launches; i++) {
		launched = tune_launch(t, c, i % t->gpu->copies);
	}
	if (e == CUDA_SUCCESS) {
		e = api->StreamEndCapture(t->gpu->dev->stream, &graph);
	}
	e = launched != CUDA_SUCCESS ? launched : e;
	if (e == CUDA_SUCCESS) {
		e = api->GraphInstantiateWithFlags(&c->graph, graph, 0);
	}
	if (graph) {
		api->GraphDestroy(graph);
	}
	/* Dependent launches in graphs came with CUDA 12.3. */
	if (e != CUDA_SUCCESS && (c->row.kind == STRESS_TUNE_LIBRARY || c->row.dependent)) {
		snprintf(c->row.refused, sizeof(c->row.refused), "cannot be captured in a graph");
		c->graph = NULL;
		return 0;
	}
	c->ms = xcalloc(t->o->rounds, sizeof(*c->ms));
	return e == CUDA_SUCCESS ? 0 : cuda_fail(api, e, why, "making a graph of %s", c->row.name);
}

static int time_one(
	struct tune *t, struct tune_candidate *c, CUevent from, CUevent to, struct why *why)
{
	const struct cuda_api *api = &t->gpu->dev->api;
	CUstream s = t->gpu->dev->stream;
	CUresult e = api->EventRecord(from, s);

	e = e ? e : api->GraphLaunch(c->graph, s);
	e = e ? e : api->EventRecord(to, s);
	e = e ? e : api->StreamSynchronize(s);
	e = e ? e : api->EventElapsedTime(&c->ms[c->row.rounds], from, to);
	if (e != CUDA_SUCCESS) {
		return cuda_fail(api, e, why, "launching %s", c->row.name);
	}
	c->row.rounds++;
	return 0;
}

/* After a few rounds: what is far behind the fastest need not be timed as often. */
static void drop_hopeless(struct tune *t)
{
	float best = INFINITY;

	for (size_t i = 0; i < t->n; i++) {
		const struct tune_candidate *c = &t->c[i];

		for (uint32_t k = 0; c->graph && k < c->row.rounds; k++) {
			best = c->ms[k] < best ? c->ms[k] : best;
		}
	}
	for (size_t i = 0; i < t->n; i++) {
		struct tune_candidate *c = &t->c[i];

		c->through |=
			c->graph && c->row.rounds > 0 && c->ms[c->row.rounds - 1] > best * hopeless;
	}
}

static int warm_up(struct tune *t, CUevent from, CUevent to, struct why *why)
{
	int r = 0;

	for (const uint64_t until = clock_ns() + warm_ns; r == 0 && clock_ns() < until;) {
		for (size_t i = 0; r == 0 && i < t->n; i++) {
			if (t->c[i].graph && !t->c[i].through) {
				r = time_one(t, &t->c[i], from, to, why);
				t->c[i].row.rounds = 0;
			}
		}
	}
	return r;
}

/* Round by round, each from another start, so that a slow second hits all alike. */
static int time_all(struct tune *t, uint32_t rounds, bool warm, struct why *why)
{
	const struct cuda_api *api = &t->gpu->dev->api;
	CUevent from = NULL, to = NULL;
	CUresult e = api->EventCreate(&from, CUDA_EVENT_DEFAULT);

	e = e ? e : api->EventCreate(&to, CUDA_EVENT_DEFAULT);
	int r = e == CUDA_SUCCESS ? 0 : cuda_fail(api, e, why, "making events");

	if (r == 0 && !warm) {
		r = warm_up(t, from, to, why);
	}

	for (uint32_t round = 0; r == 0 && round < rounds; round++) {
		for (size_t i = 0; r == 0 && i < t->n; i++) {
			struct tune_candidate *c = &t->c[(i + round * 7) % t->n];

			r = c->graph && !c->through ? time_one(t, c, from, to, why) : 0;
		}
		if (r == 0 && round + 1 == ROUNDS_LEAST) {
			drop_hopeless(t);
		}
	}
	if (from) {
		api->EventDestroy(from);
	}
	if (to) {
		api->EventDestroy(to);
	}
	return r;
}

static int by_value(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

static void summarise(const struct tune *t, struct tune_candidate *c)
{
	const uint32_t n = c->row.rounds;

	if (n == 0) {
		return;
	}
	sort_array(c->ms, n, sizeof(*c->ms), by_value);
	const double p50 = c->ms[n / 2], p5 = c->ms[n / 20], p95 = c->ms[n - 1 - n / 20];

	c->row.measured = true;
	c->row.p50_ns = p50 * 1e6 / t->launches;
	c->row.band = p50 > 0 ? (p95 - p5) / 2 / p50 : 0;
	c->row.p99_ns = n >= P99_LEAST ? (double)c->ms[n - 1 - n / 100] * 1e6 / t->launches : 0;
}

/* The fastest right one of a kind that begins in the same way; NULL: none. */
static struct tune_candidate *best(
	struct tune *t, enum stress_tune_kind kind, bool dependent, bool x_ready)
{
	struct tune_candidate *b = NULL;

	for (size_t i = 0; i < t->n; i++) {
		struct tune_candidate *c = &t->c[i];

		if (c->row.kind == kind && c->row.measured && !c->row.wrong && !c->row.fused &&
			!c->row.stamped && c->row.dependent == dependent &&
			c->row.x_ready == x_ready &&
			(kind == STRESS_TUNE_READ || (c->row.same && !c->row.over)) &&
			(!b || c->row.p50_ns < b->row.p50_ns)) {
			b = c;
		}
	}
	return b;
}

/* What is timed once more, with all rounds: whatever came near the best of its kind. */
static void choose_finalists(struct tune *t)
{
	const double near = 1.1;

	for (size_t i = 0; i < t->n; i++) {
		struct tune_candidate *c = &t->c[i];
		const struct tune_candidate *b =
			best(t, c->row.kind, c->row.dependent, c->row.x_ready);

		c->through = !c->graph ||
			     (!c->row.fused && (!b || c->row.p50_ns > near * b->row.p50_ns));
	}
	for (size_t i = 0; i < t->n; i++) {
		t->c[i].row.rounds = t->c[i].through ? t->c[i].row.rounds : 0;
	}
}

/*
 * The best own kernel with an epilogue, and with stamps and hash: what do these cost? And the best
 * read-only loop with stamps: it has no hash, so that the two are known apart.
 */
static int add_finalists(struct tune *t, struct why *why)
{
	const struct tune_candidate *alone = best(t, STRESS_TUNE_OWN, false, false),
				    *dependent = best(t, STRESS_TUNE_OWN, true, false),
				    *read = best(t, STRESS_TUNE_READ, false, false);
	const size_t from = t->n;
	int r = 0;

	if (alone) {
		tune_add_like(t, alone, true);
		tune_add_like(t, alone, false);
	}
	if (dependent) {
		tune_add_like(t, dependent, true);
	}
	if (read) {
		tune_add_like(t, read, false);
	}
	for (size_t i = from; r == 0 && i < t->n; i++) {
		r = tune_check(t, &t->c[i], why);
		r = r ? r : make_graph(t, &t->c[i], why);
	}
	return r;
}

static int time_in_two_rounds(struct tune *t, struct why *why)
{
	const uint32_t first = MAX(t->o->rounds / 4, MIN(t->o->rounds, (uint32_t)ROUNDS_LEAST));
	int r = time_all(t, first, false, why);

	for (size_t i = 0; r == 0 && i < t->n; i++) {
		summarise(t, &t->c[i]);
	}
	choose_finalists(t);
	r = r ? r : add_finalists(t, why);
	r = r ? r : time_all(t, t->o->rounds, true, why);
	/* The stamps are clean for whoever comes next. */
	return r ? r : stress_gpu_take_stamps(t->gpu, 0, STRESS_GPU_SLOTS, why);
}

static int find_all(struct tune *t, struct stress_tune_facts *f, struct why *why)
{
	const int r = t->o->misaligned ? tune_find_misaligned(t, why) : tune_find_own(t, why);

	if (r == 0 && t->o->misaligned) {
		return 0;
	}
	if (r == 0 && t->n == 0) {
		why_set(why, "no GPU kernel%s%s suits this shape", *t->o->config.kernel ? " " : "",
			t->o->config.kernel);
		return -EINVAL;
	}
	if (r == 0 && t->o->rounds > 0) {
		if (!t->o->no_library) {
			tune_find_library(t, f);
		}
		tune_find_reads(t);
	}
	return r;
}

static int run(struct tune *t, struct stress_tune_sink *sink, struct why *why)
{
	const struct stress_gpu *g = t->gpu;
	struct stress_tune_facts f = {
		.copies = g->copies,
		.bytes = g->w_bytes + g->x_bytes + g->y_bytes,
		.weight_bytes = g->w_bytes,
		.l2 = g->dev->l2,
		.driver = g->dev->api.version,
		.cc = g->dev->limits.cc,
		.sms = g->dev->limits.sms,
		.key = stress_gpu_choice(g),
	};
	int r = find_all(t, &f, why);

	t->launches = g->copies * ((LAUNCHES_LEAST + g->copies - 1) / g->copies);
	f.launches = t->launches;
	snprintf(f.device, sizeof(f.device), "%.64s at %s", g->dev->name, g->dev->address);
	if (r == 0) {
		sink->facts(sink, &f);
	}
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		r = tune_check(t, &t->c[i], why);
		if (r == 0 && sink->output && t->c[i].row.kind == STRESS_TUNE_OWN &&
			t->c[i].row.error >= 0) {
			sink->output(sink, t->c[i].row.name, g->hy, g->y_bytes);
		}
		if (r == 0 && t->o->rounds > 0 && !*t->c[i].row.refused) {
			r = make_graph(t, &t->c[i], why);
		}
	}
	if (r == 0 && t->o->rounds > 0) {
		r = t->o->misaligned || t->o->brief ? time_all(t, t->o->rounds, false, why)
						    : time_in_two_rounds(t, why);
	}
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		r = tune_check_graph(t, &t->c[i], why);
	}
	if (r == 0 && t->o->thorough) {
		r = tune_check_thoroughly(t, why);
	}
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		summarise(t, &t->c[i]);
		sink->row(sink, &t->c[i].row);
	}
	return r;
}

int stress_tune(const struct stress_tune_options *o, struct stress_tune_sink *sink, struct why *why)
{
	struct tune t = {.o = o};
	int r = stress_gpu_open(&o->config, NULL, &t.gpu, why);

	if (r < 0) {
		return r;
	}
	t.c = xcalloc(TUNE_CANDIDATES, sizeof(*t.c));
	r = run(&t, sink, why);
	for (size_t i = 0; i < t.n; i++) {
		if (t.c[i].graph) {
			t.gpu->dev->api.GraphExecDestroy(t.c[i].graph);
		}
		free(t.c[i].ms);
	}
	free(t.c);
	cublaslt_close(t.lt);
	cublaslt_close(t.lt_fused);
	if (t.workspace) {
		t.gpu->dev->api.MemFree(t.workspace);
	}
	stress_gpu_close(t.gpu);
	return r;
}
