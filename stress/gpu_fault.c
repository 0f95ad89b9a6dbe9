/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Weights that change in memory, and outputs that come out wrong. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "kernels/hash.h"
#include "stress/gpu.h"

enum { REPEATS = 3, BLOCKS_PER_SM = 8, THREADS = 256, SUM_AT = 8 /* bytes into the sink */ };

static const size_t part_bytes = (size_t)4 << 20;

/* As the kernel `checksum` (kernels/cuda/probe.cu) forms it, of BYTES from byte OFFSET on. */
static uint64_t sum_of(const void *p, size_t bytes, uint64_t offset)
{
	uint64_t sum = 0;

	for (size_t at = 0; at < bytes; at += 4) {
		uint32_t word = 0;

		memcpy(&word, (const char *)p + at, MIN(bytes - at, (size_t)4));
		sum += gemm_hash_element((offset + at) / 4, word);
	}
	return sum;
}

int stress_gpu_checksum_prepare(struct stress_gpu *g, struct stress_lender *lender, struct why *why)
{
	const int r = cuda_dev_function(g->dev, GEMM_CUDA_PROBE, "checksum", &g->checksum, why);

	if (r < 0) {
		return r;
	}
	g->weights_sum = 0;
	for (size_t at = 0; at < g->w_bytes; at += part_bytes) {
		g->weights_sum += sum_of((char *)g->hw + at, MIN(part_bytes, g->w_bytes - at), at);
		if (lender && !lender->beat(lender)) {
			return -ECANCELED;
		}
	}
	for (size_t at = (g->w_bytes + 3) / 4 * 4; at < g->w_span; at += 4) {
		g->weights_sum += gemm_hash_element(at / 4, 0);
	}
	return 0;
}

int stress_gpu_checksum(struct stress_gpu *g, uint32_t copy, uint64_t *ret, struct why *why)
{
	const struct cuda_api *api = &g->dev->api;
	CUstream s = g->dev->stream;
	const struct gemm_cuda_span span = {
		.p = g->w[copy], .bytes = g->w_span, .out = g->sink + SUM_AT};
	CUresult e = api->MemsetD8Async(span.out, 0, sizeof(*g->host_sum), s);

	if (e == CUDA_SUCCESS) {
		e = cuda_dev_launch_span(g->dev, g->checksum, g->dev->limits.sms * BLOCKS_PER_SM,
			THREADS, 0, &span, s);
	}
	if (e == CUDA_SUCCESS) {
		e = api->MemcpyDtoHAsync(g->host_sum, span.out, sizeof(*g->host_sum), s);
	}
	if (e == CUDA_SUCCESS) {
		e = api->StreamSynchronize(s);
	}
	if (e != CUDA_SUCCESS) {
		return cuda_fail(api, e, why, "taking the checksum of the weights");
	}
	*ret = *g->host_sum;
	return 0;
}

/* BYTES at FROM on the GPU into P; waits. */
static int fetch(struct stress_gpu *g, void *p, CUdeviceptr from, size_t bytes, struct why *why)
{
	const struct cuda_api *api = &g->dev->api;
	CUresult e = api->MemcpyDtoHAsync(p, from, bytes, g->dev->stream);

	if (e == CUDA_SUCCESS) {
		e = api->StreamSynchronize(g->dev->stream);
	}
	return e == CUDA_SUCCESS ? 0 : cuda_fail(api, e, why, "fetching what is wrong");
}

int stress_gpu_compare_weights(
	struct stress_gpu *g, uint32_t copy, struct stress_finding *f, struct why *why)
{
	_cleanup_free_ char *part = malloc(MIN(part_bytes, g->w_bytes));
	int r = 0;

	if (!part) {
		why_set(why, "no memory to compare the weights with");
		return -ENOMEM;
	}
	for (size_t at = 0; r == 0 && at < g->w_bytes; at += part_bytes) {
		const size_t n = MIN(part_bytes, g->w_bytes - at);

		r = fetch(g, part, g->w[copy] + at, n, why);
		if (r == 0) {
			stress_finding_words(f, part, (char *)g->hw + at, n, at, g->w[copy]);
		}
	}
	return r;
}

