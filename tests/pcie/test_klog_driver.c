/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What GPU drivers say, with an address and without one. */
#include "klog_fixture.h"

#include "base/text.h"

#define AMD    "amdgpu 0000:03:00.0: "
#define XE     "xe 0000:03:00.0: [drm] "
#define I915   "i915 0000:03:00.0: [drm] "
#define NVIDIA "nvidia 0000:03:00.0: "

static void vram_as_each_driver_says_it(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint64_t bytes;
	} rows[] = {
		{AMD "amdgpu: x\n[drm] Detected VRAM RAM=8176M, BAR=256M\n", 8176 * MIB},
		{AMD "amdgpu: VRAM: 12272M 0x0000008000000000 - 0x00000082FEFFFFFF (12272M used)\n",
			12272 * MIB},
		{AMD "VRAM: 16368M 0x000000F400000000 - 0x000000F7FEFFFFFF (16368M used)\n",
			16368 * MIB},
		{"radeon 0000:03:00.0: VRAM: 2048M 0x0000000000000000 - 0x000000007FFFFFFF (2048M "
		 "used)\n",
			2048 * MIB},
		{AMD "x\n[drm] amdgpu: 8176M of VRAM memory ready\n", 8176 * MIB},
		/* the better reading stands, in any order */
		{AMD "x\n[drm] Detected VRAM RAM=8176M, BAR=256M\n" AMD
		     "VRAM: 8000M 0x0 - 0x1 (8000M used)\n",
			8176 * MIB},
		{I915 "Cannot use the full memory 0x00000003fa000000 on the device as LMEM BAR "
		      "size was found to be smaller\n" I915
		      "Continuing with reduced LMEM size: 0x0000000010000000\n" I915
		      "Local memory IO size: 0x0000000010000000\n" I915
		      "Local memory available: 0x0000000010000000\n",
			0x3fa000000},
		{I915 "Local memory IO size: 0x0000000400000000\n" I915
		      "Local memory available: 0x00000003fa000000\n",
			0x3fa000000},
		{XE "VRAM: 0x280000000 is larger than resource 0x10000000\n", 10 * GIB},
		{XE "VRAM[0]: Actual physical size 0x0000000400000000, usable size exclude stolen "
		    "0x00000003fa800000, CPU accessible size 0x0000000010000000\n",
			16 * GIB},
		{XE "VRAM[0, 0]: Actual physical size 0x0000000300000000, usable size exclude "
		    "stolen 0x00000002fb800000, CPU accessible size 0x0000000300000000\n",
			12 * GIB},
		{XE "Total VRAM: 0x000000a000000000, 0x0000000300000000\n", 12 * GIB},
		{XE "Tile0: VRAM[0]: Actual physical size 0x0000000600000000, usable size exclude "
		    "stolen 0x00000005fb800000, CPU accessible size 0x0000000600000000\n",
			24 * GIB},
		{"nouveau 0000:03:00.0: fb: 24576 MiB GDDR6\n", 24 * GIB},
		{"nouveau 0000:03:00.0: DRM: VRAM: 4096 MiB\n", 4 * GIB},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct pcie_snapshot *s = klog_read(rows[i].text);
		struct pcie_device *d = klog_at(s, "0000:03:00.0");
		if (d->vram.have != PCIE_KNOWN || d->vram.bytes != rows[i].bytes) {
			fail_msg("%llx of: %s", (unsigned long long)d->vram.bytes, rows[i].text);
		}
		assert_true(pcie_device_is_gpu(d));
		pcie_snapshot_destroy(s);
	}
}

/* What is said of 0000:03:00.0, and the number in it. */
struct said {
	const char *text;
	enum pcie_statement_kind kind;
	uint64_t value;
};

