/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read-only loops, 256 bits wide. Compiled with AVX2. */
#include <immintrin.h>

#include "kernels/read.h"

typedef __m256i word;

static inline word word_zero(void)
{
	return _mm256_setzero_si256();
}

static inline word word_xor(word a, word b)
{
	return _mm256_xor_si256(a, b);
}

static inline word word_load(const char *p)
{
	return _mm256_loadu_si256((const __m256i *)(const void *)p);
}

static inline uint64_t word_fold(word w)
{
	__m128i h = _mm_xor_si128(_mm256_castsi256_si128(w), _mm256_extracti128_si256(w, 1));
	return (uint64_t)_mm_cvtsi128_si64(_mm_xor_si128(h, _mm_unpackhi_epi64(h, h)));
}

#include "kernels/read_blocked.h"

uint64_t read_avx2_x4(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 1, 4);
}

uint64_t read_avx2_x8(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 1, 8);
}

uint64_t read_avx2_s4(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 4, 2);
}

uint64_t read_avx2_s8(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 8, 2);
}
