/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that cannot be of one machine or one moment, and texts of which a part is not readable. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "pcie/witness.h"
#include "scan_fixture.h"

#define RTX_4090                                                                                   \
	"01:00.0 VGA compatible controller: NVIDIA Corporation AD102 [GeForce RTX 4090] (rev a1)\n"
#define SIZES "64MB 128MB 256MB 512MB 1GB 2GB 4GB 8GB 16GB 32GB"
#define HEALTHY                                                                                    \
	"00:01.1 PCI bridge: Advanced Micro Devices, Inc. [AMD] Device 14db\n"                     \
	"\tBus: primary=00, secondary=01, subordinate=01, sec-latency=0\n"                         \
	"\tMemory behind bridge: fb000000-fc0fffff [size=17M] [32-bit]\n"                          \
	"\tPrefetchable memory behind bridge: f800000000-10001ffffff [size=32800M] [64-bit]\n"     \
	"\n" RTX_4090 "\tRegion 0: Memory at fb000000 (32-bit, non-prefetchable) [size=16M]\n"     \
	"\tRegion 1: Memory at f800000000 (64-bit, prefetchable) [size=32G]\n"                     \
	"\tRegion 3: Memory at 10000000000 (64-bit, prefetchable) [size=32M]\n"                    \
	"\tCapabilities: [bb0 v1] Physical Resizable BAR\n"                                        \
	"\t\tBAR 1: current size: 32GB, supported: " SIZES "\n"                                    \
	"\tKernel driver in use: nvidia\n\n"
#define SMALL                                                                                      \
	RTX_4090 "\tFlags: bus master, fast devsel, latency 0, IRQ 142\n"                          \
		 "\tMemory at a3000000 (32-bit, non-prefetchable) [size=16M]\n"                    \
		 "\tMemory at 90000000 (64-bit, prefetchable) [size=256M]\n"                       \
		 "\tMemory at a0000000 (64-bit, prefetchable) [size=32M]\n"                        \
		 "\tCapabilities: <access denied>\n"                                               \
		 "\tKernel driver in use: nvidia\n\n"

static int index_of(const struct pcie_snapshot *s, uint8_t bus, uint8_t dev, uint8_t fn)
{
	int i = pcie_snapshot_find(
		s, (struct pcie_addr){.bus = bus, .dev = dev, .fn = fn, .known = true});
	assert_true(i >= 0);
	return i;
}

static int notes_with(const struct pcie_snapshot *s, const char *words)
{
	int n = 0;
	for (size_t i = 0; i < s->nnote; i++) {
		n += strstr(s->note[i].text, words) != NULL;
	}
	return n;
}

static bool has_bar(const struct pcie_device *d, uint64_t base, uint64_t size)
{
	for (int i = 0; i < d->nbar; i++) {
		if (d->bar[i].has_base && d->bar[i].base == base && d->bar[i].size == size) {
			return true;
		}
	}
	return false;
}

/* Nothing of the first machine is left in the second, not even the window above it. */
static void another_machine_same_card(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan("mine:\n\n" HEALTHY "my brother's:\n\n" SMALL);
	const struct pcie_device *d = &s->dev[index_of(s, 1, 0, 0)];
	assert_int_equal(d->nbar, 3);
	assert_true(has_bar(d, 0x90000000, UINT64_C(256) << 20));
	assert_int_equal(d->rebar.have, PCIE_DENIED);
	assert_int_equal(d->rebar.count, 0);
	assert_int_equal(d->parent, -1);
	const struct pcie_device *bridge = &s->dev[index_of(s, 0, 1, 1)];
	assert_int_equal(bridge->window[PCIE_WINDOW_PREF].have, PCIE_UNKNOWN);
	assert_int_equal(notes_with(s, "more than one state"), 1);
	pcie_snapshot_destroy(s);
}

static void another_machine_reversed(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan("my brother's:\n\n" SMALL "mine:\n\n" HEALTHY);
	const struct pcie_device *d = &s->dev[index_of(s, 1, 0, 0)];
	assert_int_equal(d->nbar, 3);
	assert_true(has_bar(d, 0xf800000000, UINT64_C(32) << 30));
	assert_int_equal(d->rebar.have, PCIE_KNOWN);
	assert_int_equal(d->parent, index_of(s, 0, 1, 1));
	assert_int_equal(s->dev[d->parent].window[PCIE_WINDOW_PREF].base, 0xf800000000);
	assert_int_equal(notes_with(s, "more than one state"), 1);
	pcie_snapshot_destroy(s);
}

