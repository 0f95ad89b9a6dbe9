/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/facts.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "pcie/names.h"
#include "pcie/path.h"

enum { COLUMN = 11 };

typedef unsigned long long ull;

static void draw_identity(
	const struct pcie_snapshot *s, const struct pcie_device *d, struct tui_pen *p)
{
	const char *class = pcie_class_name(d);
	tui_pen_wrap(p, 0, TUI_STRONG, *d->name ? d->name : "(no name known)");
	if (d->have_ids == PCIE_KNOWN) {
		tui_pen_pair(p, 0, COLUMN, "ids", TUI_TEXT, "%04x:%04x%s%s", d->vendor, d->device,
			*class ? ", " : "", class);
	}
	if (d->have_class == PCIE_KNOWN) {
		tui_pen_pair(p, 0, COLUMN, "class", TUI_TEXT, "%06x", d->class_code);
	}
	if (d->have_driver == PCIE_KNOWN) {
		tui_pen_pair(p, 0, COLUMN, "driver", TUI_TEXT, "%s", d->driver);
	} else if (d->have_driver == PCIE_ABSENT) {
		tui_pen_pair(p, 0, COLUMN, "driver", TUI_NOTE, "none bound");
	}
	for (int i = 0; i < d->noption; i++) {
		tui_pen_pair(p, 0, COLUMN, i ? "" : "options", TUI_TEXT, "%s=%s", d->option[i].name,
			d->option[i].value);
	}
	if (d->vram.have == PCIE_KNOWN) {
		char t[TEXT_SIZE_MAX];
		tui_pen_pair(p, 0, COLUMN, "VRAM", TUI_TEXT, "%s (%s)", text_size(d->vram.bytes, t),
			d->vram.what);
	}
	if (d->is_bridge) {
		tui_pen_pair(p, 0, COLUMN, "port", TUI_TEXT, "%s, buses %02x to %02x",
			pcie_port_name(d), d->secondary, d->subordinate);
	}
	if (d->config_gone) {
		tui_pen_pair(
			p, 0, COLUMN, "config", TUI_BAD, "reads all ones: gone or powered off");
	} else if (d->config == PCIE_DENIED) {
		tui_pen_pair(p, 0, COLUMN, "config", TUI_NOTE,
			"only %u bytes are shown to this user", d->config_bytes);
	}
	(void)s;
}

static void draw_link(const struct pcie_device *d, struct tui_pen *p)
{
	const struct pcie_link *l = &d->link;
	if (l->have != PCIE_KNOWN) {
		return;
	}
	char now[40] = "?", most[40] = "?";
	if (l->speed) {
		snprintf(now, sizeof(now), "%.4g GT/s x%u", l->speed / 10.0, l->width);
	}
	if (l->max_speed) {
		snprintf(most, sizeof(most), "%.4g GT/s x%u", l->max_speed / 10.0, l->max_width);
	}
	tui_pen_pair(p, 0, COLUMN, "link", TUI_TEXT, "%s of %s", now, most);
}

static void bar_flags(const struct pcie_bar *b, char *buf, size_t size)
{
	if (b->io) {
		snprintf(buf, size, "I/O");
	} else {
		snprintf(buf, size, "%s%s%s", b->is64 ? "64-bit" : "32-bit",
			b->prefetchable ? " pref" : "",
			b->has_base && b->base >= 4 * GIB ? ", above 4 GiB" : "");
	}
}

/* The register beside the kernel's view, where it says something else. */
static bool register_differs(const struct pcie_snapshot *s, int dev, const struct pcie_bar *b)
{
	uint64_t bus;
	if (b->reg.have != PCIE_KNOWN || b->kind == PCIE_BAR_VF) {
		return false;
	}
	uint64_t kernel = b->has_base ? b->base : 0;
	if (b->reg.base == kernel) {
		return false;
	}
	return !(pcie_bus_address(s, dev, kernel, &bus) && bus == b->reg.base);
}

static void draw_bar(
	const struct pcie_snapshot *s, int dev, const struct pcie_bar *b, struct tui_pen *p)
{
	char name[24], flags[48], t[TEXT_SIZE_MAX];
	if (b->kind == PCIE_BAR_ROM) {
		snprintf(name, sizeof(name), "ROM");
	} else {
		snprintf(name, sizeof(name), "%sBAR %d", b->kind == PCIE_BAR_VF ? "VF " : "",
			b->index);
	}
	if (b->have != PCIE_KNOWN) {
		if (b->have == PCIE_DENIED) {
			tui_pen_pair(p, 0, COLUMN, name, TUI_UNSURE, "not shown to this user");
		}
		return;
	}
	bar_flags(b, flags, sizeof(flags));
	const char *size = b->has_size ? text_size(b->size, t) : "size not known";
	if (b->assigned == PCIE_NO || !b->has_base) {
		tui_pen_pair(p, 0, COLUMN, name, TUI_BAD, "%s, no address", size);
	} else {
		tui_pen_pair(p, 0, COLUMN, name, TUI_TEXT, "%s at 0x%llx, %s", size, (ull)b->base,
			flags);
	}
	if (register_differs(s, dev, b)) {
		tui_pen_pair(
			p, 0, COLUMN, "", TUI_NOTE, "the register holds 0x%llx", (ull)b->reg.base);
	}
}

