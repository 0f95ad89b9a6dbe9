/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two snapshots compared member by member, by tables: padding is not looked at, text
 * only up to its end, and a source by its name, not by its number.
 */
#include <stdio.h>
#include <string.h>

#include "pcie/snapshot.h"

enum type { PLAIN, TEXT, SOURCE };

struct member {
	const char *name;
	size_t offset, size;
	enum type type;
};

/* clang-format off */
#define M(s, m, t) {#m, offsetof(struct s, m), sizeof(((struct s *)0)->m), t}
/* clang-format on */

#define BAR(m) M(pcie_bar, m, PLAIN)
static const struct member bar_members[] = {
	BAR(have),
	M(pcie_bar, src, SOURCE),
	BAR(kind),
	BAR(index),
	BAR(io),
	BAR(is64),
	BAR(prefetchable),
	BAR(has_base),
	BAR(has_size),
	BAR(is64_known),
	BAR(assigned),
	BAR(decode_enabled),
	BAR(ignored),
	BAR(is_virtual),
	BAR(from_register),
	BAR(enhanced),
	BAR(base),
	BAR(size),
	BAR(reg.have),
	M(pcie_bar, reg.src, SOURCE),
	BAR(reg.io),
	BAR(reg.is64),
	BAR(reg.prefetchable),
	BAR(reg.base),
};

#define WINDOW(m) M(pcie_window, m, PLAIN)
static const struct member window_members[] = {
	WINDOW(have),
	M(pcie_window, src, SOURCE),
	WINDOW(is64),
	WINDOW(unassigned),
	WINDOW(from_register),
	WINDOW(base),
	WINDOW(limit),
	WINDOW(reg.have),
	M(pcie_window, reg.src, SOURCE),
	WINDOW(reg.is64),
	WINDOW(reg.base),
	WINDOW(reg.limit),
};

#define ENTRY(m) M(pcie_rebar_entry, m, PLAIN)
static const struct member entry_members[] = {
	ENTRY(bar),
	ENTRY(has_current),
	ENTRY(current),
	ENTRY(supported),
};

#define REBAR(m) M(pcie_rebar, m, PLAIN)
static const struct member rebar_members[] = {
	REBAR(have),
	M(pcie_rebar, src, SOURCE),
	REBAR(offset),
	REBAR(sizes_unknown),
	REBAR(null_cap),
	REBAR(count),
};

#define DEV(m) M(pcie_device, m, PLAIN)
static const struct member device_members[] = {
	DEV(addr.domain),
	DEV(addr.bus),
	DEV(addr.dev),
	DEV(addr.fn),
	DEV(addr.known),
	DEV(parent),
	M(pcie_device, root, TEXT),
	DEV(have_ids),
	DEV(have_subsystem),
	DEV(have_class),
	M(pcie_device, ids_src, SOURCE),
	DEV(vendor),
	DEV(device),
	DEV(subvendor),
	DEV(subdevice),
	DEV(class_code),
	DEV(revision),
	DEV(class_no_progif),
	M(pcie_device, name, TEXT),
	DEV(config_bytes),
	DEV(config_gone),
	DEV(config),
	DEV(capabilities),
	DEV(ext_capabilities),
	DEV(io_enable),
	DEV(mem_enable),
	DEV(bus_master),
	DEV(bars_complete),
	DEV(nbar),
	DEV(is_bridge),
	DEV(secondary),
	DEV(subordinate),
	DEV(port_type),
	DEV(hotplug_slot),
	DEV(removable),
	DEV(link.have),
	M(pcie_device, link.src, SOURCE),
	DEV(link.speed),
	DEV(link.max_speed),
	DEV(link.width),
	DEV(link.max_width),
	DEV(vram.have),
	M(pcie_device, vram.src, SOURCE),
	DEV(vram.bytes),
	M(pcie_device, vram.what, TEXT),
	DEV(vram.bar1),
	DEV(aer.have),
	M(pcie_device, aer.src, SOURCE),
	DEV(aer.correctable),
	DEV(aer.nonfatal),
	DEV(aer.fatal),
	DEV(acs.have),
	M(pcie_device, acs.src, SOURCE),
	DEV(acs.redirect),
	DEV(acs.control),
	DEV(have_driver),
	M(pcie_device, driver_src, SOURCE),
	M(pcie_device, driver, TEXT),
	DEV(noption),
	M(pcie_device, vbios, TEXT),
	DEV(have_numa),
	DEV(have_iommu),
	DEV(numa),
	DEV(iommu_group),
	DEV(boot_vga),
	DEV(is_vf),
	DEV(physfn),
	DEV(sriov_total),
	DEV(sriov_num),
	DEV(dma_mask_bits),
	M(pcie_device, power, TEXT),
	M(pcie_device, power_src, SOURCE),
	DEV(asleep),
	DEV(coherent),
	DEV(mig),
};

