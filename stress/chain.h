/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GEMMs of one token through a decoder, on one GPU: for each layer QKV (K → 3 K), O (K → K),
 * gate and up (K → N, twice) and down (N → K), one after the other in a stream, K and N being
 * the configuration's shape. All launches of a token share one stamp: its start is the first
 * block's of the first GEMM, its end the last block's of the last, its hash the sum of all.
 * No attention, no norms: what is measured is what the weights cost. One thread.
 */
#pragma once

#include "stress/gpu.h"

struct stress_chain;

/*
 * Opens the device and everything on it. Layers have weights of their own where the memory
 * suffices; else sets of a layer's weights, as many as the rule for L2 asks for, are used in turn.
 * The kernel named in C is taken for all, else each shape's own. Errors as stress_gpu_open.
 */
int stress_chain_open(const struct stress_config *c, struct stress_lender *lender,
	struct stress_chain **ret, struct why *why);
void stress_chain_close(struct stress_chain *c); /* NULL is allowed */

/* The first GEMM's part, which has the stamps, the device and its stream. */
struct stress_gpu *stress_chain_gpu(const struct stress_chain *c);

struct stress_chain_facts {
	uint32_t sets;                 /* layers that have weights of their own */
	uint64_t set_bytes;            /* of one layer's weights */
	uint64_t bytes;                /* a token: weights + x + y of every GEMM */
	char kernel[32];               /* "NAME", or "NAME, …" where they differ */
	bool tuned;                    /* all kernels come from the choices */
	struct stress_gpu_check check; /* the worst part's; HASH is the token's */
};

/* Every GEMM against FP64, at most TERMS products each. */
int stress_chain_check(struct stress_chain *c, uint64_t terms, struct stress_lender *lender,
	struct stress_chain_facts *ret, struct why *why);

/* How many tokens it takes to go through all sets of weights. */
unsigned stress_chain_turns(const struct stress_chain *c);

/*
 * A token's launches over the next sets of weights; stamps in SLOT (negative: none).
 * Asynchronous.
 */
CUresult stress_chain_launch(struct stress_chain *c, int slot);
