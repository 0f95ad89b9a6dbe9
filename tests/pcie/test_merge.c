/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The truth rules: who wins when two witnesses speak about one device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "pcie/witness.h"
#include "scan_fixture.h"

static const char listing[] =
	"01:00.0 VGA compatible controller: NVIDIA Corporation Device 2204 (rev a1)\n"
	"\tFlags: bus master, fast devsel, latency 0\n"
	"\tMemory at e0000000 (32-bit, non-prefetchable) [size=16M]\n"
	"\tMemory at 4000000000 (64-bit, prefetchable) [size=16G]\n"
	"\tMemory at 4400000000 (64-bit, prefetchable) [size=32M]\n"
	"\tCapabilities: <access denied>\n\n";

static const char same_boot[] =
	"pci 0000:01:00.0: BAR 0: assigned [mem 0xe0000000-0xe0ffffff]\n"
	"pci 0000:01:00.0: BAR 1: assigned [mem 0x4000000000-0x43ffffffff 64bit pref]\n"
	"pci 0000:01:00.0: BAR 3: assigned [mem 0x4400000000-0x4401ffffff 64bit pref]\n";

static const char other_boot[] =
	"pci 0000:01:00.0: BAR 0: assigned [mem 0xd0000000-0xd0ffffff]\n"
	"pci 0000:01:00.0: BAR 1: assigned [mem 0xb0000000-0xbfffffff 64bit pref]\n"
	"pci 0000:01:00.0: BAR 3: assigned [mem 0xc0000000-0xc1ffffff 64bit pref]\n";

static void a_log_gives_numbers_and_history(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(listing), *log = scan(same_boot);

	assert_int_equal(pcie_merge(s, log), 0);
	pcie_snapshot_destroy(log);
	assert_int_equal(s->ndev, 1);
	assert_int_equal(s->dev[0].nbar, 3);
	static const int index[] = {0, 1, 3};
	for (int i = 0; i < 3; i++) {
		assert_int_equal(s->dev[0].bar[i].index, index[i]);
		assert_string_equal(s->source[s->dev[0].bar[i].src], "lspci");
	}
	assert_int_equal(s->nhistory, 3);
	assert_int_equal(s->history[0].dev, 0);
	assert_string_equal(s->line[s->history[1].line[0]],
		"pci 0000:01:00.0: BAR 1: assigned [mem 0x4000000000-0x43ffffffff 64bit pref]");
	assert_int_equal(s->nnote, 0);
	pcie_snapshot_destroy(s);
}

static void another_boot_is_history_only(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(listing), *log = scan(other_boot);

	assert_int_equal(pcie_merge(s, log), -ESTALE);
	pcie_snapshot_destroy(log);
	assert_true(s->dev[0].bar[1].base == 0x4000000000 && s->dev[0].bar[1].size == 16 * GIB);
	assert_int_equal(s->nhistory, 3);
	assert_true(s->nnote > 0);
	assert_non_null(strstr(s->note[0].text, "another boot"));
	pcie_snapshot_destroy(s);
}

static void a_log_says_why_a_bar_is_missing(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(
		"0000:2a:00.0 3D controller: NVIDIA Corporation AD102GL [L20] (rev a1)\n"
		"\tControl: I/O- Mem+ BusMaster- SpecCycle-\n"
		"\tRegion 3: Memory at 800000000 (64-bit, prefetchable) [size=32M]\n\n"
		"pci 0000:2a:00.0: BAR 1: no space for [mem size 0x1000000000 64bit pref]\n"
		"pci 0000:2a:00.0: BAR 1: failed to assign [mem size 0x1000000000 64bit pref]\n");
	const struct pcie_bar *b = pcie_device_find_bar(&s->dev[0], PCIE_BAR_NORMAL, 1);

	assert_non_null(b);
	assert_int_equal(b->assigned, PCIE_NO);
	assert_true(b->has_size && b->size == 64 * GIB);
	assert_string_equal(s->source[b->src], PCIE_SOURCE_LOG);
	pcie_snapshot_destroy(s);
}

