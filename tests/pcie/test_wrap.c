/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines broken twice, in narrow columns and behind marks: a text of each kind that
 * random pastes had found, and texts from which nothing may be made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "pcie/witness.h"
#include "scan_fixture.h"

static const struct pcie_device *find(
	const struct pcie_snapshot *s, uint8_t bus, uint8_t dev, uint8_t fn)
{
	int i = pcie_snapshot_find(
		s, (struct pcie_addr){.bus = bus, .dev = dev, .fn = fn, .known = true});
	assert_true(i >= 0);
	return &s->dev[i];
}

static void assert_ids(const struct pcie_device *d, uint16_t vendor, uint16_t device)
{
	assert_int_equal(d->have_ids, PCIE_KNOWN);
	assert_int_equal(d->vendor, vendor);
	assert_int_equal(d->device, device);
}

static void assert_bar(const struct pcie_device *d, int index, uint64_t base, uint64_t size)
{
	const struct pcie_bar *b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, index);
	assert_non_null(b);
	assert_true(b->has_base && b->has_size);
	assert_int_equal(b->base, base);
	assert_int_equal(b->size, size);
}

/* A soft break's blank did not fit behind 72 columns: an empty line stands in the middle. */
static void full_lines_before_empty_ones(void **state)
{
	(void)state;
	struct pcie_snapshot *s =
		scan("01:00.0 VGA compatible controller [0300]: NVIDIA Corporation Graphics De\n"
		     "\n"
		     "[10de:2204] (rev a1) (prog-if 00 [VGA controller])\n"
		     "        Region 1: Memory at 6000000000 (64-bit, prefetchable) [disabled]\n"
		     " \n"
		     "[size=32G]\n"
		     "        Kernel driver in use: nvidia\n");
	const struct pcie_device *d = find(s, 1, 0, 0);
	assert_ids(d, 0x10de, 0x2204);
	assert_bar(d, 1, 0x6000000000, UINT64_C(32) << 30);
	assert_string_equal(d->driver, "nvidia");
	pcie_snapshot_destroy(s);
}

/* Too few lines to show that each has an empty one behind it. */
static void three_devices_with_empty_lines(void **state)
{
	(void)state;
	struct pcie_snapshot *s =
		scan("00:01.0 PCI bridge [0604]: Intel Corporation Express Root Port #1 [8086:7\n"
		     "\n"
		     "6ba] (rev 02)\n"
		     "\n"
		     "01:00.0 3D controller [0302]: NVIDIA Corporation GH100 [H100 PCIe Tensor\n"
		     "\n"
		     "Core] [10de:2331] (rev a1)\n"
		     "\n");
	assert_ids(find(s, 0, 1, 0), 0x8086, 0x76ba);
	assert_ids(find(s, 1, 0, 0), 0x10de, 0x2331);
	pcie_snapshot_destroy(s);
}

/* Every word may be torn. */
static void thirty_columns(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan("00:01.0 PCI bridge [0604]: Int\n"
				       "el Corporation Express Root Po\n"
				       "rt #1 [8086:76ba] (rev 02)\n"
				       "        Control: I/O+ Mem+ Bus\n"
				       "Master+ SpecCycle- MemWINV-\n"
				       "        Bus: primary=00, secon\n"
				       "dary=01, subordinate=03, sec-l\n"
				       "atency=0\n"
				       "        Memory behind bridge: \n"
				       "f0000000-f1ffffff [size=32M]\n"
				       "        Prefetchable memory be\n"
				       "hind bridge: 0000006000000000-\n"
				       "00000067ffffffff [size=32G]\n"
				       "        Kernel driver in use: \n"
				       "pcieport\n"
				       "\n"
				       "01:00.0 VGA compatible control\n"
				       "ler [0300]: NVIDIA Corporation\n"
				       " GA102 [10de:2204] (rev a1)\n"
				       "        Control: I/O+ Mem+ Bus\n"
				       "Master+ SpecCycle- MemWINV-\n"
				       "        Region 1: Memory at 60\n"
				       "00000000 (64-bit, prefetchable\n"
				       ") [size=32G]\n"
				       "        Capabilities: [bb0 v1]\n"
				       " Physical Resizable BAR\n"
				       "                BAR 1: current\n"
				       " size: 32GB, supported: 64MB 2\n"
				       "56MB 32GB\n"
				       "        Kernel driver in use: \n"
				       "nvidia\n");
	const struct pcie_device *d = find(s, 0, 1, 0);
	assert_ids(d, 0x8086, 0x76ba);
	assert_int_equal(d->subordinate, 3);
	assert_int_equal(d->window[PCIE_WINDOW_MEM].base, 0xf0000000);
	assert_int_equal(d->window[PCIE_WINDOW_PREF].have, PCIE_KNOWN);
	assert_int_equal(d->window[PCIE_WINDOW_PREF].limit, 0x67ffffffff);
	assert_string_equal(d->driver, "pcieport");
	d = find(s, 1, 0, 0);
	assert_ids(d, 0x10de, 0x2204);
	assert_bar(d, 1, 0x6000000000, UINT64_C(32) << 30);
	assert_int_equal(d->rebar.count, 1);
	assert_int_equal(d->rebar.entry[0].supported, 1u << 6 | 1u << 8 | 1u << 15);
	assert_string_equal(d->driver, "nvidia");
	pcie_snapshot_destroy(s);
}

