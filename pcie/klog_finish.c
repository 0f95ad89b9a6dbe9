/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The end of a log: what was gathered becomes facts of a snapshot. */
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/sort.h"
#include "base/text.h"
#include "pcie/cmdline_option.h"
#include "pcie/klog_state.h"

/* Kernels without SR-IOV call a bridge's windows BAR 7 to 9: known for a bridge too late. */
static void name_windows(struct klog *k, uint32_t dev)
{
	if (!klog_dev(k, dev)->is_bridge) {
		return;
	}
	for (int i = 0; i < 3; i++) {
		uint32_t *from = &k->dev[dev].resource[KLOG_VF + i];
		uint32_t *to = &k->dev[dev].resource[KLOG_WINDOW_IO + i];
		if (*from && k->resource[*from - 1].numbered && !*to) {
			*to = *from;
			*from = 0;
			k->resource[*to - 1].slot = (uint8_t)(KLOG_WINDOW_IO + i);
		}
	}
}

static bool has_address(const struct klog_resource *r)
{
	return r->has_base && (r->state == KLOG_FIRMWARE || r->state == KLOG_ASSIGNED);
}

static enum pcie_tri assigned(const struct klog_resource *r)
{
	switch (r->state) {
	case KLOG_FIRMWARE:
	case KLOG_ASSIGNED:
		return r->has_base ? PCIE_YES : PCIE_TRI_UNKNOWN;
	case KLOG_WIPED:
	case KLOG_NO_SPACE:
	case KLOG_FAILED:
	case KLOG_CANT_CLAIM:
		return PCIE_NO;
	default:
		return PCIE_TRI_UNKNOWN;
	}
}

static enum pcie_final final_state(const struct klog_resource *r)
{
	switch (r->state) {
	case KLOG_FIRMWARE:
	case KLOG_ASSIGNED:
		return PCIE_FINAL_ASSIGNED;
	case KLOG_RELEASED:
	case KLOG_ABSENT:
		return PCIE_FINAL_RELEASED;
	case KLOG_NO_SPACE:
		return PCIE_FINAL_NO_SPACE;
	case KLOG_FAILED:
	case KLOG_WIPED:
		return PCIE_FINAL_FAILED;
	case KLOG_CANT_CLAIM:
		return PCIE_FINAL_CANT_CLAIM;
	default:
		return PCIE_FINAL_UNKNOWN;
	}
}

/* The windows on the way to DEV hold RANGE, as far as the log knows them. */
static bool path_holds(struct klog *k, uint32_t dev, uint64_t base, uint64_t size, bool pref)
{
	uint8_t bus = klog_dev(k, dev)->addr.bus;
	uint32_t domain = klog_dev(k, dev)->addr.domain;
	for (int depth = 0; depth < 64; depth++) {
		uint32_t up = k->behind[bus];
		if (up >= k->snap->ndev || klog_dev(k, up)->addr.domain != domain ||
			klog_dev(k, up)->secondary != bus) {
			return true; /* not in the text */
		}
		const struct klog_resource *w =
			klog_find_resource(k, up, pref ? KLOG_WINDOW_PREF : KLOG_WINDOW_MEM);
		if (w && w->state != KLOG_NOTHING &&
			(!has_address(w) || base < w->base ||
				base + (size - 1) > w->base + (w->size - 1))) {
			return false;
		}
		bus = klog_dev(k, up)->addr.bus;
	}
	return false;
}

/* A failed resize whose driver goes on with the old size: the old address holds again. */
static void restore(struct klog *k, struct klog_resource *r)
{
	if (!r->may_be_restored || !r->has_old || r->old_size != k->dev[r->dev].visible ||
		!path_holds(k, r->dev, r->old_base, r->old_size, r->pref)) {
		return;
	}
	r->state = KLOG_ASSIGNED;
	r->has_base = true;
	r->base = r->old_base;
	r->size = r->old_size;
}

