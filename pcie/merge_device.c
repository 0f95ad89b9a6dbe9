/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two witnesses about one device. */
#include <string.h>

#include "pcie/merge_int.h"

void merge_remap_sources(struct pcie_device *d, const pcie_src *map)
{
	d->ids_src = map[d->ids_src];
	d->rebar.src = map[d->rebar.src];
	d->vf_rebar.src = map[d->vf_rebar.src];
	d->link.src = map[d->link.src];
	d->vram.src = map[d->vram.src];
	d->aer.src = map[d->aer.src];
	d->acs.src = map[d->acs.src];
	d->driver_src = map[d->driver_src];
	d->power_src = map[d->power_src];
	for (int i = 0; i < d->noption; i++) {
		d->option[i].src = map[d->option[i].src];
	}
	for (int i = 0; i < d->nbar; i++) {
		d->bar[i].src = map[d->bar[i].src];
		d->bar[i].reg.src = map[d->bar[i].reg.src];
	}
	for (int i = 0; i < PCIE_WINDOWS; i++) {
		d->window[i].src = map[d->window[i].src];
		d->window[i].reg.src = map[d->window[i].reg.src];
	}
}

/* Does a witness know more than we do? ABSENT and KNOWN are both answers. */
static bool is_better(enum pcie_fact ours, enum pcie_fact theirs)
{
	return theirs > ours && ours != PCIE_ABSENT &&
	       (ours == PCIE_UNKNOWN || theirs == PCIE_KNOWN);
}

/* Numbers for BARs without one. */

static bool same_type(const struct pcie_bar *a, const struct pcie_bar *b)
{
	bool typed = a->is64_known && b->is64_known;
	return a->kind == b->kind && a->io == b->io &&
	       (!typed || (a->is64 == b->is64 && a->prefetchable == b->prefetchable));
}

static int count_type(const struct pcie_device *d, const struct pcie_bar *like)
{
	int n = 0;
	for (int i = 0; i < d->nbar; i++) {
		n += d->bar[i].have == PCIE_KNOWN && same_type(&d->bar[i], like);
	}
	return n;
}

/* May A, which has no number, be B? Sizes decide; without them, only an equal count of a type. */
static bool may_be(const struct pcie_device *d, const struct pcie_bar *a,
	const struct pcie_device *by, const struct pcie_bar *b)
{
	if (b->index < 0 || b->kind != PCIE_BAR_NORMAL || b->have != PCIE_KNOWN ||
		!same_type(a, b)) {
		return false;
	}
	if (a->has_size && b->has_size) {
		return a->size == b->size;
	}
	if (a->has_base && b->has_base) {
		return a->base == b->base;
	}
	return a->is64_known && b->is64_known && count_type(d, a) == count_type(by, b);
}

void merge_number_bars(struct pcie_device *d, const struct pcie_device *by)
{
	int last = -1;
	for (int i = 0; i < d->nbar; i++) {
		struct pcie_bar *a = &d->bar[i];
		if (a->index >= 0 || a->kind != PCIE_BAR_NORMAL || a->have != PCIE_KNOWN) {
			continue;
		}
		int best = -1;
		for (int k = 0; k < by->nbar; k++) {
			const struct pcie_bar *b = &by->bar[k];
			if (b->index > last && may_be(d, a, by, b) &&
				!pcie_device_find_bar(d, PCIE_BAR_NORMAL, b->index) &&
				(best < 0 || b->index < by->bar[best].index)) {
				best = k;
			}
		}
		if (best >= 0) {
			a->index = last = by->bar[best].index;
		}
	}
}

/* Another boot? */

static bool differs(const struct pcie_bar *a, const struct pcie_bar *b)
{
	if (a->assigned && b->assigned && a->assigned != b->assigned) {
		return true;
	}
	if (a->has_base && b->has_base && a->base != b->base) {
		return true;
	}
	/* what could not be placed is asked for in several sizes */
	return a->assigned == PCIE_YES && b->assigned == PCIE_YES && a->has_size && b->has_size &&
	       a->size != b->size;
}

int merge_contradiction(
	const struct pcie_device *into, const struct pcie_device *from, pcie_src log)
{
	bool listed = into->mem_enable || into->bus_master; /* a whole listing, not an excerpt */
	bool numbered = into->nbar > 0;
	for (int i = 0; i < into->nbar; i++) {
		numbered = numbered && into->bar[i].index >= 0;
	}
	for (int i = 0; i < from->nbar; i++) {
		const struct pcie_bar *b = &from->bar[i];
		if (b->kind != PCIE_BAR_NORMAL || b->io || b->src != log || b->index < 0) {
			continue;
		}
		const struct pcie_bar *a = pcie_device_find_bar(into, b->kind, b->index);
		bool known = a && a->have == PCIE_KNOWN && a->src != log;
		if (known && differs(a, b)) {
			return i;
		}
		bool missing = !a || a->have == PCIE_ABSENT;
		if (missing && b->assigned == PCIE_YES && numbered && !into->config_gone &&
			(listed || into->bars_complete)) {
			return i; /* the log knows an address where the listing has nothing */
		}
	}
	return -1;
}

