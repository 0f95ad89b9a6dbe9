/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/config.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "pcie/regs.h"

/* A register file that ends somewhere: what lies behind reads as not there. */
struct bytes {
	const uint8_t *p;
	size_t len;
};

static bool has(struct bytes b, size_t off, size_t n)
{
	return off + n <= b.len;
}

static uint32_t get8(struct bytes b, size_t off)
{
	return has(b, off, 1) ? b.p[off] : 0;
}

static uint32_t get16(struct bytes b, size_t off)
{
	return get8(b, off) | get8(b, off + 1) << 8;
}

static uint32_t get32(struct bytes b, size_t off)
{
	return get16(b, off) | get16(b, off + 2) << 16;
}

/* Walks the two lists; the bitmap ends every loop. */
struct walk {
	size_t at;
	uint32_t seen[PCIE_CONFIG_EXT_SIZE / 4 / 32];
};

static bool visit(struct walk *w)
{
	size_t slot = w->at / 4;
	uint32_t bit = UINT32_C(1) << slot % 32;
	if (w->seen[slot / 32] & bit) {
		return false;
	}
	w->seen[slot / 32] |= bit;
	return true;
}

static void decode_ids(struct pcie_device *d, struct bytes b, unsigned type, pcie_src src)
{
	if (!has(b, 0, 16)) {
		return;
	}
	/* A virtual function's registers read ffff:ffff (PCIe 9.3.4.1): its ids come from sysfs. */
	if (get16(b, REG_VENDOR) != 0xffff) {
		d->have_ids = PCIE_KNOWN;
		d->ids_src = src;
		d->vendor = (uint16_t)get16(b, REG_VENDOR);
		d->device = (uint16_t)get16(b, REG_DEVICE);
	}
	d->have_class = PCIE_KNOWN;
	d->class_code = get8(b, REG_CLASS) | get16(b, REG_CLASS + 1) << 8;
	d->class_no_progif = false;
	d->revision = (uint8_t)get8(b, REG_REVISION);
	if (type == HEADER_NORMAL && has(b, REG_SUBVENDOR, 4)) {
		d->have_subsystem = PCIE_KNOWN;
		d->subvendor = (uint16_t)get16(b, REG_SUBVENDOR);
		d->subdevice = (uint16_t)get16(b, REG_SUBDEVICE);
	}
	uint32_t command = get16(b, REG_COMMAND);
	d->io_enable = command & COMMAND_IO ? PCIE_YES : PCIE_NO;
	d->mem_enable = command & COMMAND_MEM ? PCIE_YES : PCIE_NO;
	d->bus_master = command & COMMAND_MASTER ? PCIE_YES : PCIE_NO;
}

/* COUNT registers at OFF: BARs of a function, or SR-IOV's for its virtual functions. */
static void decode_bars(struct pcie_device *d, struct bytes b, size_t off, int count,
	enum pcie_bar_kind kind, pcie_src src)
{
	for (int i = 0; i < count; i++) {
		size_t at = off + 4 * (size_t)i;
		if (!has(b, at, 4)) {
			return;
		}
		struct pcie_bar *bar = pcie_device_bar(d, kind, i);
		if (!bar) {
			return;
		}
		uint32_t v = get32(b, at);
		struct pcie_bar_register reg = {.have = v ? PCIE_KNOWN : PCIE_ABSENT, .src = src};
		if (v & BAR_IO) {
			reg.io = true;
			reg.base = v & ~(uint32_t)BAR_FLAGS_IO;
		} else {
			reg.prefetchable = v & BAR_PREFETCH;
			reg.base = v & ~(uint32_t)BAR_FLAGS_MEM;
			reg.is64 = (v & BAR_TYPE_MASK) == BAR_TYPE_64 && i + 1 < count;
		}
		if (reg.is64) {
			if (!has(b, at + 4, 4)) {
				return;
			}
			reg.base |= (uint64_t)get32(b, at + 4) << 32;
			i++; /* the upper half takes the next register */
		}
		bar->reg = reg;
	}
}

