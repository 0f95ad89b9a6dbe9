/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Launches that are submitted together and waited for once: queued in the stream, or as a CUDA
 * graph. Every launch has a stamp of its own, in slots 0 … n − 1 of the GPU's. A graph holds as
 * many launches over each copy of the weights as over any other, so that rotation stays whole;
 * more copies than slots are spread over several graphs. One thread.
 */
#pragma once

#include "stress/chain.h"

enum { STRESS_BATCH_GEMMS = 64, STRESS_BATCH_TOKENS = 8 };

struct stress_batch;

/* Of K over G's copies, or with CHAIN of its tokens. MODE is not STRESS_ISOLATED. */
int stress_batch_open(struct stress_gpu *g, const struct cuda_kernel *k, struct stress_chain *chain,
	enum stress_mode mode, struct stress_batch **ret, struct why *why);
void stress_batch_close(struct stress_batch *b); /* NULL is allowed */

/*
 * Submits the next ones, at most MAX, without waiting. *RET_N: how many; *RET_COPY: the copy of
 * the weights of the first, the others follow in turn.
 */
CUresult stress_batch_submit(
	struct stress_batch *b, unsigned max, unsigned *ret_n, uint32_t *ret_copy);