static void draw_rebar(const struct pcie_rebar *r, const char *name, struct tui_pen *p)
{
	if (r->have == PCIE_DENIED) {
		tui_pen_pair(p, 0, COLUMN, name, TUI_UNSURE, "not shown to this user");
	}
	for (int i = 0; r->have == PCIE_KNOWN && i < r->count; i++) {
		const struct pcie_rebar_entry *e = &r->entry[i];
		char now[TEXT_SIZE_MAX], t[TEXT_SIZE_MAX], sizes[200] = "";
		size_t n = 0;
		for (int bit = 0; bit < 44 && n + 1 < sizeof(sizes); bit++) {
			if (e->supported >> bit & 1) {
				uint64_t bytes = (uint64_t)1 << (bit + PCIE_REBAR_UNIT_SHIFT);
				n += (size_t)snprintf(sizes + n, sizeof(sizes) - n, "%s%s",
					n ? ", " : "", text_size(bytes, t));
			}
		}
		tui_pen_pair(p, 0, COLUMN, i ? "" : name, TUI_TEXT, "BAR %u is %s; can be %s",
			e->bar, e->has_current ? text_size(e->current, now) : "of unknown size",
			n ? sizes : "what nobody said");
	}
}

static void draw_windows(const struct pcie_device *d, struct tui_pen *p)
{
	static const char *const names[] = {"I/O window", "mem window", "pref window"};
	char t[TEXT_SIZE_MAX];
	for (int i = 0; d->is_bridge && i < PCIE_WINDOWS; i++) {
		const struct pcie_window *w = &d->window[i];
		if (w->have == PCIE_KNOWN && w->unassigned) {
			tui_pen_pair(p, 0, COLUMN + 2, names[i], TUI_BAD, "%s, no address",
				text_size(w->limit - w->base + 1, t));
		} else if (w->have == PCIE_KNOWN) {
			tui_pen_pair(p, 0, COLUMN + 2, names[i], TUI_TEXT, "0x%llx to 0x%llx, %s",
				(ull)w->base, (ull)w->limit, text_size(w->limit - w->base + 1, t));
		}
		bool both = w->have == PCIE_KNOWN && w->reg.have == PCIE_KNOWN;
		if ((both && !pcie_window_translated(w) &&
			    (w->reg.base != w->base || w->reg.limit != w->limit)) ||
			(w->have != PCIE_KNOWN && w->reg.have == PCIE_KNOWN)) {
			tui_pen_pair(p, 0, COLUMN + 2, w->have == PCIE_KNOWN ? "" : names[i],
				TUI_NOTE, "the register holds 0x%llx to 0x%llx", (ull)w->reg.base,
				(ull)w->reg.limit);
		}
	}
}

static void draw_rest(const struct pcie_device *d, struct tui_pen *p)
{
	if (d->have_numa == PCIE_KNOWN && d->numa >= 0) {
		tui_pen_pair(p, 0, COLUMN, "NUMA node", TUI_TEXT, "%d", d->numa);
	}
	if (d->have_iommu == PCIE_KNOWN) {
		tui_pen_pair(p, 0, COLUMN, "IOMMU", TUI_TEXT, "group %d", d->iommu_group);
	}
	if (*d->power) {
		tui_pen_pair(p, 0, COLUMN, "power", TUI_TEXT, "%s%s", d->power,
			d->asleep ? ", asleep: not read further" : "");
	}
	if (d->aer.have == PCIE_KNOWN) {
		bool any = d->aer.correctable || d->aer.nonfatal || d->aer.fatal;
		tui_pen_pair(p, 0, COLUMN, "errors", any ? TUI_NOTE : TUI_TEXT,
			"%llu corrected, %llu non-fatal, %llu fatal", (ull)d->aer.correctable,
			(ull)d->aer.nonfatal, (ull)d->aer.fatal);
	}
	if (d->is_vf == PCIE_YES) {
		tui_pen_pair(p, 0, COLUMN, "SR-IOV", TUI_TEXT, "a virtual function");
	} else if (d->sriov_total) {
		tui_pen_pair(p, 0, COLUMN, "SR-IOV", TUI_TEXT, "%u of %u virtual functions",
			d->sriov_num, d->sriov_total);
	}
}

void tui_facts_draw(const struct pcie_snapshot *s, int dev, struct tui_pen *p)
{
	const struct pcie_device *d = &s->dev[dev];
	draw_identity(s, d, p);
	draw_link(d, p);
	for (int i = 0; i < d->nbar; i++) {
		draw_bar(s, dev, &d->bar[i], p);
	}
	draw_rebar(&d->rebar, "ReBAR", p);
	draw_rebar(&d->vf_rebar, "VF ReBAR", p);
	draw_windows(d, p);
	draw_rest(d, p);
	for (size_t i = 0; i < s->nnote; i++) {
		if (s->note[i].dev == dev) {
			tui_pen_mark(p, 0, p->c->glyphs->note, TUI_NOTE, TUI_TEXT, s->note[i].text);
		}
	}
}
