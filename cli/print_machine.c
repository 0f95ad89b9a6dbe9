/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/layout.h"
#include "cli/machine.h"
#include "pcie/names.h"
#include "pcie/path.h"
#include "pcie/verdict.h"

struct page {
	struct text *out;
	const struct pcie_snapshot *s;
	struct cmd_style style;
};

static const char *colour(const struct page *p, enum cmd_colour c)
{
	return cmd_colour(p->style, c);
}

static void wrapped(const struct page *p, int indent, int hang, const char *s)
{
	cmd_wrapped(p->out, indent, hang, s);
}

/* "  Label     text": labels of a block stand in one column, long texts hang behind it. */
static void labelled(const struct page *p, const char *label, const char *text)
{
	cmd_labelled(p->out, 2, 10, label, text);
}

/* "0000:01:00.0  NVIDIA H200 [10de:2335] 3D" */
static void heading(const struct page *p, const struct pcie_device *d)
{
	char addr[PCIE_ADDR_MAX], line[256] = "";
	cmd_append(line, sizeof(line), "%s",
		d->addr.known ? pcie_addr_format(d->addr, addr) : "(no address)");
	cmd_append(line, sizeof(line), "  %s", d->name[0] ? d->name : "unnamed device");
	if (d->have_ids == PCIE_KNOWN && d->vendor && d->device) {
		cmd_append(line, sizeof(line), " [%04x:%04x]", d->vendor, d->device);
	}
	const char *class = pcie_class_name(d);
	if (*class) {
		cmd_append(line, sizeof(line), " %s", class);
	}
	text_add(p->out, colour(p, CMD_BOLD));
	wrapped(p, 0, 14, line);
	text_add(p->out, colour(p, CMD_PLAIN));
}

static void small_facts(const struct page *p, const struct pcie_device *d)
{
	char line[256] = "";
	if (d->have_driver == PCIE_KNOWN) {
		cmd_append(line, sizeof(line), "driver %s  ", d->driver);
	} else if (d->have_driver == PCIE_ABSENT) {
		cmd_append(line, sizeof(line), "no driver  ");
	}
	if (d->have_numa == PCIE_KNOWN && d->numa >= 0) {
		cmd_append(line, sizeof(line), "NUMA node %d  ", d->numa);
	}
	if (d->have_iommu == PCIE_KNOWN) {
		cmd_append(line, sizeof(line), "IOMMU group %d  ", d->iommu_group);
	}
	if (d->power[0]) {
		cmd_append(line, sizeof(line), "power %s  ", d->power);
	}
	if (d->vbios[0]) {
		cmd_append(line, sizeof(line), "VBIOS %s  ", d->vbios);
	}
	if (d->boot_vga == PCIE_YES) {
		cmd_append(line, sizeof(line), "boot display  ");
	}
	if (d->is_vf == PCIE_YES) {
		cmd_append(line, sizeof(line), "virtual function  ");
	}
	for (int i = 0; i < d->noption; i++) {
		cmd_append(line, sizeof(line), "%s=%s  ", d->option[i].name, d->option[i].value);
	}
	size_t n = strlen(line);
	if (n > 2) {
		line[n - 2] = '\0';
		wrapped(p, 2, 2, line);
	}
}

static void kind_words(char *buf, size_t size, bool io, bool is64, bool prefetchable)
{
	if (io) {
		cmd_append(buf, size, "I/O");
	} else {
		cmd_append(
			buf, size, "%s%s", is64 ? "64-bit" : "32-bit", prefetchable ? " pref" : "");
	}
}

/* What the register holds, where it is not what the kernel says; "" when they agree. */
static void difference(
	const struct page *p, int dev, const struct pcie_bar *b, char *buf, size_t size)
{
	uint64_t bus;
	buf[0] = '\0';
	/* Their registers say nothing: expansion ROMs are off or shadowed, the others read 0. */
	if (b->kind != PCIE_BAR_NORMAL || b->enhanced || p->s->dev[dev].is_vf == PCIE_YES ||
		b->reg.have == PCIE_UNKNOWN) {
		return;
	}
	if (b->have == PCIE_ABSENT && b->reg.have == PCIE_KNOWN) {
		cmd_append(buf, size, "the kernel gave this BAR up; its register still says ");
		kind_words(buf, size, b->reg.io, b->reg.is64, b->reg.prefetchable);
		if (b->reg.base) {
			cmd_append(buf, size, " at 0x%" PRIx64, b->reg.base);
		}
	} else if (b->have == PCIE_KNOWN && b->assigned == PCIE_NO && b->reg.base) {
		cmd_append(buf, size,
			"the register holds 0x%" PRIx64 ", which the kernel did not accept",
			b->reg.base);
	} else if (b->have == PCIE_KNOWN && b->has_base && b->reg.base != b->base) {
		bool moved = pcie_bus_address(p->s, dev, b->base, &bus) && bus == b->reg.base;
		cmd_append(buf, size, "%s 0x%" PRIx64,
			moved ? "on the bus at" : "the register holds", b->reg.base);
	}
}

