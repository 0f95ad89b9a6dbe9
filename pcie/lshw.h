/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lshw's output as text. Pure but for allocation; any thread, one snapshot at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/lines.h"
#include "pcie/snapshot.h"

/*
 * Does S (leading blanks allowed) begin a node ("*-display", "*-display:1 UNCLAIMED"), or is it
 * one of the lines that a piece of one begins with: "description: VGA …", "bus info: pci@…"?
 */
bool pcie_lshw_is_start(const char *s);

/*
 * Adds the devices that have a "bus info: pci@…": class, names, driver, and the ranges of
 * "resources:". These are the kernel's, in the order of the BARs and the ROM behind them, without
 * number, type or any sign of which is the ROM: a last small range is left out for that, and
 * so are a bridge's, which lshw mixes with its windows. Returns the lines that said something.
 */
size_t pcie_lshw_parse(struct pcie_snapshot *s, const struct pcie_lines *lines, pcie_src src);
