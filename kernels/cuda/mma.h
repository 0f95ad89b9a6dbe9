/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Weights as the 16-row operand of mma.m16n8k16 (PTX ISA 8.0, 9.7.13.4.8).
 *
 * The sum over k may be taken in any order as long as both operands agree, so k is permuted
 * to make every lane's share contiguous: of 32 columns lane (g = lane / 4, t = lane % 4)
 * takes columns 8 t … 8 t + 7 of rows g and g + 8, one 16-byte piece each, and the same
 * columns of row g of x. The pieces' first halves feed one mma, their second halves another.
 */
#pragma once

#include "kernels/cuda/dev.h"

/* A tile's sums of one warp, 8 columns of M: [8][20] floats, 16 rows and 4 to spare the banks. */
enum : u32 {
	SUM_PITCH = 20,
	SUM_BYTES = 8 * SUM_PITCH * 4,
};

DEVICE void mma16816(float (&c)[4], u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
		     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
		     : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
		     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

/* 16 rows × 32 columns of W against 8 MT rows of x. */
template <u32 MT> DEVICE void mma32(float (&acc)[MT][4], u32x4 w0, u32x4 w1, const u32x4 (&x)[MT])
{
#pragma unroll
	for (u32 j = 0; j < MT; j++) {
		mma16816(acc[j], w0.a, w1.a, w0.b, w1.b, x[j].a, x[j].b);
	}
#pragma unroll
	for (u32 j = 0; j < MT; j++) {
		mma16816(acc[j], w0.c, w1.c, w0.d, w1.d, x[j].c, x[j].d);
	}
}

template <u32 MT> DEVICE void clear(float (&acc)[MT][4])
{
#pragma unroll
	for (u32 j = 0; j < MT; j++) {
		acc[j][0] = acc[j][1] = acc[j][2] = acc[j][3] = 0;
	}
}

/* Where a group's stretch of W's rows begins. */
DEVICE u32 first_row(const gemm_cuda_args &a, u32 group)
{
	return a.rows * group + (group < a.rest ? group : a.rest);
}

/* 16 bytes of global memory to shared memory, BYTES (16 or 0) of them read, the rest zero. */
DEVICE void copy_async(u32 to, const void *from, u32 bytes)
{
	asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
		     "r"(bytes)
		     : "memory");
}

DEVICE void copy_commit()
{
	asm volatile("cp.async.commit_group;" ::: "memory");
}

template <u32 N> DEVICE void copy_wait()
{
	asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

/* Where x's piece of columns K … K + 31 lies: [k / 32][m][t], 16 bytes each. */
DEVICE u32 x_offset(const gemm_cuda_args &a, u32 k, u32 m, u32 t)
{
	return ((k / 32 * a.m) + m) * 64 + t * 16;
}

/*
 * Fetches this lane's own pieces of x into shared memory, columns K … K + 31 of a slice of
 * KLEN that begins at column K_FROM of x; past the end they are zero. Needs a copy_wait before
 * use, but no barrier: nobody else reads them.
 */
template <u32 MT>
DEVICE void load_x_fragment(
	const gemm_cuda_args &a, u32 xs, u32 k, u32 klen, u32 g, u32 t, u32 k_from = 0)
{
	if (k >= klen) {
		return;
	}
#pragma unroll
	for (u32 j = 0; j < MT; j++) {
		u32 m = g + j * 8;
		if (m < a.m) {
			bool in = k + t * 8 < klen;
			copy_async(xs + x_offset(a, k, m, t),
				(const u16 *)a.x + (u64)m * a.ldx + (in ? k_from + k + t * 8 : 0),
				in ? 16 : 0);
		}
	}
}

template <u32 MT>
DEVICE void load_x_shared(const gemm_cuda_args &a, u32x4 (&x)[MT], u32 xs, u32 k, u32 g, u32 t)
{
#pragma unroll
	for (u32 j = 0; j < MT; j++) {
		u32 m = g + j * 8;
		x[j] = u32x4{0, 0, 0, 0};
		if (m < a.m) {
			x[j] = load_shared(xs + x_offset(a, k, m, t));
		}
	}
}

template <u32 MT>
DEVICE void load_x_global(const gemm_cuda_args &a, u32x4 (&x)[MT], u32 k, u32 g, u32 t)
{
#pragma unroll
	for (u32 j = 0; j < MT; j++) {
		u32 m = g + j * 8;
		x[j] = u32x4{0, 0, 0, 0};
		if (m < a.m && k + t * 8 < a.k) {
			x[j] = load_often((const u16 *)a.x + (u64)m * a.ldx + k + t * 8);
		}
	}
}

/* Place of the sum of row ROW (0 … 15) and M within a warp's sums. */
DEVICE u32 sum_offset(u32 m, u32 row)
{
	return (m * SUM_PITCH + row) * 4;
}

template <u32 MT> DEVICE void spill_sums(const float (&acc)[MT][4], u32 to, u32 g, u32 t)
{
#pragma unroll
	for (u32 j = 0; j < MT; j++) {
		store_shared_f32(to + sum_offset(j * 8 + 2 * t, g), acc[j][0]);
		store_shared_f32(to + sum_offset(j * 8 + 2 * t + 1, g), acc[j][1]);
		store_shared_f32(to + sum_offset(j * 8 + 2 * t, g + 8), acc[j][2]);
		store_shared_f32(to + sum_offset(j * 8 + 2 * t + 1, g + 8), acc[j][3]);
	}
}

/* The warps' sums of one output, in a fixed order. */
DEVICE float gather_sums(u32 from, u32 stride, u32 warps)
{
	float v = 0;
#pragma unroll
	for (u32 w = 0; w < warps; w++) {
		v += load_shared_f32(from + w * stride);
	}
	return v;
}
