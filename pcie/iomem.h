/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/iomem: a tree of ranges, and the apertures in it. Pure; any thread. */
#pragma once

#include <stdbool.h>

#include "pcie/snapshot.h"

/* Is LINE one, "start-end : name"? /proc/ioports, whose numbers are shorter, is not. */
bool pcie_iomem_is_line(const char *line);

/*
 * Reads one line and appends it to the snapshot's list; false when
 * LINE is none. Indentation is not looked at: the kernel stops it at a depth, and pastes
 * lose it. What a person typed behind the name ("   <<< GPU") is left out.
 */
bool pcie_iomem_line(struct pcie_snapshot *s, const char *line);

/*
 * Call behind the last line: finds parents by ranges, and adds the topmost "PCI Bus"
 * ranges to the apertures, but those of a bus that a bridge in S leads to: so the devices
 * come first. Numbers that are all zero (no privilege): the list is
 * emptied and have_iomem is DENIED. apertures_complete is set when the list starts at
 * address 0 and has System RAM, that is, when it is the whole file.
 */
void pcie_iomem_finish(struct pcie_snapshot *s, pcie_src src);