static void decode_rom(struct pcie_device *d, struct bytes b, size_t off, pcie_src src)
{
	struct pcie_bar *bar = has(b, off, 4) ? pcie_device_bar(d, PCIE_BAR_ROM, 6) : NULL;
	if (!bar) {
		return;
	}
	uint64_t base = get32(b, off) >> ROM_ADDRESS_SHIFT << ROM_ADDRESS_SHIFT;
	bar->reg = (struct pcie_bar_register){
		.have = base ? PCIE_KNOWN : PCIE_ABSENT,
		.src = src,
		.base = base,
	};
}

static void set_window(
	struct pcie_window *w, bool zero, bool is64, uint64_t base, uint64_t limit, pcie_src src)
{
	/* All zero: not implemented, or never set up. Limit below base: closed (Bridge 3.2.5). */
	w->reg.have = zero || limit < base ? PCIE_ABSENT : PCIE_KNOWN;
	w->reg.src = src;
	w->reg.is64 = is64;
	w->reg.base = base;
	w->reg.limit = limit;
}

static void decode_bridge(struct pcie_device *d, struct bytes b, pcie_src src)
{
	d->is_bridge = true;
	if (!has(b, 0, PCIE_CONFIG_HEADER)) {
		return;
	}
	d->secondary = (uint8_t)get8(b, REG_SECONDARY_BUS);
	d->subordinate = (uint8_t)get8(b, REG_SUBORDINATE_BUS);

	uint64_t base = get8(b, REG_IO_BASE), limit = get8(b, REG_IO_LIMIT);
	bool wide = (base & WINDOW_TYPE_MASK) == WINDOW_WIDE;
	bool zero = !(base >> 4) && !(limit >> 4);
	base = base >> 4 << 12;
	limit = limit >> 4 << 12 | 0xfff;
	if (wide) {
		zero = zero && !get32(b, REG_IO_BASE_HIGH);
		base |= (uint64_t)get16(b, REG_IO_BASE_HIGH) << 16;
		limit |= (uint64_t)get16(b, REG_IO_LIMIT_HIGH) << 16;
	}
	set_window(&d->window[PCIE_WINDOW_IO], zero, false, base, limit, src);

	base = (uint64_t)get16(b, REG_MEM_BASE) >> 4 << 20;
	limit = (uint64_t)get16(b, REG_MEM_LIMIT) >> 4 << 20 | 0xfffff;
	zero = !get32(b, REG_MEM_BASE);
	set_window(&d->window[PCIE_WINDOW_MEM], zero, false, base, limit, src);

	wide = (get16(b, REG_PREF_BASE) & WINDOW_TYPE_MASK) == WINDOW_WIDE;
	base = (uint64_t)get16(b, REG_PREF_BASE) >> 4 << 20;
	limit = (uint64_t)get16(b, REG_PREF_LIMIT) >> 4 << 20 | 0xfffff;
	zero = !base && limit == 0xfffff;
	if (wide) {
		zero = zero && !get32(b, REG_PREF_BASE_HIGH) && !get32(b, REG_PREF_LIMIT_HIGH);
		base |= (uint64_t)get32(b, REG_PREF_BASE_HIGH) << 32;
		limit |= (uint64_t)get32(b, REG_PREF_LIMIT_HIGH) << 32;
	}
	set_window(&d->window[PCIE_WINDOW_PREF], zero, wide, base, limit, src);
}

static enum pcie_port_type port_type(uint32_t code)
{
	static const enum pcie_port_type type[16] = {
		[0] = PCIE_PORT_ENDPOINT,
		[1] = PCIE_PORT_ENDPOINT, /* legacy */
		[4] = PCIE_PORT_ROOT,
		[5] = PCIE_PORT_UPSTREAM,
		[6] = PCIE_PORT_DOWNSTREAM,
		[7] = PCIE_PORT_BRIDGE, /* PCIe to PCI */
		[8] = PCIE_PORT_BRIDGE, /* PCI to PCIe */
		[9] = PCIE_PORT_RC_ENDPOINT,
	};
	return type[code & 15];
}

