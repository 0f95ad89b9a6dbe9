/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fast kernels for compute capability 8.0 and up: gemv (M = 1, 2) on the FMA units,
 * mma (M up to 16) on the tensor cores. They want 16-byte aligned rows (K, ldx, ldw
 * multiples of 8). Shapes: kernels/gemm.h.
 */
#include "kernels/cuda/dev.h"
#include "kernels/cuda/mma.h"

DEVICE void fma8(float &acc, u32x4 w, u32x4 x)
{
	acc = fma32(low_half(w.a), low_half(x.a), acc);
	acc = fma32(high_half(w.a), high_half(x.a), acc);
	acc = fma32(low_half(w.b), low_half(x.b), acc);
	acc = fma32(high_half(w.b), high_half(x.b), acc);
	acc = fma32(low_half(w.c), low_half(x.c), acc);
	acc = fma32(high_half(w.c), high_half(x.c), acc);
	acc = fma32(low_half(w.d), low_half(x.d), acc);
	acc = fma32(high_half(w.d), high_half(x.d), acc);
}

/* A warp makes ROWS rows of W; each lane has ROWS × UNROLL 16-byte loads in flight. */
template <u32 MT, u32 ROWS, u32 UNROLL, u32 WARPS> DEVICE void gemv(const gemm_cuda_args &a)
{
	block_mark mark = mark_begin(a.stamp);
	u32 lane = tid() % 32, n0 = (bid() * WARPS + tid() / 32) * ROWS;
	const u16 *w[ROWS];
	float acc[ROWS][MT];
#pragma unroll
	for (u32 r = 0; r < ROWS; r++) {
		w[r] = (const u16 *)a.w + (u64)(n0 + r < a.n ? n0 + r : a.n - 1) * a.ldw;
#pragma unroll
		for (u32 m = 0; m < MT; m++) {
			acc[r][m] = 0;
		}
	}
	const u16 *x = (const u16 *)a.x;
	u32 k = lane * 8;
	for (; k + 256 * (UNROLL - 1) < a.k; k += 256 * UNROLL) {
		u32x4 v[UNROLL][ROWS];
#pragma unroll
		for (u32 u = 0; u < UNROLL; u++) {
#pragma unroll
			for (u32 r = 0; r < ROWS; r++) {
				v[u][r] = load_once(w[r] + k + u * 256);
			}
		}
#pragma unroll
		for (u32 u = 0; u < UNROLL; u++) {
#pragma unroll
			for (u32 m = 0; m < MT; m++) {
				u32x4 y = load_often(x + (u64)m * a.ldx + k + u * 256);
#pragma unroll
				for (u32 r = 0; r < ROWS; r++) {
					fma8(acc[r][m], v[u][r], y);
				}
			}
		}
	}
	for (; k < a.k; k += 256) {
#pragma unroll
		for (u32 m = 0; m < MT; m++) {
			u32x4 y = load_often(x + (u64)m * a.ldx + k);
#pragma unroll
			for (u32 r = 0; r < ROWS; r++) {
				fma8(acc[r][m], load_once(w[r] + k), y);
			}
		}
	}
	u64 hash = 0;
#pragma unroll
	for (u32 r = 0; r < ROWS; r++) {
#pragma unroll
		for (u32 m = 0; m < MT; m++) {
			float s = warp_sum(acc[r][m]);
			if (lane == 0 && n0 + r < a.n) {
				hash += put_half(a, m, n0 + r, s);
			}
		}
	}
	mark_end(a.stamp, mark, hash);
}

#define GEMV(mt, rows, unroll, warps, blocks)                                                      \
	KERNEL(warps * 32, blocks)                                                                  \
	void gemv_m##mt##_r##rows##_u##unroll##_w##warps(gemm_cuda_args a)                         \
	{                                                                                          \
		gemv<mt, rows, unroll, warps>(a);                                                  \
	}

GEMV(1, 1, 8, 4, 1)
GEMV(1, 2, 4, 8, 1)
GEMV(1, 4, 2, 4, 1)
GEMV(2, 2, 4, 4, 1)
GEMV(2, 4, 2, 4, 1)
/* Few registers, so that all of 12,000 rows run at once on 132 multiprocessors: no second wave. */
GEMV(1, 1, 4, 8, 6)
GEMV(1, 2, 2, 8, 6)
GEMV(2, 1, 4, 8, 6)
GEMV(2, 2, 1, 8, 6)

/*
 * Tensor cores, persistent blocks: each takes one stretch of W's rows and walks through it
 * 16 at a time, its eight warps sharing every row (warp i has columns 64 i … 64 i + 63 of
 * each 512). A lane copies into its own slots of a ring the very 16-byte pieces that it will
 * feed to the tensor core itself (mma.h), so that the ring needs no barrier at all.
 * Shared memory: the ring, x in fragments (or, XG, x straight from L1), the warps' sums.
 */
