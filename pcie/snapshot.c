/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/snapshot.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "pcie/rebar.h"

enum { MAX_SOURCES = 255, MAX_DEPTH = 256 };

struct pcie_snapshot *pcie_snapshot_create(const char *origin)
{
	struct pcie_snapshot *s = xcalloc(1, sizeof(*s));
	text_copy(s->origin, sizeof(s->origin), origin);
	pcie_snapshot_source(s, "nobody");
	return s;
}

const char *pcie_origin_name(const struct pcie_snapshot *s)
{
	return !strcmp(s->origin, "live") ? "this machine" : s->origin;
}

void pcie_snapshot_destroy(struct pcie_snapshot *s)
{
	if (!s) {
		return;
	}
	for (size_t i = 0; i < s->nsource; i++) {
		free(s->source[i]);
	}
	for (size_t i = 0; i < s->nhistory; i++) {
		free(s->history[i].line);
	}
	for (size_t i = 0; i < s->nline; i++) {
		free(s->line[i]);
	}
	free(s->source);
	free(s->dev);
	free(s->index);
	free(s->aperture);
	free(s->iomem);
	free(s->history);
	free(s->statement);
	free(s->line);
	free(s->note);
	free(s);
}

pcie_src pcie_snapshot_source(struct pcie_snapshot *s, const char *name)
{
	for (size_t i = 0; i < s->nsource; i++) {
		if (!strcmp(s->source[i], name)) {
			return (pcie_src)i;
		}
	}
	if (s->nsource == MAX_SOURCES) {
		return 0;
	}
	s->source = xgrow(s->source, s->nsource, &s->capsource, sizeof(*s->source));
	s->source[s->nsource] = xstrdup(name);
	return (pcie_src)s->nsource++;
}

/* The index: open addressing, a power of two of slots, each a device's number + 1. */

