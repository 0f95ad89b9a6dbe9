/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "paste_machine.h"

#include <inttypes.h>
#include <string.h>

uint64_t gen_random(uint64_t *seed)
{
	uint64_t z = *seed += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

unsigned gen_below(uint64_t *seed, unsigned n)
{
	return (unsigned)(gen_random(seed) % n);
}

/* Machines. */

static struct gen_dev *add(struct gen_machine *m, struct pcie_addr addr, int parent)
{
	struct gen_dev *d = &m->dev[m->n++];
	*d = (struct gen_dev){.addr = addr, .parent = parent, .mem_enable = true};
	return d;
}

static struct gen_bar *add_bar(
	struct gen_dev *d, int index, bool is64, bool pref, uint64_t base, uint64_t size)
{
	struct gen_bar *b = &d->bar[d->nbar++];
	*b = (struct gen_bar){
		.index = index, .is64 = is64, .pref = pref, .base = base, .size = size};
	return b;
}

/* An address that SIZE fits: below 4 GiB, or above where it does not fit there or by chance. */
static uint64_t place(uint64_t *seed, bool high, uint64_t size)
{
	uint64_t low = UINT64_C(0x80000000) + (gen_random(seed) & 0x6fffffff);
	uint64_t base =
		high ? UINT64_C(0x1000000000) + (gen_random(seed) & UINT64_C(0x7ffffffffff)) : low;
	base &= ~(size - 1);
	return base ? base : size;
}

static void bridge(struct gen_machine *m, uint64_t *seed, struct gen_dev *d, uint8_t secondary,
	uint8_t subordinate)
{
	(void)m;
	d->bridge = true;
	d->vendor = 0x8086;
	d->device = (uint16_t)(0x1000 + gen_below(seed, 0x8000));
	d->class_code = 0x0604;
	d->class_name = "PCI bridge";
	d->vendor_name = "Intel Corporation";
	d->name = gen_below(seed, 2) ? "Express Root Port #1" : "Device";
	d->driver = "pcieport";
	d->secondary = secondary;
	d->subordinate = subordinate;
	d->mem.open = gen_below(seed, 5) > 0;
	d->mem.base = place(seed, false, 0x100000);
	d->mem.limit = d->mem.base + ((uint64_t)gen_below(seed, 64) << 20) + 0xfffff;
	d->pref.open = gen_below(seed, 4) > 0;
	d->pref.base = place(seed, gen_below(seed, 3) > 0, 0x100000);
	d->pref.limit = d->pref.base + ((gen_random(seed) & 0xffff) << 20) + 0xfffff;
	if (d->pref.base < UINT32_MAX && d->pref.limit > UINT32_MAX) {
		d->pref.limit = UINT32_MAX;
	}
	d->io.open = gen_below(seed, 2);
	d->io.base = (uint64_t)(1 + gen_below(seed, 14)) << 12;
	d->io.limit = d->io.base + 0xfff;
	if (gen_below(seed, 6) == 0) { /* a switch port with registers of its own */
		bool high = gen_below(seed, 2);
		add_bar(d, 0, high, high, place(seed, high, 0x800000), 0x800000);
	}
}

static void link(struct gen_dev *d, uint64_t *seed)
{
	d->max_speed = 1 + gen_below(seed, 6);
	d->speed = 1 + gen_below(seed, d->max_speed);
	d->max_width = 1u << gen_below(seed, 5);
	d->width = gen_below(seed, 2) ? d->max_width : 1;
}

static enum gen_state state(uint64_t *seed)
{
	static const enum gen_state rare[] = {GEN_UNASSIGNED, GEN_IGNORED, GEN_VIRTUAL, GEN_WIPED};
	return gen_below(seed, 5) ? GEN_ASSIGNED : rare[gen_below(seed, 4)];
}

static void gpu(uint64_t *seed, struct gen_dev *d)
{
	static const struct {
		uint16_t vendor;
		const char *vendor_name, *name, *driver;
		int vram_bar, small_bar;
	} kind[] = {
		{0x10de, "NVIDIA Corporation", "GA102 [GeForce RTX 3090]", "nvidia", 1, 3},
		{0x10de, "NVIDIA Corporation", "GH100 [H100 PCIe]", "nvidia", 2, 4},
		{0x1002, "Advanced Micro Devices, Inc. [AMD/ATI]",
			"Navi 21 [Radeon RX 6800/6800 XT / 6900 XT]", "amdgpu", 0, 2},
		{0x8086, "Intel Corporation", "DG2 [Arc A770]", "xe", 2, 0},
	};
	unsigned k = gen_below(seed, 4);
	unsigned code = 8 + gen_below(seed, 10);

	d->gpu = true;
	d->vendor = kind[k].vendor;
	d->device = (uint16_t)(1 + gen_below(seed, 0xfffe));
	d->subvendor = 0x1043;
	d->subdevice = (uint16_t)(1 + gen_below(seed, 0xfffe));
	d->class_code = gen_below(seed, 3) ? 0x0300 : 0x0302;
	d->class_name = d->class_code == 0x0300 ? "VGA compatible controller" : "3D controller";
	d->vendor_name = kind[k].vendor_name;
	d->name = kind[k].name;
	d->driver = gen_below(seed, 4) ? kind[k].driver : NULL;
	d->revision = (uint8_t)gen_below(seed, 0xf0);
	d->mem_enable = gen_below(seed, 6) > 0;
	link(d, seed);

	uint64_t vram = UINT64_C(1) << (20 + code);
	bool high = vram > 0x10000000 || gen_below(seed, 2);
	for (int i = 0; i < 6; i++) {
		if (i == kind[k].vram_bar) {
			struct gen_bar *b =
				add_bar(d, i, true, true, place(seed, high, vram), vram);
			b->state = state(seed); /* drawn after its place, by every compiler */
		} else if (i == kind[k].small_bar) {
			uint64_t size = UINT64_C(1) << (21 + gen_below(seed, 5));
			bool pref = k != 3;
			struct gen_bar *b =
				add_bar(d, i, true, pref, place(seed, pref && high, size), size);
			b->state = state(seed);
		} else if (i == 5 && kind[k].small_bar == 4) {
			continue; /* its upper half */
		} else if (i == 5 && gen_below(seed, 2)) {
			add_bar(d, i, false, false, 0xe000, 128)->io = true;
		} else if (i == 5 || (i == 0 && kind[k].vram_bar == 1)) {
			add_bar(d, i, false, false, place(seed, false, 0x80000), 0x80000);
		}
	}
	if (gen_below(seed, 2)) {
		add_bar(d, 6, false, false, place(seed, false, 0x20000), 0x20000);
	}
	if (gen_below(seed, 4)) {
		unsigned largest = code + gen_below(seed, 3);
		d->nrebar = 1;
		d->rebar[0] = (struct gen_rebar){.bar = kind[k].vram_bar,
			.current = code,
			.supported = ((UINT64_C(1) << (largest + 1)) - 1) & ~UINT64_C(0x3f)};
		if (gen_below(seed, 2)) {
			d->rebar[d->nrebar++] = (struct gen_rebar){
				.bar = kind[k].small_bar, .current = 5, .supported = 1 << 5};
		}
	}
	if (gen_below(seed, 4) == 0) {
		d->nvf = 2;
		d->vf[0] = (struct gen_bar){.index = 0, .base = place(seed, false, 0x1000000)};
		d->vf[1] = (struct gen_bar){.index = 1,
			.is64 = true,
			.pref = true,
			.base = place(seed, true, UINT64_C(0x100000000))};
	}
}

static void other(uint64_t *seed, struct gen_dev *d)
{
	static const struct {
		uint16_t class_code;
		const char *class_name, *name, *driver;
	} kind[] = {
		{0x0108, "Non-Volatile memory controller", "NVMe SSD Controller PM9A1", "nvme"},
		{0x0200, "Ethernet controller", "RTL8111/8168/8411 PCI Express Gigabit", "r8169"},
		{0x0403, "Audio device", "High Definition Audio Controller", "snd_hda_intel"},
		{0x0c03, "USB controller", "USB 3.2 xHCI Host Controller", "xhci_hcd"},
		{0x0600, "Host bridge", "Host Bridge/DRAM Registers", NULL},
	};
	unsigned k = gen_below(seed, 5);
	d->vendor = 0x144d;
	d->device = (uint16_t)(1 + gen_below(seed, 0xfffe));
	d->class_code = kind[k].class_code;
	d->class_name = kind[k].class_name;
	d->vendor_name = "Samsung Electronics Co Ltd";
	d->name = kind[k].name;
	d->driver = kind[k].driver;
	if (d->class_code != 0x0600) {
		bool is64 = gen_below(seed, 2);
		uint64_t size = UINT64_C(1) << (12 + gen_below(seed, 8));
		add_bar(d, 0, is64, false, place(seed, is64 && gen_below(seed, 2), size), size);
		link(d, seed);
	}
}

void gen_machine(struct gen_machine *m, uint64_t *seed)
{
	uint32_t domain = gen_below(seed, 4) ? 0 : gen_below(seed, 2) ? 0x10000 : 0x000d;
	int ports = 1 + (int)gen_below(seed, 4);
	uint8_t bus = 1;

	*m = (struct gen_machine){.domains = domain != 0};
	struct pcie_addr root = {.domain = domain, .known = true};
	other(seed, add(m, root, -1));
	struct {
		int port;
		uint8_t bus;
		bool deep;
	} slot[4];
	for (int i = 0; i < ports; i++) {
		struct pcie_addr a = root;
		a.dev = (uint8_t)(1 + i);
		slot[i].port = m->n;
		slot[i].deep = gen_below(seed, 4) == 0;
		slot[i].bus = bus;
		uint8_t last = (uint8_t)(bus + (slot[i].deep ? 1 : 0));
		bridge(m, seed, add(m, a, -1), bus, last);
		bus = (uint8_t)(last + 1 + gen_below(seed, 0x20));
	}
	/* lspci lists by address: the buses one after another */
	for (int i = 0; i < ports; i++) {
		struct pcie_addr a = {.domain = domain, .bus = slot[i].bus, .known = true};
		int parent = slot[i].port;
		if (slot[i].deep) {
			parent = m->n;
			bridge(m, seed, add(m, a, slot[i].port), (uint8_t)(a.bus + 1),
				(uint8_t)(a.bus + 1));
			a.bus++;
		}
		if (i == 0 || gen_below(seed, 3)) {
			gpu(seed, add(m, a, parent));
		} else {
			other(seed, add(m, a, parent));
		}
		if (gen_below(seed, 2)) {
			a.fn = 1;
			other(seed, add(m, a, parent));
		}
	}
}

/* Config space. */

static void put16(uint8_t *b, size_t at, unsigned v)
{
	b[at] = (uint8_t)v;
	b[at + 1] = (uint8_t)(v >> 8);
}

static void put32(uint8_t *b, size_t at, uint64_t v)
{
	put16(b, at, (unsigned)v & 0xffff);
	put16(b, at + 2, (unsigned)(v >> 16) & 0xffff);
}

static void put_bar(uint8_t *b, size_t at, const struct gen_bar *bar)
{
	bool has_base = bar->state == GEN_ASSIGNED || bar->state == GEN_IGNORED;
	uint64_t base = has_base ? bar->base : 0;
	if (bar->state == GEN_VIRTUAL) {
		return; /* the register reads 0 */
	}
	put32(b, at, bar->io ? base | 1 : base | (bar->is64 ? 4 : 0) | (bar->pref ? 8 : 0));
	if (bar->is64) {
		put32(b, at + 4, base >> 32);
	}
}

static void put_windows(uint8_t *b, const struct gen_dev *d)
{
	b[0x0e] = 1;
	b[0x18] = d->addr.bus;
	b[0x19] = d->secondary;
	b[0x1a] = d->subordinate;
	b[0x1c] = d->io.open ? (uint8_t)(d->io.base >> 8) : 0xf0;
	b[0x1d] = d->io.open ? (uint8_t)(d->io.limit >> 8 & 0xf0) : 0;
	put16(b, 0x20, d->mem.open ? (unsigned)(d->mem.base >> 16) & 0xfff0 : 0xfff0);
	put16(b, 0x22, d->mem.open ? (unsigned)(d->mem.limit >> 16) & 0xfff0 : 0);
	put16(b, 0x24, (d->pref.open ? (unsigned)(d->pref.base >> 16) & 0xfff0 : 0xfff0) | 1);
	put16(b, 0x26, (d->pref.open ? (unsigned)(d->pref.limit >> 16) & 0xfff0 : 0) | 1);
	put32(b, 0x28, d->pref.open ? d->pref.base >> 32 : 0);
	put32(b, 0x2c, d->pref.open ? d->pref.limit >> 32 : 0);
}

static void put_extended(uint8_t *b, const struct gen_dev *d)
{
	put32(b, 0x100, 0x0001 | 1u << 16 | (d->nrebar ? 0xbb0u << 20 : d->nvf ? 0xc00u << 20 : 0));
	if (d->nrebar) {
		put32(b, 0xbb0, 0x0015 | 1u << 16 | (d->nvf ? 0xc00u << 20 : 0));
		for (int i = 0; i < d->nrebar; i++) {
			const struct gen_rebar *r = &d->rebar[i];
			put32(b, 0xbb4 + 8 * (size_t)i, r->supported << 4);
			put32(b, 0xbb8 + 8 * (size_t)i,
				(unsigned)r->bar | (unsigned)d->nrebar << 5 | r->current << 8);
		}
	}
	if (d->nvf) {
		put32(b, 0xc00, 0x0010 | 1u << 16);
		put16(b, 0xc0e, 32);
		for (int i = 0; i < d->nvf; i++) {
			put_bar(b, 0xc24 + 4 * (size_t)d->vf[i].index, &d->vf[i]);
		}
	}
}

void gen_config(const struct gen_dev *d, uint8_t bytes[static 4096])
{
	memset(bytes, 0, 4096);
	put16(bytes, 0, d->vendor);
	put16(bytes, 2, d->device);
	put16(bytes, 4, 4u | (d->mem_enable ? 2u : 0));
	put16(bytes, 6, 0x10);
	bytes[8] = d->revision;
	put16(bytes, 10, d->class_code);
	for (int i = 0; i < d->nbar; i++) {
		if (d->bar[i].index < 6) {
			put_bar(bytes, 0x10 + 4 * (size_t)d->bar[i].index, &d->bar[i]);
		} else {
			put32(bytes, 0x30, d->bar[i].base);
		}
	}
	if (d->bridge) {
		put_windows(bytes, d);
	} else {
		put16(bytes, 0x2c, d->subvendor);
		put16(bytes, 0x2e, d->subdevice);
	}
	bytes[0x34] = 0x60;
	bytes[0x60] = 1; /* power management, D0 */
	bytes[0x61] = d->max_speed ? 0x78 : 0;
	if (d->max_speed) {
		bytes[0x78] = 0x10;
		put16(bytes, 0x7a, d->bridge ? 0x42 : 0x02);
		put32(bytes, 0x84, d->max_speed | d->max_width << 4);
		put16(bytes, 0x8a, d->speed | d->width << 4);
		put_extended(bytes, d);
	}
}
