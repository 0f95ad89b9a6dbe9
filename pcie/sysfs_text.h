/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of sysfs in a text: "cat /sys/bus/pci/devices/0000:03:00.0/resource", the prompt of
 * a shell that stands in such a folder, "grep . …/resource*_resize", "head …/resource*".
 * Pure but for allocation; any thread, one snapshot at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/lines.h"
#include "pcie/snapshot.h"

/* Does S name one file of one device, and one that is read here? */
bool pcie_sysfs_text_is_start(const char *s);

/*
 * Numbers the BARs of S that a listing without numbers has (lspci -v), where one of them alone
 * has a length that a resourceN_resize offers.
 */
void pcie_sysfs_text_number_bars(struct pcie_snapshot *s);

/* Adds what the files hold to S; returns how many were read. */
size_t pcie_sysfs_text_parse(struct pcie_snapshot *s, const struct pcie_lines *lines, pcie_src src);