static void another_card_in_the_slot(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(HEALTHY
		"01:00.0 VGA compatible controller: NVIDIA Corporation GP104 [GeForce GTX 1080] "
		"(rev a1)\n");
	const struct pcie_device *d = &s->dev[index_of(s, 1, 0, 0)];
	assert_string_equal(d->name, "NVIDIA Corporation GP104 [GeForce GTX 1080]");
	assert_int_equal(d->nbar, 0);
	assert_int_equal(d->rebar.have, PCIE_UNKNOWN);
	assert_int_equal(d->have_driver, PCIE_UNKNOWN);
	assert_int_equal(notes_with(s, "more than one state"), 1);
	pcie_snapshot_destroy(s);
}

/* Other options, other age of pci.ids, less privilege: the same state, and all of it is used. */
static void same_state_in_other_words(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(HEALTHY RTX_4090
		"\tFlags: bus master, fast devsel, latency 0, IRQ 142\n"
		"\tMemory at fb000000 (32-bit, non-prefetchable) [size=16M]\n"
		"\tMemory at f800000000 (64-bit, prefetchable) [size=32G]\n"
		"\tMemory at 10000000000 (64-bit, prefetchable) [size=32M]\n"
		"\tCapabilities: <access denied>\n\n"
		"01:00.0 VGA compatible controller: NVIDIA Corporation Device 2684 (rev a1)\n"
		"01:00.0 0300: 10de:2684 (rev a1)\n");
	const struct pcie_device *d = &s->dev[index_of(s, 1, 0, 0)];
	assert_int_equal(d->rebar.have, PCIE_KNOWN);
	assert_int_equal(d->rebar.count, 1);
	assert_true(has_bar(d, 0xf800000000, UINT64_C(32) << 30));
	assert_int_equal(d->parent, index_of(s, 0, 1, 1));
	assert_int_equal(notes_with(s, "more than one state"), 0);
	pcie_snapshot_destroy(s);
}

#define LISTED(sizes)                                                                              \
	RTX_4090 "\tRegion 1: Memory at d0000000 (64-bit, prefetchable) [size=256M]\n"             \
		 "\tRegion 3: Memory at e0000000 (64-bit, prefetchable) [size=32M]\n"              \
		 "\tCapabilities: [bb0 v1] Physical Resizable BAR\n"                               \
		 "\t\tBAR 1: current size: 256MB, supported: " sizes "\n"                          \
		 "\t\tBAR 3: current size: 32MB, supported: 32MB\n"

/* A list that was damaged or cut is no list: not even the sizes before the damage count. */
static void sizes_that_cannot_be_read(void **state)
{
	(void)state;
	static const struct {
		const char *text, *token;
	} torn[] = {
		{LISTED("64MB 128MB 256M8 512M8 1G8 2G8 4G8 8GB 16G8 32G8"), "'256M8'"},
		{LISTED("64MB 128MB 256MB ..."), "'...'"},
		{LISTED("64MB 128MB 256MB..."), "'...'"},
		{LISTED("64MB l28MB 256MB 5l2MB lGB"), "'l28MB'"},
		{LISTED("64MB 128MB 256MB 512MB 1GB 2GB 4GB 8GB 16GB 2GB"), "'2GB'"},
		{LISTED("64MB 128MB 256MB 512MB 1GB 2GB 4GB 8GB 16GB 3"), "'3'"},
		{LISTED("64MB 128MB etc."), "'etc.'"},
	};
	for (size_t i = 0; i < sizeof(torn) / sizeof(torn[0]); i++) {
		struct pcie_snapshot *s = scan(torn[i].text);
		const struct pcie_device *d = &s->dev[index_of(s, 1, 0, 0)];
		assert_int_equal(d->rebar.have, PCIE_KNOWN);
		assert_true(d->rebar.sizes_unknown);
		assert_int_equal(d->rebar.count, 0);
		assert_int_equal(notes_with(s, "cannot be read at"), 1);
		assert_int_equal(notes_with(s, torn[i].token), 1);
		pcie_snapshot_destroy(s);
	}
}

