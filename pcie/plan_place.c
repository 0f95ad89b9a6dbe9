/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where released windows and BARs come to stand: in a window that stays, or at the root bus. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pcie/plan_layout.h"

#define HIGH ((uint64_t)1 << 32)

static void lay(struct plan_layout *l, struct pcie_plan_range r)
{
	l->laid = xgrow(l->laid, l->nlaid, &l->caplaid, sizeof(*l->laid));
	l->laid[l->nlaid++] = r;
}

/* Items of A with larger alignment first; equal ones keep their order. */
static void sort_items(struct plan_items *a)
{
	for (size_t i = 1; i < a->n; i++) {
		for (size_t k = i; k && a->item[k].align > a->item[k - 1].align; k--) {
			struct pcie_plan_item item = a->item[k];
			int dev = a->dev[k], bar = a->bar[k];
			a->item[k] = a->item[k - 1];
			a->dev[k] = a->dev[k - 1];
			a->bar[k] = a->bar[k - 1];
			a->item[k - 1] = item;
			a->dev[k - 1] = dev;
			a->bar[k - 1] = bar;
		}
	}
}

/*
 * Lays the items of A in SPACE; each goes to its lowest place. False when one has none. With
 * KEPT they are the first in SPACE: all are remembered, so that the next unit keeps off them.
 */
static bool lay_items(struct plan_layout *l, struct plan_items *a,
	const struct pcie_plan_range *space, size_t nspace, const struct plan_ranges *kept,
	struct plan_part *part, uint64_t floor)
{
	struct plan_ranges used = {0};
	bool all = true;
	for (size_t i = 0; kept && i < kept->n; i++) {
		plan_ranges_add(&used, kept->r[i], -1, "");
	}
	for (size_t i = 0; kept && i < l->nlaid; i++) {
		plan_ranges_add(&used, l->laid[i], -1, "");
	}
	size_t first = used.n;
	sort_items(a);
	for (size_t i = 0; i < a->n && all; i++) {
		uint64_t at = 0, have = 0;
		all = pcie_plan_place(space, nspace, used.r, used.n, a->item[i], floor, &at, &have);
		if (!all) {
			break;
		}
		plan_ranges_add(
			&used, (struct pcie_plan_range){at, at + a->item[i].size - 1}, -1, "");
		if (a->bar[i] < 0) {
			l->at[a->dev[i]] = at;
		} else {
			struct plan_part *p = &part[l->part[a->dev[i]]];
			if (a->bar[i] == p->bar) {
				p->placed = true;
				p->place = at;
			}
		}
	}
	for (size_t i = first; kept && all && i < used.n; i++) {
		lay(l, used.r[i]);
	}
	plan_ranges_finish(&used);
	return all;
}

/* The parts behind TOP, whose window now stands at l->at[top]. */
static void lay_below(struct plan_layout *l, int top, struct plan_part *part)
{
	int base = plan_depth(l->s, top);
	for (int depth = base; depth < base + PCIE_PATH_MAX; depth++) {
		bool any = false;
		for (size_t i = 0; i < l->s->ndev; i++) {
			if (!l->released[i] || !l->item[i].size ||
				plan_layout_top(l, (int)i) != top ||
				plan_depth(l->s, (int)i) != depth) {
				continue;
			}
			any = true;
			struct pcie_plan_range w = {l->at[i], l->at[i] + l->item[i].size - 1};
			struct plan_items a = {0};
			plan_add_children(l, (int)i, part, &a);
			lay_items(l, &a, &w, 1, NULL, part, 0);
			plan_items_finish(&a);
		}
		if (!any) {
			break;
		}
	}
}

static void add_blockers(struct pcie_plan_fit *fit, const struct plan_ranges *a)
{
	for (size_t i = 0; i < a->n && fit->nblocker < PCIE_PLAN_BLOCKERS; i++) {
		fit->blocker[fit->nblocker++] = a->who[i];
	}
}

