/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Witnesses: what the one door is made of. Each source that says something
 * about a machine fills a snapshot of its own; merging joins them.
 */
#pragma once

#include <stddef.h>

#include "base/why.h"
#include "pcie/snapshot.h"

/* The name of the source of everything that a kernel log says. */
#define PCIE_SOURCE_LOG "kernel log"

/*
 * Pasted or copied text of any kind (lspci, kernel log, /proc/iomem, nvidia-smi,
 * QEMU's info pci, a bug report with all of them), classified section by
 * section. NAME is said in notes and as origin. Several pieces about one device
 * are merged already. The snapshot is settled. -ENODATA: nothing was recognised.
 */
int pcie_text_scan(const char *name, const char *data, size_t len, struct pcie_snapshot **ret,
	struct why *why);

/*
 * Adds what FROM knows to INTO: the kernel's view and
 * the register view stay side by side, bytes beat text for ids and capabilities
 * only, a log's last state fills what nobody else saw, and a log that
 * contradicts the machine is another boot: history only, with a note. Each fact
 * keeps its source. INTO is settled afterwards, nothing in it points into FROM. Returns 0, or
 * -ESTALE when a log was of another boot.
 */
int pcie_merge(struct pcie_snapshot *into, const struct pcie_snapshot *from);
