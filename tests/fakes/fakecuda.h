/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The inside of the fake libcuda.so.1: fakecuda.c is the driver, fakecuda_kernels.c what runs,
 * fakecuda_launch.c when it runs (launches, streams, events, graphs). One thread uses it at a time.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/cuda/args.h"
#include "stress/cuda_api.h"

enum { NAME_MAX_LEN = 48, GRAPH_MAX = 4096, ALLOCATIONS = 1 << 16 };

struct cuda_func {
	char name[NAME_MAX_LEN];
};

/* A kernel with its arguments. */
struct launch {
	char name[NAME_MAX_LEN];
	union {
		struct gemm_cuda_args gemm;
		struct gemm_cuda_span span;
	} args;
};

struct cuda_graph {
	struct launch *launch;
	unsigned n;
};

struct fake_state {
	CUresult sticky;
	bool hangs, capturing;
	unsigned launches, gemms, allocations;
	struct {
		char *p;
		size_t bytes;
	} device[ALLOCATIONS]; /* in the order of their making */
	size_t ndevice;
	pthread_t pinger;
	bool pinging;
	struct gemm_cuda_span ping;
	struct cuda_graph captured;
};
extern struct fake_state fake;

/* What FAKE_CUDA orders under KEY, valid until the next call; NULL: nothing. */
const char *fake_order(const char *key);
unsigned fake_number(const char *key, unsigned otherwise);

/* -- fakecuda_kernels.c */

/* Does this kernel take a span, not a GEMM's arguments? */
bool fake_takes_span(const char *name);
/* Runs it now, on the CPU; its stamps are by a clock that is not the host's. */
void fake_run(struct launch *l);
/* Call after N bytes at TO were written: memory may not keep them. */
void fake_spoil(uint64_t to, size_t n);

/* -- fakecuda_launch.c: as in NVIDIA's documentation of the driver API */

CUresult fake_launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
	unsigned bz, unsigned shared, CUstream s, void **params, void **extra);
CUresult fake_launch_ex(
	const struct cuda_launch_config *c, CUfunction f, void **params, void **extra);
CUresult fake_stream(CUstream *ret, unsigned flags);
CUresult fake_stream_ok(CUstream s);
CUresult fake_synchronize(CUstream s);
CUresult fake_context_synchronize(void);
CUresult fake_query(CUstream s);
CUresult fake_event(CUevent *ret, unsigned flags);
CUresult fake_record(CUevent e, CUstream s);
CUresult fake_event_wait(CUevent e);
CUresult fake_elapsed(float *ret, CUevent from, CUevent to);
CUresult fake_event_destroy(CUevent e);
CUresult fake_capture(CUstream s, int mode);
CUresult fake_captured(CUstream s, CUgraph *ret);
CUresult fake_instantiate(CUgraphExec *ret, CUgraph g, uint64_t flags);
CUresult fake_graph_launch(CUgraphExec g, CUstream s);
CUresult fake_exec_destroy(CUgraphExec g);
CUresult fake_graph_destroy(CUgraph g);
