/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every kernel here needs of the GPU, in clang's own words: no CUDA header is
 * included, so that Debian's clang alone makes the PTX (scripts/make-ptx).
 */
#pragma once

#include "kernels/cuda/args.h"

#define __global__    __attribute__((global))
#define __device__    __attribute__((device))
#define __shared__    __attribute__((shared))
#define DEVICE        static __device__ inline __attribute__((always_inline))
#define DEVICE_METHOD __device__ inline __attribute__((always_inline))
#define KERNEL(threads, blocks)                                                                    \
	extern "C" __global__ __attribute__((launch_bounds(threads, blocks)))

typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

struct u32x4 {
	u32 a, b, c, d;
};

DEVICE u32 tid()
{
	return (u32)__nvvm_read_ptx_sreg_tid_x();
}

DEVICE u32 ntid()
{
	return (u32)__nvvm_read_ptx_sreg_ntid_x();
}

DEVICE u32 bid()
{
	return (u32)__nvvm_read_ptx_sreg_ctaid_x();
}

DEVICE u32 bid_y()
{
	return (u32)__nvvm_read_ptx_sreg_ctaid_y();
}

DEVICE u32 nbid()
{
	return (u32)__nvvm_read_ptx_sreg_nctaid_x();
}

DEVICE u32 nbid_y()
{
	return (u32)__nvvm_read_ptx_sreg_nctaid_y();
}

DEVICE void sync()
{
	__nvvm_bar_sync(0);
}

DEVICE u64 globaltimer()
{
	u64 t;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
	return t;
}

DEVICE u64 cycles()
{
	u64 t;
	asm volatile("mov.u64 %0, %%clock64;" : "=l"(t));
	return t;
}

/* Weights: read once, so kept out of L1; neighbours come along into L2. */
DEVICE u32x4 load_once(const void *p)
{
	u32x4 v;
	asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0,%1,%2,%3}, [%4];"
		     : "=r"(v.a), "=r"(v.b), "=r"(v.c), "=r"(v.d)
		     : "l"(p));
	return v;
}

/* Activations: read again and again, so cached. */
DEVICE u32x4 load_often(const void *p)
{
	u32x4 v;
	asm volatile("ld.global.nc.v4.u32 {%0,%1,%2,%3}, [%4];"
		     : "=r"(v.a), "=r"(v.b), "=r"(v.c), "=r"(v.d)
		     : "l"(p));
	return v;
}

/* The same of what an earlier launch may just have written: the compiler keeps it in its place. */
DEVICE u32x4 load_fresh(const void *p)
{
	u32x4 v;
	asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];"
		     : "=r"(v.a), "=r"(v.b), "=r"(v.c), "=r"(v.d)
		     : "l"(p)
		     : "memory");
	return v;
}

DEVICE u32 shared_addr(const void *p)
{
	u32 a;
	asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(a) : "l"(p));
	return a;
}

DEVICE u32x4 load_shared(u32 addr)
{
	u32x4 v;
	asm volatile("ld.shared.v4.u32 {%0,%1,%2,%3}, [%4];"
		     : "=r"(v.a), "=r"(v.b), "=r"(v.c), "=r"(v.d)
		     : "r"(addr)
		     : "memory");
	return v;
}

DEVICE void store_shared(u32 addr, u32x4 v)
{
	asm volatile("st.shared.v4.u32 [%0], {%1,%2,%3,%4};" ::"r"(addr), "r"(v.a), "r"(v.b),
		     "r"(v.c), "r"(v.d)
		     : "memory");
}

DEVICE float load_shared_f32(u32 addr)
{
	float v;
	asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(addr) : "memory");
	return v;
}

DEVICE void store_shared_f32(u32 addr, float v)
{
	asm volatile("st.shared.f32 [%0], %1;" ::"r"(addr), "f"(v) : "memory");
}

DEVICE float half_to_float(u16 h)
{
	float f;
	asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
	return f;
}

DEVICE u16 float_to_half(float f)
{
	u16 h;
	asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(f));
	return h;
}

/* The two halves of a word. */
DEVICE float low_half(u32 v)
{
	return half_to_float((u16)v);
}

DEVICE float high_half(u32 v)
{
	return half_to_float((u16)(v >> 16));
}

DEVICE float fma32(float a, float b, float c)
{
	return __nvvm_fma_rn_f(a, b, c);
}

DEVICE float shuffle_xor(float v, u32 mask)
{
	return __nvvm_shfl_sync_bfly_f32(0xffffffffu, v, (int)mask, 0x1f);
}

