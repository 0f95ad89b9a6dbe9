/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cuBLASLt, loaded at run time: the yardstick. y = act(x · Wᵀ + bias) in the layouts of
 * kernels/gemm.h, which are D = Wᵀ x column-major with m = N, n = M, k = K (cuBLAS 12
 * documentation, "Using the cuBLASLt API"). Descriptors are made with the Create functions:
 * the opaque sizes of the Init ones changed between versions.
 * One thread, with the CUDA context current.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "stress/cuda_api.h"

/* "Can be trivially serialized and later restored for use with the same version of cuBLAS." */
struct cublaslt_algo {
	uint64_t data[8];
};

struct cublaslt_candidate {
	struct cublaslt_algo algo;
	size_t workspace;
	float waves;
};

/* Where partial sums may meet: in place, or in the compute type. Not in the output's type. */
enum { CUBLASLT_REDUCTIONS = 1 | 2 };

struct cublaslt;

struct cublaslt_problem {
	uint32_t m, n, k, ldx, ldw, ldy;
	bool f32;
	uint32_t act; /* GEMM_CUDA_ACT_* */
	bool bias;
	uint32_t align;   /* bytes: the least alignment of x, W, y and the bias */
	size_t workspace; /* bytes allowed */
};

/*
 * Loads LIBRARY, or with NULL the newest of libcublasLt.so.13, .12 and .11. -ENOENT: none is
 * installed; -ENOSYS, -EIO with a sentence.
 */
int cublaslt_open(const char *library, struct cublaslt **ret, struct why *why);
void cublaslt_close(struct cublaslt *lt);
size_t cublaslt_version(const struct cublaslt *lt); /* 10000 × major + 100 × minor + patch */
const char *cublaslt_path(const struct cublaslt *lt);
/* Of the library's file (its GNU note), in hex; "": it has none. */
const char *cublaslt_build_id(const struct cublaslt *lt);

/* Fixes what is multiplied from here on; the former problem is forgotten. */
int cublaslt_set(struct cublaslt *lt, const struct cublaslt_problem *p, struct why *why);

/* The heuristic's candidates for the problem, best guess first; how many, or negative errno. */
int cublaslt_candidates(
	struct cublaslt *lt, struct cublaslt_candidate *ret, size_t max, struct why *why);

/* Whether ALGO (from a cache) suits the problem here and now. */
bool cublaslt_check(struct cublaslt *lt, const struct cublaslt_algo *algo, size_t *ret_workspace);

/* Launches on S; 0 or a cuBLAS status. WORKSPACE has at least the candidate's bytes. */
int cublaslt_run(struct cublaslt *lt, const struct cublaslt_algo *algo, CUdeviceptr x,
	CUdeviceptr w, CUdeviceptr y, CUdeviceptr bias, CUdeviceptr workspace, size_t bytes,
	CUstream s);
