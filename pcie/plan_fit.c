/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two ways in which Linux sizes a bridge window, and first fit. Written from the rules
 * (drivers/pci/setup-bus.c: pbus_size_mem and its helpers), not from the code.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "pcie/plan.h"

enum {
	UNIT_SHIFT = 20, /* windows have a granularity of 1 MiB */
	ORDERS = 44,     /* up to 8 EiB */
};

static uint64_t round_up(uint64_t v, uint64_t align)
{
	uint64_t r = (v + align - 1) & ~(align - 1);
	return r < v ? UINT64_MAX & ~(align - 1) : r;
}

static int order_of(uint64_t align)
{
	int order = align ? __builtin_ctzll(align) - UNIT_SHIFT : 0;
	return MIN(MAX(order, 0), ORDERS - 1);
}

/* What the items of each power of two of alignment take together. */
struct orders {
	uint64_t bytes[ORDERS];
	int max;
};

/*
 * Walks up the orders: while what was laid so far, rounded up, is smaller than the next
 * order, half of that order is alignment enough.
 */
static uint64_t legacy_align(const struct orders *o)
{
	uint64_t laid = 0, least = 0;

	for (int i = 0; i <= o->max; i++) {
		uint64_t unit = (uint64_t)1 << (i + UNIT_SHIFT);
		if (!laid) {
			least = unit;
		} else if (round_up(laid + least, least) < unit) {
			least = unit >> 1;
		}
		laid += o->bytes[i];
	}
	return least;
}

/* Starts at the largest alignment and halves it while smaller items can fill the head. */
static uint64_t tight_align(const struct orders *o)
{
	uint64_t head = (uint64_t)1 << (o->max + UNIT_SHIFT);
	uint64_t rest = 0;

	for (int i = o->max - 1; i >= 0; i--) {
		uint64_t unit = (uint64_t)1 << (i + UNIT_SHIFT);
		rest += o->bytes[i];
		while (head > unit && rest >= head / 2) {
			head /= 2;
			rest -= head;
		}
	}
	return head;
}

struct pcie_plan_item pcie_plan_window(
	enum pcie_plan_rule rule, const struct pcie_plan_item *item, size_t n)
{
	struct orders o = {.max = 0};
	uint64_t size = 0;

	if (!n) {
		return (struct pcie_plan_item){0, 0};
	}
	for (size_t i = 0; i < n; i++) {
		int order = order_of(item[i].align);
		size += MAX(item[i].size, item[i].align);
		/* A range longer than its alignment cannot fill a gap of that alignment. */
		if (item[i].size <= item[i].align) {
			o.bytes[order] += item[i].align;
		}
		o.max = MAX(o.max, order);
	}
	uint64_t align = rule == PCIE_PLAN_LEGACY ? legacy_align(&o) : tight_align(&o);
	uint64_t grain = rule == PCIE_PLAN_LEGACY ? align : (uint64_t)1 << UNIT_SHIFT;
	return (struct pcie_plan_item){round_up(size, grain), align};
}

static int by_base(const void *a, const void *b)
{
	const struct pcie_plan_range *x = a, *y = b;
	return (x->base > y->base) - (x->base < y->base);
}

/* The gap [base, limit] can take W at its lowest aligned address; else how much it has there. */
static bool try_gap(
	uint64_t base, uint64_t limit, struct pcie_plan_item w, uint64_t *ret_base, uint64_t *most)
{
	uint64_t start = round_up(base, MAX(w.align, 1));
	if (start < base || start > limit) {
		return false;
	}
	uint64_t room = limit - start + 1;
	if (room == 0) {
		room = UINT64_MAX;
	}
	if (room >= w.size) {
		*ret_base = start;
		return true;
	}
	*most = MAX(*most, room);
	return false;
}

bool pcie_plan_place(const struct pcie_plan_range *space, size_t n,
	const struct pcie_plan_range *used, size_t m, struct pcie_plan_item w, uint64_t floor,
	uint64_t *ret_base, uint64_t *ret_have)
{
	struct pcie_plan_range *u = xcalloc(m + 1, sizeof(*u));
	struct pcie_plan_range *r = xcalloc(n + 1, sizeof(*r));
	uint64_t most = 0;
	bool found = false;

	if (m) {
		memcpy(u, used, m * sizeof(*u));
	}
	if (n) {
		memcpy(r, space, n * sizeof(*r));
	}
	sort_array(u, m, sizeof(*u), by_base);
	sort_array(r, n, sizeof(*r), by_base);
	for (size_t i = 0; i < n && !found; i++) {
		uint64_t at = MAX(r[i].base, floor);
		for (size_t k = 0; k < m && !found && at <= r[i].limit; k++) {
			if (u[k].limit < at || u[k].base > r[i].limit) {
				continue;
			}
			if (u[k].base > at) {
				found = try_gap(at, u[k].base - 1, w, ret_base, &most);
			}
			at = u[k].limit == UINT64_MAX ? UINT64_MAX : MAX(at, u[k].limit + 1);
		}
		if (!found && at <= r[i].limit && at != UINT64_MAX) {
			found = try_gap(at, r[i].limit, w, ret_base, &most);
		}
	}
	free(u);
	free(r);
	if (!found) {
		*ret_have = most;
	}
	return found;
}