static const struct said by_amd_and_intel[] = {
	{AMD "amdgpu: x\n[drm] Not enough PCI address space for a large BAR.\n",
		PCIE_SAID_RESIZE_FAILED, 0},
	{AMD "amdgpu: x\n[drm:amdgpu_device_resize_fb_bar [amdgpu]] *ERROR* Problem resizing "
	     "BAR0 (-16).\n",
		PCIE_SAID_RESIZE_FAILED, 0},
	{AMD "amdgpu: Not enough PCI address space for a large BAR.\n", PCIE_SAID_RESIZE_FAILED, 0},
	{AMD "amdgpu: System can't access extended configuration space, please check!!\n",
		PCIE_SAID_NO_EXT_CONFIG, 0},
	{AMD "amdgpu: Fatal error during GPU init\n", PCIE_SAID_INIT_FAILED, 0},
	{"amdgpu: probe of 0000:03:00.0 failed with error -12\n", PCIE_SAID_PROBE_FAILED, 12},
	{NVIDIA "probe with driver nvidia failed with error -1\n", PCIE_SAID_PROBE_FAILED, 1},
	{I915 "Can't resize LMEM BAR - platform support is missing\n", PCIE_SAID_NO_PLATFORM, 0},
	{XE "Can't resize VRAM BAR - platform support is missing. Consider enabling "
	    "'Resizable BAR' support in your BIOS\n",
		PCIE_SAID_NO_PLATFORM, 0},
	{XE "Failed to resize BAR2 to 16384M (-ENOSPC). Consider enabling 'Resizable BAR' "
	    "support in your BIOS\n",
		PCIE_SAID_RESIZE_FAILED, 16 * GIB},
	{XE "BAR2 resized to 16384M\n", PCIE_SAID_RESIZED, 16 * GIB},
	{XE "Attempting to resize bar from 256MiB -> 16384MiB\n", PCIE_SAID_RESIZE_TRY, 16 * GIB},
	{XE "Small BAR device\n", PCIE_SAID_SMALL_BAR, 0},
	{I915 "Using a reduced BAR size of 256MiB. Consider enabling 'Resizable BAR' or "
	      "similar, if available in the BIOS.\n",
		PCIE_SAID_SMALL_BAR, 256 * MIB},
	{XE "*ERROR* pci resource is not valid\n", PCIE_SAID_INIT_FAILED, 0},
};

static const struct said by_nvidia[] = {
	{"NVRM: This PCI I/O region assigned to your NVIDIA device is invalid:\n"
	 "NVRM: BAR1 is 0M @ 0x0 (PCI:0000:03:00.0)\n",
		PCIE_SAID_INVALID_REGION, 1},
	{"NVRM: BAR1 is 0M @ 0x00000000 (PCI:0003:00.0)\n", PCIE_SAID_INVALID_REGION, 1},
	{"NVRM: Xid (PCI:0000:03:00): 31, pid=1234, name=x\n", PCIE_SAID_XID, 31},
	{"NVRM: Xid (PCI:0000:03:00.0): 79, GPU has fallen off the bus.\n", PCIE_SAID_FELL_OFF, 79},
	{"NVRM: Xid (0003:00): 13, 0001 00000000\n", PCIE_SAID_XID, 13},
	{"NVRM: Xid (PCI:3:0:0): 13, Graphics\n", PCIE_SAID_XID, 13},
	{"NVRM: GPU 0000:03:00.0: RmInitAdapter failed! (0x24:0x1c:1447)\n", PCIE_SAID_INIT_FAILED,
		0},
	{"NVRM: 0000:03:00.0: No address space to allocate resized BAR1.\n",
		PCIE_SAID_RESIZE_FAILED, 0},
	{"NVRM: The NVIDIA GPU 0000:03:00.0\nNVRM: (PCI ID: 10de:2204) installed in this "
	 "system has\nNVRM: fallen off the bus and is not responding to commands.\n",
		PCIE_SAID_FELL_OFF, 0},
};