static size_t slot_of(struct pcie_addr a, size_t slots)
{
	uint64_t key = (uint64_t)a.domain << 16 | (uint64_t)a.bus << 8 | (uint64_t)a.dev << 3 |
		       (uint64_t)a.fn;
	return (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (slots - 1);
}

static void index_put(struct pcie_snapshot *s, size_t dev)
{
	if (!s->dev[dev].addr.known) {
		return;
	}
	size_t i = slot_of(s->dev[dev].addr, s->nindex);
	while (s->index[i]) {
		if (!pcie_addr_compare(s->dev[s->index[i] - 1].addr, s->dev[dev].addr)) {
			return; /* the first of two with one address is the one that is found */
		}
		i = (i + 1) & (s->nindex - 1);
	}
	s->index[i] = (uint32_t)dev + 1;
}

static void index_build(struct pcie_snapshot *s)
{
	size_t slots = 16;
	while (slots < 4 * s->ndev) {
		slots *= 2;
	}
	free(s->index);
	s->index = xcalloc(slots, sizeof(*s->index));
	s->nindex = slots;
	for (size_t i = 0; i < s->ndev; i++) {
		index_put(s, i);
	}
}

int pcie_snapshot_find(const struct pcie_snapshot *s, struct pcie_addr a)
{
	if (!a.known || s->nindex == 0) {
		return -1;
	}
	for (size_t i = slot_of(a, s->nindex); s->index[i]; i = (i + 1) & (s->nindex - 1)) {
		if (!pcie_addr_compare(s->dev[s->index[i] - 1].addr, a)) {
			return (int)s->index[i] - 1;
		}
	}
	return -1;
}

struct pcie_device *pcie_snapshot_add(struct pcie_snapshot *s, struct pcie_addr addr)
{
	s->dev = xgrow(s->dev, s->ndev, &s->capdev, sizeof(*s->dev));
	struct pcie_device *d = &s->dev[s->ndev++];
	*d = (struct pcie_device){.addr = addr, .parent = -1, .physfn = -1, .numa = -1};
	if (2 * s->ndev > s->nindex) {
		index_build(s);
	} else {
		index_put(s, s->ndev - 1);
	}
	return d;
}

void pcie_snapshot_note(struct pcie_snapshot *s, int dev, const char *fmt, ...)
{
	s->note = xgrow(s->note, s->nnote, &s->capnote, sizeof(*s->note));
	struct pcie_note *n = &s->note[s->nnote++];
	*n = (struct pcie_note){.dev = dev};

	va_list ap;
	va_start(ap, fmt);
	vsnprintf(n->text, sizeof(n->text), fmt, ap);
	va_end(ap);
}

struct pcie_aperture *pcie_snapshot_add_aperture(struct pcie_snapshot *s)
{
	s->aperture = xgrow(s->aperture, s->naperture, &s->capaperture, sizeof(*s->aperture));
	struct pcie_aperture *a = &s->aperture[s->naperture++];
	*a = (struct pcie_aperture){0};
	return a;
}

struct pcie_bar *pcie_device_bar(struct pcie_device *d, enum pcie_bar_kind kind, int index)
{
	for (int i = 0; i < d->nbar && index >= 0; i++) {
		if (d->bar[i].kind == kind && d->bar[i].index == index) {
			return &d->bar[i];
		}
	}
	if (d->nbar == PCIE_BARS) {
		return NULL;
	}
	struct pcie_bar *b = &d->bar[d->nbar++];
	*b = (struct pcie_bar){.kind = kind, .index = (int8_t)index};
	return b;
}

const struct pcie_bar *pcie_device_find_bar(
	const struct pcie_device *d, enum pcie_bar_kind kind, int index)
{
	for (int i = 0; i < d->nbar; i++) {
		if (d->bar[i].kind == kind && d->bar[i].index == index) {
			return &d->bar[i];
		}
	}
	return NULL;
}

bool pcie_bar_is_placed(const struct pcie_bar *b)
{
	return b->kind == PCIE_BAR_NORMAL && b->have == PCIE_KNOWN && !b->io && !b->from_register &&
	       !b->enhanced && b->assigned == PCIE_YES && b->has_base && b->has_size &&
	       b->size > 0 && b->size - 1 <= UINT64_MAX - b->base;
}

bool pcie_bars_overlap(const struct pcie_bar *a, const struct pcie_bar *b)
{
	return a->base <= b->base + (b->size - 1) && b->base <= a->base + (a->size - 1);
}

static bool is_gpu_driver(const char *driver)
{
	static const char *const name[] = {
		"amdgpu", "i915", "nouveau", "nova", "nova_core", "nvidia", "radeon", "xe"};
	for (size_t i = 0; i < ARRAY_LEN(name); i++) {
		if (!strcmp(driver, name[i])) {
			return true;
		}
	}
	return false;
}

/* A piece of a text may have everything but the class: then the driver, VRAM or a BAR tells. */
static bool is_gpu_without_class(const struct pcie_device *d)
{
	const uint64_t large = 256 * MIB;
	if (d->is_bridge) {
		return false;
	}
	if (is_gpu_driver(d->driver) || d->vram.have == PCIE_KNOWN) {
		return true;
	}
	for (int i = 0; i < d->rebar.count && d->rebar.have == PCIE_KNOWN; i++) {
		/* bit 8 is 256 MiB */
		if (d->rebar.entry[i].supported >= large >> PCIE_REBAR_UNIT_SHIFT) {
			return true;
		}
	}
	for (int i = 0; i < d->nbar; i++) {
		const struct pcie_bar *b = &d->bar[i];
		if (b->kind == PCIE_BAR_NORMAL && b->have == PCIE_KNOWN && !b->io && b->has_size &&
			b->size >= large) {
			return true;
		}
	}
	return false;
}

bool pcie_device_is_gpu(const struct pcie_device *d)
{
	if (d->have_class != PCIE_KNOWN) {
		return is_gpu_without_class(d);
	}
	return d->class_code >> 16 == 0x03 || d->class_code >> 8 == 0x1200;
}

/* 3: 64-bit prefetchable, 2: prefetchable, 1: the witness does not say, 0: cannot be it. */
static int vram_rank(const struct pcie_bar *b)
{
	bool known = b->have == PCIE_KNOWN;
	if (b->kind != PCIE_BAR_NORMAL || (!known && b->reg.have != PCIE_KNOWN)) {
		return 0;
	}
	if (known ? b->io : b->reg.io) {
		return 0;
	}
	bool pref = known ? b->prefetchable : b->reg.prefetchable;
	bool is64 = known ? b->is64 : b->reg.is64;
	if (pref) {
		return is64 ? 3 : 2;
	}
	return known && !b->is64_known ? 1 : 0;
}

/* The VRAM BAR where there is no ReBAR list, or none that names one. */
static int largest_bar(const struct pcie_device *d)
{
	int best = -1, best_rank = 0;
	uint64_t best_size = 0;
	for (int i = 0; i < d->nbar; i++) {
		const struct pcie_bar *b = &d->bar[i];
		int rank = vram_rank(b);
		/*
		 * A wiped BAR has no size. The largest is the likeliest to have failed, and no
		 * card's VRAM BAR is under 64 MiB: so it stands before smaller ones.
		 */
		uint64_t size = b->have == PCIE_KNOWN && b->has_size ? b->size : 64 * MIB - 1;
		if (rank > best_rank || (rank && rank == best_rank && size > best_size)) {
			best = i;
			best_rank = rank;
			best_size = size;
		}
	}
	return best;
}

int pcie_device_vram_bar(const struct pcie_device *d)
{
	const struct pcie_rebar_entry *e = pcie_rebar_main(d);
	bool numbered = true;
	for (int i = 0; e && i < d->nbar; i++) {
		if (d->bar[i].kind == PCIE_BAR_NORMAL && d->bar[i].index == e->bar) {
			return i;
		}
		numbered = numbered && d->bar[i].index >= 0;
	}
	/* The list names one that is not shown: then it is none of the others. */
	return e && numbered ? -1 : largest_bar(d);
}

const char *pcie_fact_name(enum pcie_fact f)
{
	static const char *const name[] = {"unknown", "absent", "denied", "known"};
	return (size_t)f < ARRAY_LEN(name) ? name[f] : "unknown";
}

/* Settling: order, references, the tree. */

struct order {
	struct pcie_addr addr;
	uint32_t old;
};

static int order_compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;
	int c = pcie_addr_compare(x->addr, y->addr);
	return c ? c : (x->old > y->old) - (x->old < y->old);
}

