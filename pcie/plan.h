/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Would a larger BAR fit? The kernel's own arithmetic, done on a snapshot: which windows
 * a resize gives back, how large they become, where they would stand, and what is in the
 * way. Nothing is written anywhere; commands are text for a person.
 *
 * Linux has sized bridge windows by two rules. LEGACY (to 6.9, and between): half the
 * largest alignment where smaller BARs fill the gap, the size rounded up to it. TIGHT
 * (since 2026): the largest alignment, the size rounded to 1 MiB. Neither is better: which
 * one fits depends on the aperture. Both are computed; the kernel's version is a hint.
 *
 * Pure; any thread. Sizes and addresses in bytes, addresses are the CPU's.
 */
#pragma once

#include "pcie/snapshot.h"

enum pcie_plan_rule { PCIE_PLAN_LEGACY, PCIE_PLAN_TIGHT, PCIE_PLAN_RULES };

enum pcie_plan_block {
	PCIE_PLAN_FREE,        /* nothing blocks */
	PCIE_PLAN_CARD,        /* the card does not offer this size */
	PCIE_PLAN_PINNED,      /* a window cannot be given back: something else is in it */
	PCIE_PLAN_WINDOW,      /* the same on a removable port: windows were shared out at boot */
	PCIE_PLAN_APERTURE,    /* the root bus has no free range large and aligned enough */
	PCIE_PLAN_NO_APERTURE, /* the root bus has none above 4 GiB */
	PCIE_PLAN_OPEN,        /* not enough is known */
};

struct pcie_plan_blocker {
	int dev; /* index; -1: the aperture or the card itself */
	char what[96];
};

enum { PCIE_PLAN_BLOCKERS = 6 };

struct pcie_plan_fit {
	enum pcie_tri fits;
	enum pcie_plan_block block;
	int container;           /* the bridge in whose window it must be; -1: none, or the text
				    names it only here: */
	char container_what[48]; /* "window of 0000:00:01.0"; "": the root bus */
	uint64_t need, align;    /* of the topmost window that is made anew, or of the BAR */
	uint64_t have;           /* the largest room at that alignment; with has_have */
	bool has_have;
	bool has_place;
	uint64_t place;     /* address of that window or BAR */
	uint64_t bar_place; /* address of the VRAM BAR in it */
	unsigned nblocker;
	struct pcie_plan_blocker blocker[PCIE_PLAN_BLOCKERS];
};

struct pcie_plan_gpu {
	int dev;
	int bar;      /* BAR number, -1: the text has none */
	int bar_slot; /* index into its bar[], -1: which BAR it is cannot be told */
	bool has_target, has_current;
	uint64_t target, current;
	char target_why[96]; /* "--size", "the smallest size over 24 GiB of VRAM", … */
	struct pcie_plan_fit fit[PCIE_PLAN_RULES];
	/* With every other device where it is now; equal to fit when it is the only one. */
	enum pcie_tri alone[PCIE_PLAN_RULES];
};

struct pcie_plan {
	struct pcie_plan_gpu *gpu;
	size_t ngpu;
	unsigned together[PCIE_PLAN_RULES]; /* how many fit when all are laid out at once */
	bool applies[PCIE_PLAN_RULES];      /* this kernel may use the rule */
	char **command;                     /* in order of safety */
	size_t ncommand, capcommand;
	char **note;
	size_t nnote, capnote;
};

struct pcie_plan_options {
	int dev;       /* one GPU only; -1: all discrete ones */
	uint64_t size; /* 0: the smallest that shows all of the VRAM */
	const int *without;
	size_t nwithout; /* devices (with what is behind them) to leave out */
};

/*
 * lspci prints no line for a BAR that the kernel gave up: where the Resizable BAR capability of a
 * GPU names its VRAM BAR all the same, S gets that BAR without an address, so that it can be
 * planned. Returns how many were added.
 */
size_t pcie_plan_add_lost_bars(struct pcie_snapshot *s);

/* Is DEV, or a bridge above it, among the N of WITHOUT? */
bool pcie_plan_leaves_out(const struct pcie_snapshot *s, int dev, const int *without, size_t n);

struct pcie_plan *pcie_plan_create(
	const struct pcie_snapshot *s, const struct pcie_plan_options *o);
void pcie_plan_destroy(struct pcie_plan *p);

/* The VRAM BAR has no address: that comes first, a larger size only then. */
bool pcie_plan_is_unplaced(const struct pcie_snapshot *s, const struct pcie_plan_gpu *g);

/* YES: every chosen GPU fits by every rule that applies. NO: one fits by none. */
enum pcie_tri pcie_plan_answer(const struct pcie_plan *p);

const char *pcie_plan_rule_name(enum pcie_plan_rule r); /* "legacy", "tight" */

/* The arithmetic (plan_fit.c), for plan.c and tests. */

struct pcie_plan_item {
	uint64_t size, align;
};

/* The window that holds the N items of one type: its size and alignment. N 0: both 0. */
struct pcie_plan_item pcie_plan_window(
	enum pcie_plan_rule rule, const struct pcie_plan_item *item, size_t n);

struct pcie_plan_range {
	uint64_t base, limit;
};

/*
 * Lowest aligned place for W in SPACE (N ranges, any order) that keeps off the M ranges of
 * USED. At or above FLOOR. False: none; *RET_HAVE is then the most that such an alignment
 * finds in one piece.
 */
bool pcie_plan_place(const struct pcie_plan_range *space, size_t n,
	const struct pcie_plan_range *used, size_t m, struct pcie_plan_item w, uint64_t floor,
	uint64_t *ret_base, uint64_t *ret_have);

/* The address map (plan_map.c). */

enum pcie_map_kind {
	PCIE_MAP_RAM,
	PCIE_MAP_APERTURE,
	PCIE_MAP_WINDOW,
	PCIE_MAP_BAR,
	PCIE_MAP_FREE
};

struct pcie_map_row {
	enum pcie_map_kind kind;
	unsigned depth; /* 0: top level */
	uint64_t base, limit;
	int dev; /* index, -1 */
	char what[80];
};

/*
 * RAM, apertures, and in them windows, BARs and free ranges, by address, of all devices but the N
 * of WITHOUT and what is behind them. The caller frees it.
 */
size_t pcie_map_create(
	const struct pcie_snapshot *s, const int *without, size_t n, struct pcie_map_row **ret);
