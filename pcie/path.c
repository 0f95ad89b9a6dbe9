/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/path.h"

#include <stdio.h>

int pcie_path(const struct pcie_snapshot *s, int dev, int path[static PCIE_PATH_MAX])
{
	int n = 0;
	for (int p = s->dev[dev].parent; p >= 0 && n < PCIE_PATH_MAX; p = s->dev[p].parent) {
		path[n++] = p;
	}
	for (int i = 0; i < n / 2; i++) {
		int other = path[i];
		path[i] = path[n - 1 - i];
		path[n - 1 - i] = other;
	}
	return n;
}

/* The two bridges directly above are a switch of the same maker as the device. */
int pcie_slot_device(const struct pcie_snapshot *s, int dev)
{
	const struct pcie_device *d = &s->dev[dev];
	int down = d->parent;
	int up = down >= 0 ? s->dev[down].parent : -1;
	if (up < 0 || s->dev[up].parent < 0) {
		return dev; /* the upper one would be a root port */
	}
	const struct pcie_device *b = &s->dev[down], *u = &s->dev[up];
	bool ids =
		d->have_ids == PCIE_KNOWN && b->have_ids == PCIE_KNOWN && u->have_ids == PCIE_KNOWN;
	bool same = ids && b->vendor == d->vendor && u->vendor == d->vendor;
	/* Vega 10 has a switch with the processor maker's ids. */
	same = same || (ids && d->vendor == 0x1002 && u->vendor == 0x1022 && u->device == 0x1470);
	bool types = (b->port_type == PCIE_PORT_DOWNSTREAM || b->port_type == PCIE_PORT_NONE) &&
		     (u->port_type == PCIE_PORT_UPSTREAM || u->port_type == PCIE_PORT_NONE);
	return same && types && !b->hotplug_slot ? up : dev;
}

bool pcie_window_translated(const struct pcie_window *w)
{
	return w->have == PCIE_KNOWN && !w->unassigned && w->reg.have == PCIE_KNOWN &&
	       w->reg.base != w->base && w->reg.limit - w->reg.base == w->limit - w->base;
}

bool pcie_bus_address(const struct pcie_snapshot *s, int dev, uint64_t addr, uint64_t *ret_bus)
{
	int up = s->dev[dev].parent;
	if (up < 0) {
		return false;
	}
	for (int k = 0; k < PCIE_WINDOWS; k++) {
		const struct pcie_window *w = &s->dev[up].window[k];
		if (pcie_window_translated(w) && w->base <= addr && addr <= w->limit) {
			*ret_bus = addr - w->base + w->reg.base;
			return true;
		}
	}
	return false;
}

/* "pci0000:5d" names the root bus 5d of domain 0. */
static bool root_bus_is(const char *root, struct pcie_addr a)
{
	unsigned domain, bus;
	return sscanf(root, "pci%x:%x", &domain, &bus) == 2 && domain == a.domain && bus == a.bus;
}

bool pcie_is_at_root(const struct pcie_snapshot *s, int dev)
{
	const struct pcie_device *d = &s->dev[dev];
	if (d->parent >= 0) {
		return false;
	}
	if (!d->addr.known || d->addr.bus == 0 || root_bus_is(d->root, d->addr)) {
		return true;
	}
	for (size_t i = 0; i < s->naperture; i++) {
		if (root_bus_is(s->aperture[i].root, d->addr)) {
			return true;
		}
	}
	/* A complete tree with no bridge above it: the bus is a root bus. */
	return d->root[0] && d->bars_complete;
}

static bool is_above(const struct pcie_snapshot *s, int bridge, int dev)
{
	int depth = 0;
	for (int p = dev; p >= 0 && depth <= PCIE_PATH_MAX; p = s->dev[p].parent, depth++) {
		if (p == bridge) {
			return true;
		}
	}
	return false;
}

int pcie_path_by_range(const struct pcie_snapshot *s, int dev, uint64_t base, uint64_t limit,
	int path[static PCIE_PATH_MAX])
{
	int n = 0;
	for (size_t i = 0; i < s->ndev && n < PCIE_PATH_MAX; i++) {
		const struct pcie_window *w = &s->dev[i].window[PCIE_WINDOW_PREF];
		if (w->have != PCIE_KNOWN || w->unassigned || w->base > base || w->limit < limit ||
			is_above(s, (int)i, dev)) {
			continue;
		}
		int at = n++;
		uint64_t size = w->limit - w->base;
		for (; at > 0; at--) {
			const struct pcie_window *o =
				&s->dev[path[at - 1]].window[PCIE_WINDOW_PREF];
			if (o->limit - o->base <= size) {
				break;
			}
			path[at] = path[at - 1];
		}
		path[at] = (int)i;
	}
	return n;
}
