/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is what is timed right? */
#include <stdio.h>

#include "stress/tune_parts.h"

static void take(struct stress_tune_row *r, const struct stress_gpu_check *found)
{
	r->error = found->error;
	r->error_absolute = found->error_absolute;
	r->error_relative = found->error_relative;
	r->error_limit = found->limit;
	r->hash = found->hash;
	r->outputs = found->outputs;
	r->over = found->over;
	r->same = found->same;
}

/* The library stamps nothing: what it leaves in memory is compared, for every copy. */
static int check_library(struct tune *t, struct tune_candidate *c, struct why *why)
{
	const uint32_t act = c->row.fused ? TUNE_ACT : GEMM_CUDA_ACT_NONE;
	const struct cuda_api *api = &t->gpu->dev->api;
	struct stress_gpu_check found;
	bool same = true;
	int r = 0;

	for (uint32_t copy = t->gpu->copies; r == 0 && copy-- > 0;) {
		CUresult e =
			api->MemsetD8Async(t->gpu->y, 0xff, t->gpu->y_bytes, t->gpu->dev->stream);
		uint64_t hash = 0;

		e = e ? e : tune_launch(t, c, copy);
		if (e != CUDA_SUCCESS) {
			snprintf(c->row.refused, sizeof(c->row.refused), "does not run");
			return 0;
		}
		r = stress_gpu_hash(t->gpu, &hash, why);
		same &= r == 0 && (copy + 1 == t->gpu->copies || hash == c->row.hash);
		c->row.hash = hash;
	}
	r = r ? r : stress_gpu_compare(t->gpu, act, c->row.fused, t->o->check_terms, &found, why);
	if (r == 0) {
		found.same = same;
		take(&c->row, &found);
	}
	return r;
}

int tune_check(struct tune *t, struct tune_candidate *c, struct why *why)
{
	const uint32_t act = c->row.fused ? TUNE_ACT : GEMM_CUDA_ACT_NONE;
	struct stress_gpu_check found;

	if (c->row.kind == STRESS_TUNE_READ || *c->row.refused) {
		return 0;
	}
	if (c->row.kind == STRESS_TUNE_LIBRARY) {
		return t->o->brief ? 0 : check_library(t, c, why);
	}
	if (*c->row.view) {
		return tune_check_misaligned(t, c, why);
	}
	const int r = stress_gpu_check(
		t->gpu, &c->kernel, act, c->row.fused, t->o->check_terms, &found, why);

	if (r == 0) {
		take(&c->row, &found);
	}
	return r;
}

static int check_more(
	struct tune *t, struct tune_candidate *c, enum stress_tune_check what, struct why *why)
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
int tune_check_thoroughly(struct tune *t, struct why *why)
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

int tune_check_graph(struct tune *t, struct tune_candidate *c, struct why *why)
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
