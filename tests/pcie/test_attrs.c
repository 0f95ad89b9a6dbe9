/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/attrs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

enum { SRC = 7 };

static struct pcie_device read_one(const char *name, const char *value)
{
	struct pcie_device d = {.parent = -1, .physfn = -1, .numa = -1};
	const struct pcie_attr *a = pcie_attr_find(name);
	assert_non_null(a);
	a->parse(&d, SRC, a->arg, value);
	return d;
}

/* LINES of "resource", all empty but those given as "INDEX:START-END:FLAGS". */
static char *resource(int lines, const char *const *set)
{
	struct text t = {0};
	for (int i = 0; i < lines; i++) {
		unsigned long long start = 0, end = 0, flags = 0;
		for (const char *const *p = set; *p; p++) {
			int index;
			unsigned long long a, b, c;
			assert_int_equal(sscanf(*p, "%d:%llx-%llx:%llx", &index, &a, &b, &c), 4);
			if (index == i) {
				start = a, end = b, flags = c;
			}
		}
		text_addf(&t, "0x%016llx 0x%016llx 0x%016llx\n", start, end, flags);
	}
	return text_steal(&t);
}

static struct pcie_device read_resource(int lines, const char *const *set)
{
	char *s = resource(lines, set);
	struct pcie_device d = read_one("resource", s);
	free(s);
	return d;
}

static void bars_of_each_kind(void **state)
{
	(void)state;
	static const char *const set[] = {"0:f6000000-f6ffffff:40200",
		"1:6000000000-63ffffffff:14220c",
		"3:0-1ffffff:2014220c", /* UNSET: a size, no address */
		"5:e000-e07f:40101", "6:f7000000-f707ffff:46200", "7:7ffe000000-7ffe3fffff:14220c",
		NULL};
	static const int lines[] = {7, 13};
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct pcie_device d = read_resource(lines[i], set);
		assert_true(d.bars_complete);
		const struct pcie_bar *b = pcie_device_find_bar(&d, PCIE_BAR_NORMAL, 0);
		assert_true(b->have == PCIE_KNOWN && !b->io && !b->is64 && !b->prefetchable);
		assert_true(b->base == 0xf6000000 && b->size == 16 * MIB && b->src == SRC);
		b = pcie_device_find_bar(&d, PCIE_BAR_NORMAL, 1);
		assert_true(b->is64 && b->prefetchable && b->is64_known);
		assert_true(b->size == 16 * GIB && b->assigned == PCIE_YES);
		b = pcie_device_find_bar(&d, PCIE_BAR_NORMAL, 2); /* the upper half: not there */
		assert_int_equal(b->have, PCIE_ABSENT);
		b = pcie_device_find_bar(&d, PCIE_BAR_NORMAL, 3);
		assert_true(b->have == PCIE_KNOWN && b->assigned == PCIE_NO && !b->has_base);
		assert_true(b->has_size && b->size == 32 * MIB);
		b = pcie_device_find_bar(&d, PCIE_BAR_NORMAL, 5);
		assert_true(b->io && b->base == 0xe000 && b->size == 128);
		b = pcie_device_find_bar(&d, PCIE_BAR_ROM, 6);
		assert_true(b->base == 0xf7000000 && b->size == 512 * KIB);
		/* Line 7 is a VF BAR with SR-IOV in the kernel, and not there without. */
		b = pcie_device_find_bar(&d, PCIE_BAR_VF, 0);
		assert_true(lines[i] == 13 ? b && b->size == 4 * MIB : !b);
	}
}

