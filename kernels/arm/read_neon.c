/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Read-only loops, 128 bits wide, AArch64. */
#include <arm_neon.h>

#include "kernels/read.h"

typedef uint64x2_t word;

static inline word word_zero(void)
{
	return vdupq_n_u64(0);
}

static inline word word_xor(word a, word b)
{
	return veorq_u64(a, b);
}

static inline word word_load(const char *p)
{
	return vreinterpretq_u64_u8(vld1q_u8((const uint8_t *)p));
}

static inline uint64_t word_fold(word w)
{
	return vgetq_lane_u64(w, 0) ^ vgetq_lane_u64(w, 1);
}

#include "kernels/read_blocked.h"

uint64_t read_neon_x4(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 1, 4);
}

uint64_t read_neon_x8(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 1, 8);
}

uint64_t read_neon_s4(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 4, 4);
}
