/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/gz.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { LEN = 300000 };

static char *sample(void)
{
	char *s = malloc(LEN);
	uint32_t x = 1;
	for (size_t i = 0; i < LEN; i++) {
		x = x * 1664525 + 1013904223;
		s[i] = (char)('a' + (x >> 29));
	}
	return s;
}

static void round_trip_and_members(void **state)
{
	(void)state;
	char *s = sample(), *z, *back;
	size_t zlen, n;
	bool cut = true;
	struct why why;
	assert_int_equal(gz_pack(s, LEN, &z, &zlen), 0);
	assert_true(gz_is(z, zlen));
	assert_true(zlen < LEN);
	assert_int_equal(gz_unpack(z, zlen, 1 << 20, &back, &n, &cut, &why), 0);
	assert_false(cut);
	assert_int_equal(n, LEN);
	assert_memory_equal(back, s, LEN);
	free(back);

	/* "cat a.gz b.gz" is a gzip file too. */
	char *two = malloc(zlen * 2);
	memcpy(two, z, zlen);
	memcpy(two + zlen, z, zlen);
	assert_int_equal(gz_unpack(two, zlen * 2, 1 << 20, &back, &n, &cut, &why), 0);
	assert_int_equal(n, 2 * LEN);
	assert_memory_equal(back + LEN, s, LEN);
	free(back);
	free(two);
	free(z);
	free(s);
}

static void every_truncation_is_a_prefix_or_an_error(void **state)
{
	(void)state;
	char *s = sample(), *z, *back;
	size_t zlen, n;
	struct why why;
	assert_int_equal(gz_pack(s, LEN, &z, &zlen), 0);
	for (size_t len = 0; len < zlen; len += len < 64 ? 1 : 997) {
		bool cut = false;
		int r = gz_unpack(z, len, 1 << 20, &back, &n, &cut, &why);
		if (r == 0) {
			assert_true(cut);
			assert_true(n > 0 && n <= LEN);
			assert_memory_equal(back, s, n);
			free(back);
		} else {
			assert_int_equal(r, -EBADMSG);
		}
	}
	free(z);
	free(s);
}

static void a_bomb_is_refused(void **state)
{
	(void)state;
	char *zeros = calloc(1, 8 << 20), *z, *back;
	size_t zlen, n;
	bool cut;
	struct why why = {{0}};
	assert_int_equal(gz_pack(zeros, 8 << 20, &z, &zlen), 0);
	assert_int_equal(gz_unpack(z, zlen, 1 << 20, &back, &n, &cut, &why), -EFBIG);
	assert_true(strlen(why.text) > 0);
	free(z);
	free(zeros);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip_and_members),
		cmocka_unit_test(every_truncation_is_a_prefix_or_an_error),
		cmocka_unit_test(a_bomb_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
