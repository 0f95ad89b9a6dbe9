/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What there is to be timed for a shape: own kernels, cuBLASLt's candidates, read-only loops. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "stress/tune_parts.h"

CUresult tune_launch(struct tune *t, const struct tune_candidate *c, uint32_t copy)
{
	struct stress_gpu *g = t->gpu;
	struct gemm_cuda_args a =
		stress_gpu_args(g, copy, c->row.stamped ? (int)copy % STRESS_GPU_SLOTS : -1);
	const struct gemm_cuda_span span = {
		.p = a.w, .bytes = g->w_bytes & ~(size_t)15, .out = g->sink, .stamp = a.stamp};

	if (c->row.fused) {
		a.bias = g->bias;
		a.act = TUNE_ACT;
	}
	if (*c->row.view) {
		tune_misaligned_args(t, c, &a);
	}
	switch (c->row.kind) {
	case STRESS_TUNE_OWN:
		return cuda_dev_launch(g->dev, &c->kernel, &a, g->dev->stream);
	case STRESS_TUNE_LIBRARY:
		return cublaslt_run(c->row.fused ? t->lt_fused : t->lt, &c->algo.algo, a.x, a.w,
			       a.y, a.bias, t->workspace, TUNE_WORKSPACE, g->dev->stream)
			       ? CUDA_ERROR_INVALID_VALUE
			       : CUDA_SUCCESS;
	default:
		return cuda_dev_launch_read(g->dev, c->read, c->function, &span, g->dev->stream);
	}
}

struct tune_candidate *tune_add(struct tune *t, enum stress_tune_kind kind, const char *name)
{
	struct tune_candidate *c = &t->c[t->n++];

	*c = (struct tune_candidate){.row = {.kind = kind, .error = -1}};
	text_copy(c->row.name, sizeof(c->row.name), name);
	return c;
}

void tune_take_kernel(struct tune_candidate *c, const struct cuda_kernel *ready)
{
	c->kernel = *ready;
	c->row.registers = ready->registers;
	c->row.local_bytes = ready->local_bytes;
	c->row.blocks_per_sm = ready->blocks_per_sm;
	c->row.grid = ready->plan.grid_x * ready->plan.grid_y;
	c->row.threads = ready->plan.threads;
	c->row.cluster = ready->plan.cluster;
	c->row.shared = ready->plan.shared;
	c->row.stages = ready->plan.stages;
}

/* Every own kernel that suits; a refused module is a row that says so. */
int tune_find_own(struct tune *t, struct why *why)
{
	const struct stress_config *config = &t->o->config;
	const struct stress_shape *s = &config->shape;
	const enum gemm_dtype type = config->dtype == STRESS_F16 ? GEMM_F16 : GEMM_F32;

	for (const struct gemm_cuda_kernel *k = gemm_cuda_kernels();
		k->name && t->n + 32 < TUNE_CANDIDATES; k++) {
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
		struct tune_candidate *c = tune_add(t, STRESS_TUNE_OWN, k->name);

		c->row.wrong = k->wrong;
		c->row.dependent = k->dependent;
		c->row.x_ready = k->x_ready;
		if (r < 0) {
			text_copy(c->row.refused, sizeof(c->row.refused), why->text);
			continue;
		}
		tune_take_kernel(c, &ready);
	}
	return 0;
}

static struct cublaslt_problem problem(const struct tune *t, bool fused)
{
	const struct stress_shape *s = &t->o->config.shape;

	return (struct cublaslt_problem){
		.m = s->m,
		.n = s->n,
		.k = s->k,
		.ldx = s->k,
		.ldw = s->k,
		.ldy = s->n,
		.f32 = t->o->config.dtype == STRESS_F32,
		.act = fused ? TUNE_ACT : GEMM_CUDA_ACT_NONE,
		.bias = fused,
		.align = t->gpu->vec ? 16 : 2,
		.workspace = TUNE_WORKSPACE,
	};
}

/* What an algorithm found here and now would hold for. */
static struct stress_library_choice library_key(
	const struct tune *t, const struct cublaslt *lt, const struct cublaslt_problem *p)
{
	struct stress_library_choice key = {
		.device = stress_gpu_choice(t->gpu).device,
		.version = cublaslt_version(lt),
		.m = p->m,
		.k = p->k,
		.n = p->n,
		.ldx = p->ldx,
		.ldw = p->ldw,
		.ldy = p->ldy,
		.f32 = p->f32,
		.bias = p->bias,
		.act = p->act,
		.align = p->align,
		.reductions = CUBLASLT_REDUCTIONS,
		.workspace = p->workspace,
	};

	text_copy(key.build_id, sizeof(key.build_id), cublaslt_build_id(lt));
	return key;
}