/* Between words, quoted: ">TAbort-" at a line's begin is no quote mark. */
static void forty_columns_quoted(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan("> 01:00.0 VGA compatible controller\n"
				       "> [0300]: NVIDIA Corporation GA102\n"
				       "> [GeForce RTX 3090] [10de:2204] (rev a1)\n"
				       ">         Control: I/O+ Mem+ BusMaster+\n"
				       "> SpecCycle- MemWINV- VGASnoop- ParErr-\n"
				       ">         Status: Cap+ DEVSEL=fast\n"
				       "> >TAbort- <TAbort- <MAbort- >SERR-\n"
				       ">         Region 1: Memory at 6000000000\n"
				       "> (64-bit, prefetchable) [size=32G]\n"
				       ">         Capabilities: [bb0 v1] Physical\n"
				       "> Resizable BAR\n"
				       ">                 BAR 1: current size:\n"
				       "> 32GB, supported: 64MB 256MB 32GB\n"
				       ">         Kernel driver in use:\n"
				       "> nvidia\n");
	const struct pcie_device *d = find(s, 1, 0, 0);
	assert_ids(d, 0x10de, 0x2204);
	assert_bar(d, 1, 0x6000000000, UINT64_C(32) << 30);
	assert_int_equal(d->rebar.count, 1);
	assert_int_equal(d->rebar.entry[0].current, UINT64_C(32) << 30);
	assert_string_equal(d->driver, "nvidia");
	pcie_snapshot_destroy(s);
}

/* Cut at 80 columns in the middle of the class's number, and of the ids. */
static void a_torn_number(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(
		"0000:00:02.0/0a:00.0/0b:00.1 Non-Volatile memory controller of a server [0108\n"
		"]: Samsung Electronics Co Ltd NVMe SSD Controller PM9A1 [144d:6b75]\n"
		"\tControl: I/O+ Mem+ BusMaster+\n\n"
		"0000:00:02.0/0a:00.0/0c:00.0 VGA compatible controller [0300]: NVIDIA GA102 [10d\n"
		"e:2204] (rev a1)\n"
		"\tControl: I/O+ Mem+ BusMaster+\n");
	const struct pcie_device *d = find(s, 0xb, 0, 1);
	assert_int_equal(d->have_class, PCIE_KNOWN);
	assert_int_equal(d->class_code >> 8, 0x0108);
	assert_ids(d, 0x144d, 0x6b75);
	assert_ids(find(s, 0xc, 0, 0), 0x10de, 0x2204);
	pcie_snapshot_destroy(s);
}

/* The text ends behind a full column: "ad400" is the beginning of an address. */
static void a_number_at_the_last_column(void **state)
{
	(void)state;
	static const char text[] = "000d:0e:00.0 VGA compatible co\n"
				   "ntroller [0300]: NVIDIA Corpor\n"
				   "ation GA102 [GeForce RTX 3090]\n"
				   " [10de:64dc] (rev 46) (prog-if\n"
				   " 00 [VGA controller])\n"
				   "        Flags: bus master, fas\n"
				   "t devsel, latency 0, IRQ 146, \n"
				   "NUMA node 0, IOMMU group 14\n"
				   "        Memory at ec280000 (32\n"
				   "-bit, non-prefetchable) [size=\n"
				   "512K]\n"
				   "        Expansion ROM at ad400\n"
				   "000 [disabled] [size=128K]\n";
	char cut[sizeof(text)];
	for (int whole = 0; whole < 2; whole++) {
		memcpy(cut, text, sizeof(text));
		*(whole ? cut + sizeof(text) - 1 : strstr(cut, "000 [dis")) = '\0';
		struct pcie_snapshot *s = scan(cut);
		assert_int_equal(s->ndev, 1);
		const struct pcie_bar *b = pcie_device_find_bar(&s->dev[0], PCIE_BAR_ROM, 6);
		assert_int_equal(b && b->has_base, whole);
		if (whole) {
			assert_int_equal(b->base, 0xad400000);
		}
		pcie_snapshot_destroy(s);
	}
}

