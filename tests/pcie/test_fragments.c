/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces that name little: files of sysfs, nvidia-smi through grep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "pcie/sysfs_text.h"
#include "pcie/witness.h"
#include "scan_fixture.h"

#define BUS "/sys/bus/pci/devices/"

static void one_file_of_one_device_is_named(void **state)
{
	(void)state;
	static const char *const good[] = {
		"$ cat " BUS "0000:03:00.0/resource",
		"cat " BUS "0000\\:03\\:00.0/resource0_resize | head",
		BUS "0000:03:00.0/resource0_resize:0000000000007f00",
		"==> " BUS "0000:03:00.0/current_link_width <==",
		"# cat /sys/devices/pci0000:00/0000:00:01.0/0000:03:00.0/resource",
		"root@box:" BUS "0000:03:00.0# sudo cat resource1_resize",
	};
	static const char *const bad[] = {
		"cat " BUS "*/resource",
		"cat " BUS "0000:03:00.0/resource " BUS "0000:04:00.0/resource",
		"cat " BUS "0000:03:00.0/vbios_version",
		"cat " BUS "0000:03:00.0/nvml_bar1_total",
		"ls " BUS "0000:03:00.0/",
		"root@box:" BUS "0000:03:00.0# ls resource1_resize",
		"cat /sys/class/drm/card0/device/resource",
		"cat " BUS "0000:03:00.0/resource.txt",
	};

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_true(pcie_sysfs_text_is_start(good[i]));
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_false(pcie_sysfs_text_is_start(bad[i]));
	}
}

static void sysfs_files_are_read(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan("$ cat " BUS "0000:65:00.0/resource\n"
				       "0x00000000b8000000 0x00000000b8ffffff 0x0000000000040200\n"
				       "0x000003a000000000 0x000003a7ffffffff 0x000000000014220c\n"
				       "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
				       "and this is the other one:\n"
				       "$ cat " BUS "0000:65:00.0/resource1_resize\n"
				       "0000000000007fc0\n"
				       "$ cat " BUS "0000:65:00.0/resource3_resize\n"
				       "cat: permission denied\n"
				       "0000000000000020\n");

	assert_int_equal(s->ndev, 1);
	const struct pcie_device *d = &s->dev[0];
	assert_int_equal(d->addr.bus, 0x65);
	const struct pcie_bar *b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, 1);
	assert_non_null(b);
	assert_int_equal(b->base, 0x3a000000000);
	assert_int_equal(b->size, 32ULL << 30);
	assert_true(b->is64 && b->prefetchable);
	assert_false(d->bars_complete);
	/* what stands behind an error is not the file's */
	assert_int_equal(d->rebar.count, 1);
	assert_int_equal(d->rebar.entry[0].bar, 1);
	assert_int_equal(d->rebar.entry[0].supported, 0x7fc0);
	assert_false(d->rebar.entry[0].has_current);
	pcie_snapshot_destroy(s);
}

/* lspci -v has no numbers: the file's, where only one BAR has a length that it offers. */
static void a_resize_file_numbers_its_bar(void **state)
{
	(void)state;
	static const struct {
		const char *second;
		int index;
	} t[] = {{"2M", 0}, {"512M", -1}};

	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		char text[1024];
		snprintf(text, sizeof(text),
			"03:00.0 VGA compatible controller: Advanced Micro Devices, Inc. X (rev c8)\n"
			"\tMemory at c0000000 (64-bit, prefetchable) [size=256M]\n"
			"\tMemory at e0000000 (64-bit, prefetchable) [size=%s]\n"
			"$ cat " BUS "0000:03:00.0/resource0_resize\n000000000000ff00\n",
			t[i].second);
		struct pcie_snapshot *s = scan(text);
		const struct pcie_bar *b =
			pcie_device_find_bar(&s->dev[0], PCIE_BAR_NORMAL, t[i].index);
		assert_int_equal(s->dev[0].nbar, 2);
		assert_non_null(b);
		assert_int_equal(b->base, 0xc0000000);
		pcie_snapshot_destroy(s);
	}
}

static void what_is_no_value_is_not_read(void **state)
{
	(void)state;
	static const char *const text[] = {
		"cat " BUS "0000:65:00.0/resource1_resize\n1f40\n",
		"cat " BUS "0000:65:00.0/resource1_resize\n000000000000zz40\n",
		"cat " BUS "0000:65:00.0/resource\nno such file\n0x0 0x0 0x0\n",
		"cat " BUS "*/resource\n0x00000000b8000000 0x00000000b8ffffff 0x40200\n",
	};
	for (size_t i = 0; i < ARRAY_LEN(text); i++) {
		struct pcie_snapshot *s;
		struct why why;
		assert_int_equal(
			pcie_text_scan("test", text[i], strlen(text[i]), &s, &why), -ENODATA);
	}
}

static const char bar1[] = "    BAR1 Memory Usage\n"
			   "        Total                             : 16384 MiB\n"
			   "        Used                              : 7 MiB\n";

/* The part's total of the device; 0 when it has no BAR. */
static uint64_t length(const struct pcie_device *d)
{
	return d->nbar == 1 && d->bar[0].has_size ? d->bar[0].size : 0;
}

