/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pcie/iomem.h"
#include "pcie/path.h"

static struct pcie_addr at(uint32_t domain, int bus, int dev, int fn)
{
	return (struct pcie_addr){domain, (uint8_t)bus, (uint8_t)dev, (uint8_t)fn, true};
}

static struct pcie_device *bridge(
	struct pcie_snapshot *s, struct pcie_addr a, int secondary, int subordinate)
{
	struct pcie_device *d = pcie_snapshot_add(s, a);
	d->is_bridge = true;
	d->secondary = (uint8_t)secondary;
	d->subordinate = (uint8_t)subordinate;
	return d;
}

static void settling_keeps_references(void **state)
{
	(void)state;
	struct pcie_snapshot *s = pcie_snapshot_create("test");
	pcie_snapshot_add(s, (struct pcie_addr){0}); /* no address: last */
	pcie_snapshot_add(s, at(0x10000, 1, 0, 0));
	pcie_snapshot_add(s, at(0, 3, 0, 0));
	bridge(s, at(0, 1, 0, 0), 2, 3);
	bridge(s, at(0, 2, 0, 0), 3, 3);
	memcpy(bridge(s, at(0, 0, 1, 0), 1, 3)->root, "pci0000:00", 11);
	pcie_snapshot_note(s, 2, "about the endpoint");
	pcie_snapshot_note(s, 99, "about nobody");
	pcie_snapshot_settle(s);

	int gpu = pcie_snapshot_find(s, at(0, 3, 0, 0));
	assert_int_equal(gpu, 3);
	assert_int_equal(s->note[0].dev, gpu);
	assert_int_equal(s->note[1].dev, -1);
	int path[PCIE_PATH_MAX];
	assert_int_equal(pcie_path(s, gpu, path), 3);
	assert_int_equal(s->dev[path[0]].addr.dev, 1);
	assert_int_equal(s->dev[path[2]].addr.bus, 2);
	assert_string_equal(s->dev[gpu].root, "pci0000:00");
	assert_int_equal(s->dev[4].addr.domain, 0x10000);
	assert_int_equal(s->dev[4].parent, -1);
	assert_false(s->dev[5].addr.known);
	assert_int_equal(pcie_snapshot_find(s, at(0, 3, 0, 1)), -1);
	pcie_snapshot_destroy(s);
}

static void loops_are_cut(void **state)
{
	(void)state;
	struct pcie_snapshot *s = pcie_snapshot_create("test");
	for (int i = 0; i < 3; i++) {
		pcie_snapshot_add(s, at(0, i, 0, 0))->parent = (i + 1) % 3;
	}
	pcie_snapshot_settle(s);
	int path[PCIE_PATH_MAX];
	for (int i = 0; i < 3; i++) {
		assert_true(pcie_path(s, i, path) < PCIE_PATH_MAX);
	}
	assert_true(s->nnote > 0);
	pcie_snapshot_destroy(s);
}

static void many_are_found(void **state)
{
	(void)state;
	struct pcie_snapshot *s = pcie_snapshot_create("test");
	for (int i = 0; i < 65536; i += 7) {
		struct pcie_addr a = at((uint32_t)i % 3, i >> 8, i >> 3 & 31, i & 7);
		assert_int_equal(pcie_snapshot_find(s, a), -1);
		pcie_snapshot_add(s, a);
	}
	pcie_snapshot_settle(s);
	for (size_t i = 0; i < s->ndev; i++) {
		assert_int_equal(pcie_snapshot_find(s, s->dev[i].addr), i);
		assert_true(i == 0 || pcie_addr_compare(s->dev[i - 1].addr, s->dev[i].addr) < 0);
	}
	pcie_snapshot_destroy(s);
}

struct made {
	int index;
	uint64_t size; /* 0: wiped, only the register says it */
	bool io, is64, pref;
};

static int vram_of(const struct made *m, size_t n, int rebar_bar, uint64_t rebar_sizes)
{
	struct pcie_device d = {0};
	for (size_t i = 0; i < n; i++) {
		struct pcie_bar *b = pcie_device_bar(&d, PCIE_BAR_NORMAL, m[i].index);
		if (m[i].size) {
			b->have = PCIE_KNOWN;
			b->has_size = b->is64_known = true;
			b->size = m[i].size;
			b->io = m[i].io;
			b->is64 = m[i].is64;
			b->prefetchable = m[i].pref;
		} else {
			b->have = PCIE_ABSENT;
			b->reg = (struct pcie_bar_register){.have = PCIE_KNOWN,
				.io = m[i].io,
				.is64 = m[i].is64,
				.prefetchable = m[i].pref};
		}
	}
	if (rebar_sizes) {
		d.rebar.have = PCIE_KNOWN;
		d.rebar.count = 2;
		d.rebar.entry[0] = (struct pcie_rebar_entry){.bar = 0, .supported = 0x10};
		d.rebar.entry[1] = (struct pcie_rebar_entry){
			.bar = (uint8_t)rebar_bar, .supported = rebar_sizes};
	}
	int i = pcie_device_vram_bar(&d);
	return i < 0 ? -1 : d.bar[i].index;
}

