/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "klog_fixture.h"

#include "base/text.h"
#include "pcie/log_explain.h"

#define BRIDGE "pci 0000:00:01.0: "
#define GPU    "pci 0000:01:00.0: "

static const struct pcie_log_item *find(
	const struct pcie_log_item *item, size_t n, const char *resource)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(item[i].resource, resource)) {
			return &item[i];
		}
	}
	return NULL;
}

static void what_matters_is_told(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(BRIDGE
		"[8086:1901] type 01 class 0x060400\n" BRIDGE
		"BAR 0 [mem 0xfa000000-0xfa07ffff 64bit]\n" BRIDGE "PCI bridge to [bus 01]\n" BRIDGE
		"  bridge window [io  0x3000-0x3fff]\n" BRIDGE
		"  bridge window [mem 0xf4000000-0xf50fffff]\n" BRIDGE
		"  bridge window [mem 0x6000000000-0x6011ffffff 64bit pref]\n" GPU
		"[10de:2204] type 00 class 0x030000\n" GPU "BAR 0 [mem 0xf4000000-0xf4ffffff]\n" GPU
		"BAR 1 [mem 0x00000000-0x0fffffff 64bit pref]\n" GPU
		"BAR 3 [mem 0x6000000000-0x6001ffffff 64bit pref]\n" GPU
		"BAR 5 [io  0x0000-0x007f]\n" GPU
		"ROM [mem size 0x00080000 pref]: failed to assign\n" GPU
		"BAR 5 [io  size 0x0080]: failed to assign\n" GPU
		"BAR 1 [mem size 0x10000000 64bit pref]: can't assign; no space\n" GPU
		"BAR 1 [mem size 0x10000000 64bit pref]: failed to assign\n" GPU
		"BAR 3 [mem size 0x02000000 64bit pref]: failed to assign\n" GPU
		"BAR 3 [mem 0x6010000000-0x6011ffffff 64bit pref]: assigned\n" BRIDGE
		"bridge window [mem 0x6000000000-0x6011ffffff 64bit pref]: was not released "
		"(still contains assigned resources)\n"
		"pci 0000:02:00.0: [8086:1533] type 00 class 0x020000\n"
		"pci 0000:02:00.0: BAR 0 [mem size 0x00080000]: failed to assign\n");
	pcie_snapshot_settle(s);
	struct pcie_log_item *item;
	size_t n = pcie_log_explain(s, &item);

	/* Bad ones first. */
	assert_true(n > 0 && item[0].bad);
	assert_string_equal(item[0].resource, "0000:01:00.0 BAR 1");
	assert_string_equal(item[0].final, "no address: there was no room for 256 MiB");
	assert_int_equal(item[0].nline, 3);
	assert_string_equal(
		item[0].line[2], GPU "BAR 1 [mem size 0x10000000 64bit pref]: failed to assign");
	const struct pcie_log_item *it = find(item, n, "0000:01:00.0 BAR 3");
	assert_non_null(it);
	assert_false(it->bad);
	assert_string_equal(
		it->final, "assigned, 32 MiB at 0x6010000000 (the firmware's was 0x6000000000)");
	it = find(item, n, "0000:01:00.0 BAR 0");
	assert_string_equal(it->final, "assigned, 16 MiB at 0xf4000000 as the firmware had it");
	it = find(item, n, "0000:00:01.0 bridge window pref");
	assert_non_null(strstr(it->final, "could not grow"));
	assert_non_null(find(item, n, "0000:00:01.0 BAR 0")); /* may be what pins it */
	/* I/O, the ROM and other devices are noise. */
	assert_null(find(item, n, "0000:01:00.0 BAR 5"));
	assert_null(find(item, n, "0000:01:00.0 ROM"));
	assert_null(find(item, n, "0000:00:01.0 bridge window io"));
	assert_null(find(item, n, "0000:02:00.0 BAR 0"));
	free(item);
	pcie_snapshot_destroy(s);
}

static void long_histories_are_cut(void **state)
{
	(void)state;
	struct text t = {0};
	text_add(&t, GPU "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]\n");
	for (int i = 0; i < 20; i++) {
		text_addf(&t, GPU "BAR 1 [mem size 0x%x 64bit pref]: failed to assign\n",
			0x10000000 + i * 4096);
	}
	struct pcie_snapshot *s = klog_read(t.s);
	pcie_snapshot_settle(s);
	struct pcie_log_item *item;
	assert_int_equal(pcie_log_explain(s, &item), 1);
	assert_int_equal(item[0].nline, ARRAY_LEN(item[0].line));
	assert_non_null(strstr(item[0].line[0], "0x6000000000"));
	assert_non_null(strstr(item[0].line[7], "0x10013000"));
	free(item);
	pcie_snapshot_destroy(s);
	text_finish(&t);
}

/* Without any GPU what failed is told; without a log nothing is. */
static void other_machines(void **state)
{
	(void)state;
	struct pcie_log_item *item;
	struct pcie_snapshot *s = klog_read(
		"pci 0000:02:00.0: BAR 0 [mem size 0x00080000]: failed to assign\n"
		"pci 0000:02:00.0: BAR 2 [mem 0xf4000000-0xf4000fff]: assigned\n"
		"pci 0000:02:00.0: BAR 4 [mem 0xf5000000-0xf5000fff]: can't claim; no address\n");
	pcie_snapshot_settle(s);
	assert_int_equal(pcie_log_explain(s, &item), 2);
	assert_string_equal(item[1].final, "no address: the one it had could not be kept (4 KiB)");
	free(item);
	pcie_snapshot_destroy(s);
	s = pcie_snapshot_create("empty");
	assert_int_equal(pcie_log_explain(s, &item), 0);
	free(item);
	pcie_snapshot_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_matters_is_told),
		cmocka_unit_test(long_histories_are_cut),
		cmocka_unit_test(other_machines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