static void smi_without_a_gpu_is_one_without_address(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(bar1);
	assert_int_equal(s->ndev, 1);
	assert_false(s->dev[0].addr.known);
	assert_true(pcie_device_is_gpu(&s->dev[0]));
	assert_int_equal(length(&s->dev[0]), 16ULL << 30);
	pcie_snapshot_destroy(s);

	char text[1024];
	snprintf(text, sizeof(text),
		"    FB Memory Usage\n        Total   : 12288 MiB\n%s--\n"
		"    FB Memory Usage\n        Total   : 24576 MiB\n%s--\n%s",
		bar1, bar1, bar1);
	s = scan(text);
	assert_int_equal(s->ndev, 3);
	assert_int_equal(s->dev[0].vram.bytes, 12ULL << 30);
	assert_int_equal(s->dev[1].vram.bytes, 24ULL << 30);
	assert_int_equal(s->dev[2].vram.have, PCIE_UNKNOWN);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(length(&s->dev[i]), 16ULL << 30);
	}
	pcie_snapshot_destroy(s);
}

static void smi_without_a_gpu_is_the_only_one(void **state)
{
	(void)state;
	static const char header[] =
		"01:00.0 VGA compatible controller: NVIDIA Corporation Device 2204 (rev a1)\n"
		"02:00.0 VGA compatible controller: Intel Corporation Device 56a0 (rev 08)\n";
	char text[1024];

	snprintf(text, sizeof(text), "%s\n%s", header, bar1);
	struct pcie_snapshot *s = scan(text);
	assert_int_equal(s->ndev, 2);
	assert_int_equal(length(&s->dev[0]), 16ULL << 30);
	assert_int_equal(s->dev[1].nbar, 0);
	pcie_snapshot_destroy(s);

	snprintf(text, sizeof(text),
		"%s03:00.0 VGA compatible controller: NVIDIA Corporation X\n\n%s", header,
		bar1); /* of two, nobody knows which */
	s = scan(text);
	assert_int_equal(s->ndev, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(s->dev[i].nbar, 0);
	}
	pcie_snapshot_destroy(s);

	snprintf(text, sizeof(text),
		"NVRM: GPU 0000:41:00.0: RmInitAdapter failed! (0x24:0x72:1568)\n%s",
		bar1); /* the log knows no vendor */
	s = scan(text);
	assert_int_equal(s->ndev, 1);
	assert_int_equal(s->dev[0].addr.bus, 0x41);
	assert_int_equal(length(&s->dev[0]), 16ULL << 30);
	pcie_snapshot_destroy(s);
}

static void smi_names_a_lost_gpu(void **state)
{
	(void)state;
	static const char *const text[] = {
		"Unable to determine the device handle for GPU 0000:0B:00.0: GPU is lost.  Reboot\n",
		"Unable to determine the device handle for GPU0: 0000:0B:00.0: GPU is lost.\n",
	};
	for (size_t i = 0; i < ARRAY_LEN(text); i++) {
		struct pcie_snapshot *s = scan(text[i]);
		assert_int_equal(s->ndev, 1);
		assert_int_equal(s->dev[0].addr.bus, 0x0b);
		assert_true(pcie_device_is_gpu(&s->dev[0]));
		assert_int_equal(s->nnote, 1);
		assert_non_null(strstr(s->note[0].text, "'GPU is lost."));
		pcie_snapshot_destroy(s);
	}
}

/* What other tools print is refused by their names; whatever else has their words is read. */
static void other_tools_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *text, *tool;
	} t[] = {
		{"vgapci0@pci0:1:0:0:\tclass=0x030000 rev=0xa1\n    bar   [10] = type Memory\n",
			"FreeBSD's pciconf"},
		{"   VMkernel Name: vmgfx0\n   Vendor Name: NVIDIA Corporation\n",
			"esxcli hardware pci list"},
		{"TechPowerUp GPU-Z v2.57.0\nResizable BAR : Disabled\n", "GPU-Z"},
		{"-[0000:00]-+-00.0  Intel Corporation\n           +-01.0-[01]--\n", "lspci -t"},
		{"name, memory.total [MiB]\nNVIDIA GeForce RTX 4090, 24564 MiB\n",
			"nvidia-smi --query-gpu"},
		{"hello\n", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct pcie_snapshot *s;
		struct why why = {""};
		assert_int_equal(
			pcie_text_scan("test", t[i].text, strlen(t[i].text), &s, &why), -ENODATA);
		assert_non_null(strstr(why.text, t[i].tool ? t[i].tool : "nothing recognised"));
	}
	struct pcie_snapshot *s = scan("01:00.0 VGA compatible controller: NVIDIA Corporation X\n"
				       "GPU-Z says the same\n");
	assert_int_equal(s->ndev, 1);
	pcie_snapshot_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_file_of_one_device_is_named),
		cmocka_unit_test(sysfs_files_are_read),
		cmocka_unit_test(a_resize_file_numbers_its_bar),
		cmocka_unit_test(what_is_no_value_is_not_read),
		cmocka_unit_test(smi_without_a_gpu_is_one_without_address),
		cmocka_unit_test(smi_without_a_gpu_is_the_only_one),
		cmocka_unit_test(smi_names_a_lost_gpu),
		cmocka_unit_test(other_tools_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
