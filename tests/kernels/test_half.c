/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernels/half.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "kernels/cpu.h"
#include "kernels/gemm.h"

/* The value of an FP16 number by its definition, IEEE 754-2008, 3.4. */
static double by_definition(uint16_t h)
{
	int e = h >> 10 & 0x1f;
	double f = (h & 0x3ff) / 1024.0;
	double v = e ? ldexp(1 + f, e - 15) : ldexp(f, -14);
	return h & 0x8000 ? -v : v;
}

static void all_numbers_there_and_back(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 0x10000; i++) {
		uint16_t h = (uint16_t)i;
		float f = gemm_half_to_float(h);
		if ((h & 0x7c00) != 0x7c00) {
			assert_true((double)f == by_definition(h));
			assert_int_equal(signbit(f) != 0, h >> 15);
		}
		if (isnan(f)) {
			assert_int_equal(gemm_half_from_float(f), h | 0x200);
		} else {
			assert_int_equal(gemm_half_from_float(f), h);
			assert_int_equal(gemm_half_from_double((double)f), h);
		}
	}
}

/* Between two neighbours the nearer one wins, and the even one in the middle. */
static void rounds_to_nearest_even(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 0x7bff; i++) {
		double lo = by_definition((uint16_t)i), hi = by_definition((uint16_t)(i + 1));
		double middle = (lo + hi) / 2;
		unsigned even = i & 1 ? i + 1 : i;
		assert_int_equal(gemm_half_from_double(middle), even);
		assert_int_equal(gemm_half_from_double(nextafter(middle, lo)), i);
		assert_int_equal(gemm_half_from_double(nextafter(middle, hi)), i + 1);
		assert_int_equal(gemm_half_from_float((float)middle), even);
		assert_int_equal(gemm_half_from_float(nextafterf((float)middle, (float)lo)), i);
		assert_int_equal(gemm_half_from_float(nextafterf((float)middle, (float)hi)), i + 1);
		assert_int_equal(gemm_half_from_double(-middle), even | 0x8000);
	}
	assert_int_equal(gemm_half_from_double(65519.9), 0x7bff);
	assert_int_equal(gemm_half_from_double(65520), 0x7c00); /* to infinity */
	assert_int_equal(gemm_half_from_double(1e300), 0x7c00);
	assert_int_equal(gemm_half_from_double(-INFINITY), 0xfc00);
	assert_int_equal(gemm_half_from_double(1e-300), 0);
	assert_int_equal(gemm_half_from_double(-1e-320), 0x8000);
	/* Through float this would be rounded twice: up to the middle, then to even. */
	assert_int_equal(gemm_half_from_double(1 + 0x1p-11 + 0x1p-40), 0x3c01);
}

static void the_choice_follows_the_flags(void **state)
{
	(void)state;
	assert_string_equal(gemm_pick(0, GEMM_F16)->name, "ref");
	assert_string_equal(gemm_pick(0, GEMM_F32)->name, "ref");
	for (const struct gemm_kernel *k = gemm_kernels(); k->name; k++) {
		const struct gemm_kernel *best = gemm_pick(k->needs, k->dtype);
		assert_int_equal(best->dtype, k->dtype);
		assert_int_equal(best->needs & ~k->needs, 0);
		assert_ptr_equal(gemm_find(k->name, k->dtype), k);
	}
	const struct gemm_kernel *here = gemm_pick(cpu_flags(), GEMM_F16);
	assert_int_equal(here->needs & ~cpu_flags(), 0);
	assert_null(gemm_find("abacus", GEMM_F16));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_numbers_there_and_back),
		cmocka_unit_test(rounds_to_nearest_even),
		cmocka_unit_test(the_choice_follows_the_flags),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
