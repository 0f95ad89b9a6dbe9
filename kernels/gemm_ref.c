/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reference: plain C, FP64 accumulation in the order of K, one rounding. Slow and
 * always there; every other kernel is measured against it.
 */
#include "kernels/gemm_ref.h"

#include "kernels/half.h"

static double load(const void *p, size_t i, enum gemm_dtype dtype)
{
	if (dtype == GEMM_F16) {
		return (double)gemm_half_to_float(((const uint16_t *)p)[i]);
	}
	return (double)((const float *)p)[i];
}

double gemm_ref_dot(const struct gemm *g, size_t m, size_t n, double *ret_magnitude)
{
	/* A product of two FP16 or FP32 numbers is exact in FP64. */
	double sum = 0, magnitude = 0;
	for (size_t k = 0; k < g->k; k++) {
		double p =
			load(g->x, m * g->ldx + k, g->dtype) * load(g->w, n * g->ldw + k, g->dtype);
		sum += p;
		magnitude += p < 0 ? -p : p;
	}
	if (ret_magnitude) {
		*ret_magnitude = magnitude;
	}
	return sum;
}

double gemm_ref_element(const struct gemm *g, size_t m, size_t n)
{
	return load(g->y, m * g->ldy + n, g->dtype);
}

void gemm_ref_f16(const struct gemm *g)
{
	uint16_t *y = g->y;
	for (size_t n = g->n0; n < g->n1; n++) {
		for (size_t m = 0; m < g->m; m++) {
			y[m * g->ldy + n] = gemm_half_from_double(gemm_ref_dot(g, m, n, NULL));
		}
	}
}

void gemm_ref_f32(const struct gemm *g)
{
	float *y = g->y;
	for (size_t n = g->n0; n < g->n1; n++) {
		for (size_t m = 0; m < g->m; m++) {
			y[m * g->ldy + n] = (float)gemm_ref_dot(g, m, n, NULL);
		}
	}
}
