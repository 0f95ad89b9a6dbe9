/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/plan_layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pcie/rebar.h"

bool plan_is_movable(const struct pcie_bar *b)
{
	if (b->kind != PCIE_BAR_NORMAL) {
		return false;
	}
	if (b->have == PCIE_KNOWN) {
		return !b->io && b->is64 && b->prefetchable;
	}
	return b->reg.have == PCIE_KNOWN && !b->reg.io && b->reg.is64 && b->reg.prefetchable;
}

uint64_t plan_bar_size(const struct pcie_snapshot *s, int dev, const struct pcie_bar *b)
{
	const struct pcie_device *d = &s->dev[dev];
	if (b->have == PCIE_KNOWN && b->has_size) {
		return b->size;
	}
	const struct pcie_rebar_entry *e = pcie_rebar_entry(d, b->index);
	if (e && e->has_current) {
		return e->current;
	}
	for (size_t i = 0; i < s->nhistory; i++) {
		const struct pcie_history *h = &s->history[i];
		if (h->dev == dev && h->bar == b->index && !h->vf && !h->window && h->has_size) {
			return h->size;
		}
	}
	return 0;
}

static void mark_gone(struct plan_layout *l, int dev)
{
	/* Everything behind it goes too: a device is gone when a bridge above it is. */
	l->gone[dev] = true;
	for (size_t i = 0; i < l->s->ndev; i++) {
		int p = (int)i;
		for (int depth = 0; p >= 0 && depth < PCIE_PATH_MAX; depth++) {
			if (p == dev) {
				l->gone[i] = true;
				break;
			}
			p = l->s->dev[p].parent;
		}
	}
}

void plan_layout_init(
	struct plan_layout *l, const struct pcie_snapshot *s, const int *without, size_t nwithout)
{
	size_t n = s->ndev + 1;
	*l = (struct plan_layout){
		.s = s,
		.first_child = xcalloc(n, sizeof(int)),
		.next_sibling = xcalloc(n, sizeof(int)),
		.gone = xcalloc(n, sizeof(bool)),
		.released = xcalloc(n, sizeof(bool)),
		.unsure = xcalloc(n, sizeof(bool)),
		.part = xcalloc(n, sizeof(int)),
		.item = xcalloc(n, sizeof(struct pcie_plan_item)),
		.at = xcalloc(n, sizeof(uint64_t)),
	};
	for (size_t i = 0; i < s->ndev; i++) {
		l->first_child[i] = l->next_sibling[i] = l->part[i] = -1;
	}
	for (size_t i = s->ndev; i-- > 0;) {
		int p = s->dev[i].parent;
		if (p >= 0) {
			l->next_sibling[i] = l->first_child[p];
			l->first_child[p] = (int)i;
		}
	}
	for (size_t i = 0; i < nwithout; i++) {
		mark_gone(l, without[i]);
	}
}

void plan_layout_finish(struct plan_layout *l)
{
	free(l->first_child);
	free(l->next_sibling);
	free(l->gone);
	free(l->released);
	free(l->unsure);
	free(l->part);
	free(l->item);
	free(l->at);
	free(l->laid);
	*l = (struct plan_layout){0};
}

/* Ranges. */

static bool inside(const struct pcie_plan_range *r, uint64_t base, uint64_t limit)
{
	return base >= r->base && limit <= r->limit;
}

static bool bar_range(const struct pcie_bar *b, struct pcie_plan_range *ret)
{
	if (b->have != PCIE_KNOWN || b->io || b->assigned != PCIE_YES || !b->has_base ||
		!b->has_size || !b->size || b->base + b->size - 1 < b->base) {
		return false;
	}
	*ret = (struct pcie_plan_range){b->base, b->base + b->size - 1};
	return true;
}

bool plan_window_range(const struct pcie_window *w, struct pcie_plan_range *ret)
{
	if (w->have != PCIE_KNOWN || w->unassigned || w->limit < w->base) {
		return false;
	}
	*ret = (struct pcie_plan_range){w->base, w->limit};
	return true;
}

void plan_ranges_add(struct plan_ranges *a, struct pcie_plan_range r, int dev, const char *what)
{
	char size[TEXT_SIZE_MAX];
	a->r = xgrow(a->r, a->n, &a->cap, sizeof(*a->r));
	a->who = xgrow(a->who, a->n, &a->cap_who, sizeof(*a->who));
	a->r[a->n] = r;
	a->who[a->n].dev = dev;
	snprintf(a->who[a->n].what, sizeof(a->who[a->n].what), "%s, %s at 0x%llx", what,
		text_size(r.limit - r.base + 1, size), (unsigned long long)r.base);
	a->n++;
}

void plan_ranges_copy(struct plan_ranges *a, const struct plan_ranges *from, size_t i)
{
	a->r = xgrow(a->r, a->n, &a->cap, sizeof(*a->r));
	a->who = xgrow(a->who, a->n, &a->cap_who, sizeof(*a->who));
	a->r[a->n] = from->r[i];
	a->who[a->n++] = from->who[i];
}

