/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "pcie/lines.h"

static void test_split(void **state)
{
	(void)state;
	char text[] = "  one \t\r\n\ntwo\0three\rx\nlast";
	struct pcie_lines l = {0};

	pcie_lines_split(&l, text, sizeof(text) - 1);
	assert_int_equal(l.n, 4);
	assert_string_equal(l.line[0].s, "  one");
	assert_int_equal(l.line[0].len, 5);
	assert_string_equal(l.line[1].s, "");
	assert_string_equal(l.line[2].s, "two?three x");
	assert_int_equal(l.line[2].len, 11);
	assert_string_equal(l.line[3].s, "last");
	assert_int_equal(l.line[3].number, 4);
	pcie_lines_finish(&l);
	assert_int_equal(l.n, 0);
}

static void test_split_nothing(void **state)
{
	(void)state;
	char text[] = "";
	struct pcie_lines l = {0};

	pcie_lines_split(&l, text, 0);
	assert_int_equal(l.n, 0);
	pcie_lines_finish(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_split_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
