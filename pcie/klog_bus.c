/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Discovery of devices, bridges and their windows, links and errors. */
#include "base/macros.h"
#include "base/text.h"
#include "pcie/klog_state.h"

/* "PCIe Root Port" and the like behind the class. */
static enum pcie_port_type port_type(const char *s)
{
	static const struct {
		const char *words;
		enum pcie_port_type type;
	} types[] = {
		{"PCIe Endpoint", PCIE_PORT_ENDPOINT},
		{"PCIe Legacy Endpoint", PCIE_PORT_ENDPOINT},
		{"PCIe Root Port", PCIE_PORT_ROOT},
		{"PCIe Switch Upstream Port", PCIE_PORT_UPSTREAM},
		{"PCIe Switch Downstream Port", PCIE_PORT_DOWNSTREAM},
		{"PCIe to PCI/PCI-X bridge", PCIE_PORT_BRIDGE},
		{"PCI/PCI-X to PCIe bridge", PCIE_PORT_BRIDGE},
		{"PCIe Root Complex Integrated Endpoint", PCIE_PORT_RC_ENDPOINT},
	};
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (!strncmp(s, types[i].words, strlen(types[i].words))) {
			return types[i].type;
		}
	}
	return PCIE_PORT_NONE;
}

/* "[10de:2204] type 00 class 0x030000 PCIe Legacy Endpoint". */
static bool discovered(struct klog *k, uint32_t dev, const char *s)
{
	uint64_t v[4];
	if (klog_match(s, "[%x:%x] type %x class %x", v, 4) != 4 || v[0] > 0xffff ||
		v[1] > 0xffff || v[2] > 0xff || v[3] > 0xffffff) {
		return false;
	}
	/* Found at an earlier time than before: an earlier time of a later boot. */
	uint64_t now = k->msg.stamp.has_time ? k->msg.stamp.usec + 1 : 0;
	if (!k->new_boot && now && now < k->dev[dev].found) {
		struct pcie_addr a = klog_dev(k, dev)->addr;
		klog_start(k, KLOG_MARK_LIST);
		dev = klog_device(k, a);
		if (dev == KLOG_NO_DEVICE) {
			return true;
		}
	}
	/* Found again after a removal; at the same time it is the same line, pasted twice. */
	k->dev[dev].again = !now || now != k->dev[dev].found;
	k->dev[dev].found = now;

	struct pcie_device *d = klog_dev(k, dev);
	d->have_ids = d->have_class = PCIE_KNOWN;
	d->ids_src = k->src;
	d->vendor = (uint16_t)v[0];
	d->device = (uint16_t)v[1];
	d->class_code = (uint32_t)v[3];
	d->is_bridge = (v[2] & 0x7f) == 1;
	d->have_driver = PCIE_UNKNOWN;
	const char *type = strstr(s, " PCI");
	if (type) {
		d->port_type = port_type(type + 1);
	}
	return true;
}

/* The kernel lists the windows that a bridge has; those it leaves out, it has not. */
static void list_begins(struct klog *k, uint32_t dev)
{
	k->bridge = dev;
	k->list_order = k->order;
	for (int slot = KLOG_WINDOW_IO; slot < KLOG_SLOTS; slot++) {
		struct klog_resource *r = klog_find_resource(k, dev, slot);
		if (r) {
			r->listed = false;
		}
	}
}