static void decode_express(struct pcie_device *d, struct bytes b, size_t at, pcie_src src)
{
	uint32_t flags = get16(b, at + EXPRESS_FLAGS);
	d->port_type = port_type(flags >> EXPRESS_TYPE_SHIFT);
	if (flags & EXPRESS_SLOT && has(b, at + EXPRESS_SLOT_CAP, 4)) {
		d->hotplug_slot = get32(b, at + EXPRESS_SLOT_CAP) & SLOT_HOTPLUG;
	}
	/* An endpoint inside the root complex has no link (7.5.3.6). */
	if (d->port_type == PCIE_PORT_RC_ENDPOINT || !has(b, at + EXPRESS_LINK_STATUS, 2)) {
		return;
	}
	uint32_t cap = get32(b, at + EXPRESS_LINK_CAP);
	uint32_t status = get16(b, at + EXPRESS_LINK_STATUS);
	struct pcie_link link = {
		.have = PCIE_KNOWN,
		.src = src,
		.speed = pcie_link_speed(status & LINK_SPEED_MASK),
		.max_speed = pcie_link_speed(cap & LINK_SPEED_MASK),
		.width = (uint8_t)(status >> LINK_WIDTH_SHIFT & LINK_WIDTH_MASK),
		.max_width = (uint8_t)(cap >> LINK_WIDTH_SHIFT & LINK_WIDTH_MASK),
	};
	/* A port of a virtual switch may have a status and claim no capability. */
	if (link.max_speed || link.max_width || link.speed || link.width) {
		d->link = link;
	}
}

/* Marks the BARs whose addresses stand in the capability and not in their registers. */
static void decode_enhanced(struct pcie_device *d, struct bytes b, size_t at, unsigned type)
{
	unsigned n = get8(b, at + 2) & EA_ENTRIES_MASK;
	size_t entry = at + (type == HEADER_BRIDGE ? 8 : 4);
	for (unsigned i = 0; i < n && has(b, entry, 4); i++) {
		uint32_t v = get32(b, entry);
		unsigned bei = v >> EA_BEI_SHIFT & EA_BEI_MASK;
		struct pcie_bar *bar =
			bei < 6 ? pcie_device_bar(d, PCIE_BAR_NORMAL, (int)bei) : NULL;
		if (bar) {
			bar->enhanced = true;
		}
		entry += 4 * (1 + (size_t)(v & EA_SIZE_MASK));
	}
}

static void decode_capabilities(struct pcie_device *d, struct bytes b, unsigned type, pcie_src src)
{
	if (!(get16(b, REG_STATUS) & STATUS_CAP_LIST)) {
		d->capabilities = PCIE_ABSENT;
		return;
	}
	struct walk w = {0};
	b.len = MIN(b.len, (size_t)PCIE_CONFIG_SIZE); /* none reaches into the extended space */
	w.at = get8(b, type == HEADER_CARDBUS ? REG_CARDBUS_CAP_LIST : REG_CAP_LIST) & 0xfc;
	while (w.at >= PCIE_CONFIG_HEADER && visit(&w)) {
		if (!has(b, w.at, 2)) {
			return; /* the list goes on where the bytes end */
		}
		switch (get8(b, w.at)) {
		case CAP_EXPRESS:
			decode_express(d, b, w.at, src);
			break;
		case CAP_ENHANCED_ALLOCATION:
			decode_enhanced(d, b, w.at, type);
			break;
		case CAP_SUBSYSTEM:
			if (type == HEADER_BRIDGE && has(b, w.at, 8)) {
				d->have_subsystem = PCIE_KNOWN;
				d->subvendor = (uint16_t)get16(b, w.at + 4);
				d->subdevice = (uint16_t)get16(b, w.at + 6);
			}
			break;
		case CAP_POWER:
			if (has(b, w.at + POWER_CONTROL, 2)) {
				static const char *const state[] = {"D0", "D1", "D2", "D3hot"};
				text_copy(d->power, sizeof(d->power),
					state[get16(b, w.at + POWER_CONTROL) & POWER_STATE_MASK]);
				d->power_src = src;
			}
			break;
		case 0xff:
			return; /* the device answered no more: nothing behind is believed */
		default:
			break;
		}
		w.at = get8(b, w.at + 1) & 0xfc;
	}
	d->capabilities = PCIE_KNOWN;
}

