/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernels/half.h"

#include <string.h>

/* IEEE 754-2008, 3.6: 5 bits of exponent (bias 15) and 10 of fraction. */
enum {
	HALF_SIGN = 0x8000,
	HALF_INFINITY = 0x7c00,
	HALF_QUIET = 0x0200,
	HALF_FRACTION = 10,
	HALF_BIAS = 15,
};

float gemm_half_to_float(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & HALF_SIGN) << 16;
	uint32_t exponent = h >> HALF_FRACTION & 0x1f;
	uint32_t fraction = h & 0x3ff;
	uint32_t bits;
	if (exponent == 0x1f) {
		/* A signalling NaN is made quiet, as the hardware's conversion does. */
		bits = 0x7f800000 | fraction << 13 | (fraction ? 0x400000 : 0);
	} else if (exponent) {
		bits = (exponent + 127 - HALF_BIAS) << 23 | fraction << 13;
	} else if (fraction) {
		uint32_t e = 127 - HALF_BIAS + 1;
		while (!(fraction & 0x400)) {
			fraction <<= 1;
			e--;
		}
		bits = e << 23 | (fraction & 0x3ff) << 13;
	} else {
		bits = 0;
	}
	bits |= sign;
	float f;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

/* Shifts right by N (0 … 63 and more), to nearest, ties to even. */
static uint64_t shift_round(uint64_t v, int n)
{
	if (n == 0) {
		return v;
	}
	if (n > 63) {
		return 0;
	}
	uint64_t half = (uint64_t)1 << (n - 1);
	uint64_t rest = v & (half * 2 - 1);
	v >>= n;
	return v + (rest > half || (rest == half && (v & 1)));
}

uint16_t gemm_half_from_double(double d)
{
	uint64_t bits;
	memcpy(&bits, &d, sizeof(bits));
	uint16_t sign = (uint16_t)(bits >> 48 & HALF_SIGN);
	int exponent = (int)(bits >> 52 & 0x7ff);
	uint64_t fraction = bits & (((uint64_t)1 << 52) - 1);
	if (exponent == 0x7ff) {
		uint16_t nan = (uint16_t)(HALF_QUIET | fraction >> 42);
		return (uint16_t)(sign | HALF_INFINITY | (fraction ? nan : 0));
	}
	if (!exponent) {
		return sign; /* below 2^-1022 */
	}
	uint64_t significand = fraction | (uint64_t)1 << 52;
	int e = exponent - 1023 + HALF_BIAS;
	if (e >= 0x1f) {
		return (uint16_t)(sign | HALF_INFINITY);
	}
	/*
	 * The rounded significand is added to the exponent field, so that a carry out of
	 * the fraction raises the exponent: to the next binade, to the smallest normal
	 * number, or to infinity.
	 */
	uint64_t h;
	if (e > 0) {
		h = ((uint64_t)(e - 1) << HALF_FRACTION) +
		    shift_round(significand, 52 - HALF_FRACTION);
	} else {
		h = shift_round(significand, 52 - HALF_FRACTION + 1 - e);
	}
	return (uint16_t)(sign | h);
}

uint16_t gemm_half_from_float(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, sizeof(bits));
	if ((bits & 0x7f800000) == 0x7f800000 && bits & 0x7fffff) {
		/* Not through double: that conversion is the hardware's own for NaN. */
		return (uint16_t)((bits >> 16 & HALF_SIGN) | HALF_INFINITY | HALF_QUIET |
				  (bits >> 13 & 0x3ff));
	}
	return gemm_half_from_double((double)f); /* exact widening, so one rounding */
}
