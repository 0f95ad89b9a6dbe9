/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reproducible random numbers (SplitMix64) for tests that permute and for simulations. */
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

static inline uint64_t runs_random(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 … N − 1; the bias is below 2^-32 for N < 2^32. */
static inline size_t runs_random_below(uint64_t *state, size_t n)
{
	return (size_t)(((runs_random(state) >> 32) * (uint64_t)n) >> 32);
}

/* 0 < x < 1 */
static inline double runs_random_unit(uint64_t *state)
{
	return ((double)(runs_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

/* Standard normal, by Box and Muller. */
static inline double runs_random_normal(uint64_t *state)
{
	double u = runs_random_unit(state), v = runs_random_unit(state);
	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}
