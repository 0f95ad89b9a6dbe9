/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device that the text lists again: the same state in other words, a later state in an
 * excerpt, or another state (another boot, another machine) of which the first tells nothing.
 */
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "pcie/lspci_int.h"

static bool same_kind(const struct pcie_bar *a, const struct pcie_bar *b)
{
	return a->kind == b->kind && a->index == b->index && a->io == b->io;
}

/* At another address, or of another length? */
static bool bar_moved(const struct pcie_bar *a, const struct pcie_bar *b)
{
	return (a->has_base && b->has_base && a->base != b->base) ||
	       (a->has_size && b->has_size && a->size != b->size);
}

static bool bar_differs(const struct pcie_bar *a, const struct pcie_bar *b)
{
	if (a->kind != PCIE_BAR_NORMAL || a->io) {
		return false;
	}
	return (a->assigned && b->assigned && a->assigned != b->assigned) || bar_moved(a, b);
}

/* The BARs of NEW for those of OLD; a size that NEW leaves out stays what it was. */
static bool update_bars(struct pcie_device *old, const struct pcie_device *new)
{
	struct pcie_bar was[PCIE_BARS];
	int nwas = old->nbar;
	bool differ = false;

	memcpy(was, old->bar, sizeof(was));
	memcpy(old->bar, new->bar, sizeof(old->bar));
	old->nbar = new->nbar;
	for (int i = 0, at = 0; i < old->nbar; i++) {
		struct pcie_bar *b = &old->bar[i];
		int k = b->index < 0 ? at : 0;
		while (k < nwas && !same_kind(&was[k], b)) {
			k++;
		}
		if (k == nwas) {
			continue;
		}
		at = k + 1;
		differ = differ || bar_differs(&was[k], b);
		bool same_type = was[k].is64 == b->is64 && was[k].prefetchable == b->prefetchable;
		if (b->have == PCIE_KNOWN && !b->has_size && was[k].has_size && same_type) {
			b->has_size = true;
			b->size = was[k].size;
		}
		if (b->reg.have == PCIE_UNKNOWN) {
			b->reg = was[k].reg;
		}
	}
	return differ;
}

static void update_rebar(struct pcie_rebar *old, const struct pcie_rebar *new)
{
	bool weaker = (new->have != PCIE_KNOWN && old->have == PCIE_KNOWN && !old->sizes_unknown) ||
		      (new->have == PCIE_KNOWN &&new->sizes_unknown && old->count > 0);
	if (new->have != PCIE_UNKNOWN && !weaker) {
		*old = *new;
	}
}

static void update_windows(struct pcie_device *old, const struct pcie_device *new)
{
	if (!new->is_bridge) {
		return;
	}
	old->is_bridge = true;
	if (new->secondary || new->subordinate) {
		old->secondary = new->secondary;
		old->subordinate = new->subordinate;
	}
	for (int i = 0; i < PCIE_WINDOWS; i++) {
		if (new->window[i].have != PCIE_UNKNOWN) {
			struct pcie_window w = new->window[i];
			w.reg = old->window[i].reg;
			old->window[i] = w;
		}
	}
}

static void update_identity(struct pcie_device *old, const struct pcie_device *new)
{
	if (new->have_ids == PCIE_KNOWN) {
		old->have_ids = PCIE_KNOWN;
		old->ids_src = new->ids_src;
		old->vendor = new->vendor ? new->vendor : old->vendor;
		old->device = new->device ? new->device : old->device;
	}
	if (new->have_subsystem == PCIE_KNOWN) {
		old->have_subsystem = PCIE_KNOWN;
		old->subvendor = new->subvendor ? new->subvendor : old->subvendor;
		old->subdevice = new->subdevice ? new->subdevice : old->subdevice;
	}
	bool finer = !new->class_no_progif || old->class_no_progif;
	if (new->have_class == PCIE_KNOWN &&
		(old->have_class != PCIE_KNOWN || finer ||
			old->class_code >> 8 != new->class_code >> 8)) {
		old->have_class = PCIE_KNOWN;
		old->class_code = new->class_code;
		old->class_no_progif = new->class_no_progif;
	}
	if (new->name[0]) {
		memcpy(old->name, new->name, sizeof(old->name));
	}
	if (new->revision) {
		old->revision = new->revision;
	}
	if (new->port_type != PCIE_PORT_NONE) {
		old->port_type = new->port_type;
	}
}