/* '=' at a line's end is no soft break of a mail in so narrow a column. */
static void an_equals_sign_at_the_fold(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan("0000:01:00.0 Ethernet controll\n"
				       "er [0200]: Samsung Electronics\n"
				       " Co Ltd RTL8111 [144d:2c84]\n"
				       "        Flags: bus master, fas\n"
				       "t devsel, latency 0\n"
				       "        Memory at ab154000 (32\n"
				       "-bit, non-prefetchable) [size=\n"
				       "4K]\n"
				       "        Memory at c6000000 (32\n"
				       "-bit, non-prefetchable) [size=\n"
				       "32M]\n");
	const struct pcie_device *d = find(s, 1, 0, 0);
	assert_ids(d, 0x144d, 0x2c84);
	assert_int_equal(d->nbar, 2);
	assert_int_equal(d->bar[0].size, 4 << 10);
	assert_int_equal(d->bar[1].size, 32 << 20);
	pcie_snapshot_destroy(s);
}

/* Quoted, then folded: what was torn off has no mark, and "> (64-bit" none either. */
static void thirty_columns_of_quotes(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(">01:00.0 VGA compatible contro\n"
				       "ller [0300]: NVIDIA Corporatio\n"
				       "n GA102 [10de:2204] (rev a1)\n"
				       ">        Memory at <unassigned\n"
				       "> (64-bit, prefetchable)\n"
				       ">        Memory at 6000000000 \n"
				       "(64-bit, prefetchable) [size=3\n"
				       "2M]\n"
				       ">        Kernel driver in use:\n"
				       " nvidia\n");
	const struct pcie_device *d = find(s, 1, 0, 0);
	assert_ids(d, 0x10de, 0x2204);
	assert_int_equal(d->nbar, 2);
	assert_int_equal(d->bar[0].assigned, PCIE_NO);
	assert_int_equal(d->bar[1].size, 32 << 20);
	assert_string_equal(d->driver, "nvidia");
	pcie_snapshot_destroy(s);
}

/* The first header stands behind "[code]": only the lines show that they are quoted. */
static void bars_before_all_lines(void **state)
{
	(void)state;
	struct pcie_snapshot *s =
		scan("| Here it is: [code]01:00.0 VGA compatible controller: NVIDIA "
		     "Corporation GA102 (rev a1)\n"
		     "| \tFlags: bus master, fast devsel, latency 0\n"
		     "| \tMemory at f6000000 (32-bit, non-prefetchable) [size=16M]\n"
		     "| \tMemory at 6000000000 (64-bit, prefetchable) [size=32G]\n"
		     "| \tCapabilities: [60] Power Management version 3\n"
		     "| \tCapabilities: [100] Virtual Channel\n"
		     "| \tKernel driver in use: nvidia\n"
		     "| \tKernel modules: nvidia\n"
		     "| [/code]\n");
	const struct pcie_device *d = find(s, 1, 0, 0);
	assert_int_equal(d->nbar, 2);
	assert_int_equal(d->bar[1].base, 0x6000000000);
	assert_string_equal(d->driver, "nvidia");
	pcie_snapshot_destroy(s);
}

/* cat -n, then wrapped: "8" in the second half of a line is its own. */
static void numbers_before_wrapped_lines(void **state)
{
	(void)state;
	struct text t = {0};
	text_add(&t, "     1  01:00.0 VGA compatible controller: NVIDIA Corporation GA102 (rev\n"
		     "     a1)\n"
		     "     2          Flags: bus master, fast devsel, latency 0, IOMMU group\n"
		     "     8\n");
	for (int i = 3; i < 12; i++) {
		text_addf(&t, "%6d          Capabilities: [%x] Null\n", i, 0x60 + 8 * i);
	}
	text_add(&t, "    12          Kernel driver in use: nvidia\n"
		     "    20          Kernel modules: nvidia\n"
		     "    21  \n");
	struct pcie_snapshot *s = scan(t.s);
	const struct pcie_device *d = find(s, 1, 0, 0);
	assert_int_equal(d->revision, 0xa1);
	assert_int_equal(d->have_iommu, PCIE_KNOWN);
	assert_int_equal(d->iommu_group, 8);
	assert_string_equal(d->driver, "nvidia");
	pcie_snapshot_destroy(s);
	text_finish(&t);
}

