/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is not a GEMM: the read-only ceiling, the weights' checksum, the memory test's pattern,
 * the empty launch and the clock's ping-pong.
 */
#include "kernels/cuda/dev.h"

/*
 * Reads all of the span once, UNROLL 16-byte loads a thread in flight, and keeps the loads
 * alive by a store that never happens with random data. Persistent grid of any size: each
 * block takes one stretch.
 */
template <u32 UNROLL, u32 THREADS> DEVICE void read_span(const gemm_cuda_span &s)
{
	block_mark mark = mark_begin(s.stamp);
	u64 n = s.bytes / 16;
	const u32x4 *p = (const u32x4 *)s.p;
	u32 x = 0;
	u64 i = (u64)bid() * (UNROLL * THREADS) + tid();
	u64 step = (u64)nbid() * (UNROLL * THREADS);
	for (; i + (UNROLL - 1) * THREADS < n; i += step) {
		u32x4 v[UNROLL];
#pragma unroll
		for (u32 j = 0; j < UNROLL; j++) {
			v[j] = load_once(p + i + j * THREADS);
		}
#pragma unroll
		for (u32 j = 0; j < UNROLL; j++) {
			x ^= v[j].a ^ v[j].b ^ v[j].c ^ v[j].d;
		}
	}
	for (u32 j = 0; j < UNROLL; j++) {
		if (i + j * THREADS < n) {
			u32x4 v = load_once(p + i + j * THREADS);
			x ^= v.a ^ v.b ^ v.c ^ v.d;
		}
	}
	if (x == 0x5eed5eed) {
		*(volatile u32 *)s.out = x;
	}
	mark_end(s.stamp, mark, 0);
}

#define READ(unroll, threads)                                                                      \
	KERNEL(threads, 1) void read_u##unroll##_t##threads(gemm_cuda_span s)                      \
	{                                                                                          \
		read_span<unroll, threads>(s);                                                     \
	}

READ(4, 256)
READ(8, 256)

/* out += a mix of place and bits over the span's 8-byte words: any flipped bit changes it. */
KERNEL(256, 1) void checksum(gemm_cuda_span s)
{
	u64 n = s.bytes / 16, sum = 0;
	for (u64 i = (u64)bid() * 256 + tid(); i < n; i += (u64)nbid() * 256) {
		u32x4 v = load_once((const u32x4 *)s.p + i);
		sum += mix(i * 4, v.a) + mix(i * 4 + 1, v.b) + mix(i * 4 + 2, v.c) +
		       mix(i * 4 + 3, v.d);
	}
	sum = warp_sum_u64(sum);
	if (tid() % 32 == 0) {
		red_add((uint64_t *)s.out, sum);
	}
}

/* As gemm_pattern() of kernels/hash.h. */
DEVICE u64 pattern(u64 address, u64 seed)
{
	u64 z = address * 0x9e3779b97f4a7c15ull + seed;
	z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9ull;
	return z ^ (z >> 32);
}

/* Writes to every 8 bytes of the span what their own address gives. */
KERNEL(256, 1) void pattern_fill(gemm_cuda_span s)
{
	u64 n = s.bytes / 16;
	for (u64 i = (u64)bid() * 256 + tid(); i < n; i += (u64)nbid() * 256) {
		u64 at = s.p + i * 16;
		u64 a = pattern(at, s.stamp), b = pattern(at + 8, s.stamp);
		*(u32x4 *)at = u32x4{(u32)a, (u32)(a >> 32), (u32)b, (u32)(b >> 32)};
	}
}

/* Counts the words that are something else, and keeps the first and the last address. */
KERNEL(256, 1) void pattern_check(gemm_cuda_span s)
{
	u64 n = s.bytes / 16;
	gemm_cuda_broken *out = (gemm_cuda_broken *)s.out;
	for (u64 i = (u64)bid() * 256 + tid(); i < n; i += (u64)nbid() * 256) {
		u64 at = s.p + i * 16;
		u32x4 v = load_once((const void *)at);
		bool low = ((u64)v.b << 32 | v.a) != pattern(at, s.stamp);
		bool high = ((u64)v.d << 32 | v.c) != pattern(at + 8, s.stamp);
		if (low || high) {
			red_add(&out->words, (u64)low + (u64)high);
			red_max(&out->first_inv, ~(low ? at : at + 8));
			red_max(&out->last, high ? at + 8 : at);
		}
	}
}

KERNEL(32, 1) void empty(gemm_cuda_span s)
{
	mark_end(s.stamp, mark_begin(s.stamp), 0);
}

/*
 * One thread answers the host: p[0] (host memory) is the request, counted up by the host;
 * p[1] the answer's count, p[2] the device's clock. Ends after BYTES answers, or 2 s
 * without a request.
 */
KERNEL(1, 1) void ping(gemm_cuda_span s)
{
	volatile u64 *p = (volatile u64 *)s.p;
	for (u64 i = 1; i <= s.bytes; i++) {
		u64 from = globaltimer();
		while (p[0] < i) {
			if (globaltimer() - from > 2000000000ull) {
				return;
			}
		}
		p[2] = globaltimer();
		asm volatile("fence.sys;" ::: "memory");
		p[1] = i;
	}
}