static const struct said by_the_kernel[] = {
	{"pci 0000:03:00.0: Unable to change power state from D3cold to D0, device "
	 "inaccessible\n",
		PCIE_SAID_FELL_OFF, 0},
	{"pci 0000:03:00.0: can't enable device: BAR 2 [mem size 0x10] not assigned\n",
		PCIE_SAID_CANT_ENABLE, 2},
	{"pci 0000:03:00.0: device not available because of BAR 0 "
	 "[0xfecf0000-0xfecf0fff] collisions\n",
		PCIE_SAID_CONFLICT, 0},
	{"pci 0000:03:00.0: BAR 1: can't reserve [mem 0xd0000000-0xdfffffff]\n",
		PCIE_SAID_CANT_RESERVE, 1},
	{"pci 0000:03:00.0: reg 0x14: can't handle BAR above 4GB (bus address "
	 "0x6000000000)\n",
		PCIE_SAID_NO_64BIT, 0},
	{"pci 0000:03:00.0: devices behind bridge are unusable because [bus 04] cannot be "
	 "assigned for them\n",
		PCIE_SAID_NO_BUS_NUMBERS, 0},
	{"pcieport 0000:03:00.0: AER: PCIe Bus Error: severity=Corrected, type=Physical "
	 "Layer, (Receiver ID)\n",
		PCIE_SAID_AER, 1},
	{"pcieport 0000:03:00.0: PCIe Bus Error: severity=Uncorrected (Non-Fatal), "
	 "type=Transaction Layer\n",
		PCIE_SAID_AER, 2},
	{"pcieport 0000:03:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), "
	 "type=Inaccessible\n",
		PCIE_SAID_AER, 3},
	{"# echo 9 > /sys/bus/pci/devices/0000\\:03\\:00.0/resource2_resize\n"
	 "-bash: echo: write error: No space left on device\n",
		PCIE_SAID_RESIZE_FAILED, 512 * MIB},
	/* nobody says it, the history does */
	{"pci 0000:03:00.0: BAR 2 [mem 0xd0000000-0xdfffffff 64bit pref]: releasing\n"
	 "pci 0000:03:00.0: BAR 2 [mem size 0x200000000 64bit pref]: failed to assign\n"
	 "pci 0000:03:00.0: BAR 2 [mem 0xd0000000-0xdfffffff 64bit pref]: assigned\n",
		PCIE_SAID_RESIZE_FAILED, 8 * GIB},
};

static void check_said(const struct said *row, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint64_t value = 77;
		struct pcie_snapshot *s = klog_read(row[i].text);
		int times = klog_said(s, "0000:03:00.0", row[i].kind, &value);
		if (times != 1 || value != row[i].value) {
			fail_msg("%d times, value 0x%llx: %s", times, (unsigned long long)value,
				row[i].text);
		}
		pcie_snapshot_destroy(s);
	}
}

static void statements_keep_their_value(void **state)
{
	(void)state;
	check_said(by_amd_and_intel, ARRAY_LEN(by_amd_and_intel));
	check_said(by_nvidia, ARRAY_LEN(by_nvidia));
	check_said(by_the_kernel, ARRAY_LEN(by_the_kernel));
}

