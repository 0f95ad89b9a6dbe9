/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/changes.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "runs/machines.h"

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

static bool is_host(const struct runs_machine_change *k)
{
	return !strcmp(k->where, "host");
}

/* Is the change about a GPU of either machine? */
static bool is_gpu(const struct pcie_snapshot *then, const struct pcie_snapshot *now,
	const struct runs_machine_change *k)
{
	struct pcie_addr addr;
	if (pcie_addr_parse(k->where, &addr) < 0) {
		return false;
	}
	int a = pcie_snapshot_find(then, addr), b = pcie_snapshot_find(now, addr);
	return (a >= 0 && pcie_device_is_gpu(&then->dev[a])) ||
	       (b >= 0 && pcie_device_is_gpu(&now->dev[b]));
}

static void add_change(struct tui_changes *c, const struct runs_machine_change *k)
{
	const char *where = k->where;
	/* The environment tells these two. */
	if (is_host(k) && (!strcmp(k->what, "kernel") || !strcmp(k->what, "command line"))) {
		return;
	}
	if (is_host(k)) {
		tui_changes_add(c, "%s %s → %s", k->what, k->a, k->b);
		return;
	}
	if (!strncmp(where, "0000:", 5)) {
		where += 5;
	}
	if (!strcmp(k->what, "device") && !strcmp(k->a, "none")) {
		tui_changes_add(c, "%s is new: %s", where, k->b);
	} else if (!strcmp(k->what, "device") && !strcmp(k->b, "gone")) {
		tui_changes_add(c, "%s is gone: %s", where, k->a);
	} else {
		tui_changes_add(c, "%s %s %s → %s", where, k->what, k->a, k->b);
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
	_cleanup_free_ struct runs_machine_change *change = NULL;
	size_t n = runs_machines_differ(then, now, &change);
	/* The list is cut where it gets long: the host, then GPUs, then the rest. */
	for (int turn = 0; turn < 3; turn++) {
		for (size_t i = 0; i < n; i++) {
			int wanted = is_host(&change[i])             ? 0
				     : is_gpu(then, now, &change[i]) ? 1
								     : 2;
			if (wanted == turn) {
				add_change(c, &change[i]);
			}
		}
	}
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