static void bytes_beat_text_for_ids_and_capabilities_only(void **state)
{
	(void)state;
	struct pcie_snapshot *s = pcie_snapshot_create("text"),
			     *from = pcie_snapshot_create("bytes");
	struct pcie_addr a = {.bus = 1, .known = true};
	struct pcie_device *d = pcie_snapshot_add(s, a);
	pcie_src text = pcie_snapshot_source(s, "lspci");
	d->have_ids = PCIE_KNOWN;
	d->device = 0x1111;
	d->rebar = (struct pcie_rebar){.have = PCIE_KNOWN, .src = text, .sizes_unknown = true};
	*pcie_device_bar(d, PCIE_BAR_NORMAL, 1) = (struct pcie_bar){.have = PCIE_KNOWN,
		.index = 1,
		.src = text,
		.assigned = PCIE_YES,
		.has_base = true,
		.base = 0x4000000000};

	d = pcie_snapshot_add(from, a);
	pcie_src bytes = pcie_snapshot_source(from, "config space");
	d->config_bytes = 4096;
	d->have_ids = PCIE_KNOWN;
	d->vendor = 0x10de;
	d->device = 0x2204;
	d->rebar = (struct pcie_rebar){.have = PCIE_KNOWN, .src = bytes, .count = 1};
	struct pcie_bar *b = pcie_device_bar(d, PCIE_BAR_NORMAL, 1);
	b->reg = (struct pcie_bar_register){.have = PCIE_KNOWN, .src = bytes, .base = 0xb0000000};

	assert_int_equal(pcie_merge(s, from), 0);
	pcie_snapshot_destroy(from);
	d = &s->dev[0];
	assert_int_equal(d->vendor, 0x10de);
	assert_int_equal(d->device, 0x2204);
	assert_int_equal(d->rebar.count, 1);
	assert_string_equal(s->source[d->rebar.src], "config space");
	/* both views of the BAR, side by side */
	assert_true(d->bar[0].base == 0x4000000000 && d->bar[0].reg.base == 0xb0000000);
	pcie_snapshot_destroy(s);
}

static void a_whole_machine_takes_no_strangers(void **state)
{
	(void)state;
	struct pcie_snapshot *s = pcie_snapshot_create("live"), *from = scan(listing);
	struct pcie_device *d = pcie_snapshot_add(s, (struct pcie_addr){.bus = 9, .known = true});
	d->bars_complete = true;

	pcie_merge(s, from);
	pcie_snapshot_destroy(from);
	assert_int_equal(s->ndev, 1);
	assert_non_null(strstr(s->note[0].text, "1 device that this machine does not have"));
	pcie_snapshot_destroy(s);
}

static void denied_is_not_absent(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(listing);
	assert_int_equal(s->dev[0].rebar.have, PCIE_DENIED);
	struct pcie_snapshot *from =
		scan("01:00.0 VGA compatible controller: NVIDIA Corporation Device 2204 (rev a1)\n"
		     "\tCapabilities: [bb0 v1] Physical Resizable BAR\n"
		     "\t\tBAR 1: current size: 16GB, supported: 256MB 16GB\n");
	pcie_merge(s, from);
	pcie_snapshot_destroy(from);
	assert_int_equal(s->dev[0].rebar.have, PCIE_KNOWN);
	assert_true(s->dev[0].rebar.entry[0].supported == (UINT64_C(1) << 8 | UINT64_C(1) << 14));
	pcie_snapshot_destroy(s);
}

static void nvidia_smi_fills_and_contradicts(void **state)
{
	(void)state;
	static const char smi[] = "GPU 00000000:01:00.0\n"
				  "    FB Memory Usage\n        Total : 16376 MiB\n"
				  "    BAR1 Memory Usage\n        Total : 256 MiB\n";
	struct pcie_snapshot *s = scan(smi);
	assert_true(s->dev[0].vram.bytes == 16376 * MIB);
	assert_int_equal(s->dev[0].bar[0].index, -1);
	assert_true(s->dev[0].bar[0].size == 256 * MIB);
	assert_string_equal(s->dev[0].driver, "nvidia");
	pcie_snapshot_destroy(s);

	char both[1024];
	snprintf(both, sizeof(both), "%s\n%s", listing, smi);
	s = scan(both);
	assert_int_equal(s->dev[0].nbar, 3);
	assert_true(s->dev[0].bar[1].size == 16 * GIB);
	assert_non_null(strstr(s->note[0].text, "two states"));
	pcie_snapshot_destroy(s);
}

