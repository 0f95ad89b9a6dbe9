/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose display device it is. pcie_device_kind() is declared in verdict.h. Pure; any thread. */
#pragma once

#include "pcie/verdict.h"

/* The vendor by ids, else by the words of the name, else by the driver; 0: not known. */
uint16_t pcie_device_vendor(const struct pcie_device *d);

/* Whose GPUs this driver is for; 0: no GPU driver that is known here. */
uint16_t pcie_driver_vendor(const char *driver);

/*
 * Cards of this kind carry a PCIe switch of their own (Vega 10 and later, Navi, Arc): the link
 * that the GPU function shows is inside the card.
 */
bool pcie_device_has_own_switch(const struct pcie_device *d);

/* "GP100GL [Tesla P100 PCIe 12GB]": the number before GB in the name, in bytes. */
bool pcie_vram_in_name(const char *name, uint64_t *ret);

/*
 * The CPU reaches this GPU's memory coherently: nvidia-smi said so, or it is one that is built
 * together with a Grace CPU. The sizes in such a name are the CPU's memory.
 */
bool pcie_device_is_coherent(const struct pcie_device *d);
