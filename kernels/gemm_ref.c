/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The reference: plain C, FP64 accumulation in the order of K, one rounding. Slow and
 * always there; every other kernel is measured against it.
 */
#include "kernels/gemm_ref.h"

#include <math.h>

#include "kernels/half.h"

static double load(const void *p, size_t i, enum gemm_dtype dtype)
{
	if (dtype == GEMM_F16) {
		return (double)gemm_half_to_float(((const uint16_t *)p)[i]);
	}
	return (double)((const float *)p)[i];
}

struct gemm_ref_sum gemm_ref_sum(const struct gemm *g, size_t m, size_t n)
{
	/* A product of two FP16 or FP32 numbers is exact in FP64. */
	struct gemm_ref_sum s = {0, 0, 0};
	for (size_t k = 0; k < g->k; k++) {
		double p =
			load(g->x, m * g->ldx + k, g->dtype) * load(g->w, n * g->ldw + k, g->dtype);
		s.sum += p;
		s.magnitude += fabs(p);
		s.squares += p * p;
	}
	return s;
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
			y[m * g->ldy + n] = gemm_half_from_double(gemm_ref_sum(g, m, n).sum);
		}
	}
}

void gemm_ref_f32(const struct gemm *g)
{
	float *y = g->y;
	for (size_t n = g->n0; n < g->n1; n++) {
		for (size_t m = 0; m < g->m; m++) {
			y[m * g->ldy + n] = (float)gemm_ref_sum(g, m, n).sum;
		}
	}
}

/*
 * Higham, Accuracy and Stability of Numerical Algorithms, 4.2: each of K additions errs by at most
 * u = 2^-24 of the partial sum that it makes (2u where tensor cores cut instead of rounding). In
 * the worst case a partial sum is Σ|x||w|; where signs are random, it is larger than
 * |Σxw| + 6 √Σ(xw)² three times in 10^8 (Hoeffding). The rounding at the end adds half a unit of
 * y's own type, below the normal numbers half of the smallest one.
 */
double gemm_error_bound(const struct gemm_ref_sum *s, size_t k, enum gemm_dtype dtype)
{
	const double largest = fmin(s->magnitude, fabs(s->sum) + 6 * sqrt(s->squares));
	const double sums = 2 * (double)k * 0x1p-24 * largest;
	const double at_end = dtype == GEMM_F16 ? 0x1p-11 : 0x1p-24;

	return sums + (fabs(s->sum) + sums) * at_end + (dtype == GEMM_F16 ? 0x1p-25 : 0x1p-149);
}

double gemm_error(const struct gemm_ref_sum *s, double y, enum gemm_dtype dtype)
{
	const double largest = dtype == GEMM_F16 ? 65504 : 3.4028234663852886e38;

	return isinf(y) && fabs(s->sum) > largest && (y > 0) == (s->sum > 0) ? 0 : fabs(y - s->sum);
}