static void pieces_need_an_only_device(void **state)
{
	(void)state;
	static const char piece[] =
		"\nRegion 1: Memory at 1ff000000000 (64-bit, prefetchable) [size=32G]\n";
	char text[512];

	snprintf(text, sizeof(text), "NVRM: GPU 0000:13:00.0: RmInitAdapter failed! (0x24)\n%s",
		piece);
	struct pcie_snapshot *s = scan(text);
	int dev = pcie_snapshot_find(s, (struct pcie_addr){.bus = 0x13, .known = true});
	assert_true(dev >= 0 && s->dev[dev].nbar == 1 && s->dev[dev].bar[0].size == 32 * GIB);
	pcie_snapshot_destroy(s);

	snprintf(text, sizeof(text),
		"nvidia 0000:13:00.0: enabling device (0000 -> 0002)\n"
		"nvidia 0000:14:00.0: enabling device (0000 -> 0002)\n%s",
		piece);
	s = scan(text);
	assert_int_equal(s->ndev, 3); /* of the two nobody knows which: it stays without address */
	assert_false(s->dev[2].addr.known);
	pcie_snapshot_destroy(s);
}

static void a_later_listing_replaces_what_it_shows(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(
		"00:01.0 PCI bridge [0604]: Intel Corporation Device [8086:a70d] (prog-if 00)\n"
		"\tSubsystem: ASUSTeK Computer Inc. Device [1043:8694]\n"
		"\tFlags: bus master, fast devsel, latency 0, NUMA node 0, IOMMU group 1\n"
		"\tBus: primary=00, secondary=01, subordinate=01, sec-latency=0\n"
		"\tPrefetchable memory behind bridge: 90000000-a1ffffff [size=288M] [32-bit]\n\n"
		"01:00.0 3D controller [0302]: NVIDIA Corporation Device [10de:2204] (rev a1)\n"
		"\tControl: I/O+ Mem+ BusMaster+\n"
		"\tRegion 1: Memory at 90000000 (64-bit, prefetchable) [size=256M]\n\n"
		"00:01.0 PCI bridge: Intel Corporation Device a70d\n"
		"\tFlags: bus master, fast devsel, latency 0, NUMA node 1, IOMMU group 2\n"
		"\tBus: primary=00, secondary=01, subordinate=02, sec-latency=0\n"
		"\tPrefetchable memory behind bridge: [disabled] [64-bit]\n\n"
		"01:00.0 3D controller: NVIDIA Corporation Device 2204 (rev a1)\n"
		"\tControl: I/O+ Mem- BusMaster-\n"
		"\tStatus: Cap- 66MHz-\n"
		"\tRegion 1: Memory at <ignored> (64-bit, prefetchable) [disabled]\n\n");
	const struct pcie_device *port = &s->dev[0], *gpu = &s->dev[1];

	assert_int_equal(port->vendor, 0x8086);
	assert_int_equal(port->subdevice, 0x8694);
	assert_int_equal(port->numa, 1);
	assert_int_equal(port->iommu_group, 2);
	assert_int_equal(port->subordinate, 2);
	assert_int_equal(port->window[PCIE_WINDOW_PREF].have, PCIE_ABSENT);
	assert_int_equal(gpu->parent, 0);
	assert_int_equal(gpu->bar[0].assigned, PCIE_NO);
	assert_true(gpu->bar[0].size == 256 * MIB); /* the length stays what it was */
	assert_int_equal(gpu->mem_enable, PCIE_NO);
	assert_int_equal(gpu->rebar.have, PCIE_ABSENT);
	pcie_snapshot_destroy(s);
}