void klog_window_listed(struct klog *k, uint32_t dev, int slot, const struct klog_range *g)
{
	klog_found_again(k, dev);
	struct klog_resource *r = klog_resource(k, dev, slot);
	k->used = true;
	klog_dev(k, dev)->is_bridge = true;
	if (k->msg.last && r->state > KLOG_UNSET && r->state < KLOG_ASSIGNED) {
		return; /* it may be cut before ": failed to assign" */
	}
	r->listed = true;
	r->io = g->space == KLOG_IO;
	r->is64 = g->is64;
	r->pref = g->pref;
	r->typed = true;
	r->order = k->order;
	klog_cite(k, &r->cites);
	if (g->disabled) {
		r->state = KLOG_ABSENT;
		r->has_base = false;
		return;
	}
	if (!g->has_base) { /* "[mem size 0x…]": wanted, without an address */
		r->has_base = false;
		r->has_size = true;
		r->size = g->size;
		if (r->state < KLOG_NO_SPACE || r->state >= KLOG_ASSIGNED) {
			r->state = KLOG_FAILED;
		}
		return;
	}
	bool fresh = r->state == KLOG_NOTHING;
	r->has_size = g->size != 0;
	r->size = g->size;
	/* A bridge fresh from reset reads "[mem 0x00000000-0x000fffff]". */
	r->has_base = g->base != 0 && g->size != 0;
	r->base = r->has_base ? g->base : 0;
	if (fresh && r->has_base && klog_dev(k, dev)->have_class == PCIE_KNOWN) {
		r->has_firmware = true;
		r->firmware_base = g->base;
	}
	if (!r->has_base) {
		r->state = KLOG_UNSET;
	} else if (fresh || r->state <= KLOG_UNSET) {
		r->state = KLOG_FIRMWARE;
	} else {
		r->state = KLOG_ASSIGNED;
	}
}

/* Ends the list of a bridge: another message came. */
static void list_ends(struct klog *k)
{
	uint32_t dev = k->bridge;
	k->bridge = KLOG_NO_DEVICE;
	bool any = false;
	for (int slot = KLOG_WINDOW_IO; slot < KLOG_SLOTS; slot++) {
		struct klog_resource *r = klog_find_resource(k, dev, slot);
		any |= r && r->listed;
	}
	for (int slot = KLOG_WINDOW_IO; any && slot < KLOG_SLOTS; slot++) {
		struct klog_resource *r = klog_find_resource(k, dev, slot);
		if (r && !r->listed && r->order < k->list_order && r->state > KLOG_NOTHING &&
			(r->state < KLOG_NO_SPACE || r->state > KLOG_CANT_CLAIM)) {
			r->state = KLOG_ABSENT;
			r->has_base = false;
		}
	}
}

void klog_list_check(struct klog *k, uint32_t dev, const char *s)
{
	if (k->bridge != KLOG_NO_DEVICE &&
		(dev != k->bridge || strncmp(s, "bridge window [", 15) != 0)) {
		list_ends(k);
	}
}

/* "PCI bridge to [bus 02-04]", "PCI bridge, secondary bus 0000:02" of 2.6. */
static bool bridge_to(struct klog *k, uint32_t dev, const char *s)
{
	struct klog_range g;
	struct pcie_device *d = klog_dev(k, dev);
	uint64_t v[2];

	if (klog_eat(&s, "PCI bridge to ") || klog_eat(&s, "CardBus bridge to ")) {
		if (!klog_range(&s, &g) || g.space != KLOG_BUS || !g.has_base) {
			return false;
		}
	} else if (klog_match(s, "PCI bridge, secondary bus %x:%x", v, 2) == 2) {
		g = (struct klog_range){.base = v[1], .limit = v[1]};
	} else {
		return false;
	}
	d->is_bridge = true;
	if (g.base && g.base <= 0xff && g.limit <= 0xff && g.limit >= g.base) {
		d->secondary = (uint8_t)g.base;
		d->subordinate = (uint8_t)g.limit;
		k->behind[g.base] = dev;
	}
	list_begins(k, dev);
	return true;
}

/* GT/s of "2.5", "8", "16.0" in units of 100 MT/s. */
static uint16_t speed_of(const char **p)
{
	uint64_t whole, tenth = 0;
	if (!klog_dec(p, &whole) || whole > 1000) {
		return 0;
	}
	if (**p == '.') {
		++*p;
		if (klog_digit(**p)) {
			tenth = (uint64_t)(**p - '0');
			while (klog_digit(**p)) {
				++*p;
			}
		}
	}
	return (uint16_t)(whole * 10 + tenth);
}

