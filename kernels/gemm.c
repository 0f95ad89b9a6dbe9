/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernels/gemm.h"

#include <string.h>

#include "kernels/gemm_ref.h"

static const struct gemm_kernel kernels[] = {
	{"ref", GEMM_NEEDS_NOTHING, GEMM_F16, gemm_ref_f16},
	{"ref", GEMM_NEEDS_NOTHING, GEMM_F32, gemm_ref_f32},
	{NULL, 0, GEMM_F16, NULL},
};

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

double gemm_error_limit(size_t k, enum gemm_dtype dtype)
{
	/*
	 * Higham, Accuracy and Stability, 3.1: k products and sums err by at most
	 * k·u / (1 − k·u) of Σ|x||w|, u = 2^-24 for FP32. FP16 products are exact in FP32.
	 * The rounding to FP16 adds 2^-11 of |y| ≤ Σ|x||w|, and twice that covers the
	 * product of both; below the normal numbers it is absolute and far smaller than
	 * any sum that a check meets.
	 */
	double ku = (double)k * 0x1p-24;
	double sum = ku < 0.5 ? ku / (1 - ku) : 1;
	return sum + (dtype == GEMM_F16 ? 0x1p-10 : 0x1p-23);
}
