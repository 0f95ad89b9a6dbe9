/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPU's memory, as much of it as the copies of the weights take: every 8 bytes get what their
 * own address gives, all of them before the first is read, so that two addresses that are one place
 * are found as well as places that are none.
 */
#include <errno.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/macros.h"
#include "base/text.h"
#include "kernels/hash.h"
#include "stress/gpu.h"

enum { BLOCKS_PER_SM = 8, THREADS = 256, BROKEN_AT = 16 /* bytes into the sink */ };

struct test {
	struct stress_gpu *gpu;
	struct stress_lender *lender;
	CUfunction fill, check;
	struct gemm_cuda_broken broken;
};

static int run(struct test *t, CUfunction f, uint32_t copy, uint64_t seed, struct why *why)
{
	struct stress_gpu *g = t->gpu;
	const struct gemm_cuda_span span = {
		.p = g->w[copy],
		.bytes = g->w_span,
		.out = g->sink + BROKEN_AT,
		.stamp = seed,
	};
	CUresult e = cuda_dev_launch_span(
		g->dev, f, g->dev->limits.sms * BLOCKS_PER_SM, THREADS, 0, &span, g->dev->stream);

	if (e == CUDA_SUCCESS) {
		e = g->dev->api.StreamSynchronize(g->dev->stream);
	}
	if (e != CUDA_SUCCESS) {
		return cuda_fail(
			&g->dev->api, e, why, "testing copy %u of the weights' memory", copy);
	}
	return t->lender && !t->lender->beat(t->lender) ? -ECANCELED : 0;
}

static int pass(struct test *t, uint64_t seed, struct why *why)
{
	struct stress_gpu *g = t->gpu;
	const struct cuda_api *api = &g->dev->api;
	const CUdeviceptr out = g->sink + BROKEN_AT;
	CUresult e = api->MemsetD8Async(out, 0, sizeof(t->broken), g->dev->stream);
	int r = e == CUDA_SUCCESS ? 0 : cuda_fail(api, e, why, "readying the memory test");

	for (uint32_t copy = 0; r == 0 && copy < g->copies; copy++) {
		r = run(t, t->fill, copy, seed, why);
	}
	for (uint32_t copy = 0; r == 0 && copy < g->copies; copy++) {
		r = run(t, t->check, copy, seed, why);
	}
	if (r < 0) {
		return r;
	}
	e = api->MemcpyDtoHAsync(&t->broken, out, sizeof(t->broken), g->dev->stream);
	e = e ? e : api->StreamSynchronize(g->dev->stream);
	return e == CUDA_SUCCESS ? 0 : cuda_fail(api, e, why, "testing the memory");
}

/* The first broken word: which copy, what should be there and what is. */
static void tell(struct test *t, uint64_t seed, struct why *why)
{
	struct stress_gpu *g = t->gpu;
	const uint64_t first = ~t->broken.first_inv;
	struct stress_finding f = {.kind = STRESS_WRONG_MEMORY, .ns = clock_ns(), .address = first};
	const uint64_t was = gemm_pattern(first, seed);
	uint64_t is = 0;
	char all[TEXT_SIZE_MAX];

	for (uint32_t i = 0; i < g->copies; i++) {
		if (first - g->w[i] < g->w_span) {
			f.copy = i;
		}
	}
	f.offset = first - g->w[f.copy];
	f.words = t->broken.words;
	if (g->dev->api.MemcpyDtoHAsync(&is, first, sizeof(is), g->dev->stream) == CUDA_SUCCESS) {
		g->dev->api.StreamSynchronize(g->dev->stream);
	}
	f.word_is = (uint32_t)is;
	f.word_was = (uint32_t)was;
	if (f.word_is == f.word_was) {
		f.word_is = (uint32_t)(is >> 32);
		f.word_was = (uint32_t)(was >> 32);
		f.offset += 4;
		f.address += 4;
	}
	if (t->lender) {
		t->lender->found(t->lender, &f);
	}
	why_set(why,
		"memory does not keep what is written: %llu words of 8 bytes from GPU address 0x%llx "
		"to 0x%llx, the first in copy %u of %u (%s tested)",
		(unsigned long long)t->broken.words, (unsigned long long)first,
		(unsigned long long)t->broken.last, f.copy, g->copies,
		text_size((uint64_t)g->copies * g->w_span, all));
}

int stress_gpu_memory_test(struct stress_gpu *g, struct stress_lender *lender, struct why *why)
{
	struct test t = {.gpu = g, .lender = lender};
	int r = cuda_dev_function(g->dev, GEMM_CUDA_PROBE, "pattern_fill", &t.fill, why);

	r = r ? r : cuda_dev_function(g->dev, GEMM_CUDA_PROBE, "pattern_check", &t.check, why);
	for (unsigned i = 0; r == 0 && i < 2; i++) {
		const uint64_t seed = i ? ~g->config.seed : g->config.seed;

		r = pass(&t, seed, why);
		if (r == 0 && t.broken.words) {
			tell(&t, seed, why);
			r = -EIO;
		}
	}
	return r;
}
