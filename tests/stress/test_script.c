/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/script.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "stress/sample.h"
#include "stress/worker.h"

static struct stress_script parse(const char *text)
{
	struct stress_script s;
	struct why why;
	if (stress_script_parse(text, strlen(text), &s, &why) < 0) {
		fail_msg("'%s': %s", text, why.text);
	}
	return s;
}

static void lines_flags_and_comments(void **state)
{
	(void)state;
	struct stress_script s =
		parse("# a comment\n\n"
		      "1 22 333 4444\r\n"
		      "  5\t6 7 8   h2d nodevice # and more\n"
		      "9 0 0 0 hash=deadbeef cycles=42 copy=3 repeat=1000 mismatch\n"
		      "0 0 0 3600000000000 crash\n"
		      "again\n");
	assert_int_equal(s.n, 4);
	assert_true(s.again);
	const struct stress_script_line *l = s.line;
	assert_int_equal(l[0].launch_ns, 1);
	assert_int_equal(l[0].device_ns, 22);
	assert_int_equal(l[0].notify_ns, 333);
	assert_int_equal(l[0].gap_ns, 4444);
	assert_int_equal(l[0].flags, STRESS_GEMM | STRESS_HAS_DEVICE);
	assert_int_equal(l[0].repeat, 1);
	assert_int_equal(l[0].number, 3);
	assert_int_equal(l[1].flags, STRESS_H2D);
	assert_int_equal(l[2].hash, 0xdeadbeef);
	assert_int_equal(l[2].cycles, 42);
	assert_int_equal(l[2].copy, 3);
	assert_int_equal(l[2].repeat, 1000);
	assert_int_equal(l[2].flags, STRESS_GEMM | STRESS_HAS_DEVICE | STRESS_HAS_HASH |
					     STRESS_HAS_CYCLES | STRESS_MISMATCH);
	assert_int_equal(l[3].act, STRESS_SCRIPT_CRASH);
	stress_script_finish(&s);

	s = parse("1 2 3 4"); /* no newline at the end */
	assert_int_equal(s.n, 1);
	assert_false(s.again);
	stress_script_finish(&s);
}

static void bad_lines_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *text, *sentence;
	} bad[] = {
		{"", "the script has no samples"},
		{"# nothing\n\n", "the script has no samples"},
		{"again\n", "the script has no samples"},
		{"1 2 3\n", "script line 1: a number of ns is missing for 'gap'"},
		{"\n1 2 x 4\n", "script line 2: not a number of ns up to an hour: 'x'"},
		{"1 2 -3 4\n", "script line 1: not a number of ns up to an hour: '-3'"},
		{"1 2 3 3600000000001\n",
			"script line 1: not a number of ns up to an hour: '3600000000001'"},
		{"1 2 3 4 5\n", "script line 1: there is no flag '5'"},
		{"1 2 3 4 hsah=1\n", "script line 1: there is no flag 'hsah=1'"},
		{"1 2 3 4 hash=\n", "script line 1: no good value in 'hash='"},
		{"1 2 3 4 hash=11112222333344445\n",
			"script line 1: no good value in 'hash=11112222333344445'"},
		{"1 2 3 4 repeat=0\n", "script line 1: no good value in 'repeat=0'"},
		{"1 2 3 4 repeat=1000000001\n",
			"script line 1: no good value in 'repeat=1000000001'"},
		{"1 2 3 4 copy=4294967296\n", "script line 1: no good value in 'copy=4294967296'"},
		{"1 2 3 4\nagain\n1 2 3 4\n", "script line 3: nothing may follow 'again'"},
		{"again and again\n", "script line 1: not a number of ns up to an hour: 'again'"},
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct stress_script s = {.n = 77};
		struct why why = {0};
		int r = stress_script_parse(bad[i].text, strlen(bad[i].text), &s, &why);
		assert_int_equal(r, -EBADMSG);
		assert_string_equal(why.text, bad[i].sentence);
		assert_int_equal(s.n, 77); /* untouched */
	}
	struct stress_script s;
	struct why why;
	assert_int_equal(stress_script_parse("1 2 3 4\0 read\n", 14, &s, &why), -EBADMSG);
	assert_string_equal(why.text, "script line 1: a NUL byte");
	char longest[400];
	memset(longest, ' ', sizeof(longest));
	memcpy(longest, "1 2 3 4", 7);
	assert_int_equal(stress_script_parse(longest, 255, &s, &why), 0);
	stress_script_finish(&s);
	assert_int_equal(stress_script_parse(longest, 256, &s, &why), -EBADMSG);
	assert_string_equal(why.text, "script line 1: longer than 255 bytes");
}

/* Cut anywhere, it is parsed or refused, never read past its end. */
static void every_truncation_is_survived(void **state)
{
	(void)state;
	static const char text[] = "# head\n10 20 30 40 hash=ab repeat=7\n"
				   "11 21 31 41 zero-copy missed\n1 1 1 1 hang\nagain\n";
	for (size_t n = 0; n < sizeof(text); n++) {
		char *exact = malloc(n ? n : 1); /* no NUL behind it: the sanitizer watches */
		memcpy(exact, text, n);
		struct stress_script s;
		struct why why;
		if (stress_script_parse(exact, n, &s, &why) == 0) {
			assert_true(s.n >= 1 && s.n <= 3);
			stress_script_finish(&s);
		}
		free(exact);
	}
}

static void shapes(void **state)
{
	(void)state;
	struct stress_shape s;
	struct why why;
	assert_int_equal(stress_shape_parse("1x4096x11008", &s, &why), 0);
	assert_int_equal(s.m, 1);
	assert_int_equal(s.k, 4096);
	assert_int_equal(s.n, 11008);
	assert_int_equal(stress_shape_parse("16777216x1x16777216", &s, &why), -EINVAL);
	assert_int_equal(stress_shape_parse("1x1048576x1048576", &s, &why), 0);
	assert_int_equal(stress_shape_parse("1x1048577x1048576", &s, &why), -EINVAL);
	static const char *const bad[] = {"", "x", "1", "1x2", "1x2x", "x2x3", "1x2x3x4", "1X2X3",
		" 1x2x3", "1x2x3 ", "0x2x3", "1x0x3", "1x2x0", "+1x2x3", "1x2x16777217", "1.5x2x3",
		"99999999999999999999999999999999999x1x1"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		s.m = 7;
		assert_int_equal(stress_shape_parse(bad[i], &s, &why), -EINVAL);
		assert_int_equal(s.m, 7);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_flags_and_comments),
		cmocka_unit_test(bad_lines_are_named),
		cmocka_unit_test(every_truncation_is_survived),
		cmocka_unit_test(shapes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
