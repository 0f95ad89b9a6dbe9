/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sizes that a resizable BAR offers: bit n of a list stands for 2^(20 + n) bytes
 * (PCIe 6.0, 7.8.6). Pure; any thread.
 */
#pragma once

#include "pcie/snapshot.h"

enum { PCIE_REBAR_SIZES = 64 - PCIE_REBAR_UNIT_SHIFT };
#define PCIE_REBAR_ALL_SIZES (((uint64_t)1 << PCIE_REBAR_SIZES) - 1)

/* D's entry for BAR number BAR; NULL: none, or the list is not known. */
const struct pcie_rebar_entry *pcie_rebar_entry(const struct pcie_device *d, int bar);

/*
 * The entry that may grow largest, where one may reach 64 MiB: the BAR that maps VRAM. Where two
 * reach as far (a doorbell up to 256 MiB beside a VRAM BAR that stays there), the one that is
 * larger now. NULL: none, or the list is not known.
 */
const struct pcie_rebar_entry *pcie_rebar_main(const struct pcie_device *d);

/* The list of entry E of D, with the kernel's corrections of known cards; 0: E is NULL or empty. */
uint64_t pcie_rebar_supported(const struct pcie_device *d, const struct pcie_rebar_entry *e);

bool pcie_rebar_offers(uint64_t supported, uint64_t bytes);
/* The smallest and largest size of SUPPORTED in bytes; 0: it is empty. */
uint64_t pcie_rebar_smallest(uint64_t supported);
uint64_t pcie_rebar_largest(uint64_t supported);
/* The smallest size of SUPPORTED that holds BYTES; 0: none does. */
uint64_t pcie_rebar_smallest_over(uint64_t supported, uint64_t bytes);
