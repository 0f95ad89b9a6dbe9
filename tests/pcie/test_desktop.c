/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What desktops' tools say: lshw, and the log of the X server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "pcie/lshw.h"
#include "pcie/witness.h"
#include "pcie/xorg.h"

static struct pcie_snapshot *scanned(const char *text, size_t len)
{
	struct pcie_snapshot *s = NULL;
	pcie_text_scan("test", text, len, &s, NULL);
	return s;
}

static const struct pcie_device *device(const struct pcie_snapshot *s, const char *bdf)
{
	struct pcie_addr a;
	assert_non_null(s);
	assert_int_equal(pcie_addr_parse(bdf, &a), 0);
	int i = pcie_snapshot_find(s, a);
	assert_true(i >= 0);
	return &s->dev[i];
}

static void what_lines_are(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		bool xorg, lshw;
	} t[] = {
		{"(--) PCI:*(1@0:0:0) 10de:2204:1043:87b3 rev 161, Mem @ 0xf6000000/16777216", true,
			false},
		{"[    24.8] (--) PCI: (0:1:0:0) 10de:0641:1462:1262 rev 161", true, false},
		{"Mar 03 10:00:00 box gdm-x-session[900]: (--) PCI:*(1@0:0:0) 10de:1", true, false},
		{"[ 25.1] (II) NVIDIA(0): NVIDIA GPU x (GA102-A) at PCI:11:0:0 (GPU-0)", true,
			false},
		{"[ 25.1] (--) NVIDIA(0): Memory: 25165824 kBytes", true, false},
		{"[ 25.1] (--) NVIDIA(0): VideoBIOS: 94.02", false, false},
		{"[ 25.1] (--) PCI:none", false, false},
		{"[    1.0] pci 0000:01:00.0: BAR 1: assigned", false, false},
		{"  *-display", false, true},
		{"*-display:1 UNCLAIMED", false, true},
		{"*-display of mine", false, false},
		{"       bus info: pci@0000:01:00.0", false, true},
		{"description: VGA compatible controller", false, true},
		{"description: what I did", false, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		assert_int_equal(pcie_xorg_is_line(t[i].line), t[i].xorg);
		assert_int_equal(pcie_lshw_is_start(t[i].line), t[i].lshw);
	}
}

/* Numbers are decimal: bus@domain:device:function, once domain:bus:device:function. */
static void addresses_of_the_x_server(void **state)
{
	(void)state;
	static const struct {
		const char *text, *bdf;
	} t[] = {
		{"(--) PCI:*(11@0:0:0) 10de:2204:1462:3884 rev 161, Mem @ 0x0/256\n", "0b:00.0"},
		{"(--) PCI: (0:11:0:1) 10de:2204:1462:3884 rev 161, Mem @ 0x0/256\n", "0b:00.1"},
		{"(--) PCI: (65536:11:31:7) 10de:2204:1462:3884 rev 161, Mem @ 0x0/256\n",
			"10000:0b:1f.7"},
		{"(--) PCI:*(129@2:2:0) 10de:2204:1462:3884 rev 161, Mem @ 0x0/256\n",
			"0002:81:02.0"},
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct pcie_snapshot *s = scanned(t[i].text, strlen(t[i].text));
		const struct pcie_device *d = device(s, t[i].bdf);
		assert_int_equal(s->ndev, 1);
		assert_int_equal(d->vendor, 0x10de);
		assert_int_equal(d->device, 0x2204);
		assert_int_equal(d->subdevice, 0x3884);
		assert_int_equal(d->revision, 161);
		/* 0: the kernel has found no place */
		assert_int_equal(d->nbar, 1);
		assert_int_equal(d->bar[0].assigned, PCIE_NO);
		assert_false(d->bar[0].has_base);
		pcie_snapshot_destroy(s);
	}
	static const char *const wrong[] = {
		"(--) PCI:*(300@0:0:0) 10de:2204:1462:3884 rev 161, Mem @ 0x0/256\n",
		"(--) PCI:*(1@0:32:0) 10de:2204:1462:3884 rev 161, Mem @ 0x0/256\n",
		"(--) PCI:*(1@0:0) 10de:2204:1462:3884 rev 161, Mem @ 0x0/256\n",
		"(--) PCI:*(1@0:0:0) 10de:2204:1462 rev 161, Mem @ 0x0/256\n",
	};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_null(scanned(wrong[i], strlen(wrong[i])));
	}
}

/* The BARs of a listing without numbers get theirs from one that has them. */
static void beside_lspci(void **state)
{
	(void)state;
	static const char text[] =
		"01:00.0 VGA compatible controller: NVIDIA Corporation GA104 (rev a1)\n"
		"\tRegion 0: Memory at 62000000 (32-bit, non-prefetchable) [size=16M]\n"
		"\tRegion 1: Memory at 6000000000 (64-bit, prefetchable) [size=8G]\n"
		"\n"
		"(--) PCI:*(1@0:0:0) 10de:2484:1458:404c rev 161, Mem @ 0x62000000/16777216, "
		"0x6000000000/8589934592, 0x6200000000/33554432, I/O @ 0x00005000/128\n"
		"(II) NVIDIA(0): NVIDIA GPU x (GA104-A) at PCI:1:0:0 (GPU-0)\n"
		"(--) NVIDIA(0): Memory: 8388608 kBytes\n";
	struct pcie_snapshot *s = scanned(text, strlen(text));
	const struct pcie_device *d = device(s, "01:00.0");
	const struct pcie_bar *b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, 1);
	assert_int_equal(s->ndev, 1);
	assert_int_equal(d->device, 0x2484);
	assert_int_equal(d->nbar, 2); /* no others: theirs are without numbers */
	assert_true(b && b->size == 8 * GIB && b->prefetchable);
	assert_int_equal(d->vram.bytes, 8 * GIB);
	pcie_snapshot_destroy(s);
}