static void update_environment(struct pcie_device *old, const struct pcie_device *new)
{
	if (new->link.have == PCIE_KNOWN) {
		old->link = new->link;
	}
	if (new->have_driver != PCIE_UNKNOWN) {
		old->have_driver = new->have_driver;
		old->driver_src = new->driver_src;
		memcpy(old->driver, new->driver, sizeof(old->driver));
	}
	if (new->have_numa == PCIE_KNOWN) {
		old->have_numa = PCIE_KNOWN;
		old->numa = new->numa;
	}
	if (new->have_iommu == PCIE_KNOWN) {
		old->have_iommu = PCIE_KNOWN;
		old->iommu_group = new->iommu_group;
	}
	if (new->sriov_total) {
		old->sriov_total = new->sriov_total;
		old->sriov_num = new->sriov_num;
	}
	if (new->power[0]) {
		memcpy(old->power, new->power, sizeof(old->power));
		old->power_src = new->power_src;
	}
	if (new->mem_enable) {
		old->io_enable = new->io_enable;
		old->mem_enable = new->mem_enable;
	}
	if (new->bus_master) {
		old->bus_master = new->bus_master;
	}
	old->hotplug_slot = old->hotplug_slot || new->hotplug_slot;
}

bool pcie_lspci_update(struct pcie_device *old, const struct pcie_device *new)
{
	bool differ = false;

	update_identity(old, new);
	update_windows(old, new);
	update_rebar(&old->rebar, &new->rebar);
	update_rebar(&old->vf_rebar, &new->vf_rebar);
	update_environment(old, new);
	if (new->capabilities != PCIE_UNKNOWN &&
		(old->capabilities != PCIE_KNOWN || new->capabilities != PCIE_DENIED)) {
		old->capabilities = new->capabilities;
		old->ext_capabilities = new->ext_capabilities;
	}
	if (new->config != PCIE_UNKNOWN && old->config != PCIE_KNOWN) {
		old->config = new->config;
	}
	/* A plain listing and an excerpt of capabilities say nothing about BARs. */
	bool looked = new->nbar > 0 || new->mem_enable || new->bus_master;
	if (looked && !(new->config_gone &&new->nbar == 0)) {
		differ = update_bars(old, new);
		old->config_gone = new->config_gone;
	} else if (new->config_gone) {
		old->config_gone = true;
	}
	return differ;
}

/* Another state? */

/* Do both say what they are, and not the same? Names are of all ages of pci.ids; numbers decide. */
static bool other_identity(const struct pcie_device *a, const struct pcie_device *b)
{
	bool ids = a->have_ids == PCIE_KNOWN && b->have_ids == PCIE_KNOWN;
	if (ids && a->vendor && b->vendor && a->vendor != b->vendor) {
		return true;
	}
	if (ids && a->device && b->device) {
		return a->device != b->device;
	}
	if (!strcmp(a->name, b->name)) {
		return false;
	}
	struct lspci_squeezed x = {.len = 0}, y = {.len = 0};
	lspci_squeeze(&x, a->name);
	lspci_squeeze(&y, b->name);
	/* a wrap may have cut one short; without a "[model]" it is a chip's name or a number */
	return strchr(x.s, '[') && strchr(y.s, '[') && strchr(x.s, ']') && strchr(y.s, ']') &&
	       strncasecmp(x.s, y.s, MIN(x.len, y.len)) != 0;
}

