/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read-only loops, 512 bits wide. Compiled with AVX-512. */
#include <immintrin.h>

#include "kernels/read.h"

typedef __m512i word;

static inline word word_zero(void)
{
	return _mm512_setzero_si512();
}

static inline word word_xor(word a, word b)
{
	return _mm512_xor_si512(a, b);
}

static inline word word_load(const char *p)
{
	return _mm512_loadu_si512(p);
}

static inline uint64_t word_fold(word w)
{
	__m256i q = _mm256_xor_si256(_mm512_castsi512_si256(w), _mm512_extracti64x4_epi64(w, 1));
	__m128i h = _mm_xor_si128(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
	return (uint64_t)_mm_cvtsi128_si64(_mm_xor_si128(h, _mm_unpackhi_epi64(h, h)));
}

#include "kernels/read_blocked.h"

uint64_t read_avx512_x4(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 1, 4);
}

uint64_t read_avx512_x8(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 1, 8);
}

uint64_t read_avx512_s4(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 4, 2);
}