template <u32 MT, u32 DEPTH, bool XG> DEVICE void mma_ring(const gemm_cuda_args &a)
{
	enum : u32 {
		WARPS = 8,
		STAGE = 2048, /* bytes a warp: 16 rows × 64 columns */
		SUMS = WARPS * MT * SUM_BYTES,
	};
	extern __shared__ __attribute__((aligned(16))) unsigned char smem[];
	block_mark mark = mark_begin(a.stamp);
	u32 lane = tid() % 32, warp = tid() / 32, g = lane / 4, t = lane % 4;
	u32 base = shared_addr(smem), ring = base + 2 * SUMS + warp * (DEPTH * STAGE) + lane * 16;
	u32 xs = base + 2 * SUMS + WARPS * DEPTH * STAGE;
	u32 n0 = first_row(a, bid()), n1 = first_row(a, bid() + 1);
	u32 chunks = (a.k + 511) / 512, tiles = (n1 - n0 + 15) / 16, steps = tiles * chunks;
	const u16 *w = (const u16 *)a.w;

	/* Tile and chunk of the copy, ahead of those of the sums; x comes along with the first
	 * tile. */
	u32 ct = 0, cc = 0, cslot = 0;
	auto copy = [&]() {
		if (ct < tiles) {
			u32 k = cc * 512 + warp * 64 + t * 8, row = n0 + ct * 16 + g;
#pragma unroll
			for (u32 h = 0; h < 2; h++) {
				if (!XG && ct == 0) {
					load_x_fragment<MT>(a, xs, k - t * 8 + h * 32, a.k, g, t);
				}
#pragma unroll
				for (u32 r = 0; r < 2; r++) {
					u32 n = row + r * 8 < n1 ? row + r * 8 : n1 - 1;
					bool in = k + h * 32 < a.k && row + r * 8 < n1;
					copy_async(ring + cslot * STAGE + (h * 2 + r) * 512,
						w + (u64)n * a.ldw + (in ? k + h * 32 : 0),
						in ? 16 : 0);
				}
			}
			if (++cc == chunks) {
				cc = 0;
				ct++;
			}
		}
		copy_commit();
		cslot = cslot + 1 == DEPTH ? 0 : cslot + 1;
	};
#pragma unroll 1
	for (u32 i = 0; i < DEPTH - 1; i++) {
		copy();
	}
	u64 hash = 0;
	u32 slot = 0, c = 0, tile = 0;
	float acc[MT][4];
	clear<MT>(acc);
#pragma unroll 1
	for (u32 i = 0; i < steps; i++) {
		copy();
		copy_wait<DEPTH - 1>();
		u32 from = ring + slot * STAGE;
		slot = slot + 1 == DEPTH ? 0 : slot + 1;
#pragma unroll
		for (u32 h = 0; h < 2; h++) {
			u32 k = c * 512 + warp * 64 + h * 32;
			if (k >= a.k) {
				break;
			}
			u32x4 w0 = load_shared(from + h * 1024),
			      w1 = load_shared(from + h * 1024 + 512);
			u32x4 x[MT];
			if (XG) {
				load_x_global<MT>(a, x, k, g, t);
			} else {
				load_x_shared<MT>(a, x, xs, k, g, t);
			}
			mma32<MT>(acc, w0, w1, x);
		}
		if (++c == chunks) {
			u32 sums = base + (tile & 1) * SUMS;
			spill_sums<MT>(acc, sums + warp * (MT * SUM_BYTES), g, t);
			clear<MT>(acc);
			sync();
			u32 m = tid() / 16, n = n0 + tile * 16 + tid() % 16;
			if (tid() < MT * 128 && m < a.m && n < n1) {
				float v = gather_sums(
					sums + sum_offset(m, tid() % 16), MT * SUM_BYTES, WARPS);
				hash += put_half(a, m, n, v);
			}
			c = 0;
			tile++;
		}
	}
	mark_end(a.stamp, mark, hash);
}

#define MMA(mt, depth)                                                                             \
	KERNEL(256, 1) void mma_m##mt##_d##depth(gemm_cuda_args a)                                 \
	{                                                                                          \
		mma_ring<mt / 8, depth, false>(a);                                                 \
	}                                                                                          \
	KERNEL(256, 1) void mma_m##mt##_d##depth##_xg(gemm_cuda_args a)                            \
	{                                                                                          \
		mma_ring<mt / 8, depth, true>(a);                                                  \
	}

MMA(8, 4)
MMA(8, 6)
MMA(16, 4)
