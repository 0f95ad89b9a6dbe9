/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Short words for what a device is. Pure; any thread. */
#pragma once

#include "pcie/snapshot.h"

/* "VGA", "3D", "NVMe", "bridge", …; "" for what has no short word, or no class. */
const char *pcie_class_name(const struct pcie_device *d);

/* "root port", "switch, upstream port", …; "bridge" when nobody read its type. */
const char *pcie_port_name(const struct pcie_device *d);