/* Filling. */

static void fill_bar(struct pcie_bar *a, const struct pcie_bar *b)
{
	if (!a->is64_known && b->is64_known && a->io == b->io) {
		a->is64 = b->is64;
		a->prefetchable = b->prefetchable;
		a->is64_known = true;
	}
	if (!a->has_size && b->has_size) {
		a->has_size = true;
		a->size = b->size;
	}
	if (!a->has_base && b->has_base && a->assigned != PCIE_NO) {
		a->has_base = true;
		a->base = b->base;
	}
	if (!a->assigned) {
		a->assigned = b->assigned;
	}
	if (!a->decode_enabled) {
		a->decode_enabled = b->decode_enabled;
	}
}

static void fill_register(struct pcie_bar *a, const struct pcie_bar *b)
{
	if (a->reg.have == PCIE_UNKNOWN && b->reg.have != PCIE_UNKNOWN) {
		a->reg = b->reg;
		a->enhanced = a->enhanced || b->enhanced;
	}
}

/* A BAR of which only the length is known (nvidia-smi's BAR1) fills the VRAM BAR's. */
static void fill_length(struct pcie_device *into, const struct pcie_bar *b)
{
	int i = pcie_device_vram_bar(into);
	if (i >= 0 && b->has_size && !b->is64_known && into->bar[i].have == PCIE_KNOWN &&
		!into->bar[i].has_size) {
		into->bar[i].has_size = true;
		into->bar[i].size = b->size;
	}
}

static void merge_bars(
	struct pcie_device *into, const struct pcie_device *from, pcie_src log, bool stale)
{
	bool none = true;
	for (int i = 0; i < into->nbar; i++) {
		none = none &&
		       (into->bar[i].have != PCIE_KNOWN || into->bar[i].kind != PCIE_BAR_NORMAL);
	}
	for (int i = 0; i < from->nbar; i++) {
		const struct pcie_bar *b = &from->bar[i];
		bool said = b->have == PCIE_KNOWN && !(stale && b->src == log);
		if (b->index < 0 && !none) {
			fill_length(into, b);
			continue;
		}
		struct pcie_bar *a = NULL;
		for (int k = 0; k < into->nbar && b->index >= 0; k++) {
			if (into->bar[k].kind == b->kind && into->bar[k].index == b->index) {
				a = &into->bar[k];
			}
		}
		if (!a && (said || b->reg.have != PCIE_UNKNOWN) && !into->bars_complete) {
			a = pcie_device_bar(into, b->kind, b->index);
		}
		if (!a) {
			continue;
		}
		fill_register(a, b);
		bool better = said && a->from_register && !b->from_register;
		if (said && a->have == PCIE_KNOWN && !better) {
			fill_bar(a, b);
		} else if (said && !into->bars_complete) {
			struct pcie_bar_register reg = a->reg;
			*a = *b;
			a->reg = reg;
		}
	}
}

static void merge_windows(
	struct pcie_device *into, const struct pcie_device *from, pcie_src log, bool stale)
{
	if (!from->is_bridge || (stale && into->is_bridge)) {
		return;
	}
	into->is_bridge = true;
	if (!into->secondary && !into->subordinate) {
		into->secondary = from->secondary;
		into->subordinate = from->subordinate;
	}
	for (int i = 0; i < PCIE_WINDOWS; i++) {
		struct pcie_window *a = &into->window[i];
		const struct pcie_window *b = &from->window[i];
		bool blank = a->have == PCIE_UNKNOWN || (a->from_register && !b->from_register);
		if (blank && b->have != PCIE_UNKNOWN && !into->bars_complete &&
			!(stale && b->src == log)) {
			a->have = b->have;
			a->src = b->src;
			a->is64 = b->is64;
			a->unassigned = b->unassigned;
			a->from_register = b->from_register;
			a->base = b->base;
			a->limit = b->limit;
		}
		if (a->reg.have == PCIE_UNKNOWN) {
			a->reg = b->reg;
		}
	}
}

/* Ids may come in halves: "Device 20b2" behind a vendor's name. */
static void merge_identity(struct pcie_device *into, const struct pcie_device *from, bool bytes)
{
	if (from->have_ids == PCIE_KNOWN) {
		bool ours = into->have_ids == PCIE_KNOWN && !bytes;
		if (!ours || !into->vendor) {
			into->vendor = from->vendor ? from->vendor : into->vendor;
			into->ids_src = from->ids_src;
		}
		if (!ours || !into->device) {
			into->device = from->device ? from->device : into->device;
			into->ids_src = from->ids_src;
		}
		into->have_ids = PCIE_KNOWN;
	}
	if (from->have_subsystem == PCIE_KNOWN && (into->have_subsystem != PCIE_KNOWN || bytes)) {
		into->have_subsystem = PCIE_KNOWN;
		into->subvendor = from->subvendor;
		into->subdevice = from->subdevice;
	}
	if (from->have_class == PCIE_KNOWN &&
		(into->have_class != PCIE_KNOWN || bytes ||
			(into->class_no_progif && !from->class_no_progif))) {
		into->have_class = PCIE_KNOWN;
		into->class_code = from->class_code;
		into->class_no_progif = from->class_no_progif;
	}
	if (from->revision && (!into->revision || bytes)) {
		into->revision = from->revision;
	}
	if (!into->name[0]) {
		memcpy(into->name, from->name, sizeof(into->name));
	}
	if (!into->vbios[0]) {
		memcpy(into->vbios, from->vbios, sizeof(into->vbios));
	}
}

