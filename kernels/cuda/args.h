/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the host hands to a kernel on the GPU, and what comes back. Read by the C side
 * and by kernels/cuda/NAME.cu alike, so it holds nothing but numbers: addresses of device
 * memory are uint64_t.
 */
#pragma once

#ifdef __CUDA__
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
#else
#include <stdint.h>
#endif

enum { GEMM_CUDA_ACT_NONE, GEMM_CUDA_ACT_RELU, GEMM_CUDA_ACT_GELU };

/*
 * y = act(x · Wᵀ + bias), shapes as in kernels/gemm.h; leading dimensions in elements.
 * STAMP 0: nothing is stamped or hashed.
 */
struct gemm_cuda_args {
	uint64_t x, w, y;
	uint64_t bias;  /* N elements of y's type, or 0 */
	uint64_t stamp; /* struct gemm_cuda_stamp, or 0 */
	uint32_t m, n, k;
	uint32_t ldx, ldw, ldy;
	uint32_t act;    /* GEMM_CUDA_ACT_* */
	uint32_t stages; /* of the ring, where the kernel has one of variable length */
	uint32_t flip;   /* fault injection: output element FLIP - 1 gets a flipped bit; 0: none */
	uint32_t vec;    /* tiled: 16-byte loads are allowed */
	uint32_t rows;   /* persistent kernels: a group has ROWS rows of W, */
	uint32_t rest;   /* the first REST of them one more */
	uint32_t tiles;  /* bulk: a group's rows are cut into TILES, each of TILE_ROWS rows, */
	uint32_t tile_rows;
	uint32_t tile_more; /* the first TILE_MORE one more (one more yet where REST applies) */
	uint32_t window;    /* bulk: stages on their way at most, */
	uint32_t ahead;     /* but at the start so many, while x comes; at least WINDOW */
	uint32_t fetch;     /* bulk: stages after the ring's that come into L2 at the start */
	uint32_t launch_at; /* bulk: the next launch may begin when so many have been asked for */
	uint32_t x_ready;   /* bulk: x was complete before the launch before began: only y waits */
};

/* The read-only loops, the checksum and the patterns. */
struct gemm_cuda_span {
	uint64_t p, bytes; /* a multiple of 16 */
	uint64_t out;      /* one uint64_t: the checksum, or a sink that keeps the loads alive */
	uint64_t stamp;    /* pattern_fill, pattern_check: the pattern's seed */
};

/* What pattern_check adds up at OUT; begins at 0. */
struct gemm_cuda_broken {
	uint64_t words;     /* of 8 bytes that are not the pattern */
	uint64_t first_inv; /* ~address of the first, */
	uint64_t last;      /* and the last one's */
};

/* What the blocks of a launch leave at their ends; all of it begins at 0. */
struct gemm_cuda_end {
	uint64_t ns;     /* %globaltimer of the last block to end */
	uint64_t hash;   /* sum of gemm_hash_element() over the outputs */
	uint64_t blocks; /* how many blocks ended: a launch that lost one shows it */
	uint64_t pad;
};

enum { GEMM_CUDA_ENDS = 16 };

/*
 * One launch, stamped. All fields begin at 0, so that one memset prepares many; the start
 * is kept complemented, since the earliest block wins by a maximum. The ends, which all come at
 * once, are spread over places 32 bytes apart: at one they would wait for one another.
 * gemm_cuda_sum() puts them together.
 */
struct gemm_cuda_stamp {
	uint64_t start_inv; /* ~%globaltimer of the first block to start */
	uint64_t cycles;    /* SM cycles of block 0 */
	uint64_t block_ns;  /* %globaltimer's ns of block 0: with CYCLES, the SM clock */
	uint64_t pad;
	struct gemm_cuda_end end[GEMM_CUDA_ENDS];
};
