/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the NVIDIA driver's tools and files say: nvidia-smi -q, the table of plain
 * nvidia-smi, /proc/driver/nvidia/gpus/.../information and .../params. Pure but for
 * allocation; any thread, one snapshot at a time.
 */
#pragma once

#include <stdbool.h>

#include "pcie/lines.h"
#include "pcie/snapshot.h"

/* The name of the source of what it says. */
#define PCIE_SOURCE_SMI "nvidia-smi"

/* Does S (leading blanks allowed) begin such a text, or a part of it? */
bool pcie_smi_is_start(const char *s);

/*
 * Adds VRAM size, BAR1 size, link, video BIOS, MIG, coherent memory and the
 * driver's ReBAR option to the devices of S, which are made where they are
 * missing. BAR1 is the driver's name for the VRAM BAR and not a PCI number: its
 * size fills one that nobody has given, and is a BAR of its own without a number
 * where the device has none. A piece without an address is about the only NVIDIA
 * GPU, or about none. Returns the number of lines that said something.
 */
size_t pcie_smi_parse(struct pcie_snapshot *s, const struct pcie_lines *lines, pcie_src src);

/* SAID, the length of BAR1 by nvidia-smi, is not the one of the BAR itself, IS. */
void pcie_smi_note_bar1(struct pcie_snapshot *s, int dev, uint64_t said, uint64_t is);