static const struct member option_members[] = {
	M(pcie_option, name, TEXT),
	M(pcie_option, value, TEXT),
	M(pcie_option, src, SOURCE),
};

#define APERTURE(m) M(pcie_aperture, m, PLAIN)
static const struct member aperture_members[] = {
	M(pcie_aperture, root, TEXT),
	APERTURE(base),
	APERTURE(limit),
	M(pcie_aperture, src, SOURCE),
	APERTURE(prefetchable),
	APERTURE(io),
	APERTURE(kernel_made),
	APERTURE(translated),
	APERTURE(ignored),
};

static const struct member iomem_members[] = {
	M(pcie_iomem, base, PLAIN),
	M(pcie_iomem, limit, PLAIN),
	M(pcie_iomem, parent, PLAIN),
	M(pcie_iomem, name, TEXT),
};

#define HISTORY(m) M(pcie_history, m, PLAIN)
static const struct member history_members[] = {
	HISTORY(addr.domain),
	HISTORY(addr.bus),
	HISTORY(addr.dev),
	HISTORY(addr.fn),
	HISTORY(addr.known),
	HISTORY(dev),
	M(pcie_history, resource, TEXT),
	HISTORY(bar),
	HISTORY(vf),
	HISTORY(window),
	HISTORY(io),
	HISTORY(is64),
	HISTORY(prefetchable),
	HISTORY(final),
	HISTORY(has_base),
	HISTORY(has_size),
	HISTORY(has_firmware),
	HISTORY(base),
	HISTORY(size),
	HISTORY(firmware_base),
	HISTORY(pinned),
	HISTORY(after_driver),
	HISTORY(nline),
};

#define SAID(m) M(pcie_statement, m, PLAIN)
static const struct member statement_members[] = {
	SAID(kind),
	SAID(addr.domain),
	SAID(addr.bus),
	SAID(addr.dev),
	SAID(addr.fn),
	SAID(addr.known),
	SAID(dev),
	SAID(value),
	SAID(line),
};

static const struct member note_members[] = {
	M(pcie_note, dev, PLAIN),
	M(pcie_note, text, TEXT),
};

static const struct member setup_members[] = {
	M(pcie_setup_item, name, TEXT),
	M(pcie_setup_item, value, PLAIN),
	M(pcie_setup_item, current, TEXT),
};

#define HOST(m) M(pcie_host, m, PLAIN)
static const struct member host_members[] = {
	HOST(have_kernel),
	HOST(have_arch),
	HOST(have_efi),
	HOST(have_phys_bits),
	HOST(have_dmi),
	HOST(have_virtual),
	HOST(have_cmdline),
	M(pcie_host, kernel, TEXT),
	M(pcie_host, arch, TEXT),
	HOST(efi),
	M(pcie_host, efi_src, SOURCE),
	HOST(phys_bits),
	M(pcie_host, bios_vendor, TEXT),
	M(pcie_host, bios_version, TEXT),
	M(pcie_host, bios_date, TEXT),
	M(pcie_host, board, TEXT),
	M(pcie_host, sys_vendor, TEXT),
	M(pcie_host, product, TEXT),
	HOST(is_virtual),
	M(pcie_host, virt, TEXT),
	M(pcie_host, cmdline, TEXT),
	HOST(have_setup),
	HOST(nsetup),
	HOST(have_rebar_uefi),
	HOST(rebar_uefi),
	HOST(have_firmware_time),
	HOST(firmware_ns),
};

#define SNAPSHOT(m) M(pcie_snapshot, m, PLAIN)
static const struct member snapshot_members[] = {
	SNAPSHOT(ndev),
	SNAPSHOT(naperture),
	SNAPSHOT(niomem),
	SNAPSHOT(have_iomem),
	SNAPSHOT(apertures_complete),
	SNAPSHOT(nhistory),
	SNAPSHOT(nstatement),
	SNAPSHOT(nline),
	SNAPSHOT(log),
	SNAPSHOT(boots),
	SNAPSHOT(nnote),
};

struct pair {
	const struct pcie_snapshot *a, *b;
	char *where;
	size_t size;
};