static void print_bar(const struct page *p, int dev, int i, int vram)
{
	const struct pcie_bar *b = &p->s->dev[dev].bar[i];
	char label[16] = "BAR", where[32], size[TEXT_SIZE_MAX] = "?", kind[48] = "", diff[160];

	if (b->kind == PCIE_BAR_ROM) {
		snprintf(label, sizeof(label), "ROM");
	} else {
		snprintf(label, sizeof(label), "%s", b->kind == PCIE_BAR_VF ? "VF BAR" : "BAR");
		if (b->index >= 0) {
			cmd_append(label, sizeof(label), " %d", b->index);
		}
	}
	enum cmd_colour c = CMD_PLAIN;
	if (b->have != PCIE_KNOWN) {
		snprintf(where, sizeof(where), "%s", b->have == PCIE_ABSENT ? "no address" : "?");
		kind_words(kind, sizeof(kind), b->reg.io, b->reg.is64, b->reg.prefetchable);
		c = b->have == PCIE_ABSENT ? CMD_BAD : CMD_PLAIN;
	} else {
		if (b->has_base) {
			snprintf(where, sizeof(where), "0x%" PRIx64, b->base);
		} else {
			snprintf(where, sizeof(where), "%s",
				b->assigned == PCIE_NO ? "no address" : "?");
			c = b->assigned == PCIE_NO && b->kind == PCIE_BAR_NORMAL && !b->io
				    ? CMD_BAD
				    : CMD_PLAIN;
		}
		if (b->has_size) {
			text_size(b->size, size);
		}
		if (b->kind == PCIE_BAR_ROM) {
			/* the kind of a ROM is no news */
		} else if (b->io || b->is64_known) {
			kind_words(kind, sizeof(kind), b->io, b->is64, b->prefetchable);
		}
	}
	if (i == vram) {
		cmd_append(kind, sizeof(kind), "%s%s", kind[0] ? ", " : "",
			pcie_gpu_memory_name(pcie_device_kind(p->s, dev)));
	}
	if (b->decode_enabled == PCIE_NO && b->kind != PCIE_BAR_ROM) {
		cmd_append(kind, sizeof(kind), "%sdecoding off", kind[0] ? ", " : "");
	}
	text_addf(p->out, "  %-8s  %s%-18s%s  %9s%s%s\n", label, colour(p, c), where,
		colour(p, CMD_PLAIN), size, kind[0] ? "  " : "", kind);
	difference(p, dev, b, diff, sizeof(diff));
	if (diff[0]) {
		text_add(p->out, colour(p, CMD_WARN));
		wrapped(p, 12, 12, diff);
		text_add(p->out, colour(p, CMD_PLAIN));
	}
}

static void print_bars(const struct page *p, int dev)
{
	const struct pcie_device *d = &p->s->dev[dev];
	int vram = pcie_device_is_gpu(d) ? pcie_device_vram_bar(d) : -1;
	for (int i = 0; i < d->nbar; i++) {
		print_bar(p, dev, i, vram);
	}
	if (d->nbar == 0) {
		text_add(p->out, d->bars_complete ? "  no BARs\n" : "  no BARs seen\n");
	}
}

/* "256 MiB to 16 GiB" where every size between is there, else all of them. */
static void size_list(char *buf, size_t size, uint64_t bits)
{
	char one[TEXT_SIZE_MAX], two[TEXT_SIZE_MAX];
	int low = -1, high = -1, n = 0;
	for (int i = 0; i < 64 - PCIE_REBAR_UNIT_SHIFT; i++) {
		if (bits >> i & 1) {
			low = low < 0 ? i : low;
			high = i;
			n++;
		}
	}
	if (n == 0) {
		cmd_append(buf, size, "no sizes");
	} else if (n == 1) {
		cmd_append(buf, size, "%s only", text_size(MIB << low, one));
	} else if (n == high - low + 1) {
		cmd_append(buf, size, "%s to %s", text_size(MIB << low, one),
			text_size(MIB << high, two));
	} else {
		const char *comma = "";
		for (int i = low; i <= high; i++) {
			if (bits >> i & 1) {
				cmd_append(buf, size, "%s%s", comma, text_size(MIB << i, one));
				comma = ", ";
			}
		}
	}
}

