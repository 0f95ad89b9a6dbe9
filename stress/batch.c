/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/batch.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/macros.h"

enum { GRAPHS_MAX = 64 }; /* more than STRESS_GPU_COPIES_MAX / STRESS_GPU_SLOTS */

struct graph {
	CUgraphExec exec;
	unsigned n;
	uint32_t copy; /* the first launch's */
};

struct stress_batch {
	struct stress_gpu *gpu;
	struct stress_chain *chain;
	struct cuda_kernel kernel;
	enum stress_mode mode;
	uint32_t next_copy;
	unsigned graphs, next_graph;
	struct graph graph[GRAPHS_MAX];
};

static CUresult launch_one(struct stress_batch *b, uint32_t copy, unsigned slot)
{
	if (b->chain) {
		return stress_chain_launch(b->chain, (int)slot);
	}
	const struct gemm_cuda_args a = stress_gpu_args(b->gpu, copy, (int)slot);

	return cuda_dev_launch(b->gpu->dev, &b->kernel, &a, b->gpu->dev->stream);
}

static int make_graph(struct stress_batch *b, uint32_t copy, unsigned n, struct why *why)
{
	const struct cuda_api *api = &b->gpu->dev->api;
	CUgraph graph = NULL;
	CUgraphExec exec = NULL;
	CUresult e = api->StreamBeginCapture(b->gpu->dev->stream, CUDA_CAPTURE_THREAD_LOCAL);
	CUresult launched = e;

	for (unsigned i = 0; launched == CUDA_SUCCESS && i < n; i++) {
		launched = launch_one(b, (copy + i) % b->gpu->copies, i);
	}
	if (e == CUDA_SUCCESS) {
		e = api->StreamEndCapture(b->gpu->dev->stream, &graph);
	}
	e = launched != CUDA_SUCCESS ? launched : e;
	e = e ? e : api->GraphInstantiateWithFlags(&exec, graph, 0);
	if (graph) {
		api->GraphDestroy(graph);
	}
	if (e != CUDA_SUCCESS) {
		return cuda_fail(api, e, why, "making a graph of %u launches", n);
	}
	b->graph[b->graphs++] = (struct graph){.exec = exec, .n = n, .copy = copy};
	return 0;
}

static int make_graphs(struct stress_batch *b, struct why *why)
{
	const uint32_t copies = b->gpu->copies;
	int r = 0;

	for (unsigned i = 0; b->chain && i < MIN(stress_chain_turns(b->chain), GRAPHS_MAX); i++) {
		r = make_graph(b, 0, 1, why);
		if (r < 0) {
			return r;
		}
	}
	if (b->chain) {
		return 0;
	}
	if (copies <= STRESS_GPU_SLOTS) {
		return make_graph(b, 0, copies * MAX(STRESS_BATCH_GEMMS / copies, 1u), why);
	}
	const uint32_t graphs = (copies + STRESS_GPU_SLOTS - 1) / STRESS_GPU_SLOTS;

	for (uint32_t i = 0; r == 0 && i < graphs; i++) {
		const uint32_t from = copies * i / graphs, to = copies * (i + 1) / graphs;

		r = make_graph(b, from, to - from, why);
	}
	return r;
}

int stress_batch_open(struct stress_gpu *g, const struct cuda_kernel *k, struct stress_chain *chain,
	enum stress_mode mode, struct stress_batch **ret, struct why *why)
{
	struct stress_batch *b = xcalloc(1, sizeof(*b));

	b->gpu = g;
	b->chain = chain;
	b->kernel = *k;
	b->mode = mode;
	const int r = mode == STRESS_GRAPH ? make_graphs(b, why) : 0;

	if (r < 0) {
		stress_batch_close(b);
		return r;
	}
	*ret = b;
	return 0;
}

void stress_batch_close(struct stress_batch *b)
{
	for (unsigned i = 0; b && i < b->graphs; i++) {
		b->gpu->dev->api.GraphExecDestroy(b->graph[i].exec);
	}
	free(b);
}

static CUresult submit_queued(
	struct stress_batch *b, unsigned max, unsigned *ret_n, uint32_t *ret_copy)
{
	const unsigned want = b->chain ? STRESS_BATCH_TOKENS : STRESS_BATCH_GEMMS;
	CUresult e = CUDA_SUCCESS;

	*ret_n = MIN(max, want);
	*ret_copy = b->next_copy;
	for (unsigned i = 0; e == CUDA_SUCCESS && i < *ret_n; i++) {
		e = launch_one(b, b->next_copy, i);
		b->next_copy = (b->next_copy + 1) % b->gpu->copies;
	}
	return e;
}

CUresult stress_batch_submit(
	struct stress_batch *b, unsigned max, unsigned *ret_n, uint32_t *ret_copy)
{
	if (b->mode == STRESS_QUEUED) {
		return submit_queued(b, max, ret_n, ret_copy);
	}
	const struct graph *g = &b->graph[b->next_graph];

	if (g->n > max) {
		return CUDA_ERROR_INVALID_VALUE;
	}
	b->next_graph = (b->next_graph + 1) % b->graphs;
	*ret_n = g->n;
	*ret_copy = g->copy;
	return b->gpu->dev->api.GraphLaunch(g->exec, b->gpu->dev->stream);
}
