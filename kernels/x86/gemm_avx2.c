/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AVX2, FMA and F16C. Compiled with these flags, so nothing else here is visible outside. */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/x86/gemm_x86.h"

#define X_ROWS 3
enum { VEC_LEN = 8 };
typedef __m256 vec;

static inline vec vec_zero(void)
{
	return _mm256_setzero_ps();
}

static inline vec vec_add(vec a, vec b)
{
	return _mm256_add_ps(a, b);
}

static inline vec vec_fma(vec a, vec b, vec c)
{
	return _mm256_fmadd_ps(a, b, c);
}

static inline vec vec_load(const float *p)
{
	return _mm256_loadu_ps(p);
}

static inline vec vec_load_half(const uint16_t *p)
{
	return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
}

static inline void vec_store(float *p, vec v)
{
	_mm256_store_ps(p, v);
}

static inline float vec_sum(vec v)
{
	__m128 s = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
	s = _mm_add_ps(s, _mm_movehl_ps(s, s));
	return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline uint16_t narrow(float f)
{
	return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

#include "kernels/gemm_blocked.h"

void gemm_avx2_f16(const struct gemm *g)
{
	gemm_blocked(g, true, true);
}

void gemm_avx2_f32(const struct gemm *g)
{
	gemm_blocked(g, false, true);
}

void gemm_avx2_row_f16(const struct gemm *g)
{
	gemm_blocked(g, true, false);
}

void gemm_avx2_row_f32(const struct gemm *g)
{
	gemm_blocked(g, false, false);
}
