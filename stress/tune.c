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
#include "stress/cublaslt.h"
#include "stress/gpu.h"

enum {
	CANDIDATES = 96,
	LIBRARY_CANDIDATES = 8,
	LAUNCHES_LEAST = 20,
	ROUNDS_LEAST = 5,
	WORKSPACE = 32 << 20,
};

static const uint64_t warm_ns = 300000000;
static const float hopeless = 3; /* times the fastest: a few rounds are enough */

struct candidate {
	struct stress_tune_row row;
	struct cuda_kernel kernel;      /* OWN */
	struct cublaslt_candidate algo; /* LIBRARY */
	const struct gemm_cuda_read *read;
	CUfunction function; /* READ */
	CUgraphExec graph;
	float *ms;    /* one a round, of the whole graph */
	bool through; /* timed often enough */
};

struct tune {
	const struct stress_tune_options *o;
	struct stress_gpu *gpu;
	struct cublaslt *lt;
	CUdeviceptr workspace;
	uint32_t launches;
	struct candidate *c;
	size_t n;
};

static CUresult launch(struct tune *t, const struct candidate *c, uint32_t copy)
{
	struct stress_gpu *g = t->gpu;
	const struct gemm_cuda_args a = stress_gpu_args(g, copy, -1);
	const struct gemm_cuda_span span = {
		.p = a.w, .bytes = g->w_bytes & ~(size_t)15, .out = g->sink};

	switch (c->row.kind) {
	case STRESS_TUNE_OWN:
		return cuda_dev_launch(g->dev, &c->kernel, &a, g->dev->stream);
	case STRESS_TUNE_LIBRARY:
		return cublaslt_run(t->lt, &c->algo.algo, a.x, a.w, a.y, 0, t->workspace, WORKSPACE,
			       g->dev->stream)
			       ? CUDA_ERROR_INVALID_VALUE
			       : CUDA_SUCCESS;
	default:
		return cuda_dev_launch_read(g->dev, c->read, c->function, &span, g->dev->stream);
	}
}

static struct candidate *add(struct tune *t, enum stress_tune_kind kind, const char *name)
{
	struct candidate *c = &t->c[t->n++];

	*c = (struct candidate){.row = {.kind = kind, .error = -1}};
	text_copy(c->row.name, sizeof(c->row.name), name);
	return c;
}

/* Every own kernel that suits; a refused module is a row that says so. */
static int find_own(struct tune *t, struct why *why)
{
	const struct stress_config *config = &t->o->config;
	const struct stress_shape *s = &config->shape;
	const enum gemm_dtype type = config->dtype == STRESS_F16 ? GEMM_F16 : GEMM_F32;

	for (const struct gemm_cuda_kernel *k = gemm_cuda_kernels();
		k->name && t->n + 16 < CANDIDATES; k++) {
		struct cuda_kernel ready;

		if (k->dtype != type || (*config->kernel && strcmp(config->kernel, k->name))) {
			continue;
		}
		const int r =
			cuda_dev_kernel(t->gpu->dev, k, s->m, s->n, s->k, t->gpu->vec, &ready, why);

		if (r == -EOPNOTSUPP) {
			continue;
		}
		if (r < 0 && r != -ENOEXEC) {
			return r;
		}
		struct candidate *c = add(t, STRESS_TUNE_OWN, k->name);

		c->row.wrong = k->wrong;
		c->row.dependent = k->dependent;
		if (r < 0) {
			text_copy(c->row.refused, sizeof(c->row.refused), why->text);
			continue;
		}
		c->kernel = ready;
		c->row.registers = ready.registers;
		c->row.local_bytes = ready.local_bytes;
		c->row.blocks_per_sm = ready.blocks_per_sm;
		c->row.grid = ready.plan.grid_x * ready.plan.grid_y;
		c->row.threads = ready.plan.threads;
		c->row.cluster = ready.plan.cluster;
		c->row.shared = ready.plan.shared;
		c->row.stages = ready.plan.stages;
	}
	return 0;
}