static void add_bar(struct klog *k, struct pcie_device *d, const struct klog_resource *r)
{
	enum pcie_bar_kind kind = r->slot < KLOG_ROM    ? PCIE_BAR_NORMAL
				  : r->slot == KLOG_ROM ? PCIE_BAR_ROM
							: PCIE_BAR_VF;
	if (r->state == KLOG_NOTHING && !r->has_size) {
		return;
	}
	struct pcie_bar *b =
		pcie_device_bar(d, kind, kind == PCIE_BAR_VF ? r->slot - KLOG_VF : r->slot);
	if (!b) {
		return;
	}
	b->have = PCIE_KNOWN;
	b->src = k->src;
	b->io = r->io;
	b->is64 = r->is64;
	b->prefetchable = r->pref;
	b->is64_known = r->typed;
	b->has_size = r->has_size && r->size;
	b->size = b->has_size ? r->size : 0;
	b->assigned = assigned(r);
	b->has_base = has_address(r);
	b->base = b->has_base ? r->base : 0;
}

static void add_window(struct klog *k, struct pcie_device *d, const struct klog_resource *r)
{
	struct pcie_window *w = &d->window[r->slot - KLOG_WINDOW_IO];
	w->src = k->src;
	w->is64 = r->is64;
	if (has_address(r)) {
		w->have = PCIE_KNOWN;
		w->base = r->base;
		w->limit = r->base + (r->size ? r->size - 1 : 0);
	} else if (r->state == KLOG_ABSENT) {
		w->have = PCIE_ABSENT;
	} else if (assigned(r) == PCIE_NO && r->has_size && r->size) {
		w->have = PCIE_KNOWN;
		w->unassigned = true;
		w->limit = r->size - 1;
	} else {
		w->src = 0;
	}
}

/*
 * The VRAM BAR's length as the driver saw it, where no message names the BAR, or where an older
 * one names at least twice of it: an assignment that did not last, and whose end the log lacks.
 */
static void add_visible(struct klog *k, uint32_t dev)
{
	uint64_t size = k->dev[dev].visible;
	struct pcie_device *d = klog_dev(k, dev);
	enum klog_maker maker = klog_driver_maker(d->driver, strlen(d->driver));
	if (size == 0 || (maker != KLOG_AMD && maker != KLOG_INTEL)) {
		return;
	}
	uint8_t slot = maker == KLOG_AMD ? 0 : 2;
	struct pcie_bar *b = pcie_device_bar(d, PCIE_BAR_NORMAL, slot);
	const struct klog_resource *r = klog_find_resource(k, dev, slot);
	if (b && b->have == PCIE_KNOWN && b->has_size && b->size / 2 >= size && r &&
		r->order < k->dev[dev].visible_order) {
		b->size = size;
		b->has_base = false;
		b->base = 0;
		b->assigned = PCIE_TRI_UNKNOWN;
	}
	if (b && b->have != PCIE_KNOWN) {
		b->have = PCIE_KNOWN;
		b->src = k->src;
		b->has_size = true;
		b->size = size;
	}
}

/*
 * "BAR1 is 0M @ 0x0": NVRM counts the registers, and the upper half of a 64-bit BAR is one of
 * them. Of two neighbours the second is taken for such a half.
 */
static void add_invalid(struct klog *k, uint32_t dev)
{
	struct pcie_device *d = klog_dev(k, dev);
	uint8_t mask = k->dev[dev].invalid_bars;
	for (int i = 0; i < 6; i++) {
		if (!(mask & 1 << i)) {
			continue;
		}
		const struct pcie_bar *below = pcie_device_find_bar(d, PCIE_BAR_NORMAL, i - 1);
		if (below && below->have == PCIE_KNOWN && below->is64_known && below->is64) {
			continue;
		}
		struct pcie_bar *b = pcie_device_bar(d, PCIE_BAR_NORMAL, i);
		if (b && b->have != PCIE_KNOWN) {
			b->have = PCIE_KNOWN;
			b->src = k->src;
		}
		if (b && !b->has_base) {
			b->assigned = PCIE_NO;
		}
		i += mask & 1 << (i + 1) && !(b && b->is64_known && !b->is64);
	}
}