static void decode_rebar(struct pcie_snapshot *s, int dev, struct pcie_rebar *r, struct bytes b,
	size_t at, pcie_src src)
{
	uint32_t control = get32(b, at + REBAR_CONTROL);
	unsigned count = control >> REBAR_COUNT_SHIFT & REBAR_COUNT_MASK;

	*r = (struct pcie_rebar){
		.have = PCIE_KNOWN,
		.src = src,
		.offset = (uint16_t)at,
		.null_cap = r->null_cap,
	};
	if (count < 1 || count > PCIE_REBAR_ENTRIES || !has(b, at, 4 + 8 * (size_t)count)) {
		r->sizes_unknown = true;
		pcie_snapshot_note(s, dev,
			"the Resizable BAR capability at 0x%zx is damaged: %u entries", at, count);
		return;
	}
	for (unsigned k = 0; k < count; k++) {
		uint32_t cap = get32(b, at + REBAR_CAP + 8 * (size_t)k);
		control = get32(b, at + REBAR_CONTROL + 8 * (size_t)k);
		unsigned size = control >> REBAR_SIZE_SHIFT & REBAR_SIZE_MASK;
		r->entry[r->count++] = (struct pcie_rebar_entry){
			.bar = control & REBAR_BAR_MASK,
			.has_current = size <= REBAR_SIZE_MAX,
			.current = size <= REBAR_SIZE_MAX
					   ? UINT64_C(1) << (size + PCIE_REBAR_UNIT_SHIFT)
					   : 0,
			.supported =
				cap >> REBAR_CAP_SHIFT | (uint64_t)(control >> REBAR_EXTENDED_SHIFT)
								 << REBAR_EXTENDED_FIRST,
		};
	}
}

static void decode_extended(struct pcie_snapshot *s, int dev, struct bytes b, pcie_src src)
{
	struct pcie_device *d = &s->dev[dev];
	bool aer = false, rebar = false, vf_rebar = false, null_cap = false;
	struct walk w = {.at = EXT_FIRST};
	uint32_t header = get32(b, w.at);

	while (header && visit(&w)) {
		switch (header & EXT_ID_MASK) {
		case EXT_CAP_NULL:
			null_cap = true;
			break;
		case EXT_CAP_AER:
			aer = true;
			break;
		case EXT_CAP_ACS:
			if (has(b, w.at + ACS_CONTROL, 2)) {
				uint32_t control = get16(b, w.at + ACS_CONTROL);
				d->acs = (struct pcie_acs){
					.have = PCIE_KNOWN,
					.src = src,
					.redirect = control & ACS_REDIRECT,
					.control = (uint16_t)control,
				};
			}
			break;
		case EXT_CAP_SRIOV:
			d->sriov_total = (uint16_t)get16(b, w.at + SRIOV_TOTAL);
			d->sriov_num = (uint16_t)get16(b, w.at + SRIOV_NUM);
			decode_bars(d, b, w.at + SRIOV_BAR0, 6, PCIE_BAR_VF, src);
			break;
		case EXT_CAP_REBAR:
			rebar = true;
			decode_rebar(s, dev, &d->rebar, b, w.at, src);
			break;
		case EXT_CAP_VF_REBAR:
			vf_rebar = true;
			decode_rebar(s, dev, &d->vf_rebar, b, w.at, src);
			break;
		default:
			break;
		}
		w.at = header >> EXT_NEXT_SHIFT & 0xffc;
		if (w.at < EXT_FIRST) {
			break; /* 0 ends the list (7.6.3); so does what points in front of it */
		}
		if (!has(b, w.at, 4)) {
			return;
		}
		header = get32(b, w.at);
		if (header == UINT32_MAX) {
			return;
		}
	}

	d->ext_capabilities = PCIE_KNOWN;
	d->rebar.null_cap = null_cap;
	if (!rebar) {
		d->rebar.have = PCIE_ABSENT;
		d->rebar.src = src;
	}
	if (!vf_rebar) {
		d->vf_rebar.have = PCIE_ABSENT;
		d->vf_rebar.src = src;
	}
	if (!aer) {
		d->aer.have = PCIE_ABSENT;
		d->aer.src = src;
	}
}

