/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tells when PCI devices come, go or get a driver. The kernel sends nothing when a
 * BAR is resized: who needs that must look again now and then. One thread.
 */
#pragma once

#include <stdbool.h>

struct pcie_watch;

/* Negative errno when udev's monitor cannot be opened (some containers). */
int pcie_watch_open(struct pcie_watch **ret);
void pcie_watch_close(struct pcie_watch *w);

/* To poll for reading. */
int pcie_watch_fd(const struct pcie_watch *w);

/* Takes all that waits, never blocks; true when something on the PCI bus changed. */
bool pcie_watch_drain(struct pcie_watch *w);