void plan_ranges_finish(struct plan_ranges *a)
{
	free(a->r);
	free(a->who);
}

static void name_bar(const struct pcie_device *d, const struct pcie_bar *b, char *buf, size_t size)
{
	static const char *const kind[] = {"BAR", "ROM", "VF BAR"};
	char addr[PCIE_ADDR_MAX];
	snprintf(buf, size, "%s %s", pcie_addr_format(d->addr, addr), kind[b->kind]);
	if (b->kind != PCIE_BAR_ROM && b->index >= 0) {
		size_t n = strlen(buf);
		snprintf(buf + n, size - n, " %d", b->index);
	}
}

/* What device DEV keeps in WITHIN (NULL: anywhere) while the parts are moved. */
void plan_add_kept(const struct plan_layout *l, int dev, const struct pcie_plan_range *within,
	struct plan_ranges *a)
{
	const struct pcie_device *d = &l->s->dev[dev];
	struct pcie_plan_range r;
	char what[64], addr[PCIE_ADDR_MAX];

	if (l->gone[dev]) {
		return;
	}
	for (int i = 0; i < d->nbar; i++) {
		bool moves = l->part[dev] >= 0 && plan_is_movable(&d->bar[i]);
		if (!moves && bar_range(&d->bar[i], &r) &&
			(!within || inside(within, r.base, r.limit))) {
			name_bar(d, &d->bar[i], what, sizeof(what));
			plan_ranges_add(a, r, dev, what);
		}
	}
	for (int k = PCIE_WINDOW_MEM; k <= PCIE_WINDOW_PREF; k++) {
		bool moves = k == PCIE_WINDOW_PREF && l->released[dev];
		if (!moves && plan_window_range(&d->window[k], &r) &&
			(!within || inside(within, r.base, r.limit))) {
			snprintf(what, sizeof(what), "window of %s",
				pcie_addr_format(d->addr, addr));
			plan_ranges_add(a, r, dev, what);
		}
	}
}

/* The kernel's view of DEV has a BAR at BASE. */
static bool has_bar_at(const struct pcie_device *d, uint64_t base)
{
	struct pcie_plan_range r;
	for (int i = 0; i < d->nbar; i++) {
		if (bar_range(&d->bar[i], &r) && r.base == base) {
			return true;
		}
	}
	return false;
}

void plan_add_iomem(
	const struct plan_layout *l, const struct pcie_plan_range *within, struct plan_ranges *a)
{
	const struct pcie_snapshot *s = l->s;
	for (size_t i = 0; s->have_iomem == PCIE_KNOWN && i < s->niomem; i++) {
		const struct pcie_iomem *r = &s->iomem[i];
		struct pcie_addr addr;
		char what[64];
		if (!inside(within, r->base, r->limit) || pcie_addr_parse(r->name, &addr)) {
			continue;
		}
		int dev = pcie_snapshot_find(s, addr);
		bool known = dev >= 0 && (l->part[dev] >= 0 || l->gone[dev] ||
						 has_bar_at(&s->dev[dev], r->base));
		if (!known) {
			snprintf(what, sizeof(what), "BAR of %s", r->name);
			plan_ranges_add(a, (struct pcie_plan_range){r->base, r->limit}, dev, what);
		}
	}
}

bool plan_is_removable(const struct pcie_snapshot *s, int b)
{
	int depth = 0;
	for (int p = b; p >= 0 && depth < PCIE_PATH_MAX; p = s->dev[p].parent, depth++) {
		if (s->dev[p].removable || strstr(s->dev[p].name, "Thunderbolt")) {
			return true;
		}
	}
	return false;
}

/* What stays in the prefetchable window of bridge B. */
void plan_add_kept_in(const struct plan_layout *l, int b, struct plan_ranges *a)
{
	struct pcie_plan_range w;
	if (!plan_window_range(&l->s->dev[b].window[PCIE_WINDOW_PREF], &w)) {
		return;
	}
	size_t before = a->n;
	for (int c = l->first_child[b]; c >= 0; c = l->next_sibling[c]) {
		plan_add_kept(l, c, &w, a);
	}
	/* Rows inside of a window that is listed already are its own. */
	struct plan_ranges rows = {0};
	plan_add_iomem(l, &w, &rows);
	for (size_t i = 0; i < rows.n; i++) {
		bool listed = false;
		for (size_t k = before; k < a->n; k++) {
			listed = listed || inside(&a->r[k], rows.r[i].base, rows.r[i].limit);
		}
		if (!listed) {
			plan_ranges_copy(a, &rows, i);
		}
	}
	plan_ranges_finish(&rows);
}

static bool window_is_free(const struct plan_layout *l, int b)
{
	struct plan_ranges a = {0};
	plan_add_kept_in(l, b, &a);
	bool is_free = a.n == 0;
	plan_ranges_finish(&a);
	return is_free;
}

