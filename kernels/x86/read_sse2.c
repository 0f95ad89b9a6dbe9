/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read-only loops, 128 bits wide. */
#include <immintrin.h>

#include "kernels/read.h"

typedef __m128i word;

static inline word word_zero(void)
{
	return _mm_setzero_si128();
}

static inline word word_xor(word a, word b)
{
	return _mm_xor_si128(a, b);
}

static inline word word_load(const char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

static inline uint64_t word_fold(word w)
{
	return (uint64_t)_mm_cvtsi128_si64(_mm_xor_si128(w, _mm_unpackhi_epi64(w, w)));
}

#include "kernels/read_blocked.h"

uint64_t read_sse2_x8(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 1, 8);
}

uint64_t read_sse2_s4(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 4, 4);
}