static bool is_listed(const struct pcie_bar *b)
{
	return b->have == PCIE_KNOWN && b->kind == PCIE_BAR_NORMAL && !b->io && !b->from_register;
}

static bool same_type(const struct pcie_bar *a, const struct pcie_bar *b)
{
	return a->is64_known && b->is64_known && a->is64 == b->is64 &&
	       a->prefetchable == b->prefetchable;
}

/* The BARs of D of B's type, and how many of them stand before B (in D or not). */
static int count_type(const struct pcie_device *d, const struct pcie_bar *b, int *ret_before)
{
	int n = 0;
	*ret_before = 0;
	for (int i = 0; i < d->nbar; i++) {
		if (&d->bar[i] == b) {
			*ret_before = n;
		}
		n += is_listed(&d->bar[i]) && same_type(&d->bar[i], b);
	}
	return n;
}

/*
 * What D lists in the place of B, a BAR of BY: by number; where a listing has none (lspci -v)
 * by order among those of a type, when both list as many.
 */
static const struct pcie_bar *counterpart(
	const struct pcie_device *d, const struct pcie_bar *b, const struct pcie_device *by)
{
	for (int i = 0; i < d->nbar && b->index >= 0; i++) {
		if (d->bar[i].index == b->index && is_listed(&d->bar[i])) {
			return &d->bar[i];
		}
	}
	int before, none, at = 0;
	bool order = count_type(by, b, &before) == count_type(d, b, &none);
	for (int i = 0; i < d->nbar; i++) {
		const struct pcie_bar *a = &d->bar[i];
		if (is_listed(a) && (a->index < 0 || b->index < 0) && same_type(a, b) &&
			at++ == before && order) {
			return a;
		}
	}
	return NULL;
}

/* A listing without numbers and with fewer BARs: does OLD, which has as many, know this address? */
static bool is_strange(const struct pcie_device *old, const struct pcie_bar *b)
{
	int n = 0;
	for (int i = 0; i < old->nbar; i++) {
		const struct pcie_bar *a = &old->bar[i];
		if (is_listed(a) && same_type(a, b)) {
			if (!a->has_base || a->base == b->base ||
				(a->index >= 0 && b->index >= 0)) {
				return false;
			}
			n++;
		}
	}
	return n > 0 && b->has_base;
}

static bool more_of_type(
	const struct pcie_device *d, const struct pcie_device *than, const struct pcie_bar *b)
{
	int before;
	return count_type(d, b, &before) > count_type(than, b, &before);
}

/* One name stands for one pair of ids, in whatever machine. */
static bool same_name(const struct pcie_device *a, const struct pcie_device *b)
{
	struct lspci_squeezed x = {.len = 0}, y = {.len = 0};
	lspci_squeeze(&x, a->name);
	lspci_squeeze(&y, b->name);
	return strchr(x.s, ']') && !strcasecmp(x.s, y.s);
}

void lspci_replace(struct pcie_device *old, const struct pcie_device *new)
{
	struct pcie_device was = *old;

	*old = *new;
	if (same_name(&was, new) && was.have_ids == PCIE_KNOWN && !new->device) {
		old->have_ids = PCIE_KNOWN;
		old->ids_src = was.ids_src;
		old->vendor = was.vendor;
		old->device = was.device;
	}
}

bool lspci_is_other_state(const struct pcie_device *old, const struct pcie_device *new)
{
	if (other_identity(old, new)) {
		return true;
	}
	for (int i = 0; i < new->nbar; i++) {
		const struct pcie_bar *b = &new->bar[i];
		const struct pcie_bar *a = is_listed(b) ? counterpart(old, b, new) : NULL;
		if (a ? bar_moved(a, b)
		      : is_listed(b) && !more_of_type(new, old, b) && is_strange(old, b)) {
			return true;
		}
	}
	return false;
}