static int bar_compare(const void *a, const void *b)
{
	const struct pcie_bar *x = a, *y = b;
	return x->kind != y->kind ? (int)x->kind - (int)y->kind : x->index - y->index;
}

/* Drops the BARs that neither view knows: registers of zero that nobody claims. */
static void drop_empty_bars(struct pcie_device *d)
{
	int n = 0;
	for (int i = 0; i < d->nbar; i++) {
		const struct pcie_bar *b = &d->bar[i];
		bool named = b->kind == PCIE_BAR_NORMAL && pcie_rebar_entry(d, b->index);
		if (b->have == PCIE_KNOWN || b->reg.have == PCIE_KNOWN || named) {
			d->bar[n++] = d->bar[i];
		}
	}
	d->nbar = (uint8_t)n;
}

static int remap(const uint32_t *to, size_t n, int dev)
{
	return dev >= 0 && (size_t)dev < n ? (int)to[dev] : -1;
}

static void sort_devices(struct pcie_snapshot *s)
{
	size_t n = s->ndev;
	struct order *order = xcalloc(n, sizeof(*order));
	uint32_t *to = xcalloc(n, sizeof(*to));
	struct pcie_device *sorted = xcalloc(n, sizeof(*sorted));

	for (size_t i = 0; i < n; i++) {
		order[i] = (struct order){.addr = s->dev[i].addr, .old = (uint32_t)i};
	}
	sort_array(order, n, sizeof(*order), order_compare);
	for (size_t i = 0; i < n; i++) {
		to[order[i].old] = (uint32_t)i;
		sorted[i] = s->dev[order[i].old];
	}
	for (size_t i = 0; i < n; i++) {
		struct pcie_device *d = &sorted[i];
		d->parent = remap(to, n, d->parent);
		d->physfn = remap(to, n, d->physfn);
		drop_empty_bars(d);
		/* Those without a number keep the order in which the text had them. */
		if (d->nbar && pcie_device_find_bar(d, PCIE_BAR_NORMAL, -1) == NULL) {
			sort_array(d->bar, d->nbar, sizeof(*d->bar), bar_compare);
		}
	}
	for (size_t i = 0; i < s->nhistory; i++) {
		s->history[i].dev = remap(to, n, s->history[i].dev);
	}
	for (size_t i = 0; i < s->nstatement; i++) {
		s->statement[i].dev = remap(to, n, s->statement[i].dev);
	}
	for (size_t i = 0; i < s->nnote; i++) {
		s->note[i].dev = remap(to, n, s->note[i].dev);
	}

	free(s->dev);
	s->dev = sorted;
	s->capdev = n;
	free(order);
	free(to);
}