static bool place_in(struct plan_layout *l, int top, struct pcie_plan_item need,
	struct plan_part *part, struct pcie_plan_fit *fit, const struct pcie_plan_range *space,
	size_t nspace, const struct plan_ranges *kept, uint64_t floor)
{
	if (l->released[top]) {
		struct plan_items a = {0};
		plan_items_add(&a, need, top, -1);
		bool ok = lay_items(l, &a, space, nspace, kept, part, floor);
		plan_items_finish(&a);
		if (ok) {
			lay_below(l, top, part);
			fit->has_place = true;
			fit->place = l->at[top];
		}
		return ok;
	}
	struct plan_part *p = &part[l->part[top]];
	struct plan_items a = {0};
	plan_add_bars(l, p, &a);
	bool ok = lay_items(l, &a, space, nspace, kept, part, floor);
	plan_items_finish(&a);
	if (ok && p->placed) {
		fit->has_place = true;
		fit->place = p->place;
	}
	return ok;
}

/* The most that NEED's alignment finds in one piece. */
static void find_have(const struct plan_layout *l, struct pcie_plan_item need,
	struct pcie_plan_fit *fit, const struct pcie_plan_range *space, size_t nspace,
	const struct plan_ranges *kept, uint64_t floor)
{
	struct plan_ranges used = {0};
	uint64_t at, have = 0;
	for (size_t i = 0; i < kept->n; i++) {
		plan_ranges_add(&used, kept->r[i], -1, "");
	}
	for (size_t i = 0; i < l->nlaid; i++) {
		plan_ranges_add(&used, l->laid[i], -1, "");
	}
	need.size = UINT64_MAX;
	pcie_plan_place(space, nspace, used.r, used.n, need, floor, &at, &have);
	plan_ranges_finish(&used);
	fit->have = have;
	fit->has_have = true;
}

static bool place_in_bridge(struct plan_layout *l, int bridge, int top, struct pcie_plan_item need,
	struct plan_part *part, struct pcie_plan_fit *fit)
{
	struct pcie_plan_range w;
	struct plan_ranges kept = {0};

	char addr[PCIE_ADDR_MAX];
	fit->container = bridge;
	snprintf(fit->container_what, sizeof(fit->container_what), "window of %s",
		pcie_addr_format(l->s->dev[bridge].addr, addr));
	if (!plan_window_range(&l->s->dev[bridge].window[PCIE_WINDOW_PREF], &w)) {
		fit->block = PCIE_PLAN_OPEN;
		return false;
	}
	plan_add_kept_in(l, bridge, &kept);
	bool ok = place_in(l, top, need, part, fit, &w, 1, &kept, 0);
	if (!ok) {
		find_have(l, need, fit, &w, 1, &kept, 0);
		fit->fits = PCIE_NO;
		fit->block = plan_is_removable(l->s, bridge) ? PCIE_PLAN_WINDOW : PCIE_PLAN_PINNED;
		add_blockers(fit, &kept);
	}
	plan_ranges_finish(&kept);
	return ok;
}

/* Firmware's and chipset's own ranges in the apertures, as /proc/iomem names them. */
static void add_reserved(const struct pcie_snapshot *s, struct plan_ranges *a)
{
	for (size_t i = 0; s->have_iomem == PCIE_KNOWN && i < s->niomem; i++) {
		const struct pcie_iomem *r = &s->iomem[i];
		struct pcie_addr addr;
		if (!strncmp(r->name, "PCI Bus", 7) || !pcie_addr_parse(r->name, &addr)) {
			continue;
		}
		/* Rows below a device are its driver's, inside of its BAR. */
		int p = r->parent;
		bool driver = false;
		for (int depth = 0; p >= 0 && depth < PCIE_PATH_MAX; depth++) {
			driver = driver || !pcie_addr_parse(s->iomem[p].name, &addr);
			p = s->iomem[p].parent;
		}
		if (!driver && r->limit >= r->base) {
			plan_ranges_add(
				a, (struct pcie_plan_range){r->base, r->limit}, -1, r->name);
		}
	}
}

static bool root_matches(const struct pcie_aperture *a, const struct pcie_device *d)
{
	return !a->root[0] || !d->root[0] || !strcmp(a->root, d->root);
}

