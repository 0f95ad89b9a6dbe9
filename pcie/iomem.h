/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/iomem, read live, from a copied tree or from a paste: one reader. Pure
 * but for allocation; any thread, one snapshot at a time.
 */
#pragma once

#include <stdbool.h>

#include "pcie/lines.h"
#include "pcie/snapshot.h"

/* Is S (leading blanks allowed) a line "start-end : name"? /proc/ioports is not taken. */
bool pcie_iomem_is_line(const char *s);

/*
 * Appends the ranges to S->iomem as a tree by ranges (the kernel's indentation
 * stops growing, and pastes lose it) and sets have_iomem: DENIED when every
 * number is zero (read without privilege; no range is kept then). Other lines
 * are passed over. The outermost "PCI Bus" ranges become apertures with source
 * SRC, but those of a bus that a bridge in S leads to: so call it when the
 * devices are there. Returns the number of lines understood.
 */
size_t pcie_iomem_parse(struct pcie_snapshot *s, const struct pcie_lines *lines, pcie_src src);