static void add_facts(struct klog *k)
{
	for (uint32_t i = 0; i < k->snap->ndev; i++) {
		name_windows(k, i);
	}
	for (size_t i = 0; i < k->nresource; i++) {
		restore(k, &k->resource[i]);
	}
	for (size_t i = 0; i < k->nresource; i++) {
		const struct klog_resource *r = &k->resource[i];
		struct pcie_device *d = klog_dev(k, r->dev);
		if (k->dev[r->dev].resource[r->slot] != i + 1) {
			continue;
		}
		if (r->slot >= KLOG_WINDOW_IO) {
			add_window(k, d, r);
		} else {
			add_bar(k, d, r);
		}
	}
	for (int m = 0; m < KLOG_MAKERS; m++) {
		klog_adopt(k, (enum klog_maker)m);
	}
	for (uint32_t i = 0; i < k->snap->ndev; i++) {
		add_visible(k, i);
		add_invalid(k, i);
	}
	for (size_t i = 0; i < k->snap->naperture; i++) {
		k->snap->aperture[i].kernel_made |= k->nocrs && !k->snap->aperture[i].ignored;
	}
}

/* Lines: each cited once, in the order of the text. */

struct line_ref {
	const struct klog_cite *cite;
};

static int line_compare(const void *a, const void *b)
{
	uint32_t x = ((const struct line_ref *)a)->cite->order;
	uint32_t y = ((const struct line_ref *)b)->cite->order;
	return (x > y) - (x < y);
}

/* All cited lines into INTO; *RET_ORDER holds the order of each, ascending. */
static size_t add_lines(struct klog *k, struct pcie_snapshot *into, uint32_t **ret_order)
{
	size_t n = k->nstatement, m = 0;
	for (size_t i = 0; i < k->nresource; i++) {
		n += k->resource[i].cites.n;
	}
	struct line_ref *ref = xcalloc(n, sizeof(*ref));
	for (size_t i = 0; i < k->nresource; i++) {
		for (uint32_t c = 0; c < k->resource[i].cites.n; c++) {
			ref[m++].cite = &k->resource[i].cites.cite[c];
		}
	}
	for (size_t i = 0; i < k->nstatement; i++) {
		ref[m++].cite = &k->statement[i].cite;
	}
	sort_array(ref, n, sizeof(*ref), line_compare);

	uint32_t *order = xcalloc(n, sizeof(*order));
	m = 0;
	for (size_t i = 0; i < n; i++) {
		const struct klog_cite *c = ref[i].cite;
		if (m && order[m - 1] == c->order) {
			continue;
		}
		into->line = xgrow(into->line, into->nline, &into->capline, sizeof(*into->line));
		into->line[into->nline++] = xstrndup(c->s, MIN(c->len, 1000));
		order[m++] = c->order;
	}
	free(ref);
	*ret_order = order;
	return m;
}

static uint32_t line_of(const uint32_t *order, size_t n, uint32_t want)
{
	size_t lo = 0, hi = n;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		if (order[mid] < want) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return (uint32_t)lo;
}

static void resource_label(const struct klog_resource *r, char *buf, size_t size)
{
	static const char *const window[] = {"io", "mem", "pref"};
	if (r->slot >= KLOG_WINDOW_IO) {
		snprintf(buf, size, "bridge window %s", window[r->slot - KLOG_WINDOW_IO]);
	} else if (r->slot >= KLOG_VF) {
		snprintf(buf, size, "VF BAR %d", r->slot - KLOG_VF);
	} else if (r->slot == KLOG_ROM) {
		snprintf(buf, size, "ROM");
	} else {
		snprintf(buf, size, "BAR %d", r->slot);
	}
}

