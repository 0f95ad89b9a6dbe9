/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine, its root buses, and several kernel starts in one text. */
#include "klog_fixture.h"

#include "base/text.h"

static const struct pcie_aperture *aperture(const struct pcie_snapshot *s, uint64_t base)
{
	for (size_t i = 0; i < s->naperture; i++) {
		if (s->aperture[i].base == base && !s->aperture[i].io) {
			return &s->aperture[i];
		}
	}
	return NULL;
}

#define ROOT "[    0.400000] pci_bus 0000:00: root bus resource "

static void root_buses(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(
		"[    0.300000] PCI host bridge to bus 0000:00\n" ROOT
		"[io  0x0000-0x0cf7 window]\n" ROOT "[mem 0x8f800000-0xefffffff window]\n" ROOT
		"[mem 0x4000000000-0x7fffffffff window]\n" ROOT
		"[mem 0x800000000-0x8ffffffff window] (bus address [0x0-0xffffffff])\n" ROOT
		"[mem 0xe0000000-0xe0ffffff pref]\n" ROOT "[bus 00-7e]\n"
		"[    0.500000] pci 0000:01:00.0: [10de:2204] type 00 class 0x030000\n"
		"[    0.600000] pci 0000:00:18.1: adding root bus resource [mem "
		"0xbd00000000-0xfcffffffff 64bit pref window] (tainting kernel)\n");
	assert_int_equal(s->naperture, 6);
	const struct pcie_aperture *a = aperture(s, 0x4000000000);
	assert_true(a && !a->kernel_made && !a->ignored && !a->translated);
	assert_string_equal(a->root, "pci0000:00");
	assert_int_equal(a->limit, 0x7fffffffff);
	assert_true(aperture(s, 0x800000000)->translated);
	assert_true(aperture(s, 0xe0000000)->prefetchable);
	assert_true(aperture(s, 0xbd00000000)->kernel_made);
	assert_true(s->apertures_complete);
	assert_string_equal(klog_at(s, "0000:01:00.0")->root, "pci0000:00");
	pcie_snapshot_destroy(s);
}

/* When the list of a root bus is whole: an answer "there is none" needs that. */
static void complete_lists(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool complete;
	} rows[] = {
		{ROOT "[mem 0x8f800000-0xefffffff window]\n" ROOT "[bus 00-7e]\n", true},
		{ROOT "[mem 0x8f800000-0xefffffff window]\n", false},
		{ROOT "[bus 00-7e]\n", false},
		/* buses first: more may follow, unless another message does */
		{ROOT "[bus 00-7e]\n" ROOT "[mem 0x8f800000-0xefffffff]\n", false},
		{ROOT "[bus 00-7e]\n" ROOT "[mem 0x8f800000-0xefffffff]\n"
		      "pci 0000:00:00.0: [8086:1234] type 00 class 0x060000\n",
			true},
		/* the GPU hangs under another root */
		{ROOT "[mem 0x8f800000-0xefffffff window]\n" ROOT "[bus 00-7e]\n"
		      "pci 0000:81:00.0: [10de:2204] type 00 class 0x030000\n",
			false},
		/* an incomplete root without a GPU does not matter */
		{ROOT "[mem 0x8f800000-0xefffffff window]\n" ROOT "[bus 00-7e]\n"
		      "pci_bus 0000:80: root bus resource [mem 0xf0000000-0xf7ffffff window]\n"
		      "pci 0000:01:00.0: [10de:2204] type 00 class 0x030000\n",
			true},
		{"", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pcie_snapshot *s = klog_read(rows[i].text);
		if (s->apertures_complete != rows[i].complete) {
			fail_msg("complete is %d: %s", s->apertures_complete, rows[i].text);
		}
		pcie_snapshot_destroy(s);
	}
}

