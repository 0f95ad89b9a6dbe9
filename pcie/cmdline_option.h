/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel's command line tells GPU drivers. */
#pragma once

#include "pcie/snapshot.h"

/*
 * Gives the devices of S the options that S's command line has for their drivers, from SRC. What
 * a device's driver is known to run with stands. Any thread; S belongs to the caller.
 */
void pcie_cmdline_options(struct pcie_snapshot *s, pcie_src src);
