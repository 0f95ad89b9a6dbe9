/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/kmsg.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "pcie/klog.h"

static void records_as_dmesg_prints_them(void **state)
{
	(void)state;
	static const struct {
		const char *record, *out;
		int rc;
	} rows[] = {
		{"6,339,5140900,-;NET: Registered protocol family 10\n",
			"[    5.140900] NET: Registered protocol family 10\n", 0},
		{"30,340,5690716,-;udevd[80]: starting version 181\n", "", 0}, /* a program's */
		{"4,1,12345678901,c;a\n SUBSYSTEM=pci\n DEVICE=+pci:0000:01:00.0\n",
			"[12345.678901] a\n", 0},
		{"6,2,0,-,caller=T1;[mem 0x10-0x1f] \\xc3\\xa4 tab\\x09x\n",
			"[    0.000000] [mem 0x10-0x1f] \xc3\xa4 tab\tx\n", 0},
		{"3,3,1,-;NVRM: is invalid:\\x0aNVRM: BAR1 is 0M @ 0x0\n",
			"[    0.000001] NVRM: is invalid:\n               NVRM: BAR1 is 0M @ 0x0\n",
			0},
		{"3,3,1,-;back\\x5cslash \\xzz \\x", "[    0.000001] back\\slash \\xzz \\x\n", 0},
		{"", "", -EBADMSG},
		{"6,339,5140900,-", "", -EBADMSG},
		{"6,339", "", -EBADMSG},
		{"x,339,5,-;text\n", "", -EBADMSG},
		{"6,339,999999999999999999999999,-;text\n", "", -EBADMSG},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct text t = {0};
		assert_int_equal(
			pcie_kmsg_record(rows[i].record, strlen(rows[i].record), &t), rows[i].rc);
		assert_string_equal(t.s ? t.s : "", rows[i].out);
		text_finish(&t);
	}
}

/* On this machine: a log whose lines the reader takes for log lines, or a clear refusal. */
static void the_live_log(void **state)
{
	(void)state;
	char *log = NULL;
	size_t len = 0;
	struct why why = {""};
	int r = pcie_kmsg_read(&log, &len, &why);
	if (r < 0) {
		assert_null(log);
		assert_true(why.text[0] != '\0');
		return;
	}
	assert_int_equal(log[len], '\0');
	size_t lines = 0, known = 0;
	for (char *s = log; *s;) {
		char *nl = strchr(s, '\n');
		assert_non_null(nl);
		*nl = '\0';
		lines++;
		known += pcie_klog_is_line(s, strlen(s));
		s = nl + 1;
	}
	/* Lines within a message are indented and have no stamp of their own. */
	assert_true(known * 2 >= lines);
	free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_as_dmesg_prints_them),
		cmocka_unit_test(the_live_log),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
