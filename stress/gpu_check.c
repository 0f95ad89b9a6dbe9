/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels against FP64: the reference is made once for the numbers that lie on the GPU. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "kernels/half.h"
#include "kernels/hash.h"
#include "stress/gpu.h"

static enum gemm_dtype type_of(const struct stress_gpu *g)
{
	return g->config.dtype == STRESS_F16 ? GEMM_F16 : GEMM_F32;
}

static double element(const struct stress_gpu *g, const void *p, size_t i)
{
	if (g->config.dtype == STRESS_F16) {
		return gemm_half_to_float(((const uint16_t *)p)[i]);
	}
	return ((const float *)p)[i];
}

uint64_t stress_gpu_hash_of(const struct stress_gpu *g, const void *y)
{
	const size_t n = (size_t)g->config.shape.m * g->config.shape.n;
	uint64_t h = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t bits = 0;

		if (g->config.dtype == STRESS_F16) {
			bits = ((const uint16_t *)y)[i];
		} else {
			memcpy(&bits, (const char *)y + i * 4, 4);
		}
		h += gemm_hash_element(i, bits);
	}
	return h;
}

int stress_gpu_hash(struct stress_gpu *g, uint64_t *ret, struct why *why)
{
	const struct cuda_api *api = &g->dev->api;
	CUresult e = api->MemcpyDtoHAsync(
		g->hy, stress_gpu_args(g, 0, -1).y, g->y_bytes, g->dev->stream);

	e = e ? e : api->StreamSynchronize(g->dev->stream);
	if (e != CUDA_SUCCESS) {
		return cuda_fail(api, e, why, "fetching the output");
	}
	*ret = stress_gpu_hash_of(g, g->hy);
	return 0;
}

/* At most TERMS products, over outputs that are spread evenly. */
static void make_reference(struct stress_gpu *g, uint64_t terms)
{
	const struct stress_shape *s = &g->config.shape;
	const struct gemm ref = {
		.m = s->m,
		.n = s->n,
		.k = s->k,
		.n1 = s->n,
		.dtype = type_of(g),
		.x = g->hx,
		.w = g->hw,
		.ldx = s->k,
		.ldw = s->k,
		.ldy = s->n,
	};
	const uint64_t all = (uint64_t)s->m * s->n, want = MAX(terms / s->k, 1u);

	if (g->reference && g->reference_terms == terms) {
		return;
	}
	free(g->reference);
	g->reference_terms = terms;
	g->reference_step = MAX(all / MIN(want, all), 1u);
	g->reference = xcalloc(all / g->reference_step + 1, sizeof(*g->reference));
	for (uint64_t i = 0; i < all; i += g->reference_step) {
		g->reference[i / g->reference_step] =
			gemm_ref_sum(&ref, (size_t)(i / s->n), (size_t)(i % s->n));
	}
}

/* The epilogue in FP64, as the kernels define it (kernels/cuda/dev.h). */
static double activate(double v, uint32_t act)
{
	if (act == GEMM_CUDA_ACT_RELU) {
		return v > 0 ? v : 0;
	}
	if (act == GEMM_CUDA_ACT_GELU) {
		return v / (1 + exp(-2 * 0.7978845608 * (v + 0.044715 * v * v * v)));
	}
	return v;
}

/* Output I against the reference: RET's worst so far, the worst being what exceeds its bound most.
 */