static void windows_by_the_number_of_lines(void **state)
{
	(void)state;
	static const char *const iov[] = {"13:e000-efff:101", "14:f6000000-f70fffff:200",
		"15:6000000000-64ffffffff:102201", NULL};
	static const char *const plain[] = {"7:e000-efff:101", "8:f6000000-f70fffff:200",
		"9:6000000000-64ffffffff:102201", NULL};
	static const struct {
		int lines;
		const char *const *set;
	} shape[] = {{17, iov}, {11, plain}};
	for (size_t i = 0; i < ARRAY_LEN(shape); i++) {
		struct pcie_device d = read_resource(shape[i].lines, shape[i].set);
		const struct pcie_window *w = d.window;
		assert_true(w[PCIE_WINDOW_IO].base == 0xe000 && w[PCIE_WINDOW_IO].limit == 0xefff);
		assert_true(w[PCIE_WINDOW_MEM].base == 0xf6000000 && !w[PCIE_WINDOW_MEM].is64);
		assert_true(w[PCIE_WINDOW_PREF].limit == UINT64_C(0x64ffffffff));
		assert_true(w[PCIE_WINDOW_PREF].is64 && w[PCIE_WINDOW_PREF].have == PCIE_KNOWN);
		assert_null(pcie_device_find_bar(&d, PCIE_BAR_VF, 0));
	}

	static const char *const bad[] = {
		"13:0-0:0", "14:0-1fffff:20000200", "15:6000000000-60ffffffff:10102201", NULL};
	struct pcie_device d = read_resource(17, bad);
	assert_int_equal(d.window[PCIE_WINDOW_IO].have, PCIE_ABSENT);
	assert_true(d.window[PCIE_WINDOW_MEM].unassigned);
	assert_true(d.window[PCIE_WINDOW_MEM].limit == 2 * MIB - 1);
	assert_int_equal(d.window[PCIE_WINDOW_PREF].have, PCIE_ABSENT); /* DISABLED */
}

static void damaged_resource(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "\n", "0x", "0x1 0x2", "zz", "0x1 0x2 0x3",
		"0x1 0x2 0xfffffffffffffffffff", "0xffffffffffffffff 0x0 0x200\n", "0x1-0x2-0x3"};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct pcie_device d = read_one("resource", bad[i]);
		assert_false(d.bars_complete);
		assert_true(d.nbar <= 1);
	}
	/* Cut at every byte: the lines before the cut still mean the same. */
	static const char *const set[] = {"0:f6000000-f6ffffff:40200", NULL};
	char *s = resource(13, set);
	for (size_t n = strlen(s); n > 0; n--) {
		s[n - 1] = '\0';
		struct pcie_device d = read_one("resource", s);
		const struct pcie_bar *b = pcie_device_find_bar(&d, PCIE_BAR_NORMAL, 0);
		assert_true(n < 57 || (b && b->base == 0xf6000000));
	}
	free(s);
}

