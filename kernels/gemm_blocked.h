/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loops around a vector unit, as static functions: an ISA file defines the vector
 * first and includes this once. It needs
 *
 *   vec, VEC_LEN                  a vector of that many floats
 *   X_ROWS                        3 where there are 16 vector registers, 6 where 32
 *   vec_zero() vec_add(a, b)
 *   vec_fma(a, b, c)              a · b + c, one rounding
 *   vec_sum(v)                    all lanes, always in the same order
 *   vec_load(const float *)       any alignment
 *   vec_load_half(const uint16_t *)   any alignment, exact
 *   vec_store(float *, v)         64-byte aligned
 *   narrow(float)                 to FP16, to nearest even
 *
 * Order of work: a panel of rows of W; inside it K in chunks, for which x is widened to
 * FP32 once; inside it rows, from memory once, each for all rows of x. Rows come from
 * STREAMS distant places of the panel in turn: where a core's prefetchers follow each
 * stream alone, several streams read faster than one (and on other cores they do not, so
 * both are built and the caller measures).
 *
 * The sum of y[m][n] has an order that depends on K, M and m only: vector i of a chunk
 * goes to accumulator i mod U, these are added up, chunks are added in order, and lanes
 * at the end. So neither n0, n1 nor the number of streams changes a bit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm.h"

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

#define INLINE static inline __attribute__((always_inline))

enum {
	/*
	 * One chunk of x, 64 KiB of stack. A chunk that holds all of K lets every row be read
	 * without a jump, which is worth more than an x that stays in the first-level cache.
	 */
	X_FLOATS = 16384,
	M_BLOCK = 16,    /* rows of x that share one pass over W */
	PARTIALS = 1024, /* vectors of a panel's sums */
	STREAMS = 4,
	TURN = 4, /* vectors of a row in one turn of the loop; a multiple of U */
};

/* A chunk of K: x in FP32, padded with zeros to whole vectors. */
struct chunk {
	const float *x;
	size_t x_stride; /* floats between two rows of x */
	size_t vectors;  /* whole ones */
	size_t rest;     /* elements in the last, partial one; 0: none */
	size_t row_bytes;
};

INLINE vec load_w(const char *w, bool half)
{
	return half ? vec_load_half((const uint16_t *)(const void *)w)
		    : vec_load((const float *)(const void *)w);
}

/* N < VEC_LEN elements, the other lanes zero. Reads nothing past them. */
static vec load_w_rest(const char *w, size_t n, bool half)
{
	_Alignas(64) char buf[VEC_LEN * sizeof(float)] = {0};
	__builtin_memcpy(buf, w, n * (half ? sizeof(uint16_t) : sizeof(float)));
	return load_w(buf, half);
}

/*
 * R rows of W, STEP bytes apart, times MR rows of x from row M on, added to
 * sum[r * sum_step + m]. R, MR and U (accumulators each) are constants where it is called.
 */
INLINE void dot(const struct chunk *c, bool half, const char *w, size_t step, size_t m, int R,
	int MR, int U, vec *sum, size_t sum_step)
{
	vec acc[STREAMS * X_ROWS]; /* [R][MR][U]: few enough to stay in registers */
	const float *x = c->x + m * c->x_stride;
	const size_t size = half ? sizeof(uint16_t) : sizeof(float);
	UNROLL for (int i = 0; i < R * MR * U; i++)
	{
		acc[i] = vec_zero();
	}
	size_t v = 0;
	for (; v + TURN <= c->vectors; v += TURN) {
		UNROLL for (int r = 0; r < R; r++)
		{
			UNROLL for (int u = 0; u < TURN; u++)
			{
				size_t k = (v + (size_t)u) * VEC_LEN;
				vec wv = load_w(w + (size_t)r * step + k * size, half);
				UNROLL for (int i = 0; i < MR; i++)
				{
					vec *a = &acc[(r * MR + i) * U + u % U];
					const float *xp = x + (size_t)i * c->x_stride + k;
					*a = vec_fma(wv, vec_load(xp), *a);
				}
			}
		}
	}
	/* What is left: fewer than TURN whole vectors, then a partial one. */
	for (; v < c->vectors + (c->rest > 0); v++) {
		size_t k = v * VEC_LEN;
		UNROLL for (int r = 0; r < R; r++)
		{
			const char *p = w + (size_t)r * step + k * size;
			vec wv = v < c->vectors ? load_w(p, half) : load_w_rest(p, c->rest, half);
			UNROLL for (int i = 0; i < MR; i++)
			{
				const float *xp = x + (size_t)i * c->x_stride + k;
				vec *even = &acc[(r * MR + i) * U], *odd = even + U - 1;
				vec *a = (v & 1) ? odd : even; /* U is 1 or 2 */
				*a = vec_fma(wv, vec_load(xp), *a);
			}
		}
	}
	UNROLL for (int r = 0; r < R; r++)
	{
		UNROLL for (int i = 0; i < MR; i++)
		{
			vec a = acc[(r * MR + i) * U];
			if (U == 2) {
				a = vec_add(a, acc[(r * MR + i) * U + 1]);
			}
			vec *s = &sum[(size_t)r * sum_step + m + (size_t)i];
			*s = vec_add(*s, a);
		}
	}
}