/* The sum over a warp, in a fixed order: every lane gets the same bits. */
DEVICE float warp_sum(float v)
{
#pragma unroll
	for (u32 d = 16; d; d >>= 1) {
		v += shuffle_xor(v, d);
	}
	return v;
}

DEVICE u32 warp_add(u32 v)
{
	u32 sum;
	asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(sum) : "r"(v));
	return sum;
}

/* In three pieces of at most 22 bits, whose sums fit 27. */
DEVICE u64 warp_sum_u64(u64 v)
{
	u64 low = warp_add((u32)v & 0x3fffff), middle = warp_add((u32)(v >> 22) & 0x1fffff),
	    high = warp_add((u32)(v >> 43));
	return low + (middle << 22) + (high << 43);
}

DEVICE void red_max(uint64_t *p, u64 v)
{
	asm volatile("red.global.max.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

DEVICE void red_add(uint64_t *p, u64 v)
{
	asm volatile("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

/* As gemm_hash_element() of kernels/hash.h. */
DEVICE u64 mix(u64 index, u32 bits)
{
	u64 z = (index << 32 | bits) + 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Stamps of one block: begun by its first thread, ended when all its threads are through. */
struct block_mark {
	u64 ns, cycles;
};

DEVICE block_mark mark_begin(u64 stamp)
{
	block_mark b = {0, 0};
	if (stamp && tid() == 0) {
		gemm_cuda_stamp *s = (gemm_cuda_stamp *)stamp;
		b.ns = globaltimer();
		b.cycles = cycles();
		red_max(&s->start_inv, ~b.ns);
	}
	return b;
}

/* Call with every thread of the block; HASH is each thread's own share. */
DEVICE void mark_end(u64 stamp, block_mark b, u64 hash)
{
	if (!stamp) {
		return;
	}
	gemm_cuda_stamp *s = (gemm_cuda_stamp *)stamp;
	u32 place = bid() + bid_y();
	hash = warp_sum_u64(hash);
	if (tid() % 32 == 0 && hash) {
		red_add(&s->end[(place + tid() / 32) % GEMM_CUDA_ENDS].hash, hash);
	}
	sync();
	if (tid() == 0) {
		gemm_cuda_end *e = &s->end[place % GEMM_CUDA_ENDS];
		u64 c = cycles(), ns = globaltimer();
		red_max(&e->ns, ns);
		red_add(&e->blocks, 1);
		if (bid() == 0 && bid_y() == 0) {
			s->cycles = c - b.cycles;
			s->block_ns = ns - b.ns;
		}
	}
}

DEVICE float activate(u32 act, float v)
{
	if (act == GEMM_CUDA_ACT_RELU) {
		return v > 0.0f ? v : (v != v ? v : 0.0f);
	}
	if (act == GEMM_CUDA_ACT_GELU) {
		/* x/2 (1 + tanh u) = x / (1 + e^-2u) */
		float u = 0.7978845608f * (v + 0.044715f * v * v * v), e;
		asm("ex2.approx.f32 %0, %1;" : "=f"(e) : "f"(u * -2.885390082f));
		return v / (1.0f + e);
	}
	return v;
}

/* One FP16 output: bias, activation, one rounding, store. Returns its share of the hash. */
DEVICE u64 put_half(const gemm_cuda_args &a, u32 m, u32 n, float v)
{
	u64 index = (u64)m * a.n + n;
	if (__builtin_expect(a.bias != 0, 0)) {
		v += half_to_float(((const u16 *)a.bias)[n]);
	}
	if (__builtin_expect(a.act != 0, 0)) {
		v = activate(a.act, v);
	}
	u16 h = float_to_half(v);
	if (a.flip && index == a.flip - 1) {
		h ^= 0x0400;
	}
	((u16 *)a.y)[(u64)m * a.ldy + n] = h;
	return a.stamp ? mix(index, h) : 0;
}

DEVICE u64 put_float(const gemm_cuda_args &a, u32 m, u32 n, float v)
{
	u64 index = (u64)m * a.n + n;
	if (a.bias) {
		v += ((const float *)a.bias)[n];
	}
	v = activate(a.act, v);
	if (a.flip && index == a.flip - 1) {
		v = -v;
	}
	((float *)a.y)[(u64)m * a.ldy + n] = v;
	return a.stamp ? mix(index, __nvvm_bitcast_f2i(v)) : 0;
}