static const char *denied(const struct pcie_device *d)
{
	return d->asleep ? "not read: the device is asleep" : "not readable (root reads it)";
}

static void print_rebar(const struct page *p, const struct pcie_device *d, const char *label,
	const struct pcie_rebar *r)
{
	const char *hidden = "no capability, but an emptied one stands in the list: a hypervisor "
			     "hides capabilities";
	switch (r->have) {
	case PCIE_UNKNOWN:
		labelled(p, label, "not known");
		return;
	case PCIE_DENIED:
		labelled(p, label, denied(d));
		return;
	case PCIE_ABSENT:
		labelled(p, label, r->null_cap ? hidden : "the device has no such capability");
		return;
	case PCIE_KNOWN:
		break;
	}
	if (r->count == 0) {
		labelled(p, label, "the capability is there, its sizes are not known");
	}
	for (int e = 0; e < r->count && e < PCIE_REBAR_ENTRIES; e++) {
		char line[256], now[TEXT_SIZE_MAX] = "of unknown size";
		if (r->entry[e].has_current) {
			text_size(r->entry[e].current, now);
		}
		snprintf(line, sizeof(line), "BAR %d is %s, can be ", r->entry[e].bar, now);
		size_list(line, sizeof(line), r->entry[e].supported);
		labelled(p, e ? "" : label, line);
	}
}

static void link_words(char *buf, size_t size, uint16_t speed, uint8_t width)
{
	if (speed) {
		cmd_append(buf, size, "%u.%u GT/s", speed / 10, speed % 10);
	} else {
		cmd_append(buf, size, "unknown speed");
	}
	if (width) {
		cmd_append(buf, size, " x%u", width);
	}
}

/* Why the link at DEV is slower or narrower than DEV can do. */
static void link_limits(const struct page *p, int dev, char *line, size_t size)
{
	const struct pcie_link *l = &p->s->dev[dev].link;
	int up = p->s->dev[dev].parent;
	const struct pcie_link *port = up >= 0 ? &p->s->dev[up].link : NULL;
	uint16_t speed = l->max_speed;

	if (port && port->have == PCIE_KNOWN && port->max_speed && port->max_width &&
		(port->max_speed < l->max_speed || port->max_width < l->max_width)) {
		cmd_append(line, size, "; the port above has ");
		link_words(line, size, port->max_speed, port->max_width);
		speed = MIN(speed, port->max_speed);
	}
	if (l->speed && l->speed < speed) {
		cmd_append(line, size, " (idle devices slow their link down)");
	}
}

static void print_link(const struct page *p, int dev)
{
	int slot = pcie_slot_device(p->s, dev);
	const struct pcie_link *l = &p->s->dev[slot].link;
	char line[256] = "", addr[PCIE_ADDR_MAX];

	if (l->have == PCIE_DENIED) {
		cmd_append(line, sizeof(line), "%s", denied(&p->s->dev[slot]));
	} else if (l->have != PCIE_KNOWN) {
		return;
	} else {
		link_words(line, sizeof(line), l->speed, l->width);
		if (l->max_speed || l->max_width) {
			cmd_append(line, sizeof(line), " of ");
			link_words(line, sizeof(line), l->max_speed, l->max_width);
		}
		if (slot != dev) {
			cmd_append(line, sizeof(line),
				", in the slot (read at %s; the GPU's own link is inside the card)",
				pcie_addr_format(p->s->dev[slot].addr, addr));
		}
		link_limits(p, slot, line, sizeof(line));
	}
	labelled(p, "Link", line);
}

static void print_vram(const struct page *p, const struct pcie_device *d)
{
	char line[128], size[TEXT_SIZE_MAX];
	if (d->vram.have == PCIE_KNOWN) {
		snprintf(line, sizeof(line), "%s (%s)", text_size(d->vram.bytes, size),
			d->vram.what);
		labelled(p, "VRAM", line);
	}
}

static void print_aer(const struct page *p, const struct pcie_device *d)
{
	const struct pcie_aer *a = &d->aer;
	if (a->have == PCIE_KNOWN && (a->correctable || a->nonfatal || a->fatal)) {
		char line[160];
		snprintf(line, sizeof(line),
			"%" PRIu64 " correctable, %" PRIu64 " non-fatal, %" PRIu64
			" fatal errors since boot",
			a->correctable, a->nonfatal, a->fatal);
		text_add(p->out, colour(p, a->nonfatal || a->fatal ? CMD_BAD : CMD_WARN));
		labelled(p, "Errors", line);
		text_add(p->out, colour(p, CMD_PLAIN));
	}
}

