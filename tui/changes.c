/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/changes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

void tui_changes_add(struct tui_changes *c, const char *fmt, ...)
{
	if (c->n == TUI_CHANGES) {
		c->more++;
		return;
	}
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(c->text[c->n], TUI_CHANGE_TEXT, fmt, ap);
	va_end(ap);
	c->n++;
}

static const char *short_addr(struct pcie_addr a, char buf[static PCIE_ADDR_MAX])
{
	pcie_addr_format(a, buf);
	return a.known && a.domain == 0 ? buf + 5 : buf;
}

static void bar_name(const struct pcie_bar *b, char *buf, size_t size)
{
	snprintf(buf, size, "%sBAR %d", b->kind == PCIE_BAR_VF ? "VF " : "", b->index);
}

static bool placed(const struct pcie_bar *b)
{
	return b->assigned != PCIE_NO && b->has_base;
}

static void compare_bar(
	const char *addr, const struct pcie_bar *a, const struct pcie_bar *b, struct tui_changes *c)
{
	char name[16], was[TEXT_SIZE_MAX], is[TEXT_SIZE_MAX];
	if (a->have != PCIE_KNOWN || b->have != PCIE_KNOWN) {
		return;
	}
	bar_name(b, name, sizeof(name));
	if (a->has_size && b->has_size && a->size != b->size) {
		tui_changes_add(c, "%s %s %s → %s", addr, name, text_size(a->size, was),
			text_size(b->size, is));
	}
	if (placed(a) && !placed(b)) {
		tui_changes_add(c, "%s %s lost its address", addr, name);
	} else if (!placed(a) && placed(b)) {
		tui_changes_add(c, "%s %s got an address", addr, name);
	} else if (placed(a) && placed(b) && (a->base >= 4 * GIB) != (b->base >= 4 * GIB)) {
		tui_changes_add(c, "%s %s now %s 4 GiB", addr, name,
			b->base >= 4 * GIB ? "above" : "below");
	}
}

static void compare_bars(const char *addr, const struct pcie_device *a, const struct pcie_device *b,
	struct tui_changes *c)
{
	for (int i = 0; i < b->nbar; i++) {
		const struct pcie_bar *now = &b->bar[i];
		if (now->kind == PCIE_BAR_ROM || now->index < 0) {
			continue;
		}
		const struct pcie_bar *then = pcie_device_find_bar(a, now->kind, now->index);
		if (then) {
			compare_bar(addr, then, now, c);
		}
	}
}

static void speed_text(uint16_t speed, char *buf, size_t size)
{
	snprintf(buf, size, "%u%s GT/s", speed / 10, speed % 10 ? ".5" : "");
}

static void compare_rest(const char *addr, const struct pcie_device *a, const struct pcie_device *b,
	struct tui_changes *c)
{
	if (a->have_driver == PCIE_KNOWN && b->have_driver == PCIE_ABSENT) {
		tui_changes_add(c, "%s has no driver any more (was %s)", addr, a->driver);
	} else if (a->have_driver == PCIE_ABSENT && b->have_driver == PCIE_KNOWN) {
		tui_changes_add(c, "%s has a driver now: %s", addr, b->driver);
	} else if (a->have_driver == PCIE_KNOWN && b->have_driver == PCIE_KNOWN &&
		   strcmp(a->driver, b->driver) != 0) {
		tui_changes_add(c, "%s driver %s → %s", addr, a->driver, b->driver);
	}
	const struct pcie_link *x = &a->link, *y = &b->link;
	if (x->have == PCIE_KNOWN && y->have == PCIE_KNOWN) {
		char was[16], is[16];
		if (x->width && y->width && x->width != y->width) {
			tui_changes_add(c, "%s link x%u → x%u", addr, x->width, y->width);
		}
		/* Idle links slow down by themselves: the maximum is what matters. */
		if (x->max_speed && y->max_speed && x->max_speed != y->max_speed) {
			speed_text(x->max_speed, was, sizeof(was));
			speed_text(y->max_speed, is, sizeof(is));
			tui_changes_add(c, "%s link up to %s → %s", addr, was, is);
		}
	}
	if (a->aer.have == PCIE_KNOWN && b->aer.have == PCIE_KNOWN) {
		if (b->aer.fatal > a->aer.fatal || b->aer.nonfatal > a->aer.nonfatal) {
			tui_changes_add(c, "%s uncorrectable PCIe errors: %llu", addr,
				(unsigned long long)(b->aer.fatal + b->aer.nonfatal));
		} else if (b->aer.correctable > a->aer.correctable) {
			tui_changes_add(c, "%s corrected PCIe errors: %llu", addr,
				(unsigned long long)b->aer.correctable);
		}
	}
}

static void compare_hosts(
	const struct pcie_host *a, const struct pcie_host *b, struct tui_changes *c)
{
	if (a->have_dmi == PCIE_KNOWN && b->have_dmi == PCIE_KNOWN) {
		if (strcmp(a->board, b->board) != 0) {
			tui_changes_add(c, "another board: %s → %s", a->board, b->board);
		}
		if (strcmp(a->bios_version, b->bios_version) != 0) {
			tui_changes_add(c, "BIOS %s → %s", a->bios_version, b->bios_version);
		}
	}
}

static const struct pcie_device *find(const struct pcie_snapshot *s, struct pcie_addr a)
{
	int i = pcie_snapshot_find(s, a);
	return i < 0 ? NULL : &s->dev[i];
}

void tui_changes_find(
	const struct pcie_snapshot *then, const struct pcie_snapshot *now, struct tui_changes *c)
{
	char buf[PCIE_ADDR_MAX];
	compare_hosts(&then->host, &now->host, c);
	/* GPUs first: the list is cut where it gets long. */
	for (int gpus = 1; gpus >= 0; gpus--) {
		for (size_t i = 0; i < now->ndev; i++) {
			const struct pcie_device *b = &now->dev[i];
			if (pcie_device_is_gpu(b) != gpus) {
				continue;
			}
			const struct pcie_device *a = find(then, b->addr);
			const char *addr = short_addr(b->addr, buf);
			if (!a) {
				tui_changes_add(c, "%s is new: %.60s", addr, b->name);
			} else if (a->vendor != b->vendor || a->device != b->device) {
				tui_changes_add(c, "%s is another device: %.60s", addr, b->name);
			} else {
				compare_bars(addr, a, b, c);
				compare_rest(addr, a, b, c);
			}
		}
		for (size_t i = 0; i < then->ndev; i++) {
			const struct pcie_device *a = &then->dev[i];
			if (pcie_device_is_gpu(a) == gpus && !find(now, a->addr)) {
				tui_changes_add(
					c, "%s is gone: %.60s", short_addr(a->addr, buf), a->name);
			}
		}
	}
}

void tui_changes_join(const struct tui_changes *c, char *buf, size_t size)
{
	size_t n = 0;
	buf[0] = '\0';
	for (size_t i = 0; i < c->n && n < size; i++) {
		n += (size_t)snprintf(buf + n, size - n, "%s%s", i ? "; " : "", c->text[i]);
	}
	if (c->more && n < size) {
		snprintf(buf + n, size - n, "; %zu more", c->more);
	}
}
