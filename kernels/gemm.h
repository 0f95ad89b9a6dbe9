/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The contract of every CPU GEMM: y = x · Wᵀ, decode-shaped.
 *
 *   x [M][K] row-major, leading dimension ldx ≥ K (elements)
 *   W [N][K] row-major, leading dimension ldw ≥ K
 *   y [M][N] row-major, leading dimension ldy ≥ N
 *
 * FP16 (IEEE binary16 as uint16_t) or FP32 elements; products are accumulated in
 * FP32 (the reference: FP64) and rounded once, to nearest even, at the end.
 * A kernel computes rows [n0, n1) of W, all M: threads divide N. It writes nothing
 * else, reads nothing outside the rows (masked tails, never past K), allocates
 * nothing, and gives the same bits for the same inputs whatever n0 and n1 are.
 * Any alignment is correct; 64 bytes is fastest.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum gemm_dtype { GEMM_F16, GEMM_F32 };

struct gemm {
	size_t m, n, k;
	size_t n0, n1; /* rows of W to compute */
	enum gemm_dtype dtype;
	const void *x, *w;
	void *y;
	size_t ldx, ldw, ldy;
};

/* CPU features, see kernels/cpu.h. */
enum { GEMM_NEEDS_NOTHING = 0 };

struct gemm_kernel {
	const char *name; /* "ref", "avx2", "avx512" */
	unsigned needs;   /* CPU_* bits, all of them */
	enum gemm_dtype dtype;
	void (*run)(const struct gemm *g);
};

/* All kernels built in, best first, ended by a NULL name; the reference is always there. */
const struct gemm_kernel *gemm_kernels(void);
/* The best for these CPU_* flags and this type. Flags are passed so that tests can pass fewer. */
const struct gemm_kernel *gemm_pick(unsigned cpu_flags, enum gemm_dtype dtype);
const struct gemm_kernel *gemm_find(const char *name, enum gemm_dtype dtype);

/* Names the build of the CPU kernels: their sources and the compiler. Never 0. */
uint64_t gemm_cpu_build(void);

/*
 * The read ceiling: loops that read BYTES at P and return a value that depends on
 * all of it (so that no compiler drops the loads). Widths and unrolls differ; the best
 * of them on a machine is its ceiling.
 */
struct read_kernel {
	const char *name; /* "avx512 x8", … */
	unsigned needs;
	uint64_t (*run)(const void *p, size_t bytes);
};
const struct read_kernel *read_kernels(void); /* ended by a NULL name */