static void sizes_with_a_remark(void **state)
{
	(void)state;
	static const char *const whole[] = {
		LISTED(SIZES),
		LISTED("64MB 128MB 256MB 512MB 1GB 2GB\n 4GB 8GB 16GB 32GB"),
		LISTED(SIZES "\t<-- here"),
		LISTED(SIZES " (BIOS 1402)"),
	};
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		struct pcie_snapshot *s = scan(whole[i]);
		const struct pcie_device *d = &s->dev[index_of(s, 1, 0, 0)];
		assert_int_equal(d->rebar.have, PCIE_KNOWN);
		assert_false(d->rebar.sizes_unknown);
		assert_int_equal(d->rebar.entry[0].supported, 0xffc0);
		assert_int_equal(notes_with(s, "cannot be read"), 0);
		pcie_snapshot_destroy(s);
	}
}

#define SMI_256M                                                                                   \
	"==============NVSMI LOG==============\n\nAttached GPUs : 1\nGPU 00000000:01:00.0\n"       \
	"    BAR1 Memory Usage\n        Total                             : 256 MiB\n"

/* nvidia-smi of another boot, in a text of its own, before or behind the listing. */
static void bar1_of_another_boot(void **state)
{
	(void)state;
	for (int order = 0; order < 2; order++) {
		struct pcie_snapshot *s = scan(order ? SMI_256M : HEALTHY);
		struct pcie_snapshot *from = scan(order ? HEALTHY : SMI_256M);
		assert_int_equal(pcie_merge(s, from), 0);
		const struct pcie_device *d = &s->dev[index_of(s, 1, 0, 0)];
		assert_int_equal(d->nbar, 3);
		assert_true(has_bar(d, 0xf800000000, UINT64_C(32) << 30));
		assert_int_equal(notes_with(s, "nvidia-smi gives BAR1 as 256 MiB"), 1);
		pcie_snapshot_destroy(from);
		pcie_snapshot_destroy(s);
	}
}

static void ranges_of_two_states(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(
		RTX_4090 "\tRegion 1: Memory at f800000000 (64-bit, prefetchable) [size=32G]\n"
			 "\tRegion 3: Memory at f810000000 (64-bit, prefetchable) [size=32M]\n");
	assert_int_equal(notes_with(s, "overlap"), 1);
	pcie_snapshot_destroy(s);

	s = scan("00:01.1 PCI bridge: Advanced Micro Devices, Inc. [AMD] Device 14db\n"
		 "\tBus: primary=00, secondary=01, subordinate=01, sec-latency=0\n"
		 "\tMemory behind bridge: fb000000-fc0fffff [size=17M] [32-bit]\n"
		 "\tPrefetchable memory behind bridge: f800000000-f811ffffff [size=288M] [64-bit]\n"
		 "\n" RTX_4090
		 "\tRegion 1: Memory at f800000000 (64-bit, prefetchable) [size=32G]\n");
	assert_int_equal(notes_with(s, "no window of the bridge above is larger than 288 MiB"), 1);
	pcie_snapshot_destroy(s);

	s = scan(HEALTHY);
	assert_int_equal(s->nnote, 0);
	pcie_snapshot_destroy(s);
}

/* A GPU is named, and where it is cannot be read: not "no GPU". */
static void addresses_that_cannot_be_read(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool lost;
	} rows[] = {
		{"0l:00.0 VGA compatible controller: NVIDIA Corporation AD102 (rev al)\n"
		 "Region 3: Memory at e0000000 (64-bit, prefetchable) [size=32M]\n",
			true},
		{"00:00.0 Host bridge: Advanced Micro Devices, Inc. [AMD] Device 14d8 \tControl: "
		 "I/O-  01:00.0 VGA compatible controller: NVIDIA Corporation AD102 \tRegion 1: "
		 "Memory at f800000000 (64-bit, prefetchable) [size=32G]",
			true},
		{"[    0.512010] pci 0000:03:00.0: BAR O [mem size Ox800000000 64bit pref]: failed "
		 "to assign\n[    O.512O11] pci OOOO:O3:OO.O: BAR 0: failed to assign\n",
			true},
		{"00:00.0 Host bridge: Advanced Micro Devices, Inc. [AMD] Device 14d8\n"
		 "It has no VGA compatible controller, does it?\n",
			false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct pcie_snapshot *s = NULL;
		struct why why = {""};
		int err = pcie_text_scan("t", rows[i].text, strlen(rows[i].text), &s, &why);
		assert_int_equal(err, rows[i].lost ? -ENODATA : 0);
		assert_int_equal(strstr(why.text, "address of its GPU") != NULL, rows[i].lost);
		pcie_snapshot_destroy(s);
	}
}