static void block_at_root(
	const struct plan_layout *l, int top, struct pcie_plan_fit *fit, bool any_high)
{
	const struct pcie_snapshot *s = l->s;
	char size[TEXT_SIZE_MAX];

	if (!any_high) {
		fit->fits = s->apertures_complete ? PCIE_NO : PCIE_TRI_UNKNOWN;
		fit->block = s->apertures_complete ? PCIE_PLAN_NO_APERTURE : PCIE_PLAN_OPEN;
		return;
	}
	fit->fits = PCIE_NO;
	fit->block = PCIE_PLAN_APERTURE;
	for (size_t i = 0; i < s->naperture && fit->nblocker < PCIE_PLAN_BLOCKERS; i++) {
		const struct pcie_aperture *a = &s->aperture[i];
		if (a->io || a->ignored || a->limit < HIGH || !root_matches(a, &s->dev[top])) {
			continue;
		}
		struct pcie_plan_blocker *b = &fit->blocker[fit->nblocker++];
		b->dev = -1;
		snprintf(b->what, sizeof(b->what), "aperture of %s 0x%llx-0x%llx, %s",
			a->root[0] ? a->root : "the root bus", (unsigned long long)a->base,
			(unsigned long long)a->limit, text_size(a->limit - a->base + 1, size));
	}
}

static bool place_at_root(struct plan_layout *l, int top, struct pcie_plan_item need,
	struct plan_part *part, struct pcie_plan_fit *fit)
{
	const struct pcie_snapshot *s = l->s;
	struct pcie_plan_range *space = xcalloc(s->naperture + 1, sizeof(*space));
	struct plan_ranges kept = {0};
	size_t n = 0;
	bool any_high = false;

	fit->container = -1;
	for (size_t i = 0; i < s->naperture; i++) {
		const struct pcie_aperture *a = &s->aperture[i];
		if (!a->io && !a->ignored && root_matches(a, &s->dev[top])) {
			space[n++] = (struct pcie_plan_range){a->base, a->limit};
			any_high = any_high || a->limit >= HIGH;
		}
	}
	for (size_t i = 0; i < s->ndev; i++) {
		plan_add_kept(l, (int)i, NULL, &kept);
	}
	add_reserved(s, &kept);
	bool ok = place_in(l, top, need, part, fit, space, n, &kept, HIGH) ||
		  place_in(l, top, need, part, fit, space, n, &kept, 0);
	if (!ok) {
		if (n) {
			find_have(l, need, fit, space, n, &kept, any_high ? HIGH : 0);
		}
		block_at_root(l, top, fit, any_high);
	}
	plan_ranges_finish(&kept);
	free(space);
	return ok;
}

/* Where the tree above TOP is not known: the ranges that its old place lies in, innermost first. */
struct enclosing {
	struct pcie_plan_range r;
	int dev; /* the bridge, -1: a row of /proc/iomem */
	char what[48];
};

static void add_enclosing(struct enclosing *e, size_t *n, size_t cap, struct enclosing one)
{
	uint64_t size = one.r.limit - one.r.base;
	size_t at = *n;
	if (at == cap) {
		return;
	}
	for (; at > 0 && e[at - 1].r.limit - e[at - 1].r.base > size; at--) {
		e[at] = e[at - 1];
	}
	e[at] = one;
	(*n)++;
}

static size_t find_enclosing(const struct plan_layout *l, int top,
	const struct pcie_plan_range *old, struct enclosing *e, size_t cap)
{
	const struct pcie_snapshot *s = l->s;
	int path[PCIE_PATH_MAX];
	size_t n = 0;
	int bridges = pcie_path_by_range(s, top, old->base, old->limit, path);

	for (int i = 0; i < bridges; i++) {
		const struct pcie_window *w = &s->dev[path[i]].window[PCIE_WINDOW_PREF];
		struct enclosing one = {{w->base, w->limit}, path[i], ""};
		char addr[PCIE_ADDR_MAX];
		snprintf(one.what, sizeof(one.what), "window of %s",
			pcie_addr_format(s->dev[path[i]].addr, addr));
		add_enclosing(e, &n, cap, one);
	}
	for (size_t i = 0; s->have_iomem == PCIE_KNOWN && i < s->niomem; i++) {
		const struct pcie_iomem *r = &s->iomem[i];
		bool wider = r->base <= old->base && r->limit >= old->limit &&
			     (r->base < old->base || r->limit > old->limit);
		/* Rows at the top level are the apertures. */
		if (r->parent >= 0 && wider && !strncmp(r->name, "PCI Bus", 7)) {
			struct enclosing one = {{r->base, r->limit}, -1, ""};
			text_copy(one.what, sizeof(one.what), r->name);
			add_enclosing(e, &n, cap, one);
		}
	}
	return n;
}