/* Whose rest is not there: neither absent nor another capability. */
static void a_torn_name_proves_nothing(void **state)
{
	(void)state;
	struct pcie_snapshot *s =
		scan("01:00.0 VGA compatible controller: NVIDIA Corporation GA102 (rev a1)\n"
		     "\tControl: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- "
		     "Stepping- SERR-\n"
		     "\tCapabilities: [60] Power Management version 3\n"
		     "\tCapabilities: [100 v1] Virtual Channel\n"
		     "\tCapabilities: [bb0 v1] Physical Resiz\n"
		     "\tKernel driver in use: nvidia\n\n"
		     "02:00.0 VGA compatible controller: NVIDIA Corporation GA102 (rev a1)\n"
		     "\tControl: I/O+ Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- "
		     "Stepping- SERR-\n"
		     "\tCapabilities: [60] Power Management version 3\n"
		     "\tCapabilities: [100 v1] Virtual Channel\n"
		     "\tCapabilities: [bb0 v1] Physical Resiz\n"
		     "able BAR\n"
		     "\tKernel driver in use: nvidia\n\n");
	assert_int_equal(find(s, 1, 0, 0)->rebar.have, PCIE_UNKNOWN);
	assert_int_equal(find(s, 2, 0, 0)->rebar.have, PCIE_KNOWN);
	pcie_snapshot_destroy(s);
}

/* What a person writes below a listing is not the rest of it. */
static void prose_is_no_rest(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(
		"01:00.0 VGA compatible controller: NVIDIA Corporation GA102 [GeForce RTX 3090] "
		"(rev a1)\n"
		"The card that worked was the one before (a Radeon [1002:7340])\n"
		"\n"
		"02:00.0 VGA compatible controller [0300]: NVIDIA Corporation GA102 [10de:2204] "
		"(rev a1)\n"
		"\n"
		"or what the seller calls [1002:7340]\n"
		"\n"
		"03:00.0 VGA compatible controller: NVIDIA Corporation Device 2204\n"
		"\tSubsystem: ASUSTeK Computer Inc. Device 8442\n"
		"It says [1002:7340] on the box\n");
	assert_ids(find(s, 1, 0, 0), 0x10de, 0);
	assert_ids(find(s, 2, 0, 0), 0x10de, 0x2204);
	assert_ids(find(s, 3, 0, 0), 0x10de, 0x2204);
	assert_int_not_equal(find(s, 3, 0, 0)->have_subsystem, PCIE_KNOWN);
	pcie_snapshot_destroy(s);

	/* narrow, but not wrapped */
	s = scan("01:00.0 VGA compatible controller: Foo\n"
		 "\tKernel driver in use:\n"
		 "no driver at all\n"
		 "\n"
		 "02:00.0 VGA compatible controller: Foo\n"
		 "\tKernel driver in use: nvidia\n"
		 "works\n"
		 "\tKernel modules: nvidia\n"
		 "and that is it\n");
	assert_int_not_equal(find(s, 1, 0, 0)->have_driver, PCIE_KNOWN);
	assert_string_equal(find(s, 2, 0, 0)->driver, "nvidia");
	pcie_snapshot_destroy(s);

	/* A word below is no name where no column is; and a driver is in use all the same. */
	s = scan("01:00.0 VGA compatible controller: Foo\n"
		 "\tKernel driver in use:\n"
		 "EDIT\n"
		 "\tKernel modules: nvidia\n");
	assert_int_equal(find(s, 1, 0, 0)->have_driver, PCIE_UNKNOWN);
	assert_string_equal(find(s, 1, 0, 0)->driver, "");
	pcie_snapshot_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_lines_before_empty_ones),
		cmocka_unit_test(three_devices_with_empty_lines),
		cmocka_unit_test(thirty_columns),
		cmocka_unit_test(forty_columns_quoted),
		cmocka_unit_test(a_torn_number),
		cmocka_unit_test(a_number_at_the_last_column),
		cmocka_unit_test(an_equals_sign_at_the_fold),
		cmocka_unit_test(thirty_columns_of_quotes),
		cmocka_unit_test(bars_before_all_lines),
		cmocka_unit_test(numbers_before_wrapped_lines),
		cmocka_unit_test(a_torn_name_proves_nothing),
		cmocka_unit_test(prose_is_no_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