/*
 * The algorithm of an earlier search, when it was made for exactly this and the library still
 * takes it; that it computes right is checked as for every row.
 */
static void add_cached(struct tune *t, struct stress_tune_facts *facts, size_t first)
{
	for (size_t i = 0; i < t->o->cached_n; i++) {
		const struct stress_library_choice *c = &t->o->cached[i];
		struct cublaslt_algo algo;
		size_t workspace = 0;

		if (!stress_library_choice_fits(c, &facts->library_key)) {
			continue;
		}
		memcpy(algo.data, c->algo, sizeof(algo.data));
		if (!cublaslt_check(t->lt, &algo, &workspace)) {
			snprintf(facts->cache_note, sizeof(facts->cache_note),
				"cuBLASLt does not take the cached algorithm any more");
			return;
		}
		for (size_t k = first; k < t->n; k++) {
			if (!memcmp(&t->c[k].algo.algo, &algo, sizeof(algo))) {
				t->c[k].row.cached = true;
				return;
			}
		}
		struct tune_candidate *a = tune_add(t, STRESS_TUNE_LIBRARY, "cublaslt cached");

		a->row.cached = true;
		memcpy(a->row.algo, algo.data, sizeof(a->row.algo));
		a->algo = (struct cublaslt_candidate){.algo = algo, .workspace = workspace};
		return;
	}
}

/* The heuristic's candidates, in its order. */
static int add_candidates(struct tune *t, struct cublaslt *lt, bool fused, struct why *why)
{
	const struct cublaslt_problem p = problem(t, fused);
	struct cublaslt_candidate found[TUNE_LIBRARY];
	int n = cublaslt_set(lt, &p, why);

	n = n ? n : cublaslt_candidates(lt, found, TUNE_LIBRARY, why);
	for (int i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "cublaslt%s #%d", fused ? " fused" : "", i + 1);
		struct tune_candidate *c = tune_add(t, STRESS_TUNE_LIBRARY, name);

		c->row.fused = fused;
		c->algo = found[i];
		memcpy(c->row.algo, found[i].algo.data, sizeof(c->row.algo));
	}
	return n;
}

void tune_find_library(struct tune *t, struct stress_tune_facts *facts)
{
	const struct cublaslt_problem p = problem(t, false);
	const size_t first = t->n;
	struct why why = {""};
	int n = cublaslt_open(t->o->library, &t->lt, &why);

	if (n == 0 && t->gpu->dev->api.MemAlloc(&t->workspace, TUNE_WORKSPACE) != CUDA_SUCCESS) {
		t->workspace = 0;
		why_set(&why, "no memory for cuBLASLt's workspace");
		n = -ENOMEM;
	}
	n = n ? n : add_candidates(t, t->lt, false, &why);
	if (n < 0) {
		text_copy(facts->library_why, sizeof(facts->library_why), why.text);
		return;
	}
	text_copy(facts->library, sizeof(facts->library), cublaslt_path(t->lt));
	facts->library_version = cublaslt_version(t->lt);
	facts->library_key = library_key(t, t->lt, &p);
	add_cached(t, facts, first);
	if (!t->o->brief && cublaslt_open(t->o->library, &t->lt_fused, &why) == 0) {
		/* Without candidates there are no such rows. */
		add_candidates(t, t->lt_fused, true, &why);
	}
}

void tune_find_reads(struct tune *t)
{
	struct cuda_dev *d = t->gpu->dev;

	for (const struct gemm_cuda_read *r = gemm_cuda_reads(); r->name; r++) {
		CUfunction f;
		struct why why;

		if (cuda_dev_read(d, r, &f, &why) < 0) {
			continue;
		}
		struct tune_candidate *c = tune_add(t, STRESS_TUNE_READ, r->name);

		c->read = r;
		c->row.dependent = r->dependent;
		c->function = f;
	}
}

void tune_add_like(struct tune *t, const struct tune_candidate *like, bool fused)
{
	char name[40];

	snprintf(name, sizeof(name), "%.28s %s", like->row.name, fused ? "fused" : "stamped");
	struct tune_candidate *c = tune_add(t, like->row.kind, name);
	const struct stress_tune_row new = c->row;

	*c = *like;
	c->row.fused = fused;
	c->row.stamped = !fused;
	c->row.rounds = 0;
	memcpy(c->row.name, new.name, sizeof(new.name));
	c->graph = NULL;
	c->ms = NULL;
	c->through = false;
}
