/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/data.h"

#include <string.h>

/* splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators), by index. */
static uint64_t random_at(uint64_t seed, uint64_t index)
{
	uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/*
 * 16 random bits to an FP16 number: sign, ten bits of fraction, and an exponent that halves
 * in frequency with each step, as it does in evenly spread numbers.
 */
static uint16_t half_of(uint32_t r)
{
	uint32_t sign = r & 0x8000, fraction = r & 0x3ff;
	uint32_t steps = (uint32_t)__builtin_ctz(r >> 10 | 0x20); /* 0 … 5 */
	return (uint16_t)(sign | (14 - steps) << 10 | fraction);
}

static float float_of(uint32_t r)
{
	/* 24 bits, odd numerators: never 0, never ±1, exact. */
	return (float)((int32_t)(r >> 8 | 1) - 0x800000) * 0x1p-23f;
}

void stress_fill(void *p, size_t first, size_t n, enum stress_dtype dtype,
	enum stress_matrix matrix, uint64_t seed)
{
	const uint64_t stream = random_at(seed, (uint64_t)matrix);
	const size_t each = dtype == STRESS_F16 ? 4 : 2; /* numbers in 64 random bits */
	for (size_t i = 0; i < n; i += each) {
		uint64_t r = random_at(stream, (first + i) / each);
		for (size_t k = 0; k < each && i + k < n; k++) {
			if (dtype == STRESS_F16) {
				((uint16_t *)p)[i + k] = half_of((uint32_t)(r >> 16 * k) & 0xffff);
			} else {
				((float *)p)[i + k] = float_of((uint32_t)(r >> 32 * k));
			}
		}
	}
}

uint64_t stress_hash(const void *p, size_t bytes)
{
	const char *at = p;
	uint64_t h = bytes * 0x9e3779b97f4a7c15u;
	for (; bytes; at += 8) {
		uint64_t w = 0;
		size_t n = bytes < 8 ? bytes : 8;
		memcpy(&w, at, n);
		/* Odd factor and a shift right: a bijection of h for each w, so nothing cancels. */
		h = (h ^ w) * 0x2127599bf4325c37u;
		h ^= h >> 47;
		bytes -= n;
	}
	return h ? h : 1;
}