static void vram_bar_by_nature(void **state)
{
	(void)state;
	static const struct made nvidia[] = {{0, 16 * MIB, false, false, false},
		{1, 256 * MIB, false, true, true}, {3, 32 * MIB, false, true, true},
		{5, 128, true, false, false}};
	static const struct made h200[] = {{0, 16 * MIB, false, true, true},
		{2, 256 * GIB, false, true, true}, {4, 32 * MIB, false, true, true}};
	static const struct made wiped[] = {{0, 16 * MIB, false, false, false},
		{1, 0, false, true, true}, {3, 32 * MIB, false, true, true}};
	static const struct made doorbell[] = {{0, 256 * MIB, false, true, true},
		{2, 0, false, true, true}, {5, MIB, false, false, false}};
	static const struct made arc[] = {
		{0, 16 * MIB, false, true, false}, {2, 256 * MIB, false, true, true}};
	static const struct made old[] = {
		{0, 64 * MIB, false, false, false}, {1, 32 * MIB, false, false, true}};
	static const struct made none[] = {
		{0, 64 * MIB, false, false, false}, {1, 128, true, false, false}};
	assert_int_equal(vram_of(nvidia, 4, 0, 0), 1);
	assert_int_equal(vram_of(nvidia, 4, 3, 0x4000), 3); /* the list names it */
	assert_int_equal(vram_of(h200, 3, 0, 0), 2);
	assert_int_equal(vram_of(wiped, 3, 0, 0), 1);
	assert_int_equal(vram_of(doorbell, 3, 0, 0), 0);
	assert_int_equal(vram_of(arc, 2, 0, 0), 2);
	assert_int_equal(vram_of(old, 2, 0, 0), 1);
	assert_int_equal(vram_of(none, 2, 0, 0), -1);
	assert_int_equal(vram_of(none, 0, 0, 0), -1);
}

static struct pcie_snapshot *two_devices(void)
{
	struct pcie_snapshot *s = pcie_snapshot_create("test");
	pcie_snapshot_source(s, "one");
	pcie_snapshot_add(s, at(0, 0, 0, 0));
	struct pcie_device *d = pcie_snapshot_add(s, at(0, 1, 0, 0));
	struct pcie_bar *b = pcie_device_bar(d, PCIE_BAR_NORMAL, 1);
	b->have = PCIE_KNOWN;
	pcie_snapshot_settle(s);
	return s;
}

/*
 * Turns over each byte of a device and asks whether the comparison sees it. Those that it
 * does not see are padding; a member that somebody adds and forgets there makes more.
 */
static void equal_sees_every_member(void **state)
{
	(void)state;
	struct pcie_snapshot *a = two_devices(), *b = two_devices();
	char where[160];
	assert_true(pcie_snapshot_equal(a, b, where, sizeof(where)));

	struct pcie_device *d = &b->dev[1];
	d->nbar = a->dev[1].nbar = PCIE_BARS;
	d->noption = a->dev[1].noption = PCIE_OPTIONS;
	d->rebar.count = a->dev[1].rebar.count = PCIE_REBAR_ENTRIES;
	d->vf_rebar.count = a->dev[1].vf_rebar.count = PCIE_REBAR_ENTRIES;
	size_t unseen = 0;
	for (size_t i = 0; i < sizeof(*d); i++) {
		char *byte = (char *)d + i, before = *byte;
		*byte = before ^ 1;
		unseen += pcie_snapshot_equal(a, b, where, sizeof(where));
		*byte = before;
	}
	/* Texts end at their first NUL: behind it nothing counts. */
	size_t text = 0;
	const size_t texts[] = {sizeof(d->root), sizeof(d->name), sizeof(d->driver),
		sizeof(d->vbios), sizeof(d->power), sizeof(d->vram.what)};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		text += texts[i] - 1;
	}
	text += PCIE_OPTIONS * (sizeof(d->option[0].name) + sizeof(d->option[0].value) - 2);
	size_t padding = sizeof(void *) == 8 ? 178 : unseen - text;
	assert_int_equal(unseen - text, padding);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
}

