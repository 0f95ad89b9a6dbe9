/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which kernels there are for the GPU, what each of them wants, and how it is launched for a
 * shape. Pure functions of numbers; nothing here knows the driver.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/cuda/args.h"
#include "kernels/gemm.h"

/* The PTX modules, embedded as text. */
enum gemm_cuda_module {
	GEMM_CUDA_BASIC,
	GEMM_CUDA_PROBE,
	GEMM_CUDA_GEMM80,
	GEMM_CUDA_GEMM90,
	GEMM_CUDA_MODULES,
};

struct gemm_cuda_ptx {
	const char *name; /* "gemm80" */
	int cc;           /* lowest compute capability: 80, 90 */
	const char *text; /* NUL-terminated */
};
const struct gemm_cuda_ptx *gemm_cuda_ptx(enum gemm_cuda_module m);
/* Names the build: a hash over all PTX. Golden hashes are kept under it. */
uint64_t gemm_cuda_build(void);

/* A stamped launch, put together. */
struct gemm_cuda_times {
	uint64_t start, end;       /* %globaltimer: the first block's start, the last one's end */
	uint64_t cycles, block_ns; /* as in gemm_cuda_stamp */
	uint64_t hash, blocks;     /* over all blocks */
};
struct gemm_cuda_times gemm_cuda_sum(const struct gemm_cuda_stamp *s);

enum gemm_cuda_family {
	GEMM_CUDA_NAIVE,
	GEMM_CUDA_TILED,
	GEMM_CUDA_F32,
	GEMM_CUDA_GEMV,
	GEMM_CUDA_MMA,
	GEMM_CUDA_BULK,
};

struct gemm_cuda_kernel {
	const char *name;
	const char *entry; /* the symbol in the module; NULL: NAME */
	enum gemm_cuda_family family;
	enum gemm_cuda_module module;
	enum gemm_dtype dtype;
	bool wrong;     /* accumulates in FP16, to show that verify fails */
	uint16_t m;     /* rows of x a block makes; gemv and mma: the most there may be */
	uint16_t n;     /* rows of W a block makes (tiled) or a warp makes (gemv, f32) */
	uint16_t k;     /* columns a step or stage */
	uint16_t warps; /* a block; bulk: without the producer */
	uint16_t depth; /* loads in flight: unroll or ring stages (0: as shared memory allows) */
	uint16_t split; /* blocks that share K */
	bool x_global;  /* x from L1 instead of shared memory */
	bool ahead;     /* bulk: the whole ring is filled at the start, while x comes */
	bool dependent; /* bulk: begins while the launch before ends; not where layers are timed */
	bool x_ready;   /* dependent: for an x that was complete before the launch before began */
	bool pair;      /* bulk: two blocks fit an SM, this launch's and the next one's */
	uint16_t late;  /* pair: KiB that a block has still to ask for when the next may begin */
	uint16_t fetch; /* pair: stages that come into L2 while x is waited for */
};

/* All of them, ended by a NULL name. */
const struct gemm_cuda_kernel *gemm_cuda_kernels(void);
const struct gemm_cuda_kernel *gemm_cuda_find(const char *name);
const char *gemm_cuda_entry(const struct gemm_cuda_kernel *k);

/* What matters of a device. */
struct gemm_cuda_device {
	int cc; /* 10 × major + minor */
	uint32_t sms;
	uint32_t shared; /* dynamic shared memory a block may ask for, bytes */
};

struct gemm_cuda_plan {
	uint32_t grid_x, grid_y, threads, cluster, shared, stages;
	uint32_t rows, rest, tiles, tile_rows, tile_more, window, ahead, fetch,
		launch_at; /* as in gemm_cuda_args */
};

/*
 * How K is launched for the shape on D; VEC says that x, W and y lie at multiples of 16
 * bytes and K, ldx, ldw are multiples of 8 (F32: 4) elements. BLOCKS_PER_SM (persistent
 * kernels) and CLUSTERS (0: as many as fit the SMs) come from the driver's occupancy.
 * Returns false where the kernel does not suit.
 */
bool gemm_cuda_plan(const struct gemm_cuda_kernel *k, const struct gemm_cuda_device *d, uint32_t m,
	uint32_t n, uint32_t kk, bool vec, uint32_t blocks_per_sm, uint32_t clusters,
	struct gemm_cuda_plan *ret);

/*
 * The kernels that suit the shape on D, most promising first: what is launched where nobody has
 * tuned, and what to fall back on when the driver refuses a module. Never a wrong one or one
 * that is another's with another start (AHEAD, DEPENDENT) or for dependent launches only, and
 * always at least one. Returns how many of them (at most MAX) RET got.
 */
size_t gemm_cuda_rank(const struct gemm_cuda_device *d, enum gemm_dtype dtype, uint32_t m,
	uint32_t n, uint32_t k, bool vec, const struct gemm_cuda_kernel **ret, size_t max);

/* The read-only loops: name, symbol, threads a block, and blocks an SM. */
struct gemm_cuda_read {
	const char *name, *entry;
	enum gemm_cuda_module module;
	uint32_t threads, blocks_per_sm, shared;
	bool dependent; /* as in gemm_cuda_kernel */
};
const struct gemm_cuda_read *gemm_cuda_reads(void); /* ended by a NULL name */