/* lspci again with more switches: what the second says counts, what it leaves out stays. */
static void later_listing_says_more(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(
		HEALTHY "01:00.0 VGA compatible controller [0300]: NVIDIA Corporation AD102 "
			"[GeForce RTX 4090] [10de:2684] (rev a1)\n"
			"\tSubsystem: Micro-Star International Co., Ltd. [MSI] Device "
			"[1462:5103]\n"
			"\tNUMA node: 1\n"
			"\tIOMMU group: 14\n"
			"\tCapabilities: [60] Power Management version 3\n"
			"\t\tStatus: D3 NoSoftRst+ PME-Enable- DSel=0 DScale=0 PME-\n"
			"\tCapabilities: [bcc v1] Single Root I/O Virtualization (SR-IOV)\n"
			"\t\tInitial VFs: 16, Total VFs: 16, Number of VFs: 4, Function Dependency "
			"Link: 00\n");
	const struct pcie_device *d = &s->dev[index_of(s, 1, 0, 0)];

	assert_true(d->vendor == 0x10de && d->device == 0x2684);
	assert_true(d->have_subsystem == PCIE_KNOWN);
	assert_true(d->subvendor == 0x1462 && d->subdevice == 0x5103);
	assert_true(d->numa == 1 && d->iommu_group == 14);
	assert_string_equal(d->power, "D3hot");
	assert_true(d->sriov_total == 16 && d->sriov_num == 4);
	assert_true(has_bar(d, 0xf800000000, 32 * GIB));
	assert_string_equal(d->driver, "nvidia");
	assert_int_equal(notes_with(s, "more than one state"), 0);
	pcie_snapshot_destroy(s);
}

/* It fell off the bus: its BARs were where they were, and it is gone now. */
static void later_gone(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(HEALTHY RTX_4090 "\t!!! Unknown header type 7f\n");
	const struct pcie_device *d = &s->dev[index_of(s, 1, 0, 0)];

	assert_true(d->config_gone);
	assert_true(has_bar(d, 0xf800000000, 32 * GIB));
	pcie_snapshot_destroy(s);
}

/* An excerpt without numbers: one range that the first listing does not know, or does. */
static void excerpt_of_another_state(void **state)
{
	(void)state;
	static const struct {
		const char *range;
		uint64_t base;
		bool other;
	} rows[] = {
		{"\tMemory at a0000000 (64-bit, prefetchable) [size=32M]\n", 0xa0000000, true},
		{"\tMemory at 10000000000 (64-bit, prefetchable) [size=32M]\n", 0x10000000000,
			false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct text text = {0};
		text_addf(&text, "%s%s%s", HEALTHY, RTX_4090, rows[i].range);
		struct pcie_snapshot *s = scan(text.s);
		const struct pcie_device *d = &s->dev[index_of(s, 1, 0, 0)];

		assert_true(has_bar(d, rows[i].base, 32 * MIB));
		assert_false(rows[i].other && has_bar(d, 0xf800000000, 32 * GIB));
		assert_int_equal(d->driver[0] == '\0', rows[i].other);
		assert_int_equal(notes_with(s, "more than one state"), rows[i].other);
		pcie_snapshot_destroy(s);
		text_finish(&text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_machine_same_card),
		cmocka_unit_test(another_machine_reversed),
		cmocka_unit_test(another_card_in_the_slot),
		cmocka_unit_test(same_state_in_other_words),
		cmocka_unit_test(sizes_that_cannot_be_read),
		cmocka_unit_test(sizes_with_a_remark),
		cmocka_unit_test(bar1_of_another_boot),
		cmocka_unit_test(ranges_of_two_states),
		cmocka_unit_test(addresses_that_cannot_be_read),
		cmocka_unit_test(later_listing_says_more),
		cmocka_unit_test(later_gone),
		cmocka_unit_test(excerpt_of_another_state),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
