/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What differs between the machines of two runs: devices that came or went, drivers, BARs,
 * Resizable BAR, links, firmware. Pure; any thread.
 */
#pragma once

#include <stddef.h>

#include "pcie/snapshot.h"

struct runs_machine_change {
	char where[40]; /* "0000:01:00.0", "host" */
	char what[40];  /* "BAR 1 size", "driver", … */
	char a[96], b[96];
};

/* The caller frees RET. Facts that one side does not know are no change. */
size_t runs_machines_differ(const struct pcie_snapshot *a, const struct pcie_snapshot *b,
	struct runs_machine_change **ret);
