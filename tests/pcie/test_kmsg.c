/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/kmsg.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	int r = pcie_kmsg_read("/dev/kmsg", &log, &len, &why);
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

/* Without the device syslog(2) is asked; both may refuse, and say so. */
static void the_other_way(void **state)
{
	(void)state;
	char *log = NULL;
	size_t len = 0;
	struct why why = {""};
	int r = pcie_kmsg_read("/nonexistent/kmsg", &log, &len, &why);
	if (r < 0) {
		assert_null(log);
		assert_true(r == -EPERM ? strstr(why.text, "dmesg_restrict") != NULL
					: why.text[0] != '\0');
		return;
	}
	assert_int_equal(strlen(log), len);
	assert_true(len == 0 || log[0] != '<'); /* the levels are gone */
	free(log);
}

static void syslog_as_dmesg_prints_it(void **state)
{
	(void)state;
	static const struct {
		const char *in, *out;
	} t[] = {
		{"", ""},
		{"<6>[    0.1] a\n<4>[    0.2] b\n", "[    0.1] a\n[    0.2] b\n"},
		{"half a line\n<30>c", "half a line\nc\n"},
		{"<no level\n<1234567>x\n", "<no level\n<1234567>x\n"},
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct text out = {0};
		pcie_kmsg_syslog(t[i].in, strlen(t[i].in), &out);
		assert_string_equal(out.s ? out.s : "", t[i].out);
		text_finish(&out);
	}
}

/* A file in the device's place: one read is one record. */
static void what_the_device_may_do(void **state)
{
	(void)state;
	static const char record[] = "6,339,5140900,-;pci 0000:01:00.0: x\n SUBSYSTEM=pci\n";
	char path[] = "/tmp/barscope-kmsg-XXXXXX", *log = NULL;
	size_t len = 0;
	struct why why = {""};
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, record, strlen(record)), (ssize_t)strlen(record));
	close(fd);
	assert_int_equal(pcie_kmsg_read(path, &log, &len, &why), 0);
	assert_string_equal(log, "[    5.140900] pci 0000:01:00.0: x\n");
	free(log);
	unlink(path);
	/* one that cannot be read: the other way */
	log = NULL;
	int r = pcie_kmsg_read("/", &log, &len, &why);
	assert_true(r == 0 ? log != NULL : why.text[0] != '\0');
	free(log);
}

/* Somebody who may not read it hears why. */
static void refused(void **state)
{
	(void)state;
	if (geteuid() != 0 || seteuid(65534) < 0) {
		skip();
	}
	char *log = NULL;
	size_t len;
	struct why why = {""};
	int r = pcie_kmsg_read("/nonexistent/kmsg", &log, &len, &why);
	assert_int_equal(seteuid(0), 0);
	assert_true(r == 0 ||
		    (r == -EPERM ? strstr(why.text, "needs root") != NULL : why.text[0] != '\0'));
	free(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_as_dmesg_prints_them),
		cmocka_unit_test(the_live_log),
		cmocka_unit_test(the_other_way),
		cmocka_unit_test(syslog_as_dmesg_prints_it),
		cmocka_unit_test(what_the_device_may_do),
		cmocka_unit_test(refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
