/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/changes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "pcie/diff.h"

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

void tui_changes_append(struct tui_changes *c, const struct tui_changes *more)
{
	for (size_t i = 0; i < more->n; i++) {
		tui_changes_add(c, "%s", more->text[i]);
	}
	c->more += more->more;
}

/* The environment tells these two. */
static bool is_of_environment(const struct pcie_change *k)
{
	return !strcmp(k->what, "kernel") || !strcmp(k->what, "command line");
}

static const char *where(const struct pcie_device *d, char buf[static PCIE_ADDR_MAX])
{
	if (!d->addr.known) {
		return d->name[0] ? d->name : "a device";
	}
	pcie_addr_format(d->addr, buf);
	return strncmp(buf, "0000:", 5) ? buf : buf + 5;
}

static void add_present(struct tui_changes *c, const struct pcie_device *d, const char *is)
{
	char addr[PCIE_ADDR_MAX];
	tui_changes_add(c, "%s is %s: %s", where(d, addr), is, d->name[0] ? d->name : "a device");
}

static void add_pair(struct tui_changes *c, const struct pcie_device *a,
	const struct pcie_device *b, const struct pcie_pair *p)
{
	char addr[PCIE_ADDR_MAX], was[PCIE_ADDR_MAX];
	if (p->moved) {
		tui_changes_add(c, "%s was at %s", where(b, addr), where(a, was));
	}
	for (size_t i = 0; i < p->changes.n; i++) {
		const struct pcie_change *k = &p->changes.change[i];
		tui_changes_add(c, "%s %s %s → %s", where(b, addr), k->what, k->before, k->after);
	}
}

/* GPUs, or all others. */
static void add_devices(struct tui_changes *c, const struct pcie_snapshot *then,
	const struct pcie_snapshot *now, const struct pcie_diff *d, bool gpus)
{
	for (size_t i = 0; i < d->ngone; i++) {
		const struct pcie_device *x = &then->dev[d->gone[i]];
		if (pcie_device_is_gpu(x) == gpus) {
			add_present(c, x, "gone");
		}
	}
	for (size_t i = 0; i < d->nfresh; i++) {
		const struct pcie_device *x = &now->dev[d->fresh[i]];
		if (pcie_device_is_gpu(x) == gpus) {
			add_present(c, x, "new");
		}
	}
	for (size_t i = 0; i < d->npair; i++) {
		const struct pcie_pair *p = &d->pair[i];
		if (pcie_device_is_gpu(&now->dev[p->b]) == gpus) {
			add_pair(c, &then->dev[p->a], &now->dev[p->b], p);
		}
	}
}

/* Error counters that grew: no difference of the machine, but something that happened. */
static void find_errors(
	const struct pcie_snapshot *then, const struct pcie_snapshot *now, struct tui_changes *c)
{
	for (size_t i = 0; i < now->ndev; i++) {
		const struct pcie_device *b = &now->dev[i];
		int at = pcie_snapshot_find(then, b->addr);
		char addr[PCIE_ADDR_MAX];
		if (at < 0 || b->aer.have != PCIE_KNOWN || then->dev[at].aer.have != PCIE_KNOWN) {
			continue;
		}
		const struct pcie_aer *x = &then->dev[at].aer, *y = &b->aer;
		pcie_addr_format(b->addr, addr);
		if (y->fatal > x->fatal || y->nonfatal > x->nonfatal) {
			tui_changes_add(c, "%s uncorrectable PCIe errors: %llu", addr,
				(unsigned long long)(y->fatal + y->nonfatal));
		} else if (y->correctable > x->correctable) {
			tui_changes_add(c, "%s corrected PCIe errors: %llu", addr,
				(unsigned long long)y->correctable);
		}
	}
}

void tui_changes_find(
	const struct pcie_snapshot *then, const struct pcie_snapshot *now, struct tui_changes *c)
{
	struct pcie_diff *d = pcie_diff_create(then, now);
	/* The list is cut where it gets long: the host, then GPUs, then the rest. */
	for (size_t i = 0; i < d->host.n; i++) {
		const struct pcie_change *k = &d->host.change[i];
		if (!is_of_environment(k)) {
			tui_changes_add(c, "%s %s → %s", k->what, k->before, k->after);
		}
	}
	add_devices(c, then, now, d, true);
	add_devices(c, then, now, d, false);
	pcie_diff_destroy(d);
	find_errors(then, now, c);
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