/* A bridge is found under the address that its secondary bus's device 0 would have. */
static struct pcie_addr bus_key(uint32_t domain, uint8_t bus)
{
	return (struct pcie_addr){.domain = domain, .bus = bus, .known = true};
}

static void join_tree(struct pcie_snapshot *s)
{
	struct order *bridge = xcalloc(s->ndev, sizeof(*bridge));
	size_t n = 0;
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if (d->is_bridge && d->addr.known && d->secondary > d->addr.bus) {
			bridge[n++] =
				(struct order){bus_key(d->addr.domain, d->secondary), (uint32_t)i};
		}
	}
	sort_array(bridge, n, sizeof(*bridge), order_compare);

	for (size_t i = 0; i < s->ndev; i++) {
		struct pcie_device *d = &s->dev[i];
		if (d->parent >= 0 || !d->addr.known) {
			continue;
		}
		struct pcie_addr key = bus_key(d->addr.domain, d->addr.bus);
		size_t lo = 0, hi = n;
		while (lo < hi) {
			size_t mid = lo + (hi - lo) / 2;
			if (pcie_addr_compare(bridge[mid].addr, key) < 0) {
				lo = mid + 1;
			} else {
				hi = mid;
			}
		}
		if (lo < n && !pcie_addr_compare(bridge[lo].addr, key)) {
			d->parent = (int)bridge[lo].old;
		}
	}
	free(bridge);
}

/* A text may say anything: no walk to the root is endless, or deeper than buses there are. */
static void cut_loops(struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->ndev; i++) {
		int depth = 0;
		for (int p = s->dev[i].parent; p >= 0 && depth <= MAX_DEPTH; p = s->dev[p].parent) {
			depth++;
		}
		if (depth > MAX_DEPTH) {
			s->dev[i].parent = -1;
			pcie_snapshot_note(s, (int)i, "the bridges above this device form a loop");
		}
	}
}

void pcie_snapshot_settle(struct pcie_snapshot *s)
{
	sort_devices(s);
	index_build(s);
	join_tree(s);
	cut_loops(s);
	for (size_t i = 0; i < s->ndev; i++) {
		struct pcie_device *d = &s->dev[i];
		for (int p = d->parent; p >= 0 && !d->root[0]; p = s->dev[p].parent) {
			memcpy(d->root, s->dev[p].root, sizeof(d->root));
		}
	}
}
