/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reference kernels, and one exact dot product for checks. See gemm.h. */
#pragma once

#include "kernels/gemm.h"

void gemm_ref_f16(const struct gemm *g);
void gemm_ref_f32(const struct gemm *g);

/* One output in FP64, not rounded, and what its error is measured by. */
struct gemm_ref_sum {
	double sum;       /* Σxw */
	double magnitude; /* Σ|x||w| */
	double squares;   /* Σ(xw)² */
};
struct gemm_ref_sum gemm_ref_sum(const struct gemm *g, size_t m, size_t n);

/* The element y[m][n] as it stands. */
double gemm_ref_element(const struct gemm *g, size_t m, size_t n);

/*
 * What rounding alone can explain of |y − Σxw|: FP32 accumulation in any order, by tensor cores
 * too, and one rounding to DTYPE. For data whose signs are random it grows with √K, as the sums do,
 * so that FP16 accumulation stays outside of it whatever K is.
 */
double gemm_error_bound(const struct gemm_ref_sum *s, size_t k, enum gemm_dtype dtype);

/* |Y − Σxw|; 0 for the infinity that an FP16 result too large for its type is. NaN stays NaN. */
double gemm_error(const struct gemm_ref_sum *s, double y, enum gemm_dtype dtype);
