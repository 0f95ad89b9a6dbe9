/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernels to compare with, and those that any pointer and leading dimension suits:
 * naive (a thread an output), tiled (the textbook's shared-memory tile), f32, and a
 * deliberately wrong one that accumulates in FP16. Shapes: kernels/gemm.h.
 */
#include "kernels/cuda/dev.h"

/* Grid: x over N, y over M. */
KERNEL(128, 1) void naive(gemm_cuda_args a)
{
	block_mark mark = mark_begin(a.stamp);
	u64 hash = 0;
	u32 n = bid() * 128 + tid(), m = bid_y();
	if (n < a.n) {
		const u16 *w = (const u16 *)a.w + (u64)n * a.ldw;
		const u16 *x = (const u16 *)a.x + (u64)m * a.ldx;
		float sum = 0;
		for (u32 k = 0; k < a.k; k++) {
			sum = fma32(half_to_float(w[k]), half_to_float(x[k]), sum);
		}
		hash = put_half(a, m, n, sum);
	}
	mark_end(a.stamp, mark, hash);
}

/* The same with FP16 accumulation: fails the bound of `verify`, which shows that it can fail. */
KERNEL(128, 1) void naive_acc16(gemm_cuda_args a)
{
	block_mark mark = mark_begin(a.stamp);
	u64 hash = 0;
	u32 n = bid() * 128 + tid(), m = bid_y();
	if (n < a.n) {
		const u16 *w = (const u16 *)a.w + (u64)n * a.ldw;
		const u16 *x = (const u16 *)a.x + (u64)m * a.ldx;
		u16 sum = 0;
		for (u32 k = 0; k < a.k; k++) {
			asm("fma.rn.f16 %0, %1, %2, %0;" : "+h"(sum) : "h"(w[k]), "h"(x[k]));
		}
		hash = put_half(a, m, n, half_to_float(sum));
	}
	mark_end(a.stamp, mark, hash);
}

/*
 * A block makes TM × TN outputs, a thread TM of them (one row of W); TK columns of both
 * operands at a time go through shared memory. Grid: x over N, y over M.
 */
template <u32 TM, u32 TN, u32 TK> DEVICE void tiled(const gemm_cuda_args &a)
{
	enum : u32 {
		PITCH = TK * 2 + 16, /* bytes: eight lanes' 16-byte reads fall on all banks */
		PARTS = TK / 8,      /* 16-byte pieces of a row */
	};
	__shared__ __attribute__((aligned(16))) unsigned char ws[TN * PITCH];
	__shared__ __attribute__((aligned(16))) u16 xs[TM * TK];
	block_mark mark = mark_begin(a.stamp);
	u32 n0 = bid() * TN, m0 = bid_y() * TM;
	float acc[TM];
#pragma unroll
	for (u32 m = 0; m < TM; m++) {
		acc[m] = 0;
	}
	for (u32 k0 = 0; k0 < a.k; k0 += TK) {
#pragma unroll 1
		for (u32 i = tid(); i < TN * PARTS; i += TN) {
			u32 r = i / PARTS, k = k0 + i % PARTS * 8, n = n0 + r;
			u32x4 v = {0, 0, 0, 0};
			const u16 *w = (const u16 *)a.w + (u64)n * a.ldw + k;
			if (n < a.n && a.vec && k < a.k) {
				v = load_once(w);
			} else if (n < a.n) {
				u32 p[4] = {0, 0, 0, 0};
#pragma unroll
				for (u32 e = 0; e < 8; e++) {
					u32 h = k + e < a.k ? w[e] : 0;
					p[e / 2] |= h << (e % 2 * 16);
				}
				v = u32x4{p[0], p[1], p[2], p[3]};
			}
			*(u32x4 *)(ws + r * PITCH + i % PARTS * 16) = v;
		}
#pragma unroll 1
		for (u32 i = tid(); i < TM * TK; i += TN) {
			u32 m = m0 + i / TK, k = k0 + i % TK;
			bool in = m < a.m && k < a.k;
			xs[i] = in ? ((const u16 *)a.x)[(u64)m * a.ldx + k] : (u16)0;
		}
		sync();
#pragma unroll 1
		for (u32 p = 0; p < PARTS; p++) {
			u32x4 v = *(const u32x4 *)(ws + tid() * PITCH + p * 16);
			float w[8] = {low_half(v.a), high_half(v.a), low_half(v.b), high_half(v.b),
				low_half(v.c), high_half(v.c), low_half(v.d), high_half(v.d)};
#pragma unroll
			for (u32 m = 0; m < TM; m++) {
#pragma unroll
				for (u32 e = 0; e < 8; e++) {
					float x = half_to_float(xs[m * TK + p * 8 + e]);
					acc[m] = fma32(w[e], x, acc[m]);
				}
			}
		}
		sync();
	}
	u64 hash = 0;
	u32 n = n0 + tid();
#pragma unroll
	for (u32 m = 0; m < TM; m++) {
		if (n < a.n && m0 + m < a.m) {
			hash += put_half(a, m0 + m, n, acc[m]);
		}
	}
	mark_end(a.stamp, mark, hash);
}

#define TILED(tm, tn, tk)                                                                          \
	KERNEL(tn, 1) void tiled_##tm##x##tn##x##tk(gemm_cuda_args a)                              \
	{                                                                                          \
		tiled<tm, tn, tk>(a);                                                              \
	}

TILED(1, 64, 16)
TILED(1, 128, 16)
TILED(4, 64, 16)
TILED(8, 128, 16)
TILED(16, 128, 16)
TILED(1, 128, 64)
TILED(8, 128, 64)

/*
 * FP32: a warp makes ROWS rows of W against MT rows of x, split along K over its lanes.
 * Any alignment; 16-byte loads where a.vec allows. Eight warps a block, grid: x over N.
 */
template <u32 MT, u32 ROWS> DEVICE void f32_rows(const gemm_cuda_args &a)
{
	block_mark mark = mark_begin(a.stamp);
	u32 lane = tid() % 32, n0 = (bid() * 8 + tid() / 32) * ROWS, m0 = bid_y() * MT;
	const float *w[ROWS], *x[MT];
	float acc[ROWS][MT];
#pragma unroll
	for (u32 r = 0; r < ROWS; r++) {
		u32 n = n0 + r < a.n ? n0 + r : a.n - 1;
		w[r] = (const float *)a.w + (u64)n * a.ldw;
#pragma unroll
		for (u32 m = 0; m < MT; m++) {
			acc[r][m] = 0;
		}
	}
#pragma unroll
	for (u32 m = 0; m < MT; m++) {
		u32 row = m0 + m < a.m ? m0 + m : a.m - 1;
		x[m] = (const float *)a.x + (u64)row * a.ldx;
	}
	u32 k = a.vec ? lane * 4 : a.k;
	u32 whole = a.vec ? a.k / 4 * 4 : 0;
	for (; k < whole; k += 128) {
		u32x4 v[ROWS];
#pragma unroll
		for (u32 r = 0; r < ROWS; r++) {
			v[r] = load_once(w[r] + k);
		}
#pragma unroll
		for (u32 m = 0; m < MT; m++) {
			u32x4 y = load_often(x[m] + k);
#pragma unroll
			for (u32 r = 0; r < ROWS; r++) {
				float s = acc[r][m];
				s = fma32(__nvvm_bitcast_i2f((int)v[r].a),
					__nvvm_bitcast_i2f((int)y.a), s);
				s = fma32(__nvvm_bitcast_i2f((int)v[r].b),
					__nvvm_bitcast_i2f((int)y.b), s);
				s = fma32(__nvvm_bitcast_i2f((int)v[r].c),
					__nvvm_bitcast_i2f((int)y.c), s);
				s = fma32(__nvvm_bitcast_i2f((int)v[r].d),
					__nvvm_bitcast_i2f((int)y.d), s);
				acc[r][m] = s;
			}
		}
	}
	for (k = whole + lane; k < a.k; k += 32) {
#pragma unroll
		for (u32 m = 0; m < MT; m++) {
#pragma unroll
			for (u32 r = 0; r < ROWS; r++) {
				acc[r][m] = fma32(w[r][k], x[m][k], acc[r][m]);
			}
		}
	}
	u64 hash = 0;
#pragma unroll
	for (u32 r = 0; r < ROWS; r++) {
#pragma unroll
		for (u32 m = 0; m < MT; m++) {
			float s = warp_sum(acc[r][m]);
			if (lane == 0 && n0 + r < a.n && m0 + m < a.m) {
				hash += put_float(a, m0 + m, n0 + r, s);
			}
		}
	}
	mark_end(a.stamp, mark, hash);
}

#define F32(mt, rows)                                                                              \
	KERNEL(256, 1) void f32_m##mt(gemm_cuda_args a)                                            \
	{                                                                                          \
		f32_rows<mt, rows>(a);                                                             \
	}

F32(1, 4)
F32(2, 4)
F32(4, 4)
F32(8, 4)
