/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The address map: RAM, apertures, and in them windows, BARs and free ranges, by address. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "pcie/plan.h"

struct rows {
	struct pcie_map_row *r;
	size_t n, cap;
};

/* No firmware gives a root bus everything from 0 to beyond 4 GiB: a kernel without its list does.
 */
static bool is_boundless(uint64_t base, uint64_t limit)
{
	return base == 0 && limit >> 32;
}

static struct pcie_map_row *add(
	struct rows *a, enum pcie_map_kind kind, uint64_t base, uint64_t limit, int dev)
{
	a->r = xgrow(a->r, a->n, &a->cap, sizeof(*a->r));
	struct pcie_map_row *r = &a->r[a->n++];
	*r = (struct pcie_map_row){.kind = kind, .base = base, .limit = limit, .dev = dev};
	return r;
}

static void add_ram(const struct pcie_snapshot *s, struct rows *a)
{
	for (size_t i = 0; s->have_iomem == PCIE_KNOWN && i < s->niomem; i++) {
		const struct pcie_iomem *m = &s->iomem[i];
		if (m->parent >= 0 || strcmp(m->name, "System RAM") || m->limit < m->base) {
			continue;
		}
		struct pcie_map_row *r = add(a, PCIE_MAP_RAM, m->base, m->limit, -1);
		text_copy(r->what, sizeof(r->what), m->name);
	}
}

static void add_apertures(const struct pcie_snapshot *s, struct rows *a)
{
	for (size_t i = 0; i < s->naperture; i++) {
		const struct pcie_aperture *p = &s->aperture[i];
		if (p->io || p->ignored || p->limit < p->base) {
			continue;
		}
		struct pcie_map_row *r = add(a, PCIE_MAP_APERTURE, p->base, p->limit, -1);
		snprintf(r->what, sizeof(r->what), "aperture of %s%s",
			p->root[0] ? p->root : "the root bus",
			is_boundless(p->base, p->limit) ? ", all that the CPU can address"
			: p->kernel_made                ? ", made by the kernel"
							: "");
	}
}

static void add_devices(
	const struct pcie_snapshot *s, const int *without, size_t nwithout, struct rows *a)
{
	static const char *const kind[] = {"BAR", "ROM", "VF BAR"};
	char addr[PCIE_ADDR_MAX];

	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if (pcie_plan_leaves_out(s, (int)i, without, nwithout)) {
			continue;
		}
		for (int k = PCIE_WINDOW_MEM; k <= PCIE_WINDOW_PREF; k++) {
			const struct pcie_window *w = &d->window[k];
			if (w->have != PCIE_KNOWN || w->unassigned || w->limit < w->base) {
				continue;
			}
			struct pcie_map_row *r = add(a, PCIE_MAP_WINDOW, w->base, w->limit, (int)i);
			snprintf(r->what, sizeof(r->what), "%s window%s",
				pcie_addr_format(d->addr, addr),
				k == PCIE_WINDOW_PREF ? ", prefetchable" : "");
		}
		for (int k = 0; k < d->nbar; k++) {
			const struct pcie_bar *b = &d->bar[k];
			if (b->have != PCIE_KNOWN || b->io || b->assigned != PCIE_YES ||
				!b->has_base || !b->has_size || !b->size ||
				b->base + b->size - 1 < b->base) {
				continue;
			}
			char index[8] = "";
			if (b->kind != PCIE_BAR_ROM && b->index >= 0) {
				snprintf(index, sizeof(index), " %d", b->index);
			}
			struct pcie_map_row *r =
				add(a, PCIE_MAP_BAR, b->base, b->base + b->size - 1, (int)i);
			snprintf(r->what, sizeof(r->what), "%s %s%s",
				pcie_addr_format(d->addr, addr), kind[b->kind], index);
		}
	}
}

/* By address; what contains comes before what is contained, a window before a BAR. */
static int compare(const void *x, const void *y)
{
	const struct pcie_map_row *a = x, *b = y;
	if (a->base != b->base) {
		return a->base < b->base ? -1 : 1;
	}
	if (a->limit != b->limit) {
		return a->limit > b->limit ? -1 : 1;
	}
	if (a->kind != b->kind) {
		return (int)a->kind - (int)b->kind;
	}
	return (a->dev > b->dev) - (a->dev < b->dev);
}

enum { DEPTH = 16 };

/* Writes rows of IN to OUT with their depth, and free ranges between those right in an aperture. */
struct nest {
	struct rows *out;
	struct pcie_map_row open[DEPTH];
	unsigned depth;
	uint64_t next;  /* first address of the open aperture that nothing has taken yet */
	bool boundless; /* it is all that the CPU can address: RAM and more are in its gaps */
};

static void add_free(struct nest *n, uint64_t base, uint64_t limit)
{
	const uint64_t border = (uint64_t)1 << 32;

	if (n->boundless) {
		return;
	}
	if (base < border && limit >= border) {
		add_free(n, base, border - 1);
		base = border;
	}
	if (limit < base || limit - base + 1 < MIB) {
		return;
	}
	struct pcie_map_row *r = add(n->out, PCIE_MAP_FREE, base, limit, -1);
	r->depth = 1;
	text_copy(r->what, sizeof(r->what), "free");
}

static void close_one(struct nest *n)
{
	const struct pcie_map_row *top = &n->open[--n->depth];
	if (n->depth == 0 && top->kind == PCIE_MAP_APERTURE && n->next <= top->limit && n->next) {
		add_free(n, n->next, top->limit);
	}
}

static void nest_row(struct nest *n, const struct pcie_map_row *row)
{
	while (n->depth && row->base > n->open[n->depth - 1].limit) {
		close_one(n);
	}
	bool in_aperture = n->depth == 1 && n->open[0].kind == PCIE_MAP_APERTURE;
	if (in_aperture) {
		if (n->next && row->base > n->next) {
			add_free(n, n->next, row->base - 1);
		}
		if (n->next && row->limit >= n->next) {
			n->next = row->limit == UINT64_MAX ? 0 : row->limit + 1;
		}
	}
	struct pcie_map_row *r = add(n->out, row->kind, row->base, row->limit, row->dev);
	memcpy(r->what, row->what, sizeof(r->what));
	r->depth = n->depth;
	if (row->kind == PCIE_MAP_BAR || n->depth == DEPTH) {
		return;
	}
	if (n->depth == 0) {
		n->next = row->base ? row->base : 1;
		n->boundless =
			row->kind == PCIE_MAP_APERTURE && is_boundless(row->base, row->limit);
	}
	n->open[n->depth++] = *row;
}

size_t pcie_map_create(const struct pcie_snapshot *s, const int *without, size_t nwithout,
	struct pcie_map_row **ret)
{
	struct rows in = {0}, out = {0};
	struct nest n = {.out = &out};

	add_ram(s, &in);
	add_apertures(s, &in);
	add_devices(s, without, nwithout, &in);
	if (in.n) {
		sort_array(in.r, in.n, sizeof(*in.r), compare);
	}
	for (size_t i = 0; i < in.n; i++) {
		nest_row(&n, &in.r[i]);
	}
	while (n.depth) {
		close_one(&n);
	}
	free(in.r);
	*ret = out.r;
	return out.n;
}
