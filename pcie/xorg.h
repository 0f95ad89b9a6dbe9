/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs of the X server. Pure but for allocation; any thread, one snapshot at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/lines.h"
#include "pcie/snapshot.h"

/*
 * Is S, with or without time stamp or journal prefix, a line of the X server about a GPU:
 * "(--) PCI:*(1@0:0:0) 10de:2204:1043:87b3 rev 161, Mem @ 0x…/16777216, …" (xf86PciProbe(), also
 * with the older "(0:1:0:0)"), or one of NVIDIA's driver with the address or the memory?
 */
bool pcie_xorg_is_line(const char *s);

/*
 * Adds the devices with ids and memory: addresses and sizes as the kernel has them, in the order
 * of the BARs but without their numbers and types, and VRAM where NVIDIA's driver says it. Wrapped
 * lines are joined. Returns the number of lines that said something.
 */
size_t pcie_xorg_parse(struct pcie_snapshot *s, const struct pcie_lines *lines, pcie_src src);