/* Which GPU a line without an address is about. */
static void lines_without_an_address(void **state)
{
	(void)state;
	/* The one that spoke last. */
	struct pcie_snapshot *s = klog_read(
		"[drm] initializing kernel modesetting (NAVY_FLOUNDER 0x1002:0x73DF 0x1002:0x0E36 "
		"0xC1).\n"
		"amdgpu 0000:05:00.0: amdgpu: Fetched VBIOS from VFCT\n"
		"amdgpu: ATOM BIOS: 113-D5121100-101\n"
		"[drm] Detected VRAM RAM=12272M, BAR=16384M\n"
		"[drm] initializing kernel modesetting (POLARIS12 0x1002:0x699F 0x1002:0x0B04 "
		"0xC7).\n"
		"amdgpu 0000:08:00.0: amdgpu: Fetched VBIOS from VFCT\n"
		"[drm] Detected VRAM RAM=4096M, BAR=256M\n");
	struct pcie_device *d = klog_at(s, "0000:05:00.0");
	assert_int_equal(d->vram.bytes, 12272 * MIB);
	assert_int_equal(d->device, 0x73df);
	assert_int_equal(d->subdevice, 0x0e36);
	assert_int_equal(d->revision, 0xc1);
	assert_string_equal(d->vbios, "113-D5121100-101");
	assert_int_equal(d->bar[0].size, 16 * GIB);
	assert_int_equal(d->bar[0].assigned, PCIE_TRI_UNKNOWN);
	d = klog_at(s, "0000:08:00.0");
	assert_int_equal(d->vram.bytes, 4 * GIB);
	assert_int_equal(d->device, 0x699f);
	pcie_snapshot_destroy(s);

	/* The only one that it can be, though it is named elsewhere. */
	s = klog_read(
		"- pci 0000:0b:00.0: BAR 1 [mem size 0x10000000 64bit pref]: can't assign; no "
		"space\n"
		"- pci 0000:06:01.0: bridge window [mem size 0x10000000]: can't assign; no "
		"space\n"
		"- NVRM: BAR1 is 0M @ 0x0\n"
		"- NVRM: RmInitAdapter failed\n");
	assert_int_equal(s->ndev, 2);
	assert_int_equal(klog_said(s, "0000:0b:00.0", PCIE_SAID_INVALID_REGION, NULL), 1);
	assert_int_equal(klog_said(s, "0000:0b:00.0", PCIE_SAID_INIT_FAILED, NULL), 1);
	pcie_snapshot_destroy(s);

	/* Of two nobody knows which: it is left out, said, and no third GPU. */
	s = klog_read("pci 0000:03:00.0: [1002:73df] type 00 class 0x030000\n"
		      "pci 0000:08:00.0: [1002:699f] type 00 class 0x030000\n"
		      "[drm] Detected VRAM RAM=4096M, BAR=256M\n");
	assert_int_equal(s->ndev, 2);
	assert_int_equal(klog_at(s, "0000:03:00.0")->vram.have, PCIE_UNKNOWN);
	assert_int_equal(klog_at(s, "0000:08:00.0")->vram.have, PCIE_UNKNOWN);
	assert_int_equal(s->nnote, 1);
	assert_non_null(strstr(s->note[0].text, "amdgpu"));
	pcie_snapshot_destroy(s);

	/* Alone it is better than nothing. */
	s = klog_read("[drm] Detected VRAM RAM=8176M, BAR=256M\n");
	assert_int_equal(s->ndev, 1);
	assert_true(!s->dev[0].addr.known && pcie_device_is_gpu(&s->dev[0]));
	assert_int_equal(s->dev[0].vram.bytes, 8176 * MIB);
	assert_int_equal(s->dev[0].bar[0].size, 256 * MIB);
	pcie_snapshot_destroy(s);
}

static void upper_halves_are_no_bars(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read("NVRM: BAR1 is 0M @ 0x0 (PCI:0002:21:00.0)\n"
					    "NVRM: BAR2 is 0M @ 0x0 (PCI:0002:21:00.0)\n"
					    "NVRM: BAR3 is 0M @ 0x0 (PCI:0002:21:00.0)\n"
					    "NVRM: BAR4 is 0M @ 0x0 (PCI:0002:21:00.0)\n");
	struct pcie_device *d = klog_at(s, "0002:21:00.0");
	assert_int_equal(d->nbar, 2);
	assert_int_equal(d->bar[0].index, 1);
	assert_int_equal(d->bar[1].index, 3);
	assert_int_equal(d->bar[0].assigned, PCIE_NO);
	assert_true(pcie_device_is_gpu(d));
	pcie_snapshot_destroy(s);
}