static void windows_that_the_kernel_dropped(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(
		"ACPI: PCI Root Bridge [PCI0] (domain 0000 [bus 00-ff])\n"
		"acpi PNP0A08:00: host bridge window [mem 0x1000000000-0x1fffffffff window] "
		"(ignored, not CPU addressable)\n"
		"acpi PNP0A08:00: ignoring host bridge window [mem 0x000e0000-0x000effff window] "
		"(conflicts with Video ROM [mem 0x000c0000-0x000edfff])\n"
		"acpi PNP0A08:00: clipped [mem 0xfec00000-0xfedfffff window] to [mem "
		"0xfed00000-0xfedfffff window] for e820 entry [mem 0xfec00000-0xfecfffff]\n"
		"acpi PNP0A08:00: host bridge window expanded to [mem 0xa0000000-0xafffffff "
		"window]; [mem 0xa8000000-0xafffffff window] ignored\n" ROOT
		"[mem 0x8f800000-0xefffffff window]\n" ROOT "[bus 00-ff]\n");
	assert_true(aperture(s, 0x1000000000)->ignored);
	assert_true(aperture(s, 0xe0000)->ignored);
	assert_false(aperture(s, 0x8f800000)->ignored);
	assert_null(aperture(s, 0xfec00000));
	assert_int_equal(klog_said(s, NULL, PCIE_SAID_WINDOW_CUT, NULL), 3);
	pcie_snapshot_destroy(s);

	/* pci=nocrs: what the firmware names is passed over, what is used is the kernel's. */
	s = klog_read("PCI: Ignoring host bridge windows from ACPI; if necessary, use "
		      "\"pci=use_crs\" and report a bug\n"
		      "ACPI: PCI Root Bridge [PCI0] (domain 0000 [bus 00-ff])\n"
		      "acpi PNP0A08:00: host bridge window [mem 0x800000000-0xfffffffff window] "
		      "(ignored)\n"
		      "PCI: root bus 00: using default resources\n"
		      "PCI host bridge to bus 0000:00\n" ROOT "[mem 0x00000000-0xffffffffff]\n" ROOT
		      "[bus 00-ff]\n");
	assert_true(aperture(s, 0)->kernel_made);
	assert_true(aperture(s, 0x800000000)->ignored && !aperture(s, 0x800000000)->kernel_made);
	pcie_snapshot_destroy(s);

	/* 2.6.34 to 3.0 say the windows in this way only. */
	s = klog_read("ACPI: PCI Root Bridge [PCI0] (0000:00)\n"
		      "pci_root PNP0A08:00: host bridge window [mem 0xd0000000-0xdfffffff]\n"
		      "pci_bus 0000:00: resource 4 [mem 0xe0000000-0xefffffff]\n");
	assert_string_equal(aperture(s, 0xd0000000)->root, "pci0000:00");
	assert_non_null(aperture(s, 0xe0000000));
	pcie_snapshot_destroy(s);
}

/* The buses' own summary, where the list above it was lost: also of the other sockets' roots. */
static void roots_by_their_summary(void **state)
{
	(void)state;
	struct pcie_snapshot *s =
		klog_read("pci_bus 0000:5d: resource 4 [io  0x8000-0x9fff window]\n"
			  "pci_bus 0000:5d: resource 5 [mem 0xb8800000-0xc5ffffff window]\n"
			  "pci_bus 0000:5d: resource 6 [mem 0xb000000000-0xbfffffffff window]\n"
			  "pci 0000:5d:1c.0: PCI bridge to [bus 60]\n"
			  "pci_bus 0000:60: resource 4 [mem 0xc0000000-0xc00fffff window]\n");
	assert_int_equal(s->naperture, 3);
	assert_string_equal(aperture(s, 0xb000000000)->root, "pci0000:5d");
	assert_false(s->apertures_complete);
	pcie_snapshot_destroy(s);
}

static void hints_of_the_kernel(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(
		"pci_bus 0000:00: Some PCI device resources are unassigned, try booting with "
		"pci=realloc\n"
		"pci_bus 0000:80: Automatically enabled pci realloc, if you have problem, try "
		"booting with pci=realloc=off\n");
	assert_int_equal(klog_said(s, NULL, PCIE_SAID_TRY_REALLOC, NULL), 1);
	assert_int_equal(klog_said(s, NULL, PCIE_SAID_AUTO_REALLOC, NULL), 1);
	assert_int_equal(s->ndev, 0);
	pcie_snapshot_destroy(s);
}

