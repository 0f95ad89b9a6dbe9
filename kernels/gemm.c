/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernels/gemm.h"

#include <string.h>

#include "kernels/cpu.h"
#include "kernels/gemm_ref.h"
#include "kernels/hash.h"
#include "kernels/read.h"
#if defined(HAVE_KERNELS_AVX2) || defined(HAVE_KERNELS_AVX512)
#include "kernels/x86/gemm_x86.h"
#endif
#ifdef HAVE_KERNELS_NEON
#include "kernels/arm/gemm_arm.h"
#endif

static const struct gemm_kernel kernels[] = {
#ifdef HAVE_KERNELS_AVX512
	{"avx512", CPU_AVX512, GEMM_F16, gemm_avx512_f16},
	{"avx512", CPU_AVX512, GEMM_F32, gemm_avx512_f32},
	{"avx512-row", CPU_AVX512, GEMM_F16, gemm_avx512_row_f16},
	{"avx512-row", CPU_AVX512, GEMM_F32, gemm_avx512_row_f32},
#endif
#ifdef HAVE_KERNELS_AVX2
	{"avx2", CPU_AVX2, GEMM_F16, gemm_avx2_f16},
	{"avx2", CPU_AVX2, GEMM_F32, gemm_avx2_f32},
	{"avx2-row", CPU_AVX2, GEMM_F16, gemm_avx2_row_f16},
	{"avx2-row", CPU_AVX2, GEMM_F32, gemm_avx2_row_f32},
#endif
#ifdef HAVE_KERNELS_NEON
	{"neon", CPU_NEON, GEMM_F16, gemm_neon_f16},
	{"neon", CPU_NEON, GEMM_F32, gemm_neon_f32},
	{"neon-row", CPU_NEON, GEMM_F16, gemm_neon_row_f16},
	{"neon-row", CPU_NEON, GEMM_F32, gemm_neon_row_f32},
#endif
	{"ref", GEMM_NEEDS_NOTHING, GEMM_F16, gemm_ref_f16},
	{"ref", GEMM_NEEDS_NOTHING, GEMM_F32, gemm_ref_f32},
	{NULL, 0, GEMM_F16, NULL},
};

static const struct read_kernel reads[] = {
#ifdef HAVE_KERNELS_AVX512
	{"512-bit x4", CPU_AVX512, read_avx512_x4},
	{"512-bit x8", CPU_AVX512, read_avx512_x8},
	{"512-bit x2, 4 streams", CPU_AVX512, read_avx512_s4},
#endif
#ifdef HAVE_KERNELS_AVX2
	{"256-bit x4", CPU_AVX2, read_avx2_x4},
	{"256-bit x8", CPU_AVX2, read_avx2_x8},
	{"256-bit x2, 4 streams", CPU_AVX2, read_avx2_s4},
	{"256-bit x2, 8 streams", CPU_AVX2, read_avx2_s8},
#endif
#ifdef HAVE_KERNELS_SSE2
	{"128-bit x8", CPU_SSE2, read_sse2_x8},
	{"128-bit x4, 4 streams", CPU_SSE2, read_sse2_s4},
#endif
#ifdef HAVE_KERNELS_NEON
	{"128-bit x4", CPU_NEON, read_neon_x4},
	{"128-bit x8", CPU_NEON, read_neon_x8},
	{"128-bit x4, 4 streams", CPU_NEON, read_neon_s4},
#endif
	{"64-bit x8", GEMM_NEEDS_NOTHING, read_plain_x8},
	{NULL, 0, NULL},
};

const struct read_kernel *read_kernels(void)
{
	return reads;
}

const struct gemm_kernel *gemm_kernels(void)
{
	return kernels;
}

const struct gemm_kernel *gemm_pick(unsigned cpu_flags, enum gemm_dtype dtype)
{
	const struct gemm_kernel *k = kernels;
	while (k->dtype != dtype || (k->needs & cpu_flags) != k->needs) {
		k++; /* the reference needs nothing, so the search ends */
	}
	return k;
}

const struct gemm_kernel *gemm_find(const char *name, enum gemm_dtype dtype)
{
	for (const struct gemm_kernel *k = kernels; k->name; k++) {
		if (k->dtype == dtype && !strcmp(k->name, name)) {
			return k;
		}
	}
	return NULL;
}

extern const uint64_t gemm_cpu_sources; /* made by hash_sources.py */

uint64_t gemm_cpu_build(void)
{
	uint64_t h = gemm_cpu_sources;

	for (const char *c = __VERSION__; *c; c++) {
		h = gemm_hash_element(h >> 32, (uint32_t)h ^ (unsigned char)*c);
	}
	return h ? h : 1;
}
