/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void numbers_are_strict(void **state)
{
	(void)state;
	uint64_t v = 7;
	assert_int_equal(text_parse_u64("12", 10, &v), 0);
	assert_int_equal(v, 12);
	assert_int_equal(text_parse_u64("0xff", 0, &v), 0);
	assert_int_equal(v, 255);
	assert_int_equal(text_parse_u64("ffffffffffffffff", 16, &v), 0);
	assert_true(v == UINT64_MAX);
	static const char *const bad[] = {"", " 1", "-1", "+1", "1 ", "0x", "1z", "x1"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		v = 7;
		assert_int_equal(text_parse_u64(bad[i], 0, &v), -EINVAL);
		assert_int_equal(v, 7);
	}
	assert_int_equal(text_parse_u64("18446744073709551616", 10, &v), -ERANGE);
}

static void sizes_both_ways(void **state)
{
	(void)state;
	static const struct {
		const char *s;
		uint64_t bytes;
	} good[] = {
		{"0", 0},
		{"1048576", MIB},
		{"32G", 32 * GIB},
		{"16 GiB", 16 * GIB},
		{"256MB", 256 * MIB},
		{"24B", 24},
		{"1k", 1024},
		{"15EiB", (uint64_t)15 << 60},
	};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		uint64_t v;
		assert_int_equal(text_parse_size(good[i].s, &v), 0);
		assert_true(v == good[i].bytes);
	}
	static const char *const bad[] = {"", "G", "-1G", "1X", "1Gx", "1 G B", "1.5G"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		uint64_t v;
		assert_int_equal(text_parse_size(bad[i], &v), -EINVAL);
	}
	uint64_t v;
	assert_int_equal(text_parse_size("16E", &v), -ERANGE);

	char buf[TEXT_SIZE_MAX];
	assert_string_equal(text_size(16 * GIB, buf), "16 GiB");
	assert_string_equal(text_size(24, buf), "24 B");
	assert_string_equal(text_size(11 * GIB + 512 * MIB, buf), "11.5 GiB");
	assert_string_equal(text_size(UINT64_MAX, buf), "16.0 EiB");
	assert_string_equal(text_size10(0, buf), "0 B");
	assert_string_equal(text_size10(999, buf), "999 B");
	assert_string_equal(text_size10(1000, buf), "1.0 kB");
	assert_string_equal(text_size10(15416, buf), "15.4 kB");
	assert_string_equal(text_size10(999949, buf), "999.9 kB");
	assert_string_equal(text_size10(999950, buf), "1.0 MB");
	assert_string_equal(text_size10(90207744, buf), "90.2 MB");
	assert_string_equal(text_size10(UINT64_MAX, buf), "18.4 EB");
}

static void times_for_people(void **state)
{
	(void)state;
	char buf[TEXT_TIME_MAX];
	assert_string_equal(text_ns(812, buf), "812 ns");
	assert_string_equal(text_ns(21700, buf), "21.7 µs");
	assert_string_equal(text_ns(3910000, buf), "3.91 ms");
	assert_string_equal(text_ns(999600, buf), "1.00 ms");
	assert_string_equal(text_ns(1200000000, buf), "1.20 s");
}

static void utf8_survives_everything(void **state)
{
	(void)state;
	uint32_t ch;
	assert_int_equal(text_utf8_decode("é", 2, &ch), 2);
	assert_int_equal(ch, 0xe9);
	static const char *const bad[] = {"\xff", "\xc0\x80", "\xe2\x82", "\xed\xa0\x80", "\xf5"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(text_utf8_decode(bad[i], strlen(bad[i]), &ch), 1);
		assert_int_equal(ch, 0xfffd);
	}
	for (uint32_t c = 1; c < 0x110000; c++) {
		if (c >= 0xd800 && c < 0xe000) {
			continue;
		}
		char buf[4];
		size_t n = text_utf8_encode(c, buf);
		assert_int_equal(text_utf8_decode(buf, n, &ch), n);
		assert_int_equal(ch, c);
	}
	char cut[4];
	text_copy(cut, sizeof(cut), "aéé");
	assert_string_equal(cut, "aé");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_strict),
		cmocka_unit_test(sizes_both_ways),
		cmocka_unit_test(times_for_people),
		cmocka_unit_test(utf8_survives_everything),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