static void the_host(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(
		"[    0.000000] Linux version 6.1.0-28-amd64 (debian-kernel@lists.debian.org) "
		"(gcc-12 (Debian 12.2.0-14) 12.2.0) #1 SMP PREEMPT_DYNAMIC\n"
		"[    0.000000] Command line: BOOT_IMAGE=/vmlinuz root=/dev/sda1 pci=realloc\n"
		"[    0.000000] BIOS-e820: [mem 0x0000000000000000-0x000000000009ffff] usable\n"
		"[    0.000000] efi: EFI v2.7 by American Megatrends\n"
		"[    0.000000] DMI: ASUS System Product Name/ROG STRIX B550-F, X, BIOS 2803 "
		"04/27/2022\n"
		"[    0.000000] Hypervisor detected: KVM\n"
		"[    0.100000] DMAR: Host address width 39\n"
		"[    0.100000] Memory: 32768K/65536K available\n"
		"[    0.400000] pci 0000:00:00.0: [8086:1234] type 00 class 0x060000\n");
	const struct pcie_host *h = &s->host;
	assert_string_equal(h->kernel, "6.1.0-28-amd64");
	assert_string_equal(h->arch, "x86_64");
	assert_string_equal(h->cmdline, "BOOT_IMAGE=/vmlinuz root=/dev/sda1 pci=realloc");
	assert_true(h->have_efi == PCIE_KNOWN && h->efi);
	assert_string_equal(h->product, "ASUS System Product Name");
	assert_string_equal(h->board, "ROG STRIX B550-F, X");
	assert_string_equal(h->bios_version, "2803");
	assert_string_equal(h->bios_date, "04/27/2022");
	assert_int_equal(h->phys_bits, 39);
	assert_true(h->is_virtual);
	assert_int_equal(s->log, PCIE_LOG_CUT);
	assert_int_equal(s->boots, 1);
	pcie_snapshot_destroy(s);

	static const struct {
		const char *text, *arch;
	} archs[] = {
		{"Linux version 5.16.0 (user@x) (powerpc-linux-gnu-gcc (Ubuntu) 7.5.0)\n", "ppc64"},
		{"Linux version 6.9.0-rc1 (x@y) (aarch64-linux-gnu-gcc 13)\n", "aarch64"},
		{"[   16.446347] SError Interrupt on CPU3, code 0x00000000be000411 -- SError\n",
			"aarch64"},
		{"[    0.000000] Booting Linux on physical CPU 0x0000000000 [0x412fd050]\n",
			"aarch64"},
		{"Linux version 6.8.5-201.fc39.x86_64 (mockbuild@x)\n", "x86_64"},
		{"[    0.000000] Linux version \n5.16.0-a6-dirty \n(user@x) (powerpc-linux-gnu-gcc "
		 "(Ubuntu \n7.5.0)\n",
			"ppc64"},
	};
	for (size_t i = 0; i < ARRAY_LEN(archs); i++) {
		s = klog_read(archs[i].text);
		assert_int_equal(s->host.have_arch, PCIE_KNOWN);
		assert_string_equal(s->host.arch, archs[i].arch);
		pcie_snapshot_destroy(s);
	}
}

#define START "[    0.000000] Linux version 6.1.0 (a@b) (gcc)\n"
#define CARD  "[    0.500000] pci 0000:01:00.0: [10de:2204] type 00 class 0x030000\n"
#define LOW                                                                                        \
	"[    1.000000] pci 0000:01:00.0: BAR 1 [mem 0xd0000000-0xdfffffff 64bit pref]: assigned\n"
#define HIGH                                                                                       \
	"[    1.200000] pci 0000:01:00.0: BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: "      \
	"assigned\n"
#define FAILED                                                                                     \
	"[    1.100000] pci 0000:01:00.0: BAR 1 [mem size 0x10000000 64bit pref]: failed to "      \
	"assign\n"

static void several_starts(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		unsigned boots;
		uint64_t base; /* of BAR 1 in the end; 0: failed */
	} rows[] = {
		{CARD LOW, 0, 0xd0000000},
		{START CARD LOW, 1, 0xd0000000},
		{START CARD LOW START CARD HIGH, 2, 0x6000000000},
		{START CARD HIGH START CARD FAILED, 2, 0},
		{START CARD LOW START CARD FAILED START CARD HIGH, 3, 0x6000000000},
		/* the first start is not in the text */
		{CARD LOW START CARD HIGH, 2, 0x6000000000},
		/* the last start says nothing about PCI: the one before it stands */
		{START CARD HIGH START "[    0.100000] Memory: 1K/2K available\n", 2, 0x6000000000},
		/* journald's mark and the kernel's are one start */
		{"-- Boot 0123456789abcdef0123456789abcdef --\n" START CARD LOW
		 "-- Boot 1123456789abcdef0123456789abcdef --\n" START CARD HIGH,
			2, 0x6000000000},
		{START CARD LOW "-- Reboot --\n" CARD HIGH, 2, 0x6000000000},
		/* the output of grep, then the whole log: the same boot */
		{LOW START CARD LOW, 1, 0xd0000000},
		/* no start, but the root bus is found twice */
		{"[    0.300000] PCI host bridge to bus 0000:00\n" CARD LOW
		 "[    0.300007] PCI host bridge to bus 0000:00\n" CARD HIGH,
			2, 0x6000000000},
		{"[    0.300000] PCI host bridge to bus 0000:00\n" CARD HIGH
		 "[    0.300000] PCI host bridge to bus 0000:00\n",
			0, 0x6000000000},
		/* nothing but the card's lines: it was found earlier than before */
		{CARD LOW
			"[    0.400000] pci 0000:01:00.0: [10de:2204] type 00 class 0x030000\n" HIGH,
			2, 0x6000000000},
		/* a line that is pasted twice takes nothing away */
		{CARD HIGH CARD, 0, 0x6000000000},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pcie_snapshot *s = klog_read(rows[i].text);
		const struct pcie_bar *b =
			pcie_device_find_bar(klog_at(s, "0000:01:00.0"), PCIE_BAR_NORMAL, 1);
		if (s->boots != rows[i].boots || !b || b->base != rows[i].base ||
			b->assigned != (rows[i].base ? PCIE_YES : PCIE_NO)) {
			fail_msg("%u boots, base 0x%llx: %s", s->boots,
				b ? (unsigned long long)b->base : 1, rows[i].text);
		}
		assert_int_equal(s->nnote, rows[i].boots > 1);
		/* Nothing of an earlier boot is left in the histories. */
		for (size_t l = 0; l < s->nhistory; l++) {
			assert_true(s->history[l].nline == 1);
		}
		pcie_snapshot_destroy(s);
	}
}