static void compare_one(const struct stress_gpu *g, const struct gemm_ref_sum *plain, uint64_t i,
	uint32_t act, bool bias, double *worst, struct stress_gpu_check *ret)
{
	const struct stress_shape *s = &g->config.shape;
	const enum gemm_dtype type = type_of(g);
	const uint32_t m = (uint32_t)(i / s->n), n = (uint32_t)(i % s->n);
	struct gemm_ref_sum ref = *plain;

	if (bias) {
		const double b = element(g, g->hbias, n);

		ref.sum += b;
		ref.magnitude += fabs(b);
		ref.squares += b * b;
	}
	double bound = gemm_error_bound(&ref, s->k + bias, type);
	const double unit = ref.magnitude > 0 ? ref.magnitude : 1;

	if (act == GEMM_CUDA_ACT_GELU) {
		/* Its slope is below 1.13, and ex2.approx adds a few units of FP32. */
		bound = 1.13 * bound + 0x1p-20 * fmin(fabs(ref.sum), 16);
	}
	ref.sum = activate(ref.sum, act);
	const double off = gemm_error(&ref, element(g, g->hy, (size_t)i), type);
	const double share = off == off ? off / bound : INFINITY;
	const double relative = ref.sum != 0 ? off / fabs(ref.sum) : off > 0 ? INFINITY : 0;

	ret->outputs++;
	ret->over += !(share <= 1);
	ret->error_absolute = off <= ret->error_absolute ? ret->error_absolute : off;
	ret->error_relative = relative <= ret->error_relative ? ret->error_relative : relative;
	if (share > *worst || ret->outputs == 1) {
		*worst = share;
		ret->error = off == off ? off / unit : INFINITY;
		ret->limit = bound / unit;
		ret->worst_m = m;
		ret->worst_n = n;
	}
}

static void compare(
	const struct stress_gpu *g, uint32_t act, bool bias, struct stress_gpu_check *ret)
{
	const uint64_t all = (uint64_t)g->config.shape.m * g->config.shape.n;
	double worst = 0;

	for (uint64_t i = 0; i < all; i += g->reference_step) {
		compare_one(g, &g->reference[i / g->reference_step], i, act, bias, &worst, ret);
	}
}

int stress_gpu_compare(struct stress_gpu *g, uint32_t act, bool bias, uint64_t terms,
	struct stress_gpu_check *ret, struct why *why)
{
	struct stress_gpu_check c = {.same = true};
	const int r = stress_gpu_hash(g, &c.hash, why);

	if (r == 0) {
		make_reference(g, terms);
		compare(g, act, bias, &c);
		*ret = c;
	}
	return r;
}

int stress_gpu_check(struct stress_gpu *g, const struct cuda_kernel *k, uint32_t act, bool bias,
	uint64_t terms, struct stress_gpu_check *ret, struct why *why)
{
	const struct cuda_api *api = &g->dev->api;
	struct stress_gpu_check c = {.same = true};

	for (uint32_t copy = 0; copy < g->copies; copy++) {
		struct gemm_cuda_args a = stress_gpu_args(g, copy, 0);

		a.act = act;
		a.bias = bias ? g->bias : 0;
		/* Poison first: an output that nobody writes stays NaN. */
		CUresult e = api->MemsetD8Async(a.y, 0xff, g->y_bytes, g->dev->stream);

		if (e == CUDA_SUCCESS) {
			e = cuda_dev_launch(g->dev, k, &a, g->dev->stream);
		}
		if (e == CUDA_SUCCESS && copy == 0) {
			e = api->MemcpyDtoHAsync(g->hy, a.y, g->y_bytes, g->dev->stream);
		}
		if (e != CUDA_SUCCESS) {
			return cuda_fail(api, e, why, "launching %s", k->of->name);
		}
		int r = stress_gpu_take_stamps(g, 0, 1, why);

		if (r < 0) {
			return r;
		}
		const uint64_t hash = gemm_cuda_sum(&g->host_stamps[0]).hash;

		c.hash = copy == 0 ? hash : c.hash;
		c.same &= hash == c.hash;
	}
	c.same &= stress_gpu_hash_of(g, g->hy) == c.hash;
	make_reference(g, terms);
	compare(g, act, bias, &c);
	*ret = c;
	return 0;
}

int stress_gpu_make_positive(struct stress_gpu *g, struct why *why)
{
	const bool f16 = g->config.dtype == STRESS_F16;
	const struct {
		void *p;
		size_t bytes;
	} each[] = {{g->hw, g->w_bytes}, {g->hx, g->x_bytes}};

	for (size_t i = 0; i < ARRAY_LEN(each); i++) {
		/* The sign is the top bit of every second or fourth byte. */
		for (size_t at = f16 ? 1 : 3; at < each[i].bytes; at += f16 ? 2 : 4) {
			((unsigned char *)each[i].p)[at] &= 0x7f;
		}
	}
	free(g->reference);
	g->reference = NULL;
	return stress_gpu_upload(g, NULL, why);
}