static void find_library(struct tune *t, struct stress_tune_facts *facts)
{
	const struct stress_shape *s = &t->o->config.shape;
	struct cublaslt_candidate found[LIBRARY_CANDIDATES];
	const struct cublaslt_problem p = {
		.m = s->m,
		.n = s->n,
		.k = s->k,
		.ldx = s->k,
		.ldw = s->k,
		.ldy = s->n,
		.f32 = t->o->config.dtype == STRESS_F32,
		.align = t->gpu->vec ? 16 : 2,
		.workspace = WORKSPACE,
	};
	struct why why = {""};
	int n = cublaslt_open(t->o->library, &t->lt, &why);

	if (n == 0 && t->gpu->dev->api.MemAlloc(&t->workspace, WORKSPACE) != CUDA_SUCCESS) {
		why_set(&why, "no memory for cuBLASLt's workspace");
		n = -ENOMEM;
	}
	n = n ? n : cublaslt_set(t->lt, &p, &why);
	n = n ? n : cublaslt_candidates(t->lt, found, LIBRARY_CANDIDATES, &why);
	if (n < 0) {
		text_copy(facts->library_why, sizeof(facts->library_why), why.text);
		return;
	}
	text_copy(facts->library, sizeof(facts->library), cublaslt_path(t->lt));
	facts->library_version = cublaslt_version(t->lt);
	for (int i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "cublaslt #%d", i + 1);
		add(t, STRESS_TUNE_LIBRARY, name)->algo = found[i];
	}
}

static void find_reads(struct tune *t)
{
	struct cuda_dev *d = t->gpu->dev;

	for (const struct gemm_cuda_read *r = gemm_cuda_reads(); r->name; r++) {
		CUfunction f;
		struct why why;

		if (cuda_dev_read(d, r, &f, &why) < 0) {
			continue;
		}
		struct candidate *c = add(t, STRESS_TUNE_READ, r->name);

		c->read = r;
		c->row.dependent = r->dependent;
		c->function = f;
	}
}

static int check(struct tune *t, struct candidate *c, struct why *why)
{
	struct stress_gpu_check found;

	if (c->row.kind != STRESS_TUNE_OWN || *c->row.refused) {
		return 0;
	}
	const int r = stress_gpu_check(
		t->gpu, &c->kernel, GEMM_CUDA_ACT_NONE, false, t->o->check_terms, &found, why);

	if (r == 0) {
		c->row.error = found.error;
		c->row.error_absolute = found.error_absolute;
		c->row.error_relative = found.error_relative;
		c->row.error_limit = found.limit;
		c->row.hash = found.hash;
		c->row.outputs = found.outputs;
		c->row.over = found.over;
		c->row.same = found.same;
	}
	return r;
}

static int check_more(
	struct tune *t, struct candidate *c, enum stress_tune_check what, struct why *why)
{
	static const uint32_t acts[] = {
		[STRESS_TUNE_RELU] = GEMM_CUDA_ACT_RELU,
		[STRESS_TUNE_GELU] = GEMM_CUDA_ACT_GELU,
		[STRESS_TUNE_POSITIVE] = GEMM_CUDA_ACT_NONE,
	};
	struct stress_gpu_check found;

	if (c->row.kind != STRESS_TUNE_OWN || *c->row.refused) {
		return 0;
	}
	const int r = stress_gpu_check(t->gpu, &c->kernel, acts[what], what != STRESS_TUNE_POSITIVE,
		t->o->check_terms, &found, why);

	if (r == 0) {
		c->row.more[what] = (struct stress_tune_error){
			.checked = true,
			.same = found.same,
			.outputs = found.outputs,
			.over = found.over,
			.error = found.error,
			.error_limit = found.limit,
			.error_absolute = found.error_absolute,
			.error_relative = found.error_relative,
		};
	}
	return r;
}

/* The epilogues first: the signs do not come back. */
static int check_thoroughly(struct tune *t, struct why *why)
{
	int r = 0;

	for (unsigned what = 0; r == 0 && what < STRESS_TUNE_CHECKS; what++) {
		if (what == STRESS_TUNE_POSITIVE) {
			r = stress_gpu_make_positive(t->gpu, why);
		}
		for (size_t i = 0; r == 0 && i < t->n; i++) {
			r = check_more(t, &t->c[i], what, why);
		}
	}
	return r;
}

/* A graph of launches over all copies in turn, a whole number of times. */
static int make_graph(struct tune *t, struct candidate *c, struct why *why)
{
	const struct cuda_api *api = &t->gpu->dev->api;
	CUgraph graph = NULL;
	CUresult e = api->StreamBeginCapture(t->gpu->dev->stream, CUDA_CAPTURE_THREAD_LOCAL);
	CUresult launched = e;

	for (uint32_t i = 0; launched == CUDA_SUCCESS && i < t->launches; i++) {
		launched = launch(t, c, i % t->gpu->copies);
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

static int time_one(struct tune *t, struct candidate *c, CUevent from, CUevent to, struct why *why)
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
		const struct candidate *c = &t->c[i];

		for (uint32_t k = 0; c->graph && k < c->row.rounds; k++) {
			best = c->ms[k] < best ? c->ms[k] : best;
		}
	}
	for (size_t i = 0; i < t->n; i++) {
		struct candidate *c = &t->c[i];

		c->through = c->graph && c->ms[c->row.rounds - 1] > best * hopeless;
	}
}

