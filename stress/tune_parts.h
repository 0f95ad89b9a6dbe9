/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of `tune` share: tune.c times, tune_find.c finds, tune_check.c checks. */
#pragma once

#include "stress/cublaslt.h"
#include "stress/gpu.h"
#include "stress/tune.h"

enum {
	TUNE_CANDIDATES = 160,
	TUNE_LIBRARY = 8, /* cuBLASLt's candidates for a problem */
	TUNE_WORKSPACE = 32 << 20,
};

/* The epilogue of fused rows. */
#define TUNE_ACT GEMM_CUDA_ACT_RELU

struct tune_candidate {
	struct stress_tune_row row;
	struct cuda_kernel kernel;      /* OWN */
	struct cublaslt_candidate algo; /* LIBRARY */
	const struct gemm_cuda_read *read;
	CUfunction function; /* READ */
	CUgraphExec graph;
	float *ms;    /* one a round, of the whole graph */
	bool through; /* timed often enough */
	size_t view;  /* where ROW has one */
};

struct tune {
	const struct stress_tune_options *o;
	struct stress_gpu *gpu;
	struct cublaslt *lt, *lt_fused; /* the same problem without and with an epilogue */
	CUdeviceptr workspace;
	uint32_t launches;
	struct tune_candidate *c;
	size_t n;
};

/* -- tune_find.c --------------------------------------------------------------------------- */

/* Every own kernel that suits; a refused module is a row that says so. Errors as cuda_fail. */
int tune_find_own(struct tune *t, struct why *why);
/* cuBLASLt's candidates, plain and fused; without the library FACTS say why. */
void tune_find_library(struct tune *t, struct stress_tune_facts *facts);
void tune_find_reads(struct tune *t);
/* LIKE once more, with the epilogue (FUSED) or with stamps. */
void tune_add_like(struct tune *t, const struct tune_candidate *like, bool fused);

/* One launch of C over COPY; asynchronous. */
CUresult tune_launch(struct tune *t, const struct tune_candidate *c, uint32_t copy);

struct tune_candidate *tune_add(struct tune *t, enum stress_tune_kind kind, const char *name);
void tune_take_kernel(struct tune_candidate *c, const struct cuda_kernel *ready);

/* -- tune_misaligned.c --------------------------------------------------------------------- */

/* What suits rows at other places than multiples of 16 bytes; -EINVAL: K is too small. */
int tune_find_misaligned(struct tune *t, struct why *why);
void tune_misaligned_args(
	const struct tune *t, const struct tune_candidate *c, struct gemm_cuda_args *a);
int tune_check_misaligned(struct tune *t, struct tune_candidate *c, struct why *why);

/* -- tune_check.c -------------------------------------------------------------------------- */

/* C's outputs against FP64; with stamps or not, as its kind allows. */
int tune_check(struct tune *t, struct tune_candidate *c, struct why *why);
/* Epilogues, and numbers without signs, which do not come back. */
int tune_check_thoroughly(struct tune *t, struct why *why);
/*
 * The last launch of a graph must have left what a launch alone did: with dependent launch the
 * one after it begins before it has ended.
 */
int tune_check_graph(struct tune *t, struct tune_candidate *c, struct why *why);