static void merge_rebar(struct pcie_rebar *into, const struct pcie_rebar *from, bool bytes)
{
	bool sizes = from->have == PCIE_KNOWN && from->count > 0 && into->have == PCIE_KNOWN &&
		     into->sizes_unknown;
	if (is_better(into->have, from->have) || sizes || (bytes && from->have != PCIE_UNKNOWN)) {
		bool null_cap = into->null_cap || from->null_cap;
		*into = *from;
		into->null_cap = null_cap;
	}
}

static void merge_config(struct pcie_device *into, const struct pcie_device *from, bool bytes)
{
	merge_rebar(&into->rebar, &from->rebar, bytes);
	merge_rebar(&into->vf_rebar, &from->vf_rebar, bytes);
	if (bytes || is_better(into->config, from->config)) {
		into->config = from->config;
	}
	if (bytes) {
		into->config_bytes = from->config_bytes;
	}
	if (bytes ? from->capabilities != PCIE_UNKNOWN
		  : is_better(into->capabilities, from->capabilities)) {
		into->capabilities = from->capabilities;
	}
	if (bytes ? from->ext_capabilities != PCIE_UNKNOWN
		  : is_better(into->ext_capabilities, from->ext_capabilities)) {
		into->ext_capabilities = from->ext_capabilities;
	}
	if (from->port_type != PCIE_PORT_NONE && (into->port_type == PCIE_PORT_NONE || bytes)) {
		into->port_type = from->port_type;
	}
	if (from->link.have == PCIE_KNOWN && (into->link.have != PCIE_KNOWN || bytes)) {
		into->link = from->link;
	}
	if (from->sriov_total && (!into->sriov_total || bytes)) {
		into->sriov_total = from->sriov_total;
		into->sriov_num = from->sriov_num;
	}
	if (!into->mem_enable) {
		into->io_enable = from->io_enable;
		into->mem_enable = from->mem_enable;
	}
	if (!into->bus_master) {
		into->bus_master = from->bus_master;
	}
	into->hotplug_slot = into->hotplug_slot || from->hotplug_slot;
	into->removable = into->removable || from->removable;
}

static void merge_driver(struct pcie_device *into, const struct pcie_device *from)
{
	if (is_better(into->have_driver, from->have_driver) ||
		(into->have_driver == PCIE_UNKNOWN && !into->driver[0] && from->driver[0])) {
		into->have_driver = from->have_driver;
		into->driver_src = from->driver_src;
		memcpy(into->driver, from->driver, sizeof(into->driver));
	}
	for (int i = 0; i < from->noption; i++) {
		int k = 0;
		while (k < into->noption && strcmp(into->option[k].name, from->option[i].name)) {
			k++;
		}
		if (k == into->noption && k < PCIE_OPTIONS) {
			into->option[into->noption++] = from->option[i];
		}
	}
}

static void merge_place(struct pcie_device *into, const struct pcie_device *from)
{
	if (!into->root[0]) {
		memcpy(into->root, from->root, sizeof(into->root));
	}
	if (is_better(into->have_numa, from->have_numa)) {
		into->have_numa = from->have_numa;
		into->numa = from->numa;
	}
	if (is_better(into->have_iommu, from->have_iommu)) {
		into->have_iommu = from->have_iommu;
		into->iommu_group = from->iommu_group;
	}
	if (!into->boot_vga) {
		into->boot_vga = from->boot_vga;
	}
	if (!into->is_vf) {
		into->is_vf = from->is_vf;
	}
	if (!into->power[0]) {
		memcpy(into->power, from->power, sizeof(into->power));
		into->power_src = from->power_src;
	}
	if (!into->dma_mask_bits) {
		into->dma_mask_bits = from->dma_mask_bits;
	}
}

void merge_device(
	struct pcie_device *into, const struct pcie_device *from, pcie_src log, bool stale)
{
	/* only bytes beat text, and only for ids and what capabilities hold */
	bool bytes = from->config_bytes > 0 && into->config_bytes == 0 && !from->config_gone;

	merge_identity(into, from, bytes);
	merge_bars(into, from, log, stale);
	merge_windows(into, from, log, stale);
	merge_config(into, from, bytes);
	merge_place(into, from);
	if (!(stale && from->driver_src == log)) {
		merge_driver(into, from);
	}
	if (is_better(into->vram.have, from->vram.have)) {
		into->vram = from->vram;
		into->mig = from->mig;
	}
	if (is_better(into->aer.have, from->aer.have)) {
		into->aer = from->aer;
	}
	if (is_better(into->acs.have, from->acs.have)) {
		into->acs = from->acs;
	}
	into->coherent = into->coherent || from->coherent;
}