/*
 * R rows for all MB rows of x, in blocks of nearly equal size that fill the registers: R × 3
 * sums, three vectors of x and one of W take sixteen of them, R × 6 take thirty-one of
 * thirty-two. Only the first block meets memory.
 */
INLINE void row_group(const struct chunk *c, bool half, const char *w, size_t step, size_t mb,
	int R, vec *sum, size_t sum_step)
{
	for (size_t m = 0; m < mb;) {
		size_t blocks = (mb - m + X_ROWS - 1) / X_ROWS;
		size_t size = (mb - m + blocks - 1) / blocks;
		switch (size) {
		case 1: /* two accumulators each, since one would wait for itself */
			dot(c, half, w, step, m, R, 1, 2, sum, sum_step);
			break;
		case 2:
			dot(c, half, w, step, m, R, 2, 1, sum, sum_step);
			break;
		case 3:
			dot(c, half, w, step, m, R, 3, 1, sum, sum_step);
			break;
#if X_ROWS > 3
		case 4:
			dot(c, half, w, step, m, R, 4, 1, sum, sum_step);
			break;
		case 5:
			dot(c, half, w, step, m, R, 5, 1, sum, sum_step);
			break;
		case 6:
			dot(c, half, w, step, m, R, 6, 1, sum, sum_step);
			break;
#endif
		}
		m += size;
	}
}

/* N rows of W from W on; sum is [n][mb]. */
INLINE void panel_chunk(const struct chunk *c, bool half, const char *w, size_t n, size_t mb,
	bool streams, vec *sum)
{
	size_t each = streams ? n / STREAMS : 0;
	for (size_t i = 0; i < each; i++) {
		row_group(c, half, w + i * c->row_bytes, each * c->row_bytes, mb, STREAMS,
			sum + i * mb, each * mb);
	}
	for (size_t i = each * STREAMS; i < n; i++) {
		row_group(c, half, w + i * c->row_bytes, 0, mb, 1, sum + i * mb, 0);
	}
}

/* Widens K0 … K0 + LEN of MB rows of x, from row M0 on, into XS, with zeros behind. */
INLINE void widen_x(const struct gemm *g, bool half, size_t m0, size_t mb, size_t k0, size_t len,
	size_t stride, float *xs)
{
	const size_t size = half ? sizeof(uint16_t) : sizeof(float);
	for (size_t m = 0; m < mb; m++) {
		const char *x = (const char *)g->x + ((m0 + m) * g->ldx + k0) * size;
		float *to = xs + m * stride;
		size_t k = 0;
		for (; k + VEC_LEN <= len; k += VEC_LEN) {
			vec_store(to + k, load_w(x + k * size, half));
		}
		if (k < len) {
			vec_store(to + k, load_w_rest(x + k * size, len - k, half));
		}
	}
}

/* Writes rows N … N + COUNT - 1 of W, that is columns of y. */
INLINE void store_panel(const struct gemm *g, bool half, size_t m0, size_t mb, size_t n,
	size_t count, const vec *sum)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t m = 0; m < mb; m++) {
			size_t at = (m0 + m) * g->ldy + n + i;
			float f = vec_sum(sum[i * mb + m]);
			if (half) {
				((uint16_t *)g->y)[at] = narrow(f);
			} else {
				((float *)g->y)[at] = f;
			}
		}
	}
}

/* Rows M0 … M0 + MB - 1 of x times all of [n0, n1). */
INLINE void row_block(
	const struct gemm *g, bool half, bool streams, size_t m0, size_t mb, float *xs, vec *sum)
{
	const size_t size = half ? sizeof(uint16_t) : sizeof(float);
	const size_t stride = X_FLOATS / mb / (2 * VEC_LEN) * (2 * VEC_LEN);
	const size_t panel = PARTIALS / mb;
	size_t widened = SIZE_MAX; /* the chunk that XS holds */
	for (size_t n = g->n0; n < g->n1; n += panel) {
		size_t count = g->n1 - n < panel ? g->n1 - n : panel;
		for (size_t i = 0; i < count * mb; i++) {
			sum[i] = vec_zero();
		}
		for (size_t k0 = 0; k0 < g->k; k0 += stride) {
			size_t len = g->k - k0 < stride ? g->k - k0 : stride;
			if (widened != k0) {
				widen_x(g, half, m0, mb, k0, len, stride, xs);
				widened = k0;
			}
			struct chunk c = {
				.x = xs,
				.x_stride = stride,
				.vectors = len / VEC_LEN,
				.rest = len % VEC_LEN,
				.row_bytes = g->ldw * size,
			};
			const char *w = (const char *)g->w + (n * g->ldw + k0) * size;
			panel_chunk(&c, half, w, count, mb, streams, sum);
		}
		store_panel(g, half, m0, mb, n, count, sum);
	}
}

INLINE void gemm_blocked(const struct gemm *g, bool half, bool streams)
{
	_Alignas(64) float xs[X_FLOATS];
	vec sum[PARTIALS];
	for (size_t m0 = 0; m0 < g->m; m0 += M_BLOCK) {
		size_t mb = g->m - m0 < M_BLOCK ? g->m - m0 : M_BLOCK;
		row_block(g, half, streams, m0, mb, xs, sum);
	}
}