static bool all_ones(struct bytes b)
{
	for (size_t i = 0; i < b.len && i < PCIE_CONFIG_HEADER; i++) {
		if (b.p[i] != 0xff) {
			return false;
		}
	}
	return b.len >= 4;
}

void pcie_config_decode(
	struct pcie_snapshot *s, int dev, const uint8_t *bytes, size_t len, pcie_src src)
{
	struct pcie_device *d = &s->dev[dev];
	struct bytes b = {bytes, MIN(len, (size_t)PCIE_CONFIG_EXT_SIZE)};

	d->config_bytes = (uint16_t)b.len;
	d->config_gone = all_ones(b);
	if (d->config_gone || b.len == 0) {
		return;
	}
	d->config = PCIE_KNOWN;

	unsigned type = get8(b, REG_HEADER_TYPE) & HEADER_TYPE_MASK;
	decode_ids(d, b, type, src);
	switch (type) {
	case HEADER_NORMAL:
		decode_bars(d, b, REG_BAR0, 6, PCIE_BAR_NORMAL, src);
		decode_rom(d, b, REG_ROM, src);
		break;
	case HEADER_BRIDGE:
		decode_bars(d, b, REG_BAR0, 2, PCIE_BAR_NORMAL, src);
		decode_rom(d, b, REG_BRIDGE_ROM, src);
		decode_bridge(d, b, src);
		break;
	case HEADER_CARDBUS:
		decode_bars(d, b, REG_BAR0, 1, PCIE_BAR_NORMAL, src);
		break;
	default:
		pcie_snapshot_note(s, dev, "config space has an unknown header type, 0x%02x", type);
		return;
	}
	decode_capabilities(d, b, type, src);

	/* All ones at its start: nobody answers there, which says nothing of a list. */
	if (has(b, EXT_FIRST, 4) && get32(b, EXT_FIRST) != UINT32_MAX) {
		decode_extended(s, dev, b, src);
	} else if (d->capabilities != PCIE_UNKNOWN && d->port_type == PCIE_PORT_NONE) {
		/* Conventional PCI has no extended config space; PCI-X mode 2 is not met any more.
		 */
		d->ext_capabilities = d->rebar.have = d->vf_rebar.have = PCIE_ABSENT;
		d->rebar.src = d->vf_rebar.src = src;
	}
}

void pcie_config_mask(uint8_t *bytes, size_t len)
{
	struct bytes b = {bytes, MIN(len, (size_t)PCIE_CONFIG_EXT_SIZE)};
	unsigned type = get8(b, REG_HEADER_TYPE) & HEADER_TYPE_MASK;

	if (all_ones(b)) {
		return;
	}
	struct walk w = {0};
	if (get16(b, REG_STATUS) & STATUS_CAP_LIST) {
		w.at = get8(b, type == HEADER_CARDBUS ? REG_CARDBUS_CAP_LIST : REG_CAP_LIST) & 0xfc;
	}
	size_t end = MIN(b.len, (size_t)PCIE_CONFIG_SIZE);
	for (; w.at >= PCIE_CONFIG_HEADER && w.at + 2 <= end && visit(&w);
		w.at = get8(b, w.at + 1) & 0xfc) {
		if (get8(b, w.at) == CAP_VPD) {
			memset(bytes + w.at + 2, 0, MIN((size_t)6, end - w.at - 2));
		}
	}

	w = (struct walk){.at = EXT_FIRST};
	while (w.at >= EXT_FIRST && has(b, w.at, 4) && visit(&w)) {
		uint32_t header = get32(b, w.at);
		if ((header & EXT_ID_MASK) == EXT_CAP_SERIAL && header != UINT32_MAX) {
			memset(bytes + w.at + 4, 0, MIN((size_t)8, b.len - w.at - 4));
		}
		w.at = header >> EXT_NEXT_SHIFT & 0xffc;
	}
}
