/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Config space as bytes: decoded into a device, masked for sharing. Pure, bounded
 * by the length given, safe on any bytes; any thread, one snapshot at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "pcie/snapshot.h"

enum {
	PCIE_CONFIG_HEADER = 64,
	PCIE_CONFIG_CARDBUS_HEADER = 128,
	PCIE_CONFIG_SIZE = 256,
	PCIE_CONFIG_EXT_SIZE = 4096
};

/*
 * Decodes LEN bytes (0 to 4096) of device DEV's config space and marks what it sets with
 * SRC: ids, class, command register, the register view of BARs and bridge windows, PCI
 * Express, link, (VF) Resizable BAR, SR-IOV, power state. It overwrites such facts; the
 * kernel's view of BARs and windows is never touched. All ones (gone, D3cold): only
 * config_gone is set. A register file that ends inside a list leaves the list unknown:
 * whether the rest was denied is the caller's to know and to set.
 */
void pcie_config_decode(
	struct pcie_snapshot *s, int dev, const uint8_t *bytes, size_t len, pcie_src src);

/*
 * Zeroes what names one single card: the serial number capability (PCIe 6.0, 7.9.3) and
 * the window of the vital product data (PCI 3.0, 6.4).
 */
void pcie_config_mask(uint8_t *bytes, size_t len);
