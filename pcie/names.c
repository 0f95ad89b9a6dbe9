/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/names.h"

const char *pcie_class_name(const struct pcie_device *d)
{
	static const struct {
		uint16_t class;
		const char *name;
	} name[] = {
		{0x0101, "IDE"},
		{0x0106, "SATA"},
		{0x0108, "NVMe"},
		{0x0200, "Ethernet"},
		{0x0280, "network"},
		{0x0207, "InfiniBand"},
		{0x0300, "VGA"},
		{0x0302, "3D"},
		{0x0380, "display"},
		{0x0403, "audio"},
		{0x0600, "host bridge"},
		{0x0601, "ISA bridge"},
		{0x0604, "bridge"},
		{0x0880, "system"},
		{0x0c03, "USB"},
		{0x0c05, "SMBus"},
		{0x1200, "accelerator"},
	};
	for (size_t i = 0; d->have_class == PCIE_KNOWN && i < ARRAY_LEN(name); i++) {
		if (name[i].class == d->class_code >> 8) {
			return name[i].name;
		}
	}
	return "";
}

const char *pcie_port_name(const struct pcie_device *d)
{
	switch (d->port_type) {
	case PCIE_PORT_ROOT:
		return "root port";
	case PCIE_PORT_UPSTREAM:
		return "switch, upstream port";
	case PCIE_PORT_DOWNSTREAM:
		return "switch, downstream port";
	case PCIE_PORT_BRIDGE:
		return "PCIe to PCI bridge";
	default:
		return "bridge";
	}
}