/* One window of a bridge in both views. */
static void print_window(const struct page *p, const char *kind, const struct pcie_window *w)
{
	char size[TEXT_SIZE_MAX], line[160] = "";
	if (w->have == PCIE_KNOWN && w->unassigned) {
		cmd_append(line, sizeof(line), "no address, needs %s",
			text_size(w->limit - w->base + 1, size));
	} else if (w->have == PCIE_KNOWN) {
		cmd_append(line, sizeof(line), "0x%" PRIx64 "-0x%" PRIx64 "  %s", w->base, w->limit,
			text_size(w->limit - w->base + 1, size));
	} else if (w->have == PCIE_ABSENT) {
		cmd_append(line, sizeof(line), "none");
	}
	bool kernel = w->have == PCIE_KNOWN && !w->unassigned;
	bool reg = w->reg.have == PCIE_KNOWN;
	if (reg && (!kernel || w->reg.base != w->base || w->reg.limit != w->limit)) {
		cmd_append(line, sizeof(line), "%s0x%" PRIx64 "-0x%" PRIx64,
			pcie_window_translated(w) ? "; on the bus at "
			: line[0]                 ? "; the register holds "
						  : "by its register ",
			w->reg.base, w->reg.limit);
	} else if (kernel && w->reg.have == PCIE_ABSENT) {
		cmd_append(line, sizeof(line), "; the register is closed");
	}
	if (line[0]) {
		char whole[200];
		snprintf(whole, sizeof(whole), "%-4s  %s", kind, line);
		wrapped(p, 4, 10, whole);
	}
}

static void print_path(const struct page *p, int dev)
{
	static const char *const kind[] = {[PCIE_WINDOW_MEM] = "mem", [PCIE_WINDOW_PREF] = "pref"};
	int path[PCIE_PATH_MAX];
	int n = pcie_path(p->s, dev, path);
	char line[128] = "";

	cmd_append(line, sizeof(line), "%s", p->s->dev[dev].root);
	bool whole = pcie_is_at_root(p->s, n ? path[0] : dev);
	if (n == 0 && line[0] && whole) {
		cmd_append(line, sizeof(line), ", directly on the root bus");
	} else if (line[0] && !whole) {
		cmd_append(line, sizeof(line), "; bridges on the way are not in this text");
	}
	if (line[0]) {
		labelled(p, "Path", line);
	}
	for (int i = 0; i < n; i++) {
		const struct pcie_device *b = &p->s->dev[path[i]];
		char addr[PCIE_ADDR_MAX];
		text_addf(p->out, "  %s  %s%s\n", pcie_addr_format(b->addr, addr),
			pcie_port_name(b), b->hotplug_slot ? ", hot-plug slot" : "");
		for (int k = PCIE_WINDOW_MEM; k < PCIE_WINDOWS; k++) {
			print_window(p, kind[k], &b->window[k]);
		}
	}
}

static void print_notes(const struct page *p, int dev, int indent)
{
	for (size_t i = 0; i < p->s->nnote; i++) {
		if (p->s->note[i].dev == dev) {
			char line[220];
			snprintf(line, sizeof(line), "Note      %s", p->s->note[i].text);
			text_add(p->out, colour(p, CMD_WARN));
			wrapped(p, indent, indent + 10, line);
			text_add(p->out, colour(p, CMD_PLAIN));
		}
	}
}

static void print_gpu(const struct page *p, int dev)
{
	const struct pcie_device *d = &p->s->dev[dev];
	heading(p, d);
	small_facts(p, d);
	print_bars(p, dev);
	print_rebar(p, d, "ReBAR", &d->rebar);
	if (d->vf_rebar.have == PCIE_KNOWN) {
		print_rebar(p, d, "VF ReBAR", &d->vf_rebar);
	}
	print_vram(p, d);
	print_link(p, dev);
	print_aer(p, d);
	print_path(p, dev);
	print_notes(p, dev, 2);
	text_add(p->out, "\n");
}