static bool same(const struct pair *p, const struct member *m, const char *a, const char *b)
{
	a += m->offset;
	b += m->offset;
	switch (m->type) {
	case TEXT:
		return !strncmp(a, b, m->size);
	case SOURCE: {
		pcie_src x = *(const pcie_src *)a, y = *(const pcie_src *)b;
		const char *xs = x < p->a->nsource ? p->a->source[x] : "";
		const char *ys = y < p->b->nsource ? p->b->source[y] : "";
		return !strcmp(xs, ys);
	}
	case PLAIN:
		break;
	}
	return !memcmp(a, b, m->size);
}

/* Compares COUNT elements; WHAT names one ("device 0000:01:00.0 bar"), N its number. */
static bool elements(const struct pair *p, const char *what, const struct member *m, size_t n,
	const void *a, const void *b, size_t count, size_t size)
{
	for (size_t i = 0; i < count; i++) {
		const char *x = (const char *)a + i * size, *y = (const char *)b + i * size;
		for (size_t k = 0; k < n; k++) {
			if (!same(p, &m[k], x, y)) {
				if (p->where) {
					snprintf(p->where, p->size, "%s %zu: %s", what, i,
						m[k].name);
				}
				return false;
			}
		}
	}
	return true;
}

#define ELEMENTS(p, what, table, a, b, n)                                                          \
	elements(p, what, table, ARRAY_LEN(table), a, b, n, sizeof(*(a)))

static bool rebars(const struct pair *p, const char *what, const struct pcie_rebar *a,
	const struct pcie_rebar *b)
{
	return ELEMENTS(p, what, rebar_members, a, b, 1) &&
	       ELEMENTS(p, what, entry_members, a->entry, b->entry, MIN(a->count, 6));
}

static bool devices(const struct pair *p, size_t i)
{
	const struct pcie_device *a = &p->a->dev[i], *b = &p->b->dev[i];
	char addr[PCIE_ADDR_MAX], what[64];
	snprintf(what, sizeof(what), "device %s", pcie_addr_format(a->addr, addr));
	return ELEMENTS(p, what, device_members, a, b, 1) &&
	       ELEMENTS(p, what, bar_members, a->bar, b->bar, a->nbar) &&
	       ELEMENTS(p, what, window_members, a->window, b->window, PCIE_WINDOWS) &&
	       ELEMENTS(p, what, option_members, a->option, b->option, a->noption) &&
	       rebars(p, what, &a->rebar, &b->rebar) && rebars(p, what, &a->vf_rebar, &b->vf_rebar);
}

static bool lines(const struct pair *p)
{
	for (size_t i = 0; i < p->a->nline; i++) {
		if (strcmp(p->a->line[i], p->b->line[i])) {
			if (p->where) {
				snprintf(p->where, p->size, "log line %zu", i);
			}
			return false;
		}
	}
	for (size_t i = 0; i < p->a->nhistory; i++) {
		const struct pcie_history *a = &p->a->history[i], *b = &p->b->history[i];
		if (a->nline && memcmp(a->line, b->line, a->nline * sizeof(*a->line))) {
			if (p->where) {
				snprintf(p->where, p->size, "history %zu: its lines", i);
			}
			return false;
		}
	}
	return true;
}

bool pcie_snapshot_equal(const struct pcie_snapshot *a, const struct pcie_snapshot *b, char *where,
	size_t where_size)
{
	const struct pair pair = {a, b, where, where_size}, *p = &pair;

	if (!ELEMENTS(p, "machine", snapshot_members, a, b, 1) ||
		!ELEMENTS(p, "host", host_members, &a->host, &b->host, 1) ||
		!ELEMENTS(p, "setup item", setup_members, a->host.setup, b->host.setup,
			MIN(a->host.nsetup, PCIE_SETUP_ITEMS))) {
		return false;
	}
	for (size_t i = 0; i < a->ndev; i++) {
		if (!devices(p, i)) {
			return false;
		}
	}
	return ELEMENTS(p, "aperture", aperture_members, a->aperture, b->aperture, a->naperture) &&
	       ELEMENTS(p, "iomem line", iomem_members, a->iomem, b->iomem, a->niomem) &&
	       ELEMENTS(p, "history", history_members, a->history, b->history, a->nhistory) &&
	       ELEMENTS(p, "statement", statement_members, a->statement, b->statement,
		       a->nstatement) &&
	       ELEMENTS(p, "note", note_members, a->note, b->note, a->nnote) && lines(p);
}