/* Each range that a beginning of the text shows is one of the whole text. */
static void cuts(const char *text)
{
	struct pcie_snapshot *all = scanned(text, strlen(text));
	assert_non_null(all);
	for (size_t len = 1; len < strlen(text); len++) {
		struct pcie_snapshot *part = scanned(text, len);
		for (size_t i = 0; part && i < part->ndev; i++) {
			const struct pcie_device *a = &part->dev[i];
			int k = pcie_snapshot_find(all, a->addr);
			assert_true(k >= 0);
			const struct pcie_device *b = &all->dev[k];
			assert_true(!a->device || a->device == b->device);
			assert_true(!a->driver[0] || !strcmp(a->driver, b->driver));
			for (int n = 0; n < a->nbar; n++) {
				bool found = false;
				for (int m = 0; m < b->nbar; m++) {
					found = found || (a->bar[n].base == b->bar[m].base &&
								 a->bar[n].size == b->bar[m].size);
				}
				if (!found) {
					fail_msg("cut at %zu: 0x%llx, 0x%llx", len,
						(unsigned long long)a->bar[n].base,
						(unsigned long long)a->bar[n].size);
				}
			}
		}
		pcie_snapshot_destroy(part);
	}
	pcie_snapshot_destroy(all);
}

static void cut_texts_invent_nothing(void **state)
{
	(void)state;
	cuts("[    24.437] (--) PCI:*(11@0:0:0) 10de:2204:1462:3884 rev 161, Mem @ 0xfb000000/\n"
	     "16777216, 0x7800000000/34359738368, 0x8000000000/33554432, I/O @ 0x0000f000\n"
	     "/128, BIOS @ 0x\?\?\?\?\?\?\?\?/131072\n"
	     "[    24.437] (--) PCI: (0:8:0:0) 1002:6613:1682:7240 rev 0, Mem @ 0xd0000000/2684"
	     "35456, 0xfce00000/262144, I/O @ 0x0000d000/256\n"
	     "[    25.102] (II) NVIDIA(0): NVIDIA GPU x (GA102-A) at PCI:11:0:0 (GPU-0)\n"
	     "[    25.102] (--) NVIDIA(0): Memory: 25165824 kBytes\n");
	cuts("  *-display\n"
	     "       description: VGA compatible controller\n"
	     "       product: GA104 [GeForce RTX 3070] [10DE:2484]\n"
	     "       vendor: NVIDIA Corporation [10DE]\n"
	     "       bus info: pci@0000:01:00.0\n"
	     "       version: a1\n"
	     "       configuration: depth=32 driver=nvidia latency=0 mode=2560x1440\n"
	     "visual=truecolor xres=2560 yres=1440\n"
	     "       resources: iomemory:600-5ff irq:181 memory:62000000-62ffffff mem\n"
	     "ory:6000000000-61ffffffff memory:6200000000-6201ffffff ioport:5000(size=\n"
	     "128) memory:c0000-dffff\n");
}

static void nodes_of_lshw(void **state)
{
	(void)state;
	static const char text[] =
		"*-display UNCLAIMED\n"
		"     description: 3D controller\n"
		"     vendor: NVIDIA Corporation\n"
		"     bus info: pci@0000:02:00.0\n"
		"     configuration: latency=0\n"
		"     resources: memory:90000000-9fffffff ioport:4000(size=128) "
		"memory:a4080000-a40fffff\n"
		"*-pci\n"
		"     description: PCI bridge\n"
		"     bus info: pci@0000:00:01.0\n"
		"     configuration: driver=pcieport\n"
		"     resources: irq:24 ioport:4000(size=4096) ioport:90000000(size=268435456)\n";
	struct pcie_snapshot *s = scanned(text, strlen(text));
	const struct pcie_device *d = device(s, "02:00.0"), *b = device(s, "00:01.0");
	assert_int_equal(d->have_driver, PCIE_ABSENT);
	assert_int_equal(d->class_code, 0x030200);
	assert_int_equal(d->vendor, 0x10de);
	assert_int_equal(d->nbar, 2); /* the last may be the ROM */
	assert_int_equal(d->bar[0].size, 256 * MIB);
	assert_int_equal(d->bar[0].base, 0x90000000);
	assert_true(d->bar[1].io);
	assert_string_equal(b->driver, "pcieport");
	assert_int_equal(b->nbar, 0); /* windows and BARs in one list */
	pcie_snapshot_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lines_are),
		cmocka_unit_test(addresses_of_the_x_server),
		cmocka_unit_test(beside_lspci),
		cmocka_unit_test(cut_texts_invent_nothing),
		cmocka_unit_test(nodes_of_lshw),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