/* Round by round, each from another start, so that a slow second hits all alike. */
static int time_all(struct tune *t, struct why *why)
{
	const struct cuda_api *api = &t->gpu->dev->api;
	CUevent from = NULL, to = NULL;
	CUresult e = api->EventCreate(&from, CUDA_EVENT_DEFAULT);
	int r = 0;

	e = e ? e : api->EventCreate(&to, CUDA_EVENT_DEFAULT);
	if (e != CUDA_SUCCESS) {
		r = cuda_fail(api, e, why, "making events");
	}
	for (const uint64_t until = clock_ns() + warm_ns; r == 0 && clock_ns() < until;) {
		for (size_t i = 0; r == 0 && i < t->n; i++) {
			if (t->c[i].graph) {
				r = time_one(t, &t->c[i], from, to, why);
				t->c[i].row.rounds = 0;
			}
		}
	}
	for (uint32_t round = 0; r == 0 && round < t->o->rounds; round++) {
		for (size_t i = 0; r == 0 && i < t->n; i++) {
			struct candidate *c = &t->c[(i + round * 7) % t->n];

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

/*
 * The last launch of a graph must have left what a launch alone did: with dependent launch the
 * one after it begins before it has ended.
 */
static int check_graph(struct tune *t, struct candidate *c, struct why *why)
{
	struct stress_gpu *g = t->gpu;
	const struct cuda_api *api = &g->dev->api;
	uint64_t hash = 0;

	if (c->row.kind != STRESS_TUNE_OWN || !c->graph) {
		return 0;
	}
	CUresult e = api->MemsetD8Async(g->y, 0xff, g->y_bytes, g->dev->stream);

	e = e ? e : api->GraphLaunch(c->graph, g->dev->stream);
	if (e != CUDA_SUCCESS) {
		return cuda_fail(api, e, why, "launching %s", c->row.name);
	}
	const int r = stress_gpu_hash(g, &hash, why);

	c->row.same &= r == 0 && hash == c->row.hash;
	return r;
}

static int by_value(const void *a, const void *b)
{
	const float x = *(const float *)a, y = *(const float *)b;

	return x < y ? -1 : x > y;
}

static void summarise(const struct tune *t, struct candidate *c)
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
	};
	int r = find_own(t, why);

	if (r == 0 && t->n == 0) {
		why_set(why, "no GPU kernel%s%s suits this shape", *t->o->config.kernel ? " " : "",
			t->o->config.kernel);
		return -EINVAL;
	}
	if (r == 0 && t->o->rounds > 0) {
		if (!t->o->no_library) {
			find_library(t, &f);
		}
		find_reads(t);
	}
	t->launches = g->copies * ((LAUNCHES_LEAST + g->copies - 1) / g->copies);
	f.launches = t->launches;
	snprintf(f.device, sizeof(f.device), "%.64s at %s", g->dev->name, g->dev->address);
	sink->facts(sink, &f);
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		r = check(t, &t->c[i], why);
		if (r == 0 && sink->output && t->c[i].row.error >= 0) {
			sink->output(sink, t->c[i].row.name, g->hy, g->y_bytes);
		}
		if (r == 0 && t->o->rounds > 0 && !*t->c[i].row.refused) {
			r = make_graph(t, &t->c[i], why);
		}
	}
	if (r == 0 && t->o->rounds > 0) {
		r = time_all(t, why);
	}
	if (r == 0 && t->o->thorough) {
		r = check_thoroughly(t, why);
	}
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		r = check_graph(t, &t->c[i], why);
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
	t.c = xcalloc(CANDIDATES, sizeof(*t.c));
	r = run(&t, sink, why);
	for (size_t i = 0; i < t.n; i++) {
		if (t.c[i].graph) {
			t.gpu->dev->api.GraphExecDestroy(t.c[i].graph);
		}
		free(t.c[i].ms);
	}
	free(t.c);
	cublaslt_close(t.lt);
	if (t.workspace) {
		t.gpu->dev->api.MemFree(t.workspace);
	}
	stress_gpu_close(t.gpu);
	return r;
}