static void add_history(struct klog *k, struct pcie_snapshot *into, const struct klog_resource *r,
	int dev, const uint32_t *order, size_t norder, uint32_t first)
{
	into->history =
		xgrow(into->history, into->nhistory, &into->caphistory, sizeof(*into->history));
	struct pcie_history *h = &into->history[into->nhistory++];
	*h = (struct pcie_history){
		.addr = klog_dev(k, r->dev)->addr,
		.dev = dev,
		.bar = (int8_t)(r->slot <= KLOG_ROM        ? r->slot
				: r->slot < KLOG_WINDOW_IO ? r->slot - KLOG_VF
							   : -1),
		.vf = r->slot >= KLOG_VF && r->slot < KLOG_WINDOW_IO,
		.window = r->slot >= KLOG_WINDOW_IO,
		.io = r->io,
		.is64 = r->is64,
		.prefetchable = r->pref,
		.final = final_state(r),
		.has_base = has_address(r),
		.base = has_address(r) ? r->base : 0,
		.has_size = r->has_size,
		.size = r->has_size ? r->size : 0,
		.has_firmware = r->has_firmware,
		.firmware_base = r->firmware_base,
		.pinned = r->pinned,
		.after_driver = r->after_driver,
		.nline = r->cites.n,
		.cap = r->cites.n,
	};
	resource_label(r, h->resource, sizeof(h->resource));
	h->line = xcalloc(h->nline, sizeof(*h->line));
	for (uint32_t i = 0; i < h->nline; i++) {
		h->line[i] = first + line_of(order, norder, r->cites.cite[i].order);
	}
}

/* Everything about lines: histories and statements, with devices numbered as in INTO by TO. */
static void add_log(struct klog *k, struct pcie_snapshot *into, const int *to)
{
	uint32_t first = (uint32_t)into->nline, *order;
	size_t norder = add_lines(k, into, &order);
	for (size_t i = 0; i < k->nresource; i++) {
		const struct klog_resource *r = &k->resource[i];
		if (r->cites.n && k->dev[r->dev].resource[r->slot] == i + 1) {
			add_history(k, into, r, to[r->dev], order, norder, first);
		}
	}
	for (size_t i = 0; i < k->nstatement; i++) {
		const struct klog_statement *st = &k->statement[i];
		into->statement = xgrow(into->statement, into->nstatement, &into->capstatement,
			sizeof(*into->statement));
		into->statement[into->nstatement++] = (struct pcie_statement){
			.kind = st->kind,
			.addr = klog_dev(k, st->dev)->addr,
			.dev = to[st->dev],
			.value = st->value,
			.line = first + line_of(order, norder, st->cite.order),
		};
	}
	free(order);
}

/* Roots by the bus numbers that they lead to. */
static const struct klog_root *root_of(const struct klog *k, const struct pcie_device *d)
{
	for (size_t i = 0; i < k->nroot; i++) {
		const struct klog_root *r = &k->root[i];
		if (r->domain == d->addr.domain && d->addr.bus >= r->bus &&
			d->addr.bus <= r->last_bus) {
			return r;
		}
	}
	return NULL;
}

/* The whole list of root bus resources is in the text, for every GPU or else every device. */
static bool apertures_complete(const struct klog *k)
{
	bool gpus = false, all = true, gpus_all = true;
	for (size_t i = 0; i < k->snap->ndev; i++) {
		const struct pcie_device *d = &k->snap->dev[i];
		if (!d->addr.known) {
			continue;
		}
		const struct klog_root *r = root_of(k, d);
		bool complete = r && r->complete;
		all &= complete;
		if (pcie_device_is_gpu(d)) {
			gpus = true;
			gpus_all &= complete;
		}
	}
	for (size_t i = 0; i < k->nroot; i++) {
		all &= k->root[i].complete;
	}
	return k->nroot && (gpus ? gpus_all : all);
}

