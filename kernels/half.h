/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * IEEE 754-2008 binary16 ("FP16", held in a uint16_t) and back, exact, in integers only:
 * no rounding mode, no CPU feature. Widening is always exact. Narrowing rounds once, to
 * nearest, ties to even; overflow gives infinity; a NaN stays a NaN, made quiet, with the
 * top of its payload. Pure; any thread.
 */
#pragma once

#include <stdint.h>

float gemm_half_to_float(uint16_t h);
uint16_t gemm_half_from_float(float f);
/* Straight from double: going through float would round twice. */
uint16_t gemm_half_from_double(double d);
