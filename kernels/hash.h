/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hash of an output: a sum over its elements of a mix of place and bits, so that the
 * order of threads does not matter and every flipped bit does. On the GPU the same sum is
 * formed inside the launch (kernels/cuda/dev.h). SplitMix64's finaliser (Steele, Lea,
 * Flood 2014) does the mixing.
 */
#pragma once

#include <stdint.h>

/* INDEX below 2^32: m × N + n. BITS: the element's 16 or 32 bits. */
static inline uint64_t gemm_hash_element(uint64_t index, uint32_t bits)
{
	uint64_t z = (index << 32 | bits) + 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* What a memory test writes to the 8 bytes at ADDRESS: another address or seed, another word. */
static inline uint64_t gemm_pattern(uint64_t address, uint64_t seed)
{
	uint64_t z = address * 0x9e3779b97f4a7c15u + seed;
	z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9u;
	return z ^ (z >> 32);
}