/* "8.0 GT/s PCIe x4", "2.5 GT/s x4": both, or false. */
static bool link_of(const char *s, uint16_t *ret_speed, uint8_t *ret_width)
{
	uint64_t width;
	*ret_speed = speed_of(&s);
	klog_blanks(&s);
	if (!*ret_speed || !klog_eat(&s, "GT/s ")) {
		return false;
	}
	klog_blanks(&s);
	if (klog_eat(&s, "PCIe ")) {
		klog_blanks(&s);
	}
	if (!klog_eat(&s, "x") || !klog_dec(&s, &width) || width == 0 || width > 32) {
		return false;
	}
	*ret_width = (uint8_t)width;
	return true;
}

/*
 * "63.008 Gb/s available PCIe bandwidth, limited by 8 GT/s x8 link at 0000:00:01.0 (capable of
 * 126.016 Gb/s with 8 GT/s x16 link)": the second link is DEV's own capability, the first the
 * one that the named bridge ran at.
 */
static bool bandwidth(struct klog *k, uint32_t dev, const char *s)
{
	uint64_t whole, milli = 0;
	if (!klog_dec(&s, &whole) || *s++ != '.') {
		return false;
	}
	const char *digits = s;
	if (!klog_dec(&s, &milli) || s - digits != 3 ||
		!klog_eat(&s, " Gb/s available PCIe bandwidth")) {
		return false;
	}
	uint16_t speed;
	uint8_t width;
	const char *with = strstr(s, " with ");
	struct pcie_device *d = klog_dev(k, dev);
	if (with && link_of(with + 6, &speed, &width)) {
		d->link.have = PCIE_KNOWN;
		d->link.src = k->src;
		d->link.max_speed = speed;
		d->link.max_width = width;
	}
	const char *by = strstr(s, "limited by ");
	if (!by) {
		/* " (8.0 GT/s PCIe x16 link)": nothing on the way is slower than the device. */
		if (klog_eat(&s, " (") && link_of(s, &speed, &width)) {
			d->link = (struct pcie_link){.have = PCIE_KNOWN,
				.src = k->src,
				.speed = speed,
				.max_speed = speed,
				.width = width,
				.max_width = width};
			k->used = true;
		}
		return true;
	}
	struct pcie_addr a;
	if (link_of(by + 11, &speed, &width) && klog_find_addr(by, &a)) {
		uint32_t hop = klog_device(k, a);
		if (hop != KLOG_NO_DEVICE) {
			struct pcie_link *link = &klog_dev(k, hop)->link;
			link->have = PCIE_KNOWN;
			link->src = k->src;
			link->speed = speed;
			link->width = width;
		}
	}
	klog_say(k, dev, PCIE_SAID_LINK, (whole * 1000 + milli) * 1000);
	return true;
}

/* "PCIe Bus Error: severity=Corrected, …" with or without "AER: " before it. */
static bool bus_error(struct klog *k, uint32_t dev, const char *s)
{
	if (klog_eat(&s, "AER: ") && strncmp(s, "PCIe Bus Error", 14) != 0) {
		return true; /* the port's report; the device's own line follows */
	}
	if (!klog_eat(&s, "PCIe Bus Error: severity=")) {
		return false;
	}
	struct pcie_aer *aer = &klog_dev(k, dev)->aer;
	unsigned severity = 0;
	if (klog_eat(&s, "Corrected")) {
		severity = 1;
		aer->correctable++;
	} else if (strstr(s, "(Non-Fatal)")) {
		severity = 2;
		aer->nonfatal++;
	} else if (strstr(s, "(Fatal)")) {
		severity = 3;
		aer->fatal++;
	}
	if (severity) {
		aer->have = PCIE_KNOWN;
		aer->src = k->src;
		klog_say(k, dev, PCIE_SAID_AER, severity);
	}
	return true;
}

