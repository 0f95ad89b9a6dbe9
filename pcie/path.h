/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way from the root bus to a device. Pure; any thread. */
#pragma once

#include "pcie/snapshot.h"

enum { PCIE_PATH_MAX = 32 };

/* The bridges above DEV, the one at the root first; returns how many (at most PCIE_PATH_MAX). */
int pcie_path(const struct pcie_snapshot *s, int dev, int path[static PCIE_PATH_MAX]);

/*
 * The device whose link is the one in the slot: a card with its own switch (Intel Arc, AMD
 * RDNA) shows a link inside of the card at the GPU, which says nothing. Then it is the
 * switch's upstream port, else DEV itself.
 */
int pcie_slot_device(const struct pcie_snapshot *s, int dev);

/*
 * Host bridges of some machines (ARM, POWER) show other addresses on the bus than the CPU
 * uses: then a window's register differs from the kernel's view by a constant. True when the
 * window above DEV that holds CPU address ADDR is such a one; *RET_BUS is ADDR on the bus.
 */
bool pcie_bus_address(const struct pcie_snapshot *s, int dev, uint64_t addr, uint64_t *ret_bus);

/* Is the register of W the kernel's range, moved as a whole? */
bool pcie_window_translated(const struct pcie_window *w);

/* DEV sits right on a root bus. NO: it has bridges above it, known or not. */
bool pcie_is_at_root(const struct pcie_snapshot *s, int dev);

/*
 * Of the bridges that nobody joined to DEV by the tree, those whose prefetchable window
 * contains [BASE, LIMIT], the smallest first: how a text without the tree still tells
 * what is above. Returns how many.
 */
int pcie_path_by_range(const struct pcie_snapshot *s, int dev, uint64_t base, uint64_t limit,
	int path[static PCIE_PATH_MAX]);
