/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/qemu_info.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "pcie/chars.h"
#include "pcie/lspci_class.h"

static bool scan_start(const char *s, struct pcie_addr *ret)
{
	unsigned bus, dev, fn;
	int n = 0;
	if (sscanf(pcie_skip(s), "Bus %3u, device %3u, function %2u:%n", &bus, &dev, &fn, &n) !=
			3 ||
		n == 0 || bus > 255 || dev > 31 || fn > 7) {
		return false;
	}
	*ret = (struct pcie_addr){
		.bus = (uint8_t)bus, .dev = (uint8_t)dev, .fn = (uint8_t)fn, .known = true};
	return true;
}

bool pcie_qemu_info_is_start(const char *s)
{
	struct pcie_addr a;
	s = pcie_skip(s);
	return s[0] == 'B' && s[1] == 'u' && s[2] == 's' && s[3] == ' ' && scan_start(s, &a);
}

/* QEMU's own names where they differ from pci.ids. */
static int class_of(const char *name, size_t len)
{
	static const struct {
		const char *name;
		int code;
	} own[] = {
		{"Display controller", 0x0380},
		{"VGA controller", 0x0300},
		{"XGA controller", 0x0301},
	};
	unsigned code;
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		if (strlen(own[i].name) == len && !memcmp(own[i].name, name, len)) {
			return own[i].code;
		}
	}
	if (sscanf(name, "Class %4x", &code) == 1) {
		return (int)code;
	}
	return pcie_class_from_name(name, len);
}

/* "VGA controller: PCI device 1234:1111" */
static bool take_device(struct pcie_device *d, const char *s, pcie_src src)
{
	unsigned vendor, device;
	const char *colon = strstr(s, ": PCI device ");
	if (!colon || sscanf(colon, ": PCI device %4x:%4x", &vendor, &device) != 2) {
		return false;
	}
	d->have_ids = PCIE_KNOWN;
	d->ids_src = src;
	d->vendor = (uint16_t)vendor;
	d->device = (uint16_t)device;
	int code = class_of(s, (size_t)(colon - s));
	if (code >= 0) {
		d->have_class = PCIE_KNOWN;
		d->class_code = (uint32_t)code << 8;
		d->class_no_progif = true;
		d->is_bridge = code == 0x0604;
	}
	return true;
}

/* "BAR0: 32 bit prefetchable memory at 0xfd000000 [0xfdffffff]." */
static bool take_bar(struct pcie_device *d, const char *s, pcie_src src)
{
	unsigned index;
	int n = 0;
	uint64_t base, end;

	if (sscanf(s, "BAR%1u: %n", &index, &n) != 1 || n == 0 || index > 6) {
		return false;
	}
	s += n;
	const char *at = strstr(s, " at 0x");
	if (!at || sscanf(at, " at 0x%" SCNx64 " [0x%" SCNx64 "]", &base, &end) != 2) {
		return false;
	}
	struct pcie_bar b = {
		.have = PCIE_KNOWN,
		.src = src,
		.kind = index == 6 ? PCIE_BAR_ROM : PCIE_BAR_NORMAL,
		.index = (int8_t)index,
		.io = !strncmp(s, "I/O", 3),
		.is64 = !strncmp(s, "64 bit", 6),
		.prefetchable = strstr(s, "prefetchable") != NULL,
		.is64_known = true,
	};
	/* not mapped: base is all ones, end wraps around to the length less two */
	bool mapped = base != UINT64_MAX && !(b.io && base == UINT32_MAX);
	b.size = end - base + 1;
	b.has_size = b.size > 0;
	b.has_base = mapped;
	b.base = mapped ? base : 0;
	b.assigned = mapped ? PCIE_YES : PCIE_NO;
	struct pcie_bar *slot = pcie_device_bar(d, b.kind, b.index);
	if (slot) {
		*slot = b;
	}
	return true;
}

/* "memory range [0xfe800000, 0xfe9fffff]" and the like, on a bridge */
static bool take_window(struct pcie_device *d, const char *s, pcie_src src)
{
	static const struct {
		const char *word;
		enum pcie_window_kind kind;
	} window[] = {
		{"IO range [", PCIE_WINDOW_IO},
		{"memory range [", PCIE_WINDOW_MEM},
		{"prefetchable memory range [", PCIE_WINDOW_PREF},
	};
	uint64_t base, limit;

	for (size_t i = 0; i < ARRAY_LEN(window); i++) {
		size_t n = strlen(window[i].word);
		if (strncmp(s, window[i].word, n) ||
			sscanf(s + n, "0x%" SCNx64 ", 0x%" SCNx64 "]", &base, &limit) != 2) {
			continue;
		}
		struct pcie_window *w = &d->window[window[i].kind];
		w->have = limit < base ? PCIE_ABSENT : PCIE_KNOWN;
		w->src = src;
		w->base = base;
		w->limit = limit;
		w->is64 = window[i].kind == PCIE_WINDOW_PREF && limit > UINT32_MAX;
		return true;
	}
	return false;
}

static bool take_bus(struct pcie_device *d, const char *s)
{
	unsigned bus;
	bool secondary = sscanf(s, "secondary bus %3u", &bus) == 1;
	if ((!secondary && sscanf(s, "subordinate bus %3u", &bus) != 1) || bus > 255) {
		return false;
	}
	d->is_bridge = true;
	*(secondary ? &d->secondary : &d->subordinate) = (uint8_t)bus;
	return true;
}

static bool take_subsystem(struct pcie_device *d, const char *s)
{
	unsigned vendor, device;
	if (sscanf(s, "PCI subsystem %4x:%4x", &vendor, &device) != 2) {
		return false;
	}
	d->have_subsystem = PCIE_KNOWN;
	d->subvendor = (uint16_t)vendor;
	d->subdevice = (uint16_t)device;
	return true;
}

size_t pcie_qemu_info_parse(struct pcie_snapshot *s, const struct pcie_lines *lines, pcie_src src)
{
	struct pcie_addr a;
	size_t said = 0;
	int dev = -1;

	for (size_t i = 0; i < lines->n; i++) {
		const char *t = pcie_skip(lines->line[i].s);
		if (scan_start(t, &a)) {
			dev = pcie_snapshot_find(s, a);
			if (dev < 0) {
				pcie_snapshot_add(s, a);
				dev = (int)s->ndev - 1;
			}
			said++;
			continue;
		}
		if (dev < 0) {
			continue;
		}
		struct pcie_device *d = &s->dev[dev];
		said += take_device(d, t, src) || take_subsystem(d, t) || take_bar(d, t, src) ||
			take_bus(d, t) || take_window(d, t, src);
	}
	return said;
}
