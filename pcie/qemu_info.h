/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "info pci" of QEMU's monitor. Pure but for allocation; any thread, one
 * snapshot at a time.
 */
#pragma once

#include <stdbool.h>

#include "pcie/lines.h"
#include "pcie/snapshot.h"

/* Does S (leading blanks allowed) begin a device: "Bus  0, device   2, function 0:"? */
bool pcie_qemu_info_is_start(const char *s);

/*
 * Adds the devices with their BARs, bridges with their buses and windows. The
 * monitor shows registers, and a BAR that is not mapped as all ones. Returns the
 * number of lines that said something.
 */
size_t pcie_qemu_info_parse(struct pcie_snapshot *s, const struct pcie_lines *lines, pcie_src src);
