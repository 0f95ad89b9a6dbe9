/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What it costs when rows do not lie at multiples of 16 bytes. The same numbers in the same memory
 * are multiplied, eight columns fewer, seen from other places: a little behind, or with rows that
 * are a little shorter. Kernels that want aligned rows drop out by themselves.
 */
#include <errno.h>
#include <stdio.h>

#include "base/macros.h"
#include "kernels/gemm_ref.h"
#include "kernels/half.h"
#include "stress/data.h"
#include "stress/tune_parts.h"
#include "stress/tune_views.h"

enum { ALIGNED_KERNELS = 3, RANKED = 32 };

static bool is_aligned(const struct tune *t, size_t view)
{
	const size_t e = stress_dtype_size(t->o->config.dtype);
	const uint32_t k = t->o->config.shape.k;

	return tune_view(view)->w * e % 16 == 0 && tune_view(view)->x * e % 16 == 0 &&
	       k * e % 16 == 0 && (k - tune_view(view)->shorter) * e % 16 == 0 &&
	       (k - TUNE_VIEW_FEWER) * e % 16 == 0;
}

void tune_misaligned_args(
	const struct tune *t, const struct tune_candidate *c, struct gemm_cuda_args *a)
{
	const size_t e = stress_dtype_size(t->o->config.dtype);

	a->w += tune_view(c->view)->w * e;
	a->x += tune_view(c->view)->x * e;
	a->k -= TUNE_VIEW_FEWER;
	a->ldw -= tune_view(c->view)->shorter;
	a->vec = is_aligned(t, c->view);
}

static int add_one(struct tune *t, size_t view, const struct gemm_cuda_kernel *k, struct why *why)
{
	const struct stress_shape *s = &t->o->config.shape;
	struct cuda_kernel ready;
	const int r = cuda_dev_kernel(t->gpu->dev, k, s->m, s->n, s->k - TUNE_VIEW_FEWER,
		is_aligned(t, view), &ready, why);

	if (r == -EOPNOTSUPP || r == -ENOEXEC) {
		return 0;
	}
	if (r == 0) {
		struct tune_candidate *c = tune_add(t, STRESS_TUNE_OWN, k->name);

		tune_take_kernel(c, &ready);
		c->view = view;
		snprintf(c->row.view, sizeof(c->row.view), "%s", tune_view(view)->name);
	}
	return r;
}

int tune_find_misaligned(struct tune *t, struct why *why)
{
	const struct stress_shape *s = &t->o->config.shape;
	const enum gemm_dtype type = t->o->config.dtype == STRESS_F16 ? GEMM_F16 : GEMM_F32;
	const struct gemm_cuda_kernel *k[RANKED];
	int r = 0;

	if (s->k < 2 * TUNE_VIEW_FEWER) {
		why_set(why, "--misaligned needs a K of %d or more", 2 * TUNE_VIEW_FEWER);
		return -EINVAL;
	}
	for (size_t view = 0; r == 0 && tune_view(view); view++) {
		const bool vec = is_aligned(t, view);
		const size_t n = gemm_cuda_rank(&t->gpu->dev->limits, type, s->m, s->n,
			s->k - TUNE_VIEW_FEWER, vec, k, RANKED);

		for (size_t i = 0; r == 0 && i < n && (!vec || i < ALIGNED_KERNELS); i++) {
			r = add_one(t, view, k[i], why);
		}
	}
	return r;
}

/* Every STEP-th output in FP64. */
static void compare(const struct tune *t, struct tune_candidate *c)
{
	const struct stress_gpu *g = t->gpu;
	const struct stress_shape *s = &t->o->config.shape;
	const bool f16 = t->o->config.dtype == STRESS_F16;
	const enum gemm_dtype type = f16 ? GEMM_F16 : GEMM_F32;
	const size_t e = stress_dtype_size(t->o->config.dtype);
	const struct gemm ref = {
		.m = s->m,
		.n = s->n,
		.k = s->k - TUNE_VIEW_FEWER,
		.n1 = s->n,
		.dtype = type,
		.x = (const char *)g->hx + tune_view(c->view)->x * e,
		.w = (const char *)g->hw + tune_view(c->view)->w * e,
		.y = g->hy,
		.ldx = s->k,
		.ldw = s->k - tune_view(c->view)->shorter,
		.ldy = s->n,
	};
	const uint64_t all = (uint64_t)s->m * s->n, want = MAX(t->o->check_terms / s->k, 1u);

	c->row.error = 0;
	for (uint64_t i = 0; i < all; i += MAX(all / MIN(want, all), 1u)) {
		const size_t m = (size_t)(i / s->n), n = (size_t)(i % s->n);
		const struct gemm_ref_sum sum = gemm_ref_sum(&ref, m, n);
		const double off = gemm_error(&sum, gemm_ref_element(&ref, m, n), type);
		const double unit = sum.magnitude > 0 ? sum.magnitude : 1;
		const double bound = gemm_error_bound(&sum, ref.k, type);

		c->row.outputs++;
		c->row.over += !(off <= bound); /* NaN is over, too */
		if (!(off / unit <= c->row.error)) {
			c->row.error = off / unit;
			c->row.error_limit = bound / unit;
		}
	}
}

int tune_check_misaligned(struct tune *t, struct tune_candidate *c, struct why *why)
{
	struct stress_gpu *g = t->gpu;
	int r = 0;

	c->row.same = true;
	for (uint32_t copy = g->copies; r == 0 && copy-- > 0;) {
		uint64_t hash = 0;
		CUresult e = g->dev->api.MemsetD8Async(g->y, 0xff, g->y_bytes, g->dev->stream);

		e = e ? e : tune_launch(t, c, copy);
		r = e == CUDA_SUCCESS
			    ? stress_gpu_hash(g, &hash, why)
			    : cuda_fail(&g->dev->api, e, why, "launching %s", c->row.name);
		c->row.same &= copy + 1 == g->copies || hash == c->row.hash;
		c->row.hash = hash;
	}
	if (r == 0) {
		compare(t, c);
	}
	return r;
}