static void print_other(const struct page *p, int dev)
{
	const struct pcie_device *d = &p->s->dev[dev];
	heading(p, d);
	small_facts(p, d);
	for (int i = 0; i < d->nbar; i++) {
		print_bar(p, dev, i, -1);
	}
	if (d->rebar.have == PCIE_KNOWN) {
		print_rebar(p, d, "ReBAR", &d->rebar);
	}
	static const char *const kind[] = {"io", "mem", "pref"};
	for (int k = 0; d->is_bridge && k < PCIE_WINDOWS; k++) {
		if (d->window[k].have == PCIE_KNOWN || d->window[k].reg.have == PCIE_KNOWN) {
			print_window(p, kind[k], &d->window[k]);
		}
	}
	print_aer(p, d);
	print_notes(p, dev, 2);
	text_add(p->out, "\n");
}

static void print_host(const struct page *p)
{
	const struct pcie_host *h = &p->s->host;
	char line[512] = "";
	const char *comma = "";
	if (h->sys_vendor[0] || h->product[0]) {
		cmd_append(line, sizeof(line), "%s%s%s", h->sys_vendor,
			h->sys_vendor[0] && h->product[0] ? " " : "", h->product);
		comma = ", ";
	}
	if (h->bios_version[0]) {
		cmd_append(line, sizeof(line), "%sBIOS %s%s%s%s", comma, h->bios_version,
			h->bios_date[0] ? " (" : "", h->bios_date, h->bios_date[0] ? ")" : "");
		comma = ", ";
	}
	if (h->have_kernel == PCIE_KNOWN) {
		cmd_append(line, sizeof(line), "%sLinux %s", comma, h->kernel);
		comma = ", ";
	}
	if (h->have_arch == PCIE_KNOWN) {
		cmd_append(line, sizeof(line), "%s%s", comma, h->arch);
		comma = ", ";
	}
	if (h->have_efi == PCIE_KNOWN) {
		cmd_append(line, sizeof(line), "%s%s", comma,
			h->efi ? "booted by UEFI" : "no UEFI boot");
		comma = ", ";
	}
	if (h->have_phys_bits == PCIE_KNOWN) {
		cmd_append(line, sizeof(line), "%s%u address bits", comma, h->phys_bits);
		comma = ", ";
	}
	if (h->have_virtual == PCIE_KNOWN && h->is_virtual) {
		cmd_append(line, sizeof(line), "%svirtual machine%s%s%s", comma,
			h->virt[0] ? " (" : "", h->virt, h->virt[0] ? ")" : "");
		comma = ", ";
	}
	if (line[0]) {
		wrapped(p, 0, 2, line);
		text_add(p->out, "\n");
	}
}

static void print_apertures(const struct page *p)
{
	if (p->s->naperture == 0) {
		return;
	}
	text_add(p->out, "Host apertures for PCI memory\n");
	for (size_t i = 0; i < p->s->naperture; i++) {
		const struct pcie_aperture *a = &p->s->aperture[i];
		char range[64], size[TEXT_SIZE_MAX], line[160];
		if (a->io) {
			continue;
		}
		snprintf(range, sizeof(range), "0x%" PRIx64 "-0x%" PRIx64, a->base, a->limit);
		snprintf(line, sizeof(line), "%-37s %9s  %s%s%s%s", range,
			text_size(a->limit - a->base + 1, size),
			a->root[0] ? a->root : "host bridge",
			a->base >= 4 * GIB ? ", above 4 GiB" : "",
			a->kernel_made ? ", made by the kernel" : "",
			a->ignored ? ", ignored by the kernel" : "");
		wrapped(p, 2, 51, line);
	}
	text_add(p->out, "\n");
}

static bool has_bars(const struct pcie_device *d)
{
	return d->nbar > 0;
}

void cmd_machine_print(
	struct text *out, const struct pcie_snapshot *s, bool all, struct cmd_style style)
{
	const struct page p = {out, s, style};
	size_t gpus = 0, hidden = 0;

	print_host(&p);
	for (size_t i = 0; i < s->ndev; i++) {
		if (pcie_device_is_gpu(&s->dev[i])) {
			print_gpu(&p, (int)i);
			gpus++;
		}
	}
	if (gpus == 0) {
		text_add(out, s->ndev ? "No GPU found; the devices that have BARs:\n\n"
				      : "No PCI device found.\n\n");
	}
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if (pcie_device_is_gpu(d)) {
			continue;
		}
		if (all || (gpus == 0 && has_bars(d))) {
			print_other(&p, (int)i);
		} else {
			hidden++;
		}
	}
	print_apertures(&p);
	print_notes(&p, -1, 0);
	if (hidden) {
		text_addf(out, "%zu other device%s: 'show --all' lists %s.\n", hidden,
			hidden == 1 ? "" : "s", hidden == 1 ? "it" : "them");
	}
}