/* Two BARs of one kind without sizes: the log, which has two of that kind, tells their numbers. */
static void an_equal_count_gives_numbers(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan(
		"02:00.0 3D controller: NVIDIA Corporation Device 20b2 (rev a1)\n"
		"\tFlags: fast devsel\n"
		"\tMemory at <ignored> (64-bit, prefetchable)\n"
		"\tMemory at <ignored> (64-bit, prefetchable)\n\n"
		"pci 0000:00:02.0: PCI bridge to [bus 02]\n"
		"pci 0000:00:02.0:   bridge window [mem 0xe0000000-0xe1ffffff]\n"
		"pci 0000:02:00.0: BAR 1: failed to assign [mem size 0x2000000000 64bit pref]\n"
		"pci 0000:02:00.0: BAR 3: failed to assign [mem size 0x02000000 64bit pref]\n");
	const struct pcie_device *port = &s->dev[0], *gpu = &s->dev[1];

	assert_int_equal(gpu->nbar, 2);
	assert_int_equal(gpu->bar[0].index, 1);
	assert_int_equal(gpu->bar[1].index, 3);
	assert_true(gpu->bar[0].size == 128 * GIB);
	assert_true(port->is_bridge && port->window[PCIE_WINDOW_MEM].limit == 0xe1ffffff);
	pcie_snapshot_destroy(s);
}

/* A second witness that knows nothing but the surroundings. */
static void surroundings_are_filled(void **state)
{
	(void)state;
	struct pcie_snapshot *s = scan("01:00.0 PCI bridge: Intel Corporation Device 4fa1\n");
	struct pcie_snapshot *from =
		scan("01:00.0 PCI bridge [0604]: Intel Corporation Device [8086:4fa1] (rev 01)\n"
		     "\tSubsystem: Intel Corporation Device [8086:1020]\n"
		     "\tControl: I/O+ Mem+ BusMaster+\n\tNUMA node: 1\n\tIOMMU group: 7\n"
		     "\tBus: primary=01, secondary=02, subordinate=03, sec-latency=0\n"
		     "\tMemory behind bridge: e0000000-e10fffff [size=17M] [32-bit]\n"
		     "\tCapabilities: [70] Express (v2) Upstream Port, IntMsgNum 0\n"
		     "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x8, ASPM L1\n"
		     "\t\tLnkSta:\tSpeed 16GT/s, Width x8\n"
		     "\tCapabilities: [100 v1] Advanced Error Reporting\n"
		     "\tKernel driver in use: pcieport\n\n");
	pcie_merge(s, from);
	pcie_snapshot_destroy(from);
	const struct pcie_device *d = &s->dev[0];
	assert_int_equal(d->secondary, 2);
	assert_int_equal(d->numa, 1);
	assert_int_equal(d->iommu_group, 7);
	assert_int_equal(d->subdevice, 0x1020);
	assert_int_equal(d->port_type, PCIE_PORT_UPSTREAM);
	assert_int_equal(d->link.speed, 160);
	assert_int_equal(d->capabilities, PCIE_KNOWN);
	assert_true(d->window[PCIE_WINDOW_MEM].base == 0xe0000000);
	assert_string_equal(d->driver, "pcieport");
	pcie_snapshot_destroy(s);
}

static void nothing_recognised(void **state)
{
	(void)state;
	static const char *const text[] = {
		"", "\n", "Hello, world\n", "01:00.0\n", "Memory at home\n"};
	for (size_t i = 0; i < ARRAY_LEN(text); i++) {
		struct pcie_snapshot *s;
		struct why why;
		assert_int_equal(pcie_text_scan("x", text[i], strlen(text[i]), &s, &why), -ENODATA);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_gives_numbers_and_history),
		cmocka_unit_test(another_boot_is_history_only),
		cmocka_unit_test(a_log_says_why_a_bar_is_missing),
		cmocka_unit_test(bytes_beat_text_for_ids_and_capabilities_only),
		cmocka_unit_test(a_whole_machine_takes_no_strangers),
		cmocka_unit_test(denied_is_not_absent),
		cmocka_unit_test(nvidia_smi_fills_and_contradicts),
		cmocka_unit_test(pieces_need_an_only_device),
		cmocka_unit_test(a_later_listing_replaces_what_it_shows),
		cmocka_unit_test(an_equal_count_gives_numbers),
		cmocka_unit_test(surroundings_are_filled),
		cmocka_unit_test(nothing_recognised),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
