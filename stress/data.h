/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The numbers that a stress multiplies, and the hash of what comes out. Both depend on
 * their arguments only: any machine, number of threads and order gives the same. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "stress/worker.h"

/* Raised when the same seed gives other numbers, or the same output another hash. */
enum { STRESS_DATA_VERSION = 1 };

/* Which matrix: each has a stream of random numbers of its own. */
enum stress_matrix { STRESS_X, STRESS_W };

/*
 * Writes elements FIRST … FIRST + N - 1 of a matrix to P (where element FIRST goes).
 * FIRST is a multiple of 4. Values are spread over (-1, 1) with all bits of the fraction
 * in use, FP16 ones from 2^-6 on.
 */
void stress_fill(void *p, size_t first, size_t n, enum stress_dtype dtype,
	enum stress_matrix matrix, uint64_t seed);

/* 64 bits that change with every bit of the BYTES at P; never 0. */
uint64_t stress_hash(const void *p, size_t bytes);

static inline size_t stress_dtype_size(enum stress_dtype dtype)
{
	return dtype == STRESS_F16 ? 2 : 4;
}