/* "vgaarb: setting as boot VGA device", older "vgaarb: setting as boot device". */
static bool vgaarb(struct klog *k, uint32_t dev, const char *s)
{
	if (!klog_eat(&s, "vgaarb: ")) {
		return false;
	}
	if (klog_eat(&s, "setting as boot ")) {
		if (k->boot_vga != KLOG_NO_DEVICE) { /* "(overriding previous)" */
			klog_dev(k, k->boot_vga)->boot_vga = PCIE_NO;
		}
		k->boot_vga = dev;
		klog_dev(k, dev)->boot_vga = PCIE_YES;
		k->used = true;
	}
	return true;
}

/* Messages of any device that name a fact or a fault. */
static bool condition(struct klog *k, uint32_t dev, const char *s)
{
	static const struct {
		const char *words;
		enum pcie_statement_kind kind;
	} rows[] = {
		{"devices behind bridge are unusable", PCIE_SAID_NO_BUS_NUMBERS},
		{"can't handle bridge window above 4GB", PCIE_SAID_NO_64BIT},
		{"Unable to change power state from D3cold", PCIE_SAID_FELL_OFF},
		{"can't change power state from D3cold", PCIE_SAID_FELL_OFF},
		{"can't enable device", PCIE_SAID_CANT_ENABLE},
		{"device not available (can't reserve", PCIE_SAID_CANT_ENABLE},
		{"can't find PCI Express capability", PCIE_SAID_OTHER},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].words[0] == s[0] && !strncmp(s, rows[i].words, strlen(rows[i].words))) {
			klog_say(k, dev, rows[i].kind, 0);
			if (rows[i].kind == PCIE_SAID_FELL_OFF) {
				struct pcie_device *d = klog_dev(k, dev);
				text_copy(d->power, sizeof(d->power), "D3cold");
				d->power_src = k->src;
			}
			return true;
		}
	}
	return false;
}

static void iommu_group(struct klog *k, uint32_t dev, uint64_t group)
{
	struct pcie_device *d = klog_dev(k, dev);
	if (group < 1 << 24) {
		d->have_iommu = PCIE_KNOWN;
		d->iommu_group = (int)group;
		k->used = true;
	}
}

/* "iommu: Adding device 0000:01:00.0 to group 1" of 4.x and older. */
bool klog_iommu_message(struct klog *k, const char *s)
{
	uint64_t v;
	struct pcie_addr a;
	if (!klog_eat(&s, "iommu: Adding device ") || !klog_find_addr(s, &a)) {
		return false;
	}
	s = strstr(s, " to group ");
	if (s && klog_match(s, " to group %u", &v, 1) == 1) {
		uint32_t dev = klog_device(k, a);
		if (dev != KLOG_NO_DEVICE) {
			iommu_group(k, dev, v);
		}
	}
	return true;
}

bool klog_device_message(struct klog *k, uint32_t dev, const char *s)
{
	uint64_t v;
	struct pcie_device *d = klog_dev(k, dev);

	if (klog_digit(s[0])) {
		return bandwidth(k, dev, s);
	}
	switch (s[0]) {
	case '[':
		return discovered(k, dev, s);
	case 'P':
		return bridge_to(k, dev, s) || bus_error(k, dev, s);
	case 'C':
		return bridge_to(k, dev, s);
	case 'A':
		if (klog_match(s, "Adding to iommu group %u", &v, 1) == 1) {
			iommu_group(k, dev, v);
			return true;
		}
		return bus_error(k, dev, s);
	case 'v':
		return vgaarb(k, dev, s);
	case 'p':
		if (!strncmp(s, "pciehp: Slot #", 14)) {
			d->hotplug_slot |= strstr(s, "HotPlug+") != NULL;
			return true;
		}
		if (klog_match(s, "probe with driver %w failed with error -%u", &v, 1) == 1) {
			d->have_driver = PCIE_ABSENT;
			klog_say(k, dev, PCIE_SAID_PROBE_FAILED, v);
			return true;
		}
		return false;
	default:
		return condition(k, dev, s);
	}
}
