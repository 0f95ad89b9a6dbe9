/* SPDX-License-Identifier: GPL-2.0-or-later */
/* NVIDIA's kernel module: lines that begin with "NVRM: ". */
#include "base/macros.h"
#include "base/text.h"
#include "pcie/klog_state.h"

/*
 * "PCI:0000:01:00.0", "PCI:0000:01:00", and before 2012 "PCI:0001:00.0" and "PCI:1:0:0", where
 * the first number is a bus. Also "(0001:00)" behind "Xid ".
 */
static bool nvrm_addr(const char *s, struct pcie_addr *ret)
{
	const char *p = strstr(s, "PCI:");
	if (p) {
		p += 4;
	} else if ((p = strstr(s, "Xid ("))) {
		p += 5;
	} else {
		return klog_find_addr(s, ret);
	}
	if (pcie_addr_scan(p, ret) > 8) { /* with a domain */
		return true;
	}
	uint64_t v[3];
	const char *first = p;
	if (!klog_hex(&p, &v[0])) {
		return false;
	}
	size_t wide = (size_t)(p - first);
	if (*p++ != ':' || !klog_hex(&p, &v[1])) {
		return false;
	}
	struct pcie_addr a = {.known = true};
	if (*p == '.' || (*p == ':' && wide < 4)) { /* bus:device.function */
		p++;
		if (!klog_hex(&p, &v[2])) {
			return false;
		}
	} else if (*p == ':') { /* domain:bus:device */
		p++;
		a.domain = (uint32_t)v[0];
		v[0] = v[1];
		if (!klog_hex(&p, &v[1])) {
			return false;
		}
		v[2] = 0;
	} else {
		v[2] = 0;
	}
	if (v[0] > 0xff || v[1] > 31 || v[2] > 7) {
		return false;
	}
	a.bus = (uint8_t)v[0];
	a.dev = (uint8_t)v[1];
	a.fn = (uint8_t)v[2];
	*ret = a;
	return true;
}

/* "BAR1 is 0M @ 0x0 (PCI:0000:01:00.0)". */
static bool invalid_bar(struct klog *k, uint32_t dev, const char *s)
{
	uint64_t v[3];
	if (klog_match(s, "BAR%u is %uM @ 0x%x", v, 3) != 3 || v[0] > 5) {
		return false;
	}
	if (v[1] == 0 || v[2] == 0) {
		k->dev[dev].invalid_bars |= (uint8_t)(1 << v[0]);
	}
	klog_say(k, dev, PCIE_SAID_INVALID_REGION, v[0]);
	return true;
}

static bool xid(struct klog *k, uint32_t dev, const char *s)
{
	uint64_t v;
	const char *close = strchr(s, ')');
	if (strncmp(s, "Xid (", 5) != 0 || !close || klog_match(close, "): %u", &v, 1) != 1) {
		return false;
	}
	klog_say(k, dev, PCIE_SAID_XID, v);
	if (v == 79) {
		klog_say(k, dev, PCIE_SAID_FELL_OFF, v);
	}
	return true;
}

/* "(PCI ID: 10de:2204)" */
static void pci_id(struct klog *k, uint32_t dev, const char *s)
{
	uint64_t v[2];
	struct pcie_device *d = klog_dev(k, dev);
	s = strstr(s, "(PCI ID: ");
	if (s && klog_match(s, "(PCI ID: %x:%x)", v, 2) == 2 && v[0] <= 0xffff && v[1] <= 0xffff &&
		d->have_ids != PCIE_KNOWN) {
		d->have_ids = PCIE_KNOWN;
		d->ids_src = k->src;
		d->vendor = (uint16_t)v[0];
		d->device = (uint16_t)v[1];
		k->used = true;
	}
}

static const struct {
	const char *words; /* anywhere in the line */
	enum pcie_statement_kind kind;
} said[] = {
	{"No address space to allocate resized BAR", PCIE_SAID_RESIZE_FAILED},
	{"BAR resizing failed", PCIE_SAID_RESIZE_FAILED},
	{"Failed to re-allocate BAR", PCIE_SAID_RESIZE_FAILED},
	{"Fatal Error while attempting to resize PCIe BARs", PCIE_SAID_RESIZE_FAILED},
	{"Attempting to resize BAR", PCIE_SAID_RESIZE_TRY},
	{"RmInitAdapter failed", PCIE_SAID_INIT_FAILED},
	{"rm_init_adapter failed", PCIE_SAID_INIT_FAILED},
	{"fallen off the bus", PCIE_SAID_FELL_OFF},
};

bool klog_nvrm_message(struct klog *k, const char *s)
{
	struct pcie_addr a;
	uint32_t dev = KLOG_NO_DEVICE;

	if (klog_eat(&s, "This PCI I/O region assigned to your NVIDIA device is invalid")) {
		k->used = true;
		return true; /* the next line says which */
	}
	if (nvrm_addr(s, &a)) {
		dev = k->nvrm = klog_device(k, a);
		if (dev != KLOG_NO_DEVICE) {
			klog_driver_speaks(k, dev, KLOG_NVIDIA);
			klog_tried_driver(k, dev, "nvidia", 6);
		}
	} else if (k->nvrm < k->snap->ndev && !k->new_boot) {
		dev = k->nvrm; /* "NVRM: (PCI ID: …)" goes on with the line before */
	}
	const enum pcie_statement_kind none = PCIE_SAID_OTHER;
	enum pcie_statement_kind kind = none;
	for (size_t i = 0; i < ARRAY_LEN(said) && kind == none; i++) {
		kind = strstr(s, said[i].words) ? said[i].kind : none;
	}
	if (dev == KLOG_NO_DEVICE) {
		if (kind == none && strncmp(s, "BAR", 3) != 0 && strncmp(s, "Xid (", 5) != 0) {
			return false;
		}
		dev = klog_orphan(k, KLOG_NVIDIA);
		if (dev == KLOG_NO_DEVICE) {
			return false;
		}
	}
	if (invalid_bar(k, dev, s) || xid(k, dev, s)) {
		return true;
	}
	pci_id(k, dev, s);
	if (kind != none) {
		uint64_t tried = kind == PCIE_SAID_RESIZE_FAILED ? klog_resize_failed(k, dev) : 0;
		klog_say(k, dev, kind, tried);
	}
	return true;
}
