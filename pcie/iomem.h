/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/iomem: a tree of ranges, and the apertures in it. Pure; any thread. */
#pragma once

#include <stdbool.h>

#include "pcie/snapshot.h"

/*
 * Reads one line, "start-end : name", and appends it to the snapshot's list; false when
 * LINE is no such line. Indentation is not looked at: the kernel stops it at a depth, and
 * pastes lose it.
 */
bool pcie_iomem_line(struct pcie_snapshot *s, const char *line);

/*
 * Call behind the last line: finds parents by ranges, and adds the topmost "PCI Bus"
 * ranges to the apertures. Numbers that are all zero (no privilege): the list is
 * emptied and have_iomem is DENIED. apertures_complete is set when the list starts at
 * address 0 and has System RAM, that is, when it is the whole file.
 */
void pcie_iomem_finish(struct pcie_snapshot *s, pcie_src src);
