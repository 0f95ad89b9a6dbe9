/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/machines.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

struct list {
	struct runs_machine_change *change;
	size_t n, cap;
	char where[40];
};

static void PRINTF(3, 4) add(struct list *l, const char *what, const char *fmt, ...)
{
	/* FMT yields "A\nB". */
	char both[2 * 96];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(both, sizeof(both), fmt, ap);
	va_end(ap);
	l->change = xgrow(l->change, l->n, &l->cap, sizeof(*l->change));
	struct runs_machine_change *c = &l->change[l->n++];
	char *b = strchr(both, '\n');
	if (b) {
		*b++ = '\0';
	}
	text_copy(c->where, sizeof(c->where), l->where);
	text_copy(c->what, sizeof(c->what), what);
	text_copy(c->a, sizeof(c->a), both);
	text_copy(c->b, sizeof(c->b), b ? b : "");
}

static void strings(struct list *l, const char *what, const char *a, const char *b)
{
	if (*a && *b && strcmp(a, b) != 0) {
		add(l, what, "%.90s\n%.90s", a, b);
	}
}

static void hosts(struct list *l, const struct pcie_host *a, const struct pcie_host *b)
{
	text_copy(l->where, sizeof(l->where), "host");
	if (a->have_kernel == PCIE_KNOWN && b->have_kernel == PCIE_KNOWN) {
		strings(l, "kernel", a->kernel, b->kernel);
	}
	if (a->have_dmi == PCIE_KNOWN && b->have_dmi == PCIE_KNOWN) {
		strings(l, "board", a->board, b->board);
		strings(l, "BIOS version", a->bios_version, b->bios_version);
		strings(l, "BIOS date", a->bios_date, b->bios_date);
	}
	if (a->have_cmdline == PCIE_KNOWN && b->have_cmdline == PCIE_KNOWN) {
		strings(l, "command line", a->cmdline, b->cmdline);
	}
	if (a->have_efi == PCIE_KNOWN && b->have_efi == PCIE_KNOWN && a->efi != b->efi) {
		add(l, "boot mode", "%s\n%s", a->efi ? "UEFI" : "legacy",
			b->efi ? "UEFI" : "legacy");
	}
}

static const char *placed(const struct pcie_bar *bar, char buf[static 64])
{
	char size[TEXT_SIZE_MAX];
	if (bar->assigned == PCIE_NO || !bar->has_base) {
		snprintf(buf, 64, "%s, no address",
			bar->has_size ? text_size(bar->size, size) : "?");
	} else {
		snprintf(buf, 64, "%s at 0x%llx", bar->has_size ? text_size(bar->size, size) : "?",
			(unsigned long long)bar->base);
	}
	return buf;
}

static void bars(struct list *l, const struct pcie_device *a, const struct pcie_device *b)
{
	for (size_t i = 0; i < a->nbar; i++) {
		const struct pcie_bar *x = &a->bar[i];
		const struct pcie_bar *y = pcie_device_find_bar(b, x->kind, x->index);
		if (x->kind == PCIE_BAR_ROM || x->index < 0 || x->have == PCIE_UNKNOWN) {
			continue;
		}
		char what[40], from[64], to[64];
		snprintf(what, sizeof(what), "%s %d", x->kind == PCIE_BAR_VF ? "VF BAR" : "BAR",
			x->index);
		placed(x, from);
		if (!y || y->have == PCIE_ABSENT) {
			text_copy(to, sizeof(to), "gone");
		} else {
			placed(y, to);
		}
		strings(l, what, from, to);
	}
	for (size_t i = 0; i < b->nbar; i++) {
		const struct pcie_bar *y = &b->bar[i];
		char what[40], to[64];
		if (y->kind == PCIE_BAR_ROM || y->index < 0 || y->have != PCIE_KNOWN ||
			pcie_device_find_bar(a, y->kind, y->index)) {
			continue;
		}
		snprintf(what, sizeof(what), "%s %d", y->kind == PCIE_BAR_VF ? "VF BAR" : "BAR",
			y->index);
		add(l, what, "none\n%s", placed(y, to));
	}
}

static const char *driver_of(const struct pcie_device *d)
{
	return d->have_driver == PCIE_ABSENT  ? "none"
	       : d->have_driver == PCIE_KNOWN ? d->driver
					      : "";
}

static void devices(struct list *l, const struct pcie_device *a, const struct pcie_device *b)
{
	char buf[PCIE_ADDR_MAX];
	text_copy(l->where, sizeof(l->where), pcie_addr_format(a->addr, buf));
	if (a->have_ids == PCIE_KNOWN && b->have_ids == PCIE_KNOWN &&
		(a->vendor != b->vendor || a->device != b->device)) {
		add(l, "device", "%04x:%04x %.70s\n%04x:%04x %.70s", a->vendor, a->device, a->name,
			b->vendor, b->device, b->name);
		return;
	}
	strings(l, "driver", driver_of(a), driver_of(b));
	bars(l, a, b);
	if (a->rebar.have != b->rebar.have && a->rebar.have >= PCIE_ABSENT &&
		b->rebar.have >= PCIE_ABSENT && a->rebar.have != PCIE_DENIED &&
		b->rebar.have != PCIE_DENIED) {
		add(l, "Resizable BAR", "%s\n%s", pcie_fact_name(a->rebar.have),
			pcie_fact_name(b->rebar.have));
	}
	if (a->link.have == PCIE_KNOWN && b->link.have == PCIE_KNOWN && a->link.width &&
		b->link.width && a->link.width != b->link.width) {
		add(l, "link width", "x%u\nx%u", a->link.width, b->link.width);
	}
	if (a->link.have == PCIE_KNOWN && b->link.have == PCIE_KNOWN && a->link.max_speed &&
		b->link.max_speed && a->link.max_speed != b->link.max_speed) {
		add(l, "link's top speed", "%.1f GT/s\n%.1f GT/s", a->link.max_speed / 10.0,
			b->link.max_speed / 10.0);
	}
	strings(l, "video BIOS", a->vbios, b->vbios);
}

size_t runs_machines_differ(const struct pcie_snapshot *a, const struct pcie_snapshot *b,
	struct runs_machine_change **ret)
{
	struct list l = {0};
	char buf[PCIE_ADDR_MAX];
	hosts(&l, &a->host, &b->host);
	for (size_t i = 0; i < a->ndev; i++) {
		const struct pcie_device *x = &a->dev[i];
		int at = x->addr.known ? pcie_snapshot_find(b, x->addr) : -1;
		if (at >= 0) {
			devices(&l, x, &b->dev[at]);
		} else if (x->addr.known) {
			text_copy(l.where, sizeof(l.where), pcie_addr_format(x->addr, buf));
			add(&l, "device", "%.90s\ngone", *x->name ? x->name : "there");
		}
	}
	for (size_t i = 0; i < b->ndev; i++) {
		const struct pcie_device *y = &b->dev[i];
		if (y->addr.known && pcie_snapshot_find(a, y->addr) < 0) {
			text_copy(l.where, sizeof(l.where), pcie_addr_format(y->addr, buf));
			add(&l, "device", "none\n%.90s", *y->name ? y->name : "there");
		}
	}
	*ret = l.change;
	return l.n;
}