/* The output in SLOT, if no later launch has written over it. */
static int compare_output(struct stress_gpu *g, int slot, struct stress_finding *f, struct why *why)
{
	const struct stress_shape *s = &g->config.shape;
	const size_t count = (size_t)s->m * s->n;
	_cleanup_free_ char *y = malloc(g->y_bytes);

	if (!y) {
		return 0;
	}
	const int r = fetch(g, y, stress_gpu_args(g, 0, slot).y, g->y_bytes, why);

	if (r == 0 && stress_gpu_hash_of(g, y) == f->hash) {
		stress_finding_outputs(f, y, g->hy, count, s->n, g->y_bytes / count);
	}
	return r;
}

static int compare_x(struct stress_gpu *g, struct stress_finding *f, struct why *why)
{
	_cleanup_free_ char *x = malloc(g->x_bytes);
	const int r = x ? fetch(g, x, g->x, g->x_bytes, why) : 0;

	if (x && r == 0) {
		stress_finding_words(f, x, g->hx, g->x_bytes, 0, g->x);
	}
	return r;
}

static int repeat(struct stress_gpu *g, const struct cuda_kernel *k, uint64_t golden,
	struct stress_finding *f, struct why *why)
{
	const int slot = STRESS_GPU_SLOTS - 1;
	const struct gemm_cuda_args a = stress_gpu_args(g, f->copy, slot);

	for (; f->repeated < REPEATS; f->repeated++) {
		const CUresult e = cuda_dev_launch(g->dev, k, &a, g->dev->stream);

		if (e != CUDA_SUCCESS) {
			return cuda_fail(&g->dev->api, e, why, "launching %s", k->of->name);
		}
		const int r = stress_gpu_take_stamps(g, slot, 1, why);

		if (r < 0) {
			return r;
		}
		f->repeated_wrong += gemm_cuda_sum(&g->host_stamps[slot]).hash != golden;
	}
	return 0;
}

int stress_gpu_tell_apart(struct stress_gpu *g, const struct cuda_kernel *k, uint32_t copy,
	int slot, uint64_t golden, struct stress_finding *f, struct why *why)
{
	uint64_t sum = 0;

	f->copy = copy;
	int r = compare_output(g, slot, f, why);

	r = r ? r : stress_gpu_checksum(g, copy, &sum, why);
	if (r == 0 && sum != g->weights_sum) {
		f->kind = STRESS_WRONG_WEIGHTS;
		return stress_gpu_compare_weights(g, copy, f, why);
	}
	r = r ? r : compare_x(g, f, why);
	r = r ? r : repeat(g, k, golden, f, why);
	if (r == 0) {
		f->kind = f->words            ? STRESS_WRONG_X
			  : f->repeated_wrong ? STRESS_WRONG_REPEATED
					      : STRESS_WRONG_TRANSIENT;
	}
	return r;
}

int stress_gpu_flip_weight(struct stress_gpu *g, struct why *why)
{
	const uint64_t chosen = gemm_hash_element(g->config.seed & 0xffffffff, 77);
	const uint32_t copy = (uint32_t)(chosen % g->copies);
	const CUdeviceptr at = g->w[copy] + chosen / 64 % g->w_bytes;
	unsigned char byte = 0;
	int r = fetch(g, &byte, at, 1, why);

	byte ^= (unsigned char)(1 << (chosen >> 32) % 8);
	if (r == 0) {
		const struct cuda_api *api = &g->dev->api;
		CUresult e = api->MemcpyHtoDAsync(at, &byte, 1, g->dev->stream);

		e = e ? e : api->StreamSynchronize(g->dev->stream);
		r = e == CUDA_SUCCESS ? 0 : cuda_fail(api, e, why, "flipping a bit of the weights");
	}
	return r;
}
