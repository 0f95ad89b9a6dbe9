/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two files of the merge share; nobody else includes this. */
#pragma once

#include "pcie/snapshot.h"

/* Marks every fact of D, which is a copy, with INTO's numbers of the sources. */
void merge_remap_sources(struct pcie_device *d, const pcie_src *map);

/*
 * Gives numbers to BARs of D that have none, by their order, kind and size among those of BY
 * that have one.
 */
void merge_number_bars(struct pcie_device *d, const struct pcie_device *by);

/*
 * The BAR whose state in the log (a BAR of FROM with source LOG) cannot be the one in INTO's
 * boot, by index in FROM->bar; -1 when the two agree.
 */
int merge_contradiction(
	const struct pcie_device *into, const struct pcie_device *from, pcie_src log);

/*
 * Fills what INTO does not know from FROM, whose sources are INTO's already. STALE: what FROM
 * has from LOG is of another boot; only what a card keeps over boots is taken from there.
 */
void merge_device(
	struct pcie_device *into, const struct pcie_device *from, pcie_src log, bool stale);