/* A resize that failed, and what the driver goes on with. */
static void failed_resizes(void **state)
{
	(void)state;
	static const struct {
		const char *end;
		enum pcie_tri assigned;
		uint64_t base, size;
	} rows[] = {
		/* the kernel says where it is again */
		{AMD "BAR 0 [mem 0xd0000000-0xdfffffff 64bit pref]: assigned\n", PCIE_YES,
			0xd0000000, 256 * MIB},
		/* it does not, and the driver goes on with the old size */
		{"[drm] Detected VRAM RAM=8176M, BAR=256M\n", PCIE_YES, 0xd0000000, 256 * MIB},
		/* nobody says anything: the last word is that it failed */
		{"", PCIE_NO, 0, 256 * MIB},
		/* the old size finds no room either */
		{AMD "BAR 0 [mem size 0x10000000 64bit pref]: failed to assign\n", PCIE_NO, 0,
			256 * MIB},
		/* the window it was in is lost */
		{"pcieport 0000:00:01.0: PCI bridge to [bus 03]\n"
		 "pcieport 0000:00:01.0:   bridge window [mem size 0x18000000 64bit pref]\n"
		 "[drm] Detected VRAM RAM=8176M, BAR=256M\n",
			PCIE_NO, 0, 256 * MIB},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct text t = {0};
		text_addf(&t, "%s%s",
			AMD "BAR 0 [mem 0xd0000000-0xdfffffff 64bit pref]: releasing\n" AMD
			    "BAR 0 [mem size 0x200000000 64bit pref]: can't assign; no space\n" AMD
			    "BAR 0 [mem size 0x200000000 64bit pref]: failed to assign\n" AMD
			    "amdgpu: Not enough PCI address space for a large BAR.\n",
			rows[i].end);
		struct pcie_snapshot *s = klog_read(t.s);
		const struct pcie_bar *b =
			pcie_device_find_bar(klog_at(s, "0000:03:00.0"), PCIE_BAR_NORMAL, 0);
		if (b->assigned != rows[i].assigned || b->base != rows[i].base ||
			b->size != rows[i].size) {
			fail_msg("%d 0x%llx 0x%llx: %s", b->assigned, (unsigned long long)b->base,
				(unsigned long long)b->size, rows[i].end);
		}
		assert_int_equal(klog_said(s, "0000:03:00.0", PCIE_SAID_RESIZE_FAILED, NULL), 1);
		pcie_snapshot_destroy(s);
		text_finish(&t);
	}

	/* Assigned larger, and the log lacks how that ended; the driver then sees the old length.
	 */
	struct pcie_snapshot *lost =
		klog_read(AMD "BAR 0 [mem 0x340000000000-0x3401ffffffff 64bit pref]: assigned\n"
			      "[drm] Detected VRAM RAM=8176M, BAR=256M\n");
	const struct pcie_bar *seen =
		pcie_device_find_bar(klog_at(lost, "0000:03:00.0"), PCIE_BAR_NORMAL, 0);
	assert_int_equal(seen->size, 256 * MIB);
	assert_false(seen->has_base);
	assert_int_equal(seen->assigned, PCIE_TRI_UNKNOWN);
	pcie_snapshot_destroy(lost);
	/* The other way round the later message stands. */
	lost = klog_read("[drm] Detected VRAM RAM=8176M, BAR=256M\n" AMD
			 "BAR 0 [mem 0x340000000000-0x3401ffffffff 64bit pref]: assigned\n");
	seen = pcie_device_find_bar(klog_at(lost, "0000:03:00.0"), PCIE_BAR_NORMAL, 0);
	assert_int_equal(seen->size, 8 * GIB);
	assert_int_equal(seen->assigned, PCIE_YES);
	pcie_snapshot_destroy(lost);

	/* Assigned larger, then the driver gives up: what holds is not known. */
	struct pcie_snapshot *s =
		klog_read(AMD "BAR 0 [mem 0xd0000000-0xdfffffff 64bit pref]: releasing\n" AMD
			      "BAR 2 [mem 0xe0000000-0xe01fffff 64bit pref]: releasing\n" AMD
			      "BAR 0 [mem 0x6000000000-0x61ffffffff 64bit pref]: assigned\n" AMD
			      "BAR 2 [mem 0xe0000000-0xe01fffff 64bit pref]: assigned\n" AMD
			      "amdgpu: Not enough PCI address space for a large BAR.\n");
	struct pcie_device *d = klog_at(s, "0000:03:00.0");
	const struct pcie_bar *b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, 0);
	assert_int_equal(b->assigned, PCIE_TRI_UNKNOWN);
	assert_int_equal(b->size, 256 * MIB);
	assert_false(b->has_base);
	b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, 2);
	assert_int_equal(b->assigned, PCIE_YES); /* where it always was */
	pcie_snapshot_destroy(s);
}