/* Before and after a change of the setup, as two lists pasted under each other. */
static void two_lists_of_one_root(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(
		"pci_bus 0000:00: root bus resource [mem 0x8f800000-0xefffffff window]\n"
		"pci_bus 0000:00: root bus resource [bus 00-7e]\n"
		"\n"
		"pci_bus 0000:00: root bus resource [mem 0x4000000000-0x7fffffffff window]\n"
		"pci_bus 0000:00: root bus resource [mem 0x8f800000-0xefffffff window]\n"
		"pci_bus 0000:00: root bus resource [bus 00-7e]\n");
	assert_int_equal(s->boots, 2);
	assert_int_equal(s->naperture, 2);
	pcie_snapshot_destroy(s);
	/* The option was taken away: the second list is shorter. */
	s = klog_read("pci_bus 0000:00: root bus resource [mem 0x8f800000-0xefffffff window]\n"
		      "pci_bus 0000:00: root bus resource [mem 0x4000000000-0x7fffffffff window]\n"
		      "pci_bus 0000:00: root bus resource [bus 00-7e]\n"
		      "pci_bus 0000:00: root bus resource [mem 0x8f800000-0xefffffff window]\n"
		      "pci_bus 0000:00: root bus resource [bus 00-7e]\n");
	assert_int_equal(s->boots, 2);
	assert_int_equal(s->naperture, 1);
	assert_true(s->apertures_complete);
	pcie_snapshot_destroy(s);
	/* Blank lines between all lines are no new lists. */
	s = klog_read(
		"pci_bus 0000:00: root bus resource [mem 0x8f800000-0xefffffff window]\n\n"
		"pci_bus 0000:00: root bus resource [mem 0x4000000000-0x7fffffffff window]\n\n"
		"pci_bus 0000:00: root bus resource [bus 00-7e]\n");
	assert_int_equal(s->boots, 0);
	assert_int_equal(s->naperture, 2);
	pcie_snapshot_destroy(s);
	/* The same list twice is one boot. */
	s = klog_read("pci_bus 0000:00: root bus resource [mem 0x8f800000-0xefffffff window]\n"
		      "pci_bus 0000:00: root bus resource [bus 00-7e]\n"
		      "\n"
		      "pci_bus 0000:00: root bus resource [mem 0x8f800000-0xefffffff window]\n"
		      "pci_bus 0000:00: root bus resource [bus 00-7e]\n");
	assert_int_equal(s->boots, 0);
	assert_int_equal(s->naperture, 1);
	pcie_snapshot_destroy(s);
}

static void a_whole_log_is_complete(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(START
		"[    0.000000] Command line: quiet\n"
		"[    0.000000] BIOS-e820: [mem 0x0000000000000000-0x000000000009ffff] usable\n"
		"[    0.100000] Memory: 32768K/65536K available\n" ROOT
		"[mem 0x8f800000-0xefffffff window]\n" ROOT "[bus 00-7e]\n" CARD
		"[    2.000000] Freeing unused kernel image (initmem) memory: 2000K\n");
	assert_int_equal(s->log, PCIE_LOG_COMPLETE);
	pcie_snapshot_destroy(s);
	s = klog_read("nothing of a kernel\n");
	assert_int_equal(s->log, PCIE_LOG_NONE);
	pcie_snapshot_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(root_buses),
		cmocka_unit_test(complete_lists),
		cmocka_unit_test(windows_that_the_kernel_dropped),
		cmocka_unit_test(roots_by_their_summary),
		cmocka_unit_test(hints_of_the_kernel),
		cmocka_unit_test(the_host),
		cmocka_unit_test(several_starts),
		cmocka_unit_test(two_lists_of_one_root),
		cmocka_unit_test(a_whole_log_is_complete),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