static void equal_says_where(void **state)
{
	(void)state;
	struct pcie_snapshot *a = two_devices(), *b = two_devices();
	char where[160];
	b->dev[1].bar[0].size = 7;
	assert_false(pcie_snapshot_equal(a, b, where, sizeof(where)));
	assert_string_equal(where, "device 0000:01:00.0 0: size");
	b->dev[1].bar[0].size = 0;

	/* Sources are compared by name, whatever their number. */
	struct pcie_snapshot *c = pcie_snapshot_create("other");
	pcie_snapshot_source(c, "zero");
	pcie_snapshot_source(c, "one");
	pcie_snapshot_add(c, at(0, 0, 0, 0));
	struct pcie_device *d = pcie_snapshot_add(c, at(0, 1, 0, 0));
	pcie_device_bar(d, PCIE_BAR_NORMAL, 1)->have = PCIE_KNOWN;
	pcie_snapshot_settle(c);
	a->dev[0].ids_src = 1;
	c->dev[0].ids_src = 2;
	assert_true(pcie_snapshot_equal(a, c, where, sizeof(where)));
	c->dev[0].ids_src = 1;
	assert_false(pcie_snapshot_equal(a, c, NULL, 0));
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
	pcie_snapshot_destroy(c);
}

static struct pcie_snapshot *iomem(const char *const *lines)
{
	struct pcie_snapshot *s = pcie_snapshot_create("test");
	for (; *lines; lines++) {
		pcie_iomem_line(s, *lines);
	}
	pcie_iomem_finish(s, pcie_snapshot_source(s, "proc/iomem"));
	return s;
}

static void apertures_from_iomem(void **state)
{
	(void)state;
	static const char *const text[] = {"00000000-00000fff : Reserved",
		"00001000-bfffffff : System RAM", "c0000000-efffffff : PCI Bus 0000:00",
		"c0000000-c0ffffff : PCI Bus 0000:01", /* indentation lost */
		"    c0000000-c0ffffff : 0000:01:00.0", "f0000000-f7ffffff : Reserved",
		"  f0000000-f7ffffff : PCI ECAM 0000 [bus 00-7f]",
		"fd500000-fd50930f : fd500000.pcie pcie@7d500000",
		"600000000-63fffffff : pcie@7d500000", "  600000000-6000fffff : PCI Bus 0001:01",
		"4000000000-7fffffffff : PCI Bus 10000:e0", "no such line", "12-zz : x",
		"ffffffffffffffffffff-1 : x", NULL};
	struct pcie_snapshot *s = iomem(text);
	assert_int_equal(s->have_iomem, PCIE_KNOWN);
	assert_int_equal(s->niomem, 11);
	assert_int_equal(s->iomem[4].parent, 3);
	assert_int_equal(s->iomem[3].parent, 2);
	assert_int_equal(s->iomem[8].parent, -1);
	assert_true(s->apertures_complete);
	assert_int_equal(s->naperture, 3);
	assert_string_equal(s->aperture[0].root, "pci0000:00");
	assert_true(s->aperture[0].limit == 0xefffffff);
	assert_string_equal(s->aperture[1].root, "");
	assert_true(s->aperture[1].base == UINT64_C(0x600000000));
	assert_string_equal(s->aperture[2].root, "pci10000:e0");
	pcie_snapshot_destroy(s);

	static const char *const hidden[] = {
		"00000000-00000000 : System RAM", "00000000-00000000 : PCI Bus 0000:00", NULL};
	s = iomem(hidden);
	assert_int_equal(s->have_iomem, PCIE_DENIED);
	assert_int_equal(s->niomem, 0);
	assert_int_equal(s->naperture, 0);
	assert_false(s->apertures_complete);
	pcie_snapshot_destroy(s);

	static const char *const part[] = {"4000000000-7fffffffff : PCI Bus 0000:00", NULL};
	s = iomem(part);
	assert_int_equal(s->naperture, 1);
	assert_false(s->apertures_complete);
	pcie_snapshot_destroy(s);
}

static void slot_of_a_card_with_a_switch(void **state)
{
	(void)state;
	static const struct {
		uint16_t vendor[4]; /* root port, upstream, downstream, GPU */
		int slot;
	} t[] = {
		{{0x1022, 0x1002, 0x1002, 0x1002}, 1}, /* RDNA */
		{{0x8086, 0x8086, 0x8086, 0x8086}, 1}, /* Arc */
		{{0x8086, 0x10b5, 0x10b5, 0x10de}, 3}, /* a server's switch */
	};
	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct pcie_snapshot *s = pcie_snapshot_create("test");
		for (int n = 0; n < 4; n++) {
			struct pcie_device *d = n < 3 ? bridge(s, at(0, n, 0, 0), n + 1, 3)
						      : pcie_snapshot_add(s, at(0, n, 0, 0));
			d->have_ids = PCIE_KNOWN;
			d->vendor = t[i].vendor[n];
		}
		pcie_snapshot_settle(s);
		assert_int_equal(pcie_slot_device(s, 3), t[i].slot);
		pcie_snapshot_destroy(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settling_keeps_references),
		cmocka_unit_test(loops_are_cut),
		cmocka_unit_test(many_are_found),
		cmocka_unit_test(vram_bar_by_nature),
		cmocka_unit_test(equal_sees_every_member),
		cmocka_unit_test(equal_says_where),
		cmocka_unit_test(apertures_from_iomem),
		cmocka_unit_test(slot_of_a_card_with_a_switch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