#define POLARIS                                                                                    \
	"[drm] initializing kernel modesetting (POLARIS10 0x1002:0x67DF 0x1DA2:0xE353 0xE7).\n"    \
	"[drm] Detected VRAM RAM=8192M, BAR=256M\n"
#define NAVI                                                                                       \
	"[drm] initializing kernel modesetting (NAVI10 0x1002:0x731F 0x1DA2:0xE410 0xC1).\n"       \
	"[drm] Detected VRAM RAM=8176M, BAR=8192M\n"

/* Two GPUs that only their ids tell apart: with the same ids it may be one that began twice. */
static void ids_without_an_address(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(POLARIS NAVI);
	assert_int_equal(s->ndev, 2);
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		bool navi = d->device == 0x731f;
		assert_false(d->addr.known);
		assert_true(pcie_device_is_gpu(d));
		assert_int_equal(d->device, navi ? 0x731f : 0x67df);
		assert_int_equal(d->subvendor, 0x1da2);
		assert_int_equal(d->vram.bytes, (navi ? 8176 : 8192) * MIB);
	}
	assert_int_not_equal(s->dev[0].device, s->dev[1].device);
	pcie_snapshot_destroy(s);

	s = klog_read(NAVI NAVI);
	assert_int_equal(s->ndev, 1);
	pcie_snapshot_destroy(s);

	/* the only one with an address is that one */
	s = klog_read(NAVI "amdgpu 0000:0b:00.0: ring gfx_0.0.0 uses VM inv eng 0 on hub 0\n");
	assert_int_equal(s->ndev, 1);
	assert_int_equal(s->dev[0].addr.bus, 0x0b);
	assert_int_equal(s->dev[0].device, 0x731f);
	assert_int_equal(s->dev[0].vram.bytes, 8176 * MIB);
	pcie_snapshot_destroy(s);

	/* of two, nobody knows which has it */
	s = klog_read(
		POLARIS NAVI "amdgpu 0000:0b:00.0: ring gfx_0.0.0 uses VM inv eng 0 on hub 0\n");
	assert_int_equal(s->ndev, 1);
	assert_int_equal(s->dev[0].vram.have, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);
}

static void links_and_errors(void **state)
{
	(void)state;
	uint64_t v;
	struct pcie_snapshot *s = klog_read(
		"pci 0000:01:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 "
		"link at 0000:00:01.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)\n"
		"pci 0000:02:00.0: 8.000 Gb/s available PCIe bandwidth, limited by 2.5 GT/s x4 link "
		"at 0000:00:02.0 (capable of 31.504 Gb/s with 8 GT/s x4 link)\n");
	struct pcie_device *d = klog_at(s, "0000:01:00.0");
	assert_int_equal(d->link.max_speed, 80);
	assert_int_equal(d->link.max_width, 16);
	assert_int_equal(d->link.speed, 0);
	d = klog_at(s, "0000:00:02.0");
	assert_int_equal(d->link.speed, 25);
	assert_int_equal(d->link.width, 4);
	assert_int_equal(klog_said(s, "0000:01:00.0", PCIE_SAID_LINK, &v), 1);
	assert_int_equal(v, 63008000);
	pcie_snapshot_destroy(s);

	/* Nothing is slower than the device itself: no statement. */
	s = klog_read("pci 0000:01:00.0: 252.048 Gb/s available PCIe bandwidth (16.0 GT/s PCIe x16 "
		      "link)\n");
	d = klog_at(s, "0000:01:00.0");
	assert_int_equal(d->link.speed, 160);
	assert_int_equal(d->link.max_width, 16);
	assert_int_equal(s->nstatement, 0);
	pcie_snapshot_destroy(s);

	/* A flood of errors keeps its first and its last line, and the count. */
	struct text t = {0};
	for (int i = 0; i < 500; i++) {
		text_addf(&t,
			"[%5d.000000] pcieport 0000:00:1c.0: AER: Corrected error received: "
			"0000:03:00.0\n"
			"[%5d.000001] nvme 0000:03:00.0: PCIe Bus Error: severity=Corrected, "
			"type=Physical Layer, (Receiver ID)\n",
			i, i);
	}
	s = klog_read(t.s);
	assert_int_equal(klog_at(s, "0000:03:00.0")->aer.correctable, 500);
	assert_int_equal(klog_said(s, "0000:03:00.0", PCIE_SAID_AER, NULL), 16);
	assert_non_null(strstr(s->line[0], "    0.000001"));
	assert_non_null(strstr(s->line[s->nline - 1], "  499.000001"));
	pcie_snapshot_destroy(s);
	text_finish(&t);
}

