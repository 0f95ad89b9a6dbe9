/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fake's launches, streams, events and graphs: when a kernel runs, and what becomes of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "tests/fakes/fakecuda.h"
#include "tests/fakes/gpu_lock.h"

struct cuda_event {
	uint64_t ns;
};

static CUresult launch(CUfunction f, void **params)
{
	struct launch l = {.name = ""};

	snprintf(l.name, sizeof(l.name), "%s", f->name);
	if (fake_takes_span(l.name)) {
		memcpy(&l.args.span, params[0], sizeof(l.args.span));
	} else {
		memcpy(&l.args.gemm, params[0], sizeof(l.args.gemm));
	}
	if (fake.capturing) {
		if (fake.captured.n == GRAPH_MAX) {
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
		fake.captured.launch[fake.captured.n++] = l;
		return CUDA_SUCCESS;
	}
	fake.launches++;
	if (fake_number("fail", 0) == fake.launches) {
		fake.sticky = CUDA_ERROR_LAUNCH_FAILED;
	}
	if (fake_number("ecc", 0) == fake.launches) {
		fake.sticky = CUDA_ERROR_ECC_UNCORRECTABLE;
	}
	if (fake_number("hang", 0) == fake.launches) {
		fake.hangs = true;
	}
	if (fake.sticky == CUDA_SUCCESS && !fake.hangs) {
		gpu_lock();
		fake_run(&l);
		gpu_unlock();
	}
	return CUDA_SUCCESS; /* as on a GPU, the fault shows later */
}

static CUresult settle(void)
{
	if (fake.pinging) {
		pthread_join(fake.pinger, NULL);
		fake.pinging = false;
	}
	while (fake.hangs) {
		nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
	}
	return fake.sticky;
}

CUresult fake_launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
	unsigned bz, unsigned shared, CUstream s, void **params, void **extra)
{
	(void)gy, (void)gz, (void)by, (void)bz, (void)shared, (void)s, (void)extra;
	if (gx == 0 || bx == 0 || bx > 1024) {
		return CUDA_ERROR_INVALID_VALUE;
	}
	return launch(f, params);
}

CUresult fake_launch_ex(
	const struct cuda_launch_config *c, CUfunction f, void **params, void **extra)
{
	(void)extra;
	for (unsigned i = 0; i < c->attr_count; i++) {
		const struct cuda_launch_attribute *a = &c->attrs[i];

		if (a->id == CUDA_LAUNCH_CLUSTER_DIMENSION && c->grid_x % a->value.cluster.x) {
			return CUDA_ERROR_INVALID_VALUE;
		}
		if (a->id == CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION && fake_order("nodependent")) {
			return CUDA_ERROR_INVALID_VALUE;
		}
	}
	return launch(f, params);
}

/* -- streams and events ------------------------------------------------------------------ */

CUresult fake_stream(CUstream *ret, unsigned flags)
{
	(void)flags;
	*ret = (CUstream)(uintptr_t)0x20;
	return CUDA_SUCCESS;
}

CUresult fake_stream_ok(CUstream s)
{
	(void)s;
	return CUDA_SUCCESS;
}

CUresult fake_synchronize(CUstream s)
{
	(void)s;
	return settle();
}

CUresult fake_context_synchronize(void)
{
	return settle();
}

CUresult fake_query(CUstream s)
{
	(void)s;
	return fake.hangs ? CUDA_ERROR_NOT_READY : settle();
}

CUresult fake_event(CUevent *ret, unsigned flags)
{
	(void)flags;
	*ret = calloc(1, sizeof(**ret));
	return CUDA_SUCCESS;
}

CUresult fake_record(CUevent e, CUstream s)
{
	(void)s;
	e->ns = clock_ns();
	return CUDA_SUCCESS;
}

CUresult fake_event_wait(CUevent e)
{
	(void)e;
	return settle();
}

CUresult fake_elapsed(float *ret, CUevent from, CUevent to)
{
	*ret = (float)(to->ns - from->ns) / 1e6f;
	return CUDA_SUCCESS;
}

CUresult fake_event_destroy(CUevent e)
{
	free(e);
	return CUDA_SUCCESS;
}

/* -- graphs ------------------------------------------------------------------------------ */

CUresult fake_capture(CUstream s, int mode)
{
	(void)s;
	(void)mode;
	fake.captured.launch = calloc(GRAPH_MAX, sizeof(struct launch));
	fake.captured.n = 0;
	fake.capturing = true;
	return CUDA_SUCCESS;
}

CUresult fake_captured(CUstream s, CUgraph *ret)
{
	(void)s;
	fake.capturing = false;
	if (!fake.captured.n) { /* nothing came: what a real one refuses, too */
		free(fake.captured.launch);
		fake.captured.launch = NULL;
	}
	*ret = malloc(sizeof(**ret));
	**ret = fake.captured;
	return CUDA_SUCCESS;
}

CUresult fake_instantiate(CUgraphExec *ret, CUgraph g, uint64_t flags)
{
	struct cuda_graph *copy = malloc(sizeof(*copy));

	(void)flags;
	*copy = *g;
	*ret = (CUgraphExec)copy;
	return CUDA_SUCCESS;
}

CUresult fake_graph_launch(CUgraphExec g, CUstream s)
{
	struct cuda_graph *copy = (struct cuda_graph *)g;

	(void)s;
	for (unsigned i = 0; i < copy->n; i++) {
		fake_run(&copy->launch[i]);
	}
	return CUDA_SUCCESS;
}

CUresult fake_exec_destroy(CUgraphExec g)
{
	struct cuda_graph *copy = (struct cuda_graph *)g;

	free(copy->launch);
	free(copy);
	return CUDA_SUCCESS;
}

CUresult fake_graph_destroy(CUgraph g)
{
	free(g); /* its launches belong to what was made of it */
	return CUDA_SUCCESS;
}
