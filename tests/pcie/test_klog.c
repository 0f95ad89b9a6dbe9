/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Resource messages of every age: what each says, and that the last one wins. */
#include "klog_fixture.h"

#include "base/text.h"

#define PCI "[    1.000000] pci 0000:01:00.0: "

/* One or more messages of 0000:01:00.0 about BAR 1, and what is known then. */
struct row {
	const char *text;
	enum pcie_final final;
	enum pcie_tri assigned;
	uint64_t base, size;
};

static void each_message_says_its_state(void **state)
{
	(void)state;
	static const struct row rows[] = {
		/* since 6.8 */
		{PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]\n", PCIE_FINAL_ASSIGNED,
			PCIE_YES, 0x6000000000, 256 * MIB},
		{PCI "BAR 1 [mem 0x00000000-0x0fffffff 64bit pref]\n", PCIE_FINAL_UNKNOWN,
			PCIE_TRI_UNKNOWN, 0, 256 * MIB},
		{PCI "BAR 1 [mem 0xfffffffff0000000-0xffffffffffffffff 64bit pref]\n",
			PCIE_FINAL_UNKNOWN, PCIE_TRI_UNKNOWN, 0, 256 * MIB},
		{PCI "BAR 1 [mem 0xf0000000-0xffffffff pref]\n", PCIE_FINAL_UNKNOWN,
			PCIE_TRI_UNKNOWN, 0, 256 * MIB},
		{PCI "BAR 1 [mem size 0x10000000 64bit pref]: can't assign; no space\n",
			PCIE_FINAL_NO_SPACE, PCIE_NO, 0, 256 * MIB},
		{PCI "BAR 1 [mem size 0x10000000 64bit pref]: failed to assign\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 256 * MIB},
		{PCI "BAR 1 [mem size 0x10000000 64bit pref]: can't assign; bogus alignment\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 256 * MIB},
		{PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: assigned\n",
			PCIE_FINAL_ASSIGNED, PCIE_YES, 0x6000000000, 256 * MIB},
		{PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: old value restored\n",
			PCIE_FINAL_ASSIGNED, PCIE_YES, 0x6000000000, 256 * MIB},
		{PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: reassigned; expanded by "
		     "0x8000000\n",
			PCIE_FINAL_ASSIGNED, PCIE_YES, 0x6000000000, 256 * MIB},
		{PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: releasing\n",
			PCIE_FINAL_RELEASED, PCIE_TRI_UNKNOWN, 0, 256 * MIB},
		{PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: can't claim; no compatible "
		     "bridge window\n",
			PCIE_FINAL_CANT_CLAIM, PCIE_NO, 0, 256 * MIB},
		{PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: can't claim; address "
		     "conflict with Reserved [mem 0x6000000000-0x60ffffffff]\n",
			PCIE_FINAL_CANT_CLAIM, PCIE_NO, 0, 256 * MIB},
		{PCI "BAR 1 [mem size 0x10000000 64bit pref]: not assigned; can't enable device\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 256 * MIB},
		{PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: not claimed; can't enable "
		     "device\n",
			PCIE_FINAL_CANT_CLAIM, PCIE_NO, 0, 256 * MIB},
		{PCI "BAR 1 [mem size 0x10000000 64bit pref]: disabling; bad alignment "
		     "0x10000000\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 256 * MIB},
		/* up to 6.7 */
		{PCI "reg 0x14: [mem 0x6000000000-0x600fffffff 64bit pref]\n", PCIE_FINAL_ASSIGNED,
			PCIE_YES, 0x6000000000, 256 * MIB},
		{PCI "BAR 1: no space for [mem size 0x10000000 64bit pref]\n", PCIE_FINAL_NO_SPACE,
			PCIE_NO, 0, 256 * MIB},
		{PCI "BAR 1: failed to assign [mem size 0x10000000 64bit pref]\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 256 * MIB},
		{PCI "BAR 1: assigned [mem 0x6000000000-0x600fffffff 64bit pref]\n",
			PCIE_FINAL_ASSIGNED, PCIE_YES, 0x6000000000, 256 * MIB},
		{PCI "BAR 1: reassigned [mem 0x6000000000-0x600fffffff 64bit pref]\n",
			PCIE_FINAL_ASSIGNED, PCIE_YES, 0x6000000000, 256 * MIB},
		{PCI "BAR 1: releasing [mem 0x6000000000-0x600fffffff 64bit pref]\n",
			PCIE_FINAL_RELEASED, PCIE_TRI_UNKNOWN, 0, 256 * MIB},
		{PCI "BAR 1: releasing [??? 0x00000000 flags 0x0]\n", PCIE_FINAL_FAILED, PCIE_NO, 0,
			0},
		{PCI "BAR 1: can't assign [mem size 0x10000000 64bit pref] (bogus alignment)\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 256 * MIB},
		{PCI "can't claim BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: no compatible "
		     "bridge window\n",
			PCIE_FINAL_CANT_CLAIM, PCIE_NO, 0, 256 * MIB},
		{PCI "can't enable device: BAR 1 [mem size 0x10000000 64bit pref] not assigned\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 256 * MIB},
		{PCI "can't enable device: BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref] not "
		     "claimed\n",
			PCIE_FINAL_CANT_CLAIM, PCIE_NO, 0, 256 * MIB},
		{PCI "disabling BAR 1: [mem size 0x10000000 64bit pref] (bad alignment 0x10)\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 256 * MIB},
		{PCI "resource 1 [mem 0x6000000000-0x600fffffff 64bit pref] released\n",
			PCIE_FINAL_RELEASED, PCIE_TRI_UNKNOWN, 0, 0},
		/* 2.6 */
		{PCI "reg 14: [mem 0xd0000000-0xdfffffff 64bit pref]\n", PCIE_FINAL_ASSIGNED,
			PCIE_YES, 0xd0000000, 256 * MIB},
		{PCI "reg 14 64bit mmio pref: [0xd0000000-0xdfffffff]\n", PCIE_FINAL_ASSIGNED,
			PCIE_YES, 0xd0000000, 256 * MIB},
		{PCI "reg 14 64bit mmio: [d0000000-dfffffff]\n", PCIE_FINAL_ASSIGNED, PCIE_YES,
			0xd0000000, 256 * MIB},
		{PCI "BAR 1: can't allocate resource\n", PCIE_FINAL_FAILED, PCIE_NO, 0, 0},
		{PCI "BAR 1: can't allocate mem resource [0xd0000000-0xdfffffff]\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 256 * MIB},
		{PCI "BAR 1: set to [mem 0xd0000000-0xdfffffff 64bit pref] (PCI address "
		     "[0xd0000000-0xdfffffff])\n",
			PCIE_FINAL_ASSIGNED, PCIE_YES, 0xd0000000, 256 * MIB},
		{PCI "BAR 1: got res [0xd0000000-0xdfffffff] bus [0xd0000000-0xdfffffff] flags "
		     "0x12120c\n",
			PCIE_FINAL_ASSIGNED, PCIE_YES, 0xd0000000, 256 * MIB},
		{"PCI: Cannot allocate resource region 1 of device 0000:01:00.0\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 0},
		{"PCI: Failed to allocate mem resource #1:10000000@d0000000 for 0000:01:00.0\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 256 * MIB},
		/* several: the last state wins, notes change nothing */
		{PCI "BAR 1 [mem size 0x10000000 64bit pref]: can't assign; no space\n" PCI
		     "BAR 1 [mem size 0x10000000 64bit pref]: failed to assign\n" PCI
		     "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: assigned\n",
			PCIE_FINAL_ASSIGNED, PCIE_YES, 0x6000000000, 256 * MIB},
		{PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: assigned\n" PCI
		     "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: releasing\n" PCI
		     "BAR 1 [mem size 0x800000000 64bit pref]: failed to assign\n",
			PCIE_FINAL_FAILED, PCIE_NO, 0, 32 * GIB},
		{PCI "BAR 1: no space for [mem size 0x10000000 64bit pref]\n" PCI
		     "BAR 1: trying firmware assignment [mem 0x6000000000-0x600fffffff 64bit "
		     "pref]\n" PCI "BAR 1: [mem 0x6000000000-0x600fffffff 64bit pref] conflicts "
		     "with PCI mem [mem 0x00000000-0xffffffffff]\n",
			PCIE_FINAL_NO_SPACE, PCIE_NO, 0, 256 * MIB},
		{PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: assigned\n" PCI
		     "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: failed to expand by "
		     "0x400000000\n" PCI "BAR 1: error updating (0x0000000c != 0xffffffff)\n",
			PCIE_FINAL_ASSIGNED, PCIE_YES, 0x6000000000, 256 * MIB},
		/* found again after a removal */
		{PCI "BAR 1 [mem size 0x10000000 64bit pref]: failed to assign\n" PCI
		     "[10de:2204] type 00 class 0x030000 PCIe Legacy Endpoint\n" PCI
		     "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]\n" PCI "enabling\n",
			PCIE_FINAL_ASSIGNED, PCIE_YES, 0x6000000000, 256 * MIB},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pcie_snapshot *s = klog_read(rows[i].text);
		const struct pcie_history *h = klog_history(s, "0000:01:00.0", "BAR 1");
		const struct pcie_bar *b =
			pcie_device_find_bar(klog_at(s, "0000:01:00.0"), PCIE_BAR_NORMAL, 1);
		if (!h || h->final != rows[i].final) {
			fail_msg("final %d of: %s", h ? (int)h->final : -1, rows[i].text);
		}
		if (!b || b->have != PCIE_KNOWN || b->assigned != rows[i].assigned ||
			b->base != rows[i].base || b->size != rows[i].size ||
			b->has_base != (rows[i].base != 0) || b->has_size != (rows[i].size != 0) ||
			h->base != b->base) {
			fail_msg("BAR of: %s", rows[i].text);
		}
		pcie_snapshot_destroy(s);
	}
}

static void types_are_as_said(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(PCI
		"BAR 0 [mem 0xf4000000-0xf4ffffff]\n" PCI
		"BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]\n" PCI
		"BAR 3 [mem 0xf0000000-0xf1ffffff 64bit]\n" PCI "BAR 5 [io  0x3000-0x307f]\n" PCI
		"ROM [mem 0xf5000000-0xf507ffff pref]\n" PCI
		"VF BAR 0 [mem 0x7000000000-0x7000ffffff 64bit pref]\n" PCI
		"VF BAR 0 [mem 0x7000000000-0x701fffffff 64bit pref]: contains BAR 0 for 32 VFs\n");
	struct pcie_device *d = klog_at(s, "0000:01:00.0");
	const struct pcie_bar *b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, 0);
	assert_true(!b->io && !b->is64 && !b->prefetchable && b->is64_known);
	b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, 1);
	assert_true(b->is64 && b->prefetchable);
	b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, 3);
	assert_true(b->is64 && !b->prefetchable);
	b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, 5);
	assert_true(b->io && b->size == 128);
	b = pcie_device_find_bar(d, PCIE_BAR_ROM, 6);
	assert_int_equal(b->base, 0xf5000000);
	b = pcie_device_find_bar(d, PCIE_BAR_VF, 0);
	assert_int_equal(b->size, 512 * MIB); /* all VFs together */
	assert_int_equal(d->sriov_total, 32);
	assert_int_equal(d->nbar, 6);
	pcie_snapshot_destroy(s);
}

static void vf_bars_of_older_kernels(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(
		PCI "reg 0x344: [mem 0x7000000000-0x7000ffffff 64bit pref]\n" PCI
		    "VF(n) BAR0 space: [mem 0x7000000000-0x701fffffff 64bit pref] (contains BAR0 "
		    "for 32 VFs)\n" PCI "BAR 7: no space for [mem size 0x20000000 64bit pref]\n" PCI
		    "BAR 7: failed to assign [mem size 0x20000000 64bit pref]\n");
	struct pcie_device *d = klog_at(s, "0000:01:00.0");
	assert_int_equal(d->nbar, 1);
	assert_int_equal(d->bar[0].kind, PCIE_BAR_VF);
	assert_int_equal(d->bar[0].assigned, PCIE_NO);
	assert_int_equal(d->sriov_total, 32);
	const struct pcie_history *h = klog_history(s, "0000:01:00.0", "VF BAR 0");
	assert_true(h->vf && h->has_firmware && h->firmware_base == 0x7000000000);
	pcie_snapshot_destroy(s);
}

/* Kernels without SR-IOV count a bridge's windows as BAR 7 to 9, others as 13 to 15. */
static void window_numbers(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"pci 0000:00:01.0: [8086:1901] type 01 class 0x060400\n"
		"pci 0000:00:01.0: BAR 9: assigned [mem 0x6000000000-0x601fffffff 64bit pref]\n"
		"pci 0000:00:01.0: BAR 8: failed to assign [mem size 0x01000000]\n",
		"pci 0000:00:01.0: BAR 15: assigned [mem 0x6000000000-0x601fffffff 64bit pref]\n"
		"pci 0000:00:01.0: BAR 14: failed to assign [mem size 0x01000000]\n",
		/* that it is a bridge comes last */
		"pci 0000:00:01.0: BAR 9: assigned [mem 0x6000000000-0x601fffffff 64bit pref]\n"
		"pci 0000:00:01.0: BAR 8: failed to assign [mem size 0x01000000]\n"
		"pci 0000:00:01.0: PCI bridge to [bus 01]\n",
		"pci 0000:00:01.0: bridge window [mem 0x6000000000-0x601fffffff 64bit pref]: "
		"assigned\n"
		"pci 0000:00:01.0: bridge window [mem size 0x01000000]: failed to assign\n",
		"pci 0000:00:01.0: resource 15 [mem 0x6000000000-0x601fffffff 64bit pref] released\n"
		"pci 0000:00:01.0: BAR 15: assigned [mem 0x6000000000-0x601fffffff 64bit pref]\n"
		"pci 0000:00:01.0: BAR 14: no space for [mem size 0x01000000]\n",
	};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct pcie_snapshot *s = klog_read(texts[i]);
		struct pcie_device *d = klog_at(s, "0000:00:01.0");
		assert_int_equal(d->nbar, 0);
		const struct pcie_window *w = &d->window[PCIE_WINDOW_PREF];
		assert_int_equal(w->have, PCIE_KNOWN);
		assert_false(w->unassigned);
		assert_int_equal(w->base, 0x6000000000);
		assert_int_equal(w->limit, 0x601fffffff);
		assert_true(w->is64);
		w = &d->window[PCIE_WINDOW_MEM];
		assert_true(w->have == PCIE_KNOWN && w->unassigned && w->limit == 0xffffff);
		assert_int_equal(d->window[PCIE_WINDOW_IO].have, PCIE_UNKNOWN);
		const struct pcie_history *h =
			klog_history(s, "0000:00:01.0", "bridge window pref");
		assert_true(h && h->window && h->final == PCIE_FINAL_ASSIGNED);
		pcie_snapshot_destroy(s);
	}
}

static void lists_of_windows(void **state)
{
	(void)state;
	/* The last list leaves the prefetchable window out: it is gone. */
	struct pcie_snapshot *s = klog_read(
		"pci 0000:00:01.0: [8086:1901] type 01 class 0x060400 PCIe Root Port\n"
		"pci 0000:00:01.0: PCI bridge to [bus 01-02]\n"
		"pci 0000:00:01.0:   bridge window [io  0x3000-0x3fff]\n"
		"pci 0000:00:01.0:   bridge window [mem 0xf4000000-0xf50fffff]\n"
		"pci 0000:00:01.0:   bridge window [mem 0x6000000000-0x6011ffffff 64bit pref]\n"
		"pci 0000:00:01.0: bridge window [mem 0x6000000000-0x6011ffffff 64bit pref]: "
		"releasing\n"
		"pci 0000:00:01.0: PCI bridge to [bus 01-02]\n"
		"pci 0000:00:01.0:   bridge window [io  0x3000-0x3fff]\n"
		"pci 0000:00:01.0:   bridge window [mem 0xf4000000-0xf50fffff]\n"
		"pci 0000:00:02.0: enabling Extended Tags\n");
	struct pcie_device *d = klog_at(s, "0000:00:01.0");
	assert_true(d->is_bridge && d->secondary == 1 && d->subordinate == 2);
	assert_int_equal(d->port_type, PCIE_PORT_ROOT);
	assert_int_equal(d->window[PCIE_WINDOW_PREF].have, PCIE_ABSENT);
	assert_int_equal(d->window[PCIE_WINDOW_MEM].have, PCIE_KNOWN);
	assert_int_equal(d->window[PCIE_WINDOW_MEM].base, 0xf4000000);
	assert_int_equal(
		klog_history(s, "0000:00:01.0", "bridge window pref")->firmware_base, 0x6000000000);
	pcie_snapshot_destroy(s);

	/* A list of unset windows as 6.9 and later print it, and what a reset bridge reads. */
	s = klog_read("pci 0000:00:01.0: PCI bridge to [bus 00]\n"
		      "pci 0000:00:01.0:   bridge window [mem 0x00000000-0x000fffff 64bit pref]\n"
		      "pci 0000:00:01.0: PCI bridge to [bus 01]\n"
		      "pci 0000:00:01.0:   bridge window [mem size 0x18000000 64bit pref]\n"
		      "pci 0000:00:01.0: enabling\n"
		      "pci 0000:00:02.0: PCI bridge to [bus 00]\n"
		      "pci 0000:00:02.0:   bridge window [mem 0x00000000-0x000fffff 64bit pref]\n");
	d = klog_at(s, "0000:00:01.0");
	assert_true(d->window[PCIE_WINDOW_PREF].have == PCIE_KNOWN &&
		    d->window[PCIE_WINDOW_PREF].unassigned);
	d = klog_at(s, "0000:00:02.0");
	assert_int_equal(d->window[PCIE_WINDOW_PREF].have, PCIE_UNKNOWN);
	assert_int_equal(d->secondary, 0);
	pcie_snapshot_destroy(s);

	/* 2.6 in two manners, and the buses' own summary. */
	s = klog_read("pci 0000:00:01.0: PCI bridge, secondary bus 0000:01\n"
		      "pci 0000:00:01.0:   IO window: 0x3000-0x3fff\n"
		      "pci 0000:00:01.0:   MEM window: 0xf4000000-0xf50fffff\n"
		      "pci 0000:00:01.0:   PREFETCH window: 0x000000d0000000-0x000000dfffffff\n"
		      "PCI: Bridge: 0000:00:02.0\n"
		      "  IO window: disabled.\n"
		      "  MEM window: fd000000-feafffff\n"
		      "pci 0000:00:03.0: bridge 64bit mmio pref: [0xe0000000-0xe7ffffff]\n"
		      "pci 0000:00:04.0: PCI bridge to [bus 04]\n"
		      "pci_bus 0000:04: resource 2 [mem 0xc0000000-0xcfffffff 64bit pref]\n");
	d = klog_at(s, "0000:00:01.0");
	assert_int_equal(d->window[PCIE_WINDOW_IO].limit, 0x3fff);
	assert_int_equal(d->window[PCIE_WINDOW_PREF].base, 0xd0000000);
	assert_int_equal(d->secondary, 1);
	d = klog_at(s, "0000:00:03.0");
	assert_true(d->window[PCIE_WINDOW_PREF].is64);
	assert_int_equal(d->window[PCIE_WINDOW_PREF].base, 0xe0000000);
	d = klog_at(s, "0000:00:04.0");
	assert_int_equal(d->window[PCIE_WINDOW_PREF].limit, 0xcfffffff);
	pcie_snapshot_destroy(s);
}

static void sizing_and_pinning(void **state)
{
	(void)state;
	uint64_t v;
	struct pcie_snapshot *s = klog_read(
		"pcieport 0000:00:01.0: bridge window [mem 0x6000000000-0x601fffffff 64bit pref]: "
		"was not released (still contains assigned resources)\n"
		"pcieport 0000:00:01.0: Assigned bridge window [mem 0x6000000000-0x601fffffff "
		"64bit pref] to [bus 01-04] cannot fit 0x600000000 required for 0000:01:00.0 "
		"bridging to [bus 02-04]\n"
		"pci 0000:01:00.0: bridge window [mem 0x04000000-0x1fffffff 64bit pref] to [bus "
		"02-04] requires relaxed alignment rules\n"
		"pci 0000:01:00.0: bridge window [mem 0x00100000-0x000fffff] to [bus 02-04] "
		"add_size 200000 add_align 100000\n"
		"pci 0000:01:00.0: disabling bridge window [io  0x0000-0xffffffffffffffff "
		"disabled] to [bus 02-04] (unused)\n");
	const struct pcie_history *h = klog_history(s, "0000:00:01.0", "bridge window pref");
	assert_true(h->pinned && h->final == PCIE_FINAL_ASSIGNED && h->nline == 2);
	assert_int_equal(klog_said(s, "0000:00:01.0", PCIE_SAID_CANNOT_FIT, &v), 1);
	assert_int_equal(v, 0x600000000);
	/* What was asked for is no window. */
	assert_null(klog_history(s, "0000:01:00.0", "bridge window pref"));
	assert_int_equal(klog_at(s, "0000:01:00.0")->window[PCIE_WINDOW_MEM].have, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);
}

/* The firmware's address, the kernel's, and which came after a driver. */
static void firmware_and_driver(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(
		PCI "[10de:2204] type 00 class 0x030000\n" PCI
		    "BAR 1 [mem 0xd0000000-0xdfffffff 64bit pref]\n" PCI
		    "BAR 3 [mem 0xe0000000-0xe1ffffff 64bit pref]\n" PCI
		    "BAR 3 [mem 0x6010000000-0x6011ffffff 64bit pref]: assigned\n"
		    "nvidia 0000:01:00.0: BAR 1 [mem 0xd0000000-0xdfffffff 64bit pref]: releasing\n"
		    "nvidia 0000:01:00.0: BAR 1 [mem 0x6800000000-0x6fffffffff 64bit pref]: "
		    "assigned\n");
	const struct pcie_history *h = klog_history(s, "0000:01:00.0", "BAR 1");
	assert_true(h->has_firmware && h->after_driver);
	assert_int_equal(h->firmware_base, 0xd0000000);
	assert_int_equal(h->base, 0x6800000000);
	assert_int_equal(h->nline, 3);
	assert_true(h->line[0] < h->line[1] && h->line[1] < h->line[2]);
	h = klog_history(s, "0000:01:00.0", "BAR 3");
	assert_true(h->has_firmware && !h->after_driver);
	assert_string_equal(klog_at(s, "0000:01:00.0")->driver, "nvidia");
	pcie_snapshot_destroy(s);
}

/* A resource with very many tries keeps its first and its last lines. */
static void histories_are_bounded(void **state)
{
	(void)state;
	struct text t = {0};
	for (int i = 0; i < 1000; i++) {
		text_addf(&t, PCI "BAR 1 [mem size 0x%x 64bit pref]: failed to assign\n",
			0x1000000 + i);
	}
	struct pcie_snapshot *s = klog_read(t.s);
	const struct pcie_history *h = klog_history(s, "0000:01:00.0", "BAR 1");
	assert_int_equal(h->nline, 32);
	assert_non_null(strstr(s->line[h->line[0]], "0x1000000 "));
	assert_non_null(strstr(s->line[h->line[31]], "0x10003e7 "));
	assert_int_equal(h->size, 0x10003e7);
	pcie_snapshot_destroy(s);
	text_finish(&t);
}

/* "BAR 1 [mem …]" at the end of a text may be cut before ": can't claim": it takes nothing back. */
static void the_last_line_may_be_cut(void **state)
{
	(void)state;
	struct pcie_snapshot *s =
		klog_read(PCI "BAR 1 [mem size 0x10000000 64bit pref]: failed to assign\n" PCI
			      "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]");
	const struct pcie_bar *b =
		pcie_device_find_bar(klog_at(s, "0000:01:00.0"), PCIE_BAR_NORMAL, 1);
	assert_int_equal(b->assigned, PCIE_NO);
	pcie_snapshot_destroy(s);

	s = klog_read("pci 0000:00:01.0: bridge window [mem size 0x10000000 64bit pref]: failed to "
		      "assign\n"
		      "pci 0000:00:01.0: bridge window [mem 0x6000000000-0x600fffffff 64bit pref]");
	assert_int_equal(
		klog_history(s, "0000:00:01.0", "bridge window pref")->final, PCIE_FINAL_FAILED);
	pcie_snapshot_destroy(s);

	/* Alone it is all that is known. */
	s = klog_read(PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]");
	b = pcie_device_find_bar(klog_at(s, "0000:01:00.0"), PCIE_BAR_NORMAL, 1);
	assert_int_equal(b->assigned, PCIE_YES);
	pcie_snapshot_destroy(s);
}

static void broken_messages_say_nothing(void **state)
{
	(void)state;
	static const char *const rows[] = {
		PCI "BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref\n",
		PCI "BAR 1 [mem 0x60000000000000000-0x600fffffff 64bit pref]: assigned\n",
		PCI "BAR 1 [mem 0x6000000000-]: assigned\n",
		PCI "BAR 1: assigned [mem 0x6000000000-0x600f\n",
		PCI "BAR 1: assigned\n",
		PCI "BAR 99: assigned [mem 0x6000000000-0x600fffffff 64bit pref]\n",
		PCI "BAR x: assigned [mem 0x6000000000-0x600fffffff 64bit pref]\n",
		PCI "BAR 1: [1234]\n",
		PCI "reg 0x12: [mem 0x6000000000-0x600fffffff 64bit pref]\n",
		PCI "VF BAR 9 [mem 0x6000000000-0x600fffffff 64bit pref]\n",
		PCI "[10de:2204 type 00 class 0x030000\n",
		PCI "PCI bridge to [bus zz]\n",
		"pci 0000:01:00.0 BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: assigned\n",
		"pci 0000:01:40.0: BAR 1 [mem 0x6000000000-0x600fffffff 64bit pref]: assigned\n",
		"PCI: Failed to allocate mem resource #77:10000000@d0000000 for 0000:01:00.0\n",
		"PCI: Cannot allocate resource region 9 of device 0000:01:00.0\n",
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pcie_snapshot *s = klog_read(rows[i]);
		for (size_t n = 0; n < s->ndev; n++) {
			if (s->dev[n].nbar || s->dev[n].have_ids) {
				fail_msg("believed: %s", rows[i]);
			}
		}
		pcie_snapshot_destroy(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_message_says_its_state),
		cmocka_unit_test(types_are_as_said),
		cmocka_unit_test(vf_bars_of_older_kernels),
		cmocka_unit_test(window_numbers),
		cmocka_unit_test(lists_of_windows),
		cmocka_unit_test(sizing_and_pinning),
		cmocka_unit_test(firmware_and_driver),
		cmocka_unit_test(histories_are_bounded),
		cmocka_unit_test(the_last_line_may_be_cut),
		cmocka_unit_test(broken_messages_say_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