/* One walk up from DEV; true when something new was given back. */
static bool release_up(struct plan_layout *l, int dev)
{
	bool changed = false;
	for (int p = l->s->dev[dev].parent, depth = 0; p >= 0 && depth < PCIE_PATH_MAX;
		p = l->s->dev[p].parent, depth++) {
		const struct pcie_window *w = &l->s->dev[p].window[PCIE_WINDOW_PREF];
		if (l->released[p]) {
			continue;
		}
		if (!window_is_free(l, p)) {
			break;
		}
		l->released[p] = changed = true;
		l->unsure[p] = w->have == PCIE_UNKNOWN || w->have == PCIE_DENIED;
	}
	return changed;
}

void plan_layout_release(struct plan_layout *l, const struct plan_part *part, size_t n)
{
	for (size_t i = 0; i < l->s->ndev; i++) {
		l->released[i] = l->unsure[i] = false;
		l->part[i] = -1;
	}
	l->nlaid = 0;
	for (size_t i = 0; i < n; i++) {
		l->part[part[i].dev] = (int)i;
	}
	/* Parts under one bridge free it together: again until nothing is new. */
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < n; i++) {
			changed = release_up(l, part[i].dev) || changed;
		}
	}
}

int plan_layout_top(const struct plan_layout *l, int dev)
{
	int top = dev;
	for (int p = l->s->dev[dev].parent, depth = 0;
		p >= 0 && l->released[p] && depth < PCIE_PATH_MAX;
		p = l->s->dev[p].parent, depth++) {
		top = p;
	}
	return top;
}

/* Sizes, from the leaves up. */

void plan_items_add(struct plan_items *a, struct pcie_plan_item item, int dev, int bar)
{
	a->item = xgrow(a->item, a->n, &a->cap, sizeof(*a->item));
	a->dev = xgrow(a->dev, a->n, &a->cap_dev, sizeof(*a->dev));
	a->bar = xgrow(a->bar, a->n, &a->cap_bar, sizeof(*a->bar));
	a->item[a->n] = item;
	a->dev[a->n] = dev;
	a->bar[a->n++] = bar;
}

void plan_items_finish(struct plan_items *a)
{
	free(a->item);
	free(a->dev);
	free(a->bar);
}

void plan_add_bars(const struct plan_layout *l, const struct plan_part *part, struct plan_items *a)
{
	const struct pcie_device *d = &l->s->dev[part->dev];
	for (int i = 0; i < d->nbar; i++) {
		if (!plan_is_movable(&d->bar[i])) {
			continue;
		}
		uint64_t size =
			i == part->bar ? part->size : plan_bar_size(l->s, part->dev, &d->bar[i]);
		if (size) {
			plan_items_add(a, (struct pcie_plan_item){size, size}, part->dev, i);
		}
	}
}

void plan_add_children(
	const struct plan_layout *l, int bridge, const struct plan_part *part, struct plan_items *a)
{
	for (int c = l->first_child[bridge]; c >= 0; c = l->next_sibling[c]) {
		if (l->gone[c]) {
			continue;
		}
		if (l->part[c] >= 0) {
			plan_add_bars(l, &part[l->part[c]], a);
		}
		if (l->released[c] && l->item[c].size) {
			plan_items_add(a, l->item[c], c, -1);
		}
	}
}

int plan_depth(const struct pcie_snapshot *s, int dev)
{
	int depth = 0;
	for (int p = s->dev[dev].parent; p >= 0 && depth < PCIE_PATH_MAX; p = s->dev[p].parent) {
		depth++;
	}
	return depth;
}

struct pcie_plan_item plan_layout_need(struct plan_layout *l, enum pcie_plan_rule rule, int top,
	const struct plan_part *part, size_t n)
{
	int base = plan_depth(l->s, top), deepest = base;

	for (size_t i = 0; i < n; i++) {
		deepest = MAX(deepest, plan_depth(l->s, part[i].dev));
	}
	for (int depth = deepest; depth >= base; depth--) {
		for (size_t i = 0; i < l->s->ndev; i++) {
			if (!l->released[i] || plan_depth(l->s, (int)i) != depth) {
				continue;
			}
			struct plan_items a = {0};
			plan_add_children(l, (int)i, part, &a);
			l->item[i] = pcie_plan_window(rule, a.item, a.n);
			plan_items_finish(&a);
		}
	}
	if (l->released[top]) {
		return l->item[top];
	}
	/* The GPU stands in a window that stays: its BARs need a place one by one. */
	struct plan_items a = {0};
	plan_add_bars(l, &part[l->part[top]], &a);
	struct pcie_plan_item w = {0, 0};
	for (size_t i = 0; i < a.n; i++) {
		w.size += a.item[i].size;
		w.align = MAX(w.align, a.item[i].align);
	}
	plan_items_finish(&a);
	return w;
}