/* What stays in W of all devices; the window that is W itself and those that hold TOP do not. */
static void add_kept_in_range(const struct plan_layout *l, const struct pcie_plan_range *w,
	const struct pcie_plan_range *old, struct plan_ranges *a)
{
	struct plan_ranges all = {0};
	for (size_t i = 0; i < l->s->ndev; i++) {
		plan_add_kept(l, (int)i, w, &all);
	}
	plan_add_iomem(l, w, &all);
	for (size_t i = 0; i < all.n; i++) {
		bool holds = all.r[i].base <= old->base && all.r[i].limit >= old->limit;
		if (!holds) {
			plan_ranges_copy(a, &all, i);
		}
	}
	plan_ranges_finish(&all);
}

/* Where TOP's window, or the GPU's VRAM BAR, stands today. */
static bool old_place(const struct plan_layout *l, int top, const struct plan_part *part,
	struct pcie_plan_range *ret)
{
	if (l->released[top] && plan_window_range(&l->s->dev[top].window[PCIE_WINDOW_PREF], ret)) {
		return true;
	}
	if (l->part[top] < 0) {
		return false;
	}
	const struct pcie_bar *b = &l->s->dev[top].bar[part[l->part[top]].bar];
	if (b->have != PCIE_KNOWN || b->assigned != PCIE_YES || !b->has_base || !b->has_size ||
		!b->size) {
		return false;
	}
	*ret = (struct pcie_plan_range){b->base, b->base + b->size - 1};
	return true;
}

/* 1: placed, 0: no room, -1: no range around it is known to hold anything else. */
static int place_by_range(struct plan_layout *l, int top, struct pcie_plan_item need,
	struct plan_part *part, struct pcie_plan_fit *fit)
{
	struct enclosing e[16];
	struct pcie_plan_range old;
	int result = -1;

	if (!old_place(l, top, part, &old)) {
		return -1;
	}
	size_t n = find_enclosing(l, top, &old, e, ARRAY_LEN(e));
	for (size_t i = 0; i < n && result < 0; i++) {
		struct plan_ranges kept = {0};
		add_kept_in_range(l, &e[i].r, &old, &kept);
		/* A window with nothing else in it is given back as well. */
		if (kept.n) {
			fit->container = e[i].dev;
			text_copy(fit->container_what, sizeof(fit->container_what), e[i].what);
			result = place_in(l, top, need, part, fit, &e[i].r, 1, &kept, 0);
			if (!result) {
				find_have(l, need, fit, &e[i].r, 1, &kept, 0);
				fit->fits = PCIE_NO;
				fit->block = e[i].dev >= 0 && plan_is_removable(l->s, e[i].dev)
						     ? PCIE_PLAN_WINDOW
						     : PCIE_PLAN_PINNED;
				add_blockers(fit, &kept);
			}
		}
		plan_ranges_finish(&kept);
	}
	return result;
}

bool plan_layout_place(struct plan_layout *l, int top, struct pcie_plan_item need,
	struct plan_part *part, size_t n, struct pcie_plan_fit *fit)
{
	for (size_t i = 0; i < n; i++) {
		if (plan_layout_top(l, part[i].dev) == top) {
			part[i].placed = false;
		}
	}
	fit->need = need.size;
	fit->align = need.align;
	fit->container = -1;
	int bridge = l->s->dev[top].parent;
	if (bridge >= 0) {
		return place_in_bridge(l, bridge, top, need, part, fit);
	}
	if (!pcie_is_at_root(l->s, top)) {
		int r = place_by_range(l, top, need, part, fit);
		if (r >= 0) {
			return r;
		}
	}
	return place_at_root(l, top, need, part, fit);
}
