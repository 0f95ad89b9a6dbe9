/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who stands in which window, what a resize gives back, and where things come to stand
 * again. Used by plan.c; works on copies of nothing: the snapshot stays as it is.
 */
#pragma once

#include "pcie/path.h"
#include "pcie/plan.h"

/* One GPU in a layout. */
struct plan_part {
	int dev;
	int bar;       /* index into d->bar of the VRAM BAR */
	uint64_t size; /* that BAR's size in this try */
	/* Results of plan_layout_try(). */
	bool placed;
	uint64_t place; /* of the VRAM BAR */
};

struct plan_layout {
	const struct pcie_snapshot *s;
	int *first_child, *next_sibling; /* by device; -1 ends */
	bool *gone;                      /* left out with --without */
	bool *released;                  /* the bridge's prefetchable window is given back */
	bool *unsure;                    /* ... but nobody said where it was */
	int *part;                       /* by device: index of its part, -1 */
	struct pcie_plan_item *item;     /* by bridge: its new window */
	uint64_t *at;                    /* by bridge: where the new window stands */
	/* What was laid in this try, so that the next unit keeps off it. */
	struct pcie_plan_range *laid;
	size_t nlaid, caplaid;
};

void plan_layout_init(
	struct plan_layout *l, const struct pcie_snapshot *s, const int *without, size_t nwithout);
void plan_layout_finish(struct plan_layout *l);

/* Gives back what the kernel would for these N parts: their own BARs, then every window on the
 * way up in which nothing else is. */
void plan_layout_release(struct plan_layout *l, const struct plan_part *part, size_t n);

/* The topmost bridge above DEV whose window is given back, or DEV itself. */
int plan_layout_top(const struct plan_layout *l, int dev);

/* What TOP needs with the parts' sizes: its new window, or the BARs of the GPU itself. */
struct pcie_plan_item plan_layout_need(struct plan_layout *l, enum pcie_plan_rule rule, int top,
	const struct plan_part *part, size_t n);

/*
 * Places TOP (its need is NEED) in the window of the bridge above it, or in the root bus's
 * apertures, and in it all parts behind it. Fills FIT. True when it has a place.
 */
bool plan_layout_place(struct plan_layout *l, int top, struct pcie_plan_item need,
	struct plan_part *part, size_t n, struct pcie_plan_fit *fit);

/* True for a BAR that a resize releases and places again: 64-bit, prefetchable, no VF's. */
bool plan_is_movable(const struct pcie_bar *b);
/* The length of a BAR as far as it is known: kernel, ReBAR control, log. 0: unknown. */
uint64_t plan_bar_size(const struct pcie_snapshot *s, int dev, const struct pcie_bar *b);

/* Shared by plan_layout.c and plan_place.c. */

/* Ranges of addresses, each with who stands there. */
struct plan_ranges {
	struct pcie_plan_range *r;
	struct pcie_plan_blocker *who;
	size_t n, cap, cap_who;
};

void plan_ranges_add(struct plan_ranges *a, struct pcie_plan_range r, int dev, const char *what);
/* Appends the I-th of FROM. */
void plan_ranges_copy(struct plan_ranges *a, const struct plan_ranges *from, size_t i);
void plan_ranges_finish(struct plan_ranges *a);

/* What has to be placed: BAR number BAR (index into d->bar) of DEV, or with -1 its window. */
struct plan_items {
	struct pcie_plan_item *item;
	int *dev, *bar;
	size_t n, cap, cap_dev, cap_bar;
};

void plan_items_add(struct plan_items *a, struct pcie_plan_item item, int dev, int bar);
void plan_items_finish(struct plan_items *a);

bool plan_window_range(const struct pcie_window *w, struct pcie_plan_range *ret);
/* What device DEV keeps in WITHIN (NULL: anywhere) while the parts are moved. */
void plan_add_kept(const struct plan_layout *l, int dev, const struct pcie_plan_range *within,
	struct plan_ranges *a);
/* What stays in the prefetchable window of bridge B. */
void plan_add_kept_in(const struct plan_layout *l, int b, struct plan_ranges *a);
/* What only /proc/iomem shows in WITHIN: BARs whose length no other witness has. */
void plan_add_iomem(
	const struct plan_layout *l, const struct pcie_plan_range *within, struct plan_ranges *a);
/* A removable or Thunderbolt port at or above bridge B. */
bool plan_is_removable(const struct pcie_snapshot *s, int b);
/* The movable BARs of a part, with its new size. */
void plan_add_bars(const struct plan_layout *l, const struct plan_part *part, struct plan_items *a);
/* BARs and new windows directly below BRIDGE. */
void plan_add_children(const struct plan_layout *l, int bridge, const struct plan_part *part,
	struct plan_items *a);
/* Bridges above DEV. */
int plan_depth(const struct pcie_snapshot *s, int dev);