static void options_of_the_command_line(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(
		"[    0.000000] Command line: root=/dev/sda1 nvidia.NVreg_EnableResizableBar=1 "
		"amdgpu.rebar=0 quiet\n"
		"[    3.000000] nvidia 0000:03:00.0: enabling device (0000 -> 0003)\n"
		"[    3.100000] amdgpu 0000:08:00.0: enabling device (0000 -> 0003)\n");
	struct pcie_device *d = klog_at(s, "0000:03:00.0");
	assert_int_equal(d->noption, 1);
	assert_string_equal(d->option[0].name, "EnableResizableBar");
	assert_string_equal(d->option[0].value, "1");
	d = klog_at(s, "0000:08:00.0");
	assert_string_equal(d->option[0].name, "rebar");
	assert_string_equal(d->option[0].value, "0");
	pcie_snapshot_destroy(s);
}

static void facts_beside_the_bars(void **state)
{
	(void)state;
	struct pcie_snapshot *s = klog_read(
		"xe 0000:03:00.0: [drm] Found battlemage (device ID e20b) discrete display version "
		"14.01 stepping B0\n"
		"pci 0000:03:00.0: Adding to iommu group 19\n"
		"pci 0000:03:00.0: vgaarb: setting as boot VGA device\n"
		"pci 0000:08:00.0: vgaarb: setting as boot VGA device (overriding previous)\n"
		"pcieport 0000:00:1c.0: pciehp: Slot #1 AttnBtn- PwrCtrl- MRL- AttnInd- PwrInd- "
		"HotPlug+ Surprise+\n"
		"NVRM: The NVIDIA GPU 0000:0c:00.0 (PCI ID: 10de:20b2)\n"
		"nouveau 0000:0d:00.0: bios: version 86.04.50.00.63\n");
	struct pcie_device *d = klog_at(s, "0000:03:00.0");
	assert_int_equal(d->vendor, 0x8086);
	assert_int_equal(d->device, 0xe20b);
	assert_int_equal(d->iommu_group, 19);
	assert_int_equal(d->boot_vga, PCIE_NO);
	assert_int_equal(klog_at(s, "0000:08:00.0")->boot_vga, PCIE_YES);
	assert_true(klog_at(s, "0000:00:1c.0")->hotplug_slot);
	assert_int_equal(klog_at(s, "0000:0c:00.0")->device, 0x20b2);
	assert_string_equal(klog_at(s, "0000:0d:00.0")->vbios, "86.04.50.00.63");
	pcie_snapshot_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vram_as_each_driver_says_it),
		cmocka_unit_test(statements_keep_their_value),
		cmocka_unit_test(lines_without_an_address),
		cmocka_unit_test(upper_halves_are_no_bars),
		cmocka_unit_test(failed_resizes),
		cmocka_unit_test(ids_without_an_address),
		cmocka_unit_test(links_and_errors),
		cmocka_unit_test(options_of_the_command_line),
		cmocka_unit_test(facts_beside_the_bars),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
