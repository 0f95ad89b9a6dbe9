/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reference kernels, and one exact dot product for checks. See gemm.h. */
#pragma once

#include "kernels/gemm.h"

void gemm_ref_f16(const struct gemm *g);
void gemm_ref_f32(const struct gemm *g);

/* y[m][n] in FP64, not rounded; *RET_MAGNITUDE (may be NULL) is Σ|x||w|, the error's unit. */
double gemm_ref_dot(const struct gemm *g, size_t m, size_t n, double *ret_magnitude);

/* The element y[m][n] as it stands. */
double gemm_ref_element(const struct gemm *g, size_t m, size_t n);

/*
 * What rounding alone can explain of |y − ref| / Σ|x||w|: FP32 accumulation in any order
 * and one rounding to DTYPE.
 */
double gemm_error_limit(size_t k, enum gemm_dtype dtype);