static void add_host(const struct pcie_host *h, struct pcie_host *into)
{
#define FACT(have, member)                                                                         \
	if (h->have == PCIE_KNOWN && into->have != PCIE_KNOWN) {                                   \
		into->have = PCIE_KNOWN;                                                           \
		memcpy(&into->member, &h->member, sizeof(h->member));                              \
	}
	FACT(have_kernel, kernel)
	FACT(have_arch, arch)
	if (into->have_efi != PCIE_KNOWN) {
		into->efi_src = h->efi_src;
	}
	FACT(have_efi, efi)
	FACT(have_phys_bits, phys_bits)
	FACT(have_cmdline, cmdline)
#undef FACT
	if (h->have_dmi == PCIE_KNOWN && into->have_dmi != PCIE_KNOWN) {
		into->have_dmi = PCIE_KNOWN;
		memcpy(into->product, h->product, sizeof(h->product));
		memcpy(into->board, h->board, sizeof(h->board));
		memcpy(into->bios_version, h->bios_version, sizeof(h->bios_version));
		memcpy(into->bios_date, h->bios_date, sizeof(h->bios_date));
	}
	if (h->have_virtual == PCIE_KNOWN && into->have_virtual != PCIE_KNOWN) {
		into->have_virtual = PCIE_KNOWN;
		into->is_virtual = h->is_virtual;
		memcpy(into->virt, h->virt, sizeof(h->virt));
	}
}

static bool is_moved(const struct klog *k, uint32_t dev)
{
	for (int m = 0; m < KLOG_MAKERS; m++) {
		if (k->orphan[m] == dev) {
			return k->snap->dev[dev].is_bridge;
		}
	}
	return dev == k->orphan[KLOG_NO_MAKER] ||
	       (k->dev[dev].nobodys && k->snap->dev[dev].is_bridge);
}

void klog_finish(struct klog *k, struct pcie_snapshot *into)
{
	klog_root_list_ends(k, true);
	if (k->new_boot) { /* the last start says nothing about PCI */
		k->host = k->kept_host;
		k->seen = k->kept_seen;
	}
	add_facts(k);

	int *to = xcalloc(k->snap->ndev, sizeof(*to));
	for (uint32_t i = 0; i < k->snap->ndev; i++) {
		struct pcie_device *d = klog_dev(k, i);
		to[i] = -1;
		if (is_moved(k, i)) {
			continue;
		}
		const struct klog_root *r = d->addr.known ? root_of(k, d) : NULL;
		if (r) {
			snprintf(d->root, sizeof(d->root), "pci%04x:%02x", r->domain, r->bus);
		}
		to[i] = pcie_snapshot_find(into, d->addr);
		if (to[i] < 0) {
			pcie_snapshot_add(into, d->addr);
			to[i] = (int)into->ndev - 1;
			into->dev[to[i]] = *d;
		}
	}
	for (size_t i = 0; i < k->snap->naperture; i++) {
		struct pcie_aperture *a = pcie_snapshot_add_aperture(into);
		*a = k->snap->aperture[i];
	}
	add_log(k, into, to);
	free(to);

	add_host(&k->host, &into->host);
	pcie_cmdline_options(into, k->src);
	into->apertures_complete |= apertures_complete(k);
	into->boots = k->boots;
	if (k->lines) {
		bool complete = (k->seen & KLOG_SEEN_ALL) == KLOG_SEEN_ALL;
		into->log = complete ? PCIE_LOG_COMPLETE : PCIE_LOG_CUT;
	}
	if (k->boots > 1) {
		pcie_snapshot_note(into, -1,
			"the log holds %u kernel starts: the last one that names PCI devices counts",
			k->boots);
	}
	for (int m = 0; m < KLOG_MAKERS; m++) {
		if (k->nobodys[m]) {
			pcie_snapshot_note(into, -1,
				"what %s says of a GPU without its address may be about any of several: it "
				"is left out",
				klog_dev(k, k->orphan[m])->driver);
		}
	}
	if (k->full) {
		pcie_snapshot_note(into, -1, "the log names too many devices: some were left out");
	}
}
