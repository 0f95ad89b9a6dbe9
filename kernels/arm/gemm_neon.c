/* SPDX-License-Identifier: GPL-2.0-or-later */
/* AArch64 Advanced SIMD of the base architecture; FP16 is only converted, never computed with. */
#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/arm/gemm_arm.h"

#define X_ROWS 6
enum { VEC_LEN = 4 };
typedef float32x4_t vec;

static inline vec vec_zero(void)
{
	return vdupq_n_f32(0);
}

static inline vec vec_add(vec a, vec b)
{
	return vaddq_f32(a, b);
}

static inline vec vec_fma(vec a, vec b, vec c)
{
	return vfmaq_f32(c, a, b);
}

static inline vec vec_load(const float *p)
{
	return vld1q_f32(p);
}

static inline vec vec_load_half(const uint16_t *p)
{
	return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}

static inline void vec_store(float *p, vec v)
{
	vst1q_f32(p, v);
}

static inline float vec_sum(vec v)
{
	float32x2_t s = vadd_f32(vget_low_f32(v), vget_high_f32(v));
	return vget_lane_f32(vpadd_f32(s, s), 0);
}

static inline uint16_t narrow(float f)
{
	return vget_lane_u16(vreinterpret_u16_f16(vcvt_f16_f32(vdupq_n_f32(f))), 0);
}

#include "kernels/gemm_blocked.h"

void gemm_neon_f16(const struct gemm *g)
{
	gemm_blocked(g, true, true);
}

void gemm_neon_f32(const struct gemm *g)
{
	gemm_blocked(g, false, true);
}

void gemm_neon_row_f16(const struct gemm *g)
{
	gemm_blocked(g, true, false);
}

void gemm_neon_row_f32(const struct gemm *g)
{
	gemm_blocked(g, false, false);
}