static void links(void **state)
{
	(void)state;
	static const struct {
		const char *name, *value;
		enum pcie_fact have;
		unsigned speed, width;
	} t[] = {
		{"current_link_speed", "16.0 GT/s PCIe\n", PCIE_KNOWN, 160, 0},
		{"current_link_speed", "8 GT/s\n", PCIE_KNOWN, 80, 0},
		{"current_link_speed", "2.5 GT/s PCIe\n", PCIE_KNOWN, 25, 0},
		{"current_link_speed", "Unknown\n", PCIE_UNKNOWN, 0, 0},
		{"current_link_speed", "Unknown speed", PCIE_UNKNOWN, 0, 0},
		{"current_link_speed", "16.0", PCIE_UNKNOWN, 0, 0},
		{"current_link_speed", "-1 GT/s", PCIE_UNKNOWN, 0, 0},
		{"current_link_speed", "99999999999 GT/s", PCIE_UNKNOWN, 0, 0},
		{"current_link_width", "16\n", PCIE_KNOWN, 0, 16},
		{"current_link_width", "255\n", PCIE_UNKNOWN, 0, 0},
		{"current_link_width", "0\n", PCIE_UNKNOWN, 0, 0},
		{"current_link_width", "", PCIE_UNKNOWN, 0, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct pcie_device d = read_one(t[i].name, t[i].value);
		assert_int_equal(d.link.have, t[i].have);
		assert_int_equal(d.link.speed, t[i].speed);
		assert_int_equal(d.link.width, t[i].width);
	}
}

static void the_others(void **state)
{
	(void)state;
	struct pcie_device d = read_one("class", "0x030200\n");
	assert_true(d.have_class == PCIE_KNOWN && d.class_code == 0x030200 && !d.is_bridge);
	assert_true(pcie_device_is_gpu(&d));
	d = read_one("class", "0x060400\n");
	assert_true(d.is_bridge && !pcie_device_is_gpu(&d));
	d = read_one("class", "0x120000\n");
	assert_true(pcie_device_is_gpu(&d));
	assert_int_equal(read_one("class", "0x12345678\n").have_class, PCIE_UNKNOWN);
	assert_int_equal(read_one("device", "0x2335\n").device, 0x2335);
	assert_int_equal(read_one("device", "2335 \n").have_ids, PCIE_KNOWN);
	assert_int_equal(read_one("device", "junk").have_ids, PCIE_UNKNOWN);
	assert_int_equal(read_one("numa_node", "-1\n").numa, -1);
	assert_int_equal(read_one("numa_node", "3\n").numa, 3);
	assert_int_equal(read_one("numa_node", "-2\n").have_numa, PCIE_UNKNOWN);
	assert_int_equal(
		read_one("iommu_group", "../../../kernel/iommu_groups/27").iommu_group, 27);
	assert_int_equal(read_one("iommu_group", "../x").have_iommu, PCIE_UNKNOWN);
	assert_string_equal(read_one("driver", "../../../bus/pci/drivers/nvidia").driver, "nvidia");
	assert_int_equal(read_one("boot_vga", "1\n").boot_vga, PCIE_YES);
	assert_int_equal(read_one("boot_vga", "x").boot_vga, PCIE_TRI_UNKNOWN);
	assert_int_equal(read_one("sriov_totalvfs", "64\n").sriov_total, 64);
	assert_int_equal(read_one("sriov_numvfs", "70000\n").sriov_num, 0);
	assert_int_equal(read_one("dma_mask_bits", "47\n").dma_mask_bits, 47);
	assert_true(read_one("removable", "removable\n").removable);
	assert_false(read_one("removable", "fixed\n").removable);
	assert_true(read_one("mem_info_vram_total", "25753026560\n").vram.bytes == 25753026560);
	assert_int_equal(read_one("mem_info_vram_total", "0\n").vram.have, PCIE_UNKNOWN);
	assert_true(read_one("power/runtime_status", "suspended\n").asleep);
	assert_false(read_one("power/runtime_status", "active\n").asleep);
	assert_string_equal(read_one("power_state", "D3cold\n").power, "D3cold");
	assert_string_equal(read_one("power_state", "unknown\n").power, "");

	d = read_one("aer_dev_correctable", "RxErr 2\nBadTLP 1\nTOTAL_ERR_COR 3\n");
	assert_true(d.aer.have == PCIE_KNOWN && d.aer.correctable == 3);
	assert_int_equal(read_one("aer_dev_fatal", "TOTAL_ERR_FATAL x\n").aer.have, PCIE_UNKNOWN);

	d = read_one("resource2_resize", "0000000000003f00\n");
	assert_true(d.rebar.have == PCIE_KNOWN && d.rebar.count == 1);
	assert_true(d.rebar.entry[0].bar == 2 && d.rebar.entry[0].supported == 0x3f00);
	assert_false(d.rebar.entry[0].has_current);
	/* The file is 64 bits wide; 44 of them have a size (1 MiB to 8 EiB). */
	d = read_one("resource0_resize", "ffffffffffffffff\n");
	assert_true(d.rebar.entry[0].supported == UINT64_C(0xfffffffffff));
	d = read_one("resource0_resize", "8000000000000000\n");
	assert_true(d.rebar.entry[0].supported == 0);
}

static void sleep_is_known_before_what_wakes(void **state)
{
	(void)state;
	bool told = false;
	for (size_t i = 0; i < pcie_nattrs; i++) {
		const struct pcie_attr *a = &pcie_attrs[i];
		told = told || !strcmp(a->name, "power/runtime_status");
		assert_true(told || !a->wakes);
		assert_true(pcie_attr_find(a->name) == a);
	}
	static const char *const wakes[] = {
		"config", "resource1_resize", "current_link_speed", "max_link_width"};
	for (size_t i = 0; i < ARRAY_LEN(wakes); i++) {
		assert_true(pcie_attr_find(wakes[i])->wakes);
	}
	assert_null(pcie_attr_find("vpd"));
	assert_null(pcie_attr_find("serial_number"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars_of_each_kind),
		cmocka_unit_test(windows_by_the_number_of_lines),
		cmocka_unit_test(damaged_resource),
		cmocka_unit_test(links),
		cmocka_unit_test(the_others),
		cmocka_unit_test(sleep_is_known_before_what_wakes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
