/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/lspci_class.h"

#include <string.h>
#include <strings.h>

#include "base/macros.h"

/* Class and subclass by the name that lspci prints (pci.ids); sorted without regard to case. */
static const struct {
	const char *name;
	uint16_t code;
} class[] = {
	{"386", 0x0b00},
	{"3D controller", 0x0302},
	{"486", 0x0b01},
	{"802.1a controller", 0x0d20},
	{"802.1b controller", 0x0d21},
	{"ACCESS Bus", 0x0c01},
	{"Alpha", 0x0b10},
	{"ATA controller", 0x0105},
	{"ATM network controller", 0x0203},
	{"Audio device", 0x0403},
	{"Bluetooth", 0x0d11},
	{"Bridge", 0x0680},
	{"Broadband", 0x0d12},
	{"CANBUS", 0x0c09},
	{"CardBus bridge", 0x0607},
	{"Co-processor", 0x0b40},
	{"Communication controller", 0x0780},
	{"Communication synchronizer", 0x1110},
	{"Computer telephony device", 0x0402},
	{"Consumer IR controller", 0x0d01},
	{"CXL", 0x0502},
	{"Digitizer Pen", 0x0901},
	{"Display controller", 0x0380},
	{"DMA controller", 0x0801},
	{"Docking Station", 0x0a80},
	{"DPIO module", 0x1100},
	{"EISA bridge", 0x0602},
	{"Encryption controller", 0x1080},
	{"Entertainment encryption device", 0x1010},
	{"Ethernet controller", 0x0200},
	{"Fabric controller", 0x0208},
	{"FDDI network controller", 0x0202},
	{"Fibre Channel", 0x0c04},
	{"FireWire (IEEE 1394)", 0x0c00},
	{"FLASH memory", 0x0501},
	{"Floppy disk controller", 0x0102},
	{"Gameport controller", 0x0904},
	{"Generic Docking Station", 0x0a00},
	{"GPIB controller", 0x0704},
	{"Host bridge", 0x0600},
	{"I2O", 0x0e00},
	{"IDE interface", 0x0101},
	{"Image coprocessor", 0x0005},
	{"InfiniBand", 0x0c06},
	{"Infiniband controller", 0x0207},
	{"InfiniBand to PCI host bridge", 0x060a},
	{"Input device controller", 0x0980},
	{"IOMMU", 0x0806},
	{"IPI bus controller", 0x0103},
	{"IPMI Interface", 0x0c07},
	{"IRDA controller", 0x0d00},
	{"ISA bridge", 0x0601},
	{"ISDN controller", 0x0204},
	{"Keyboard controller", 0x0900},
	{"Mass storage controller", 0x0180},
	{"Memory controller", 0x0580},
	{"MicroChannel bridge", 0x0603},
	{"MIPS", 0x0b30},
	{"Modem", 0x0703},
	{"Mouse controller", 0x0902},
	{"Multimedia audio controller", 0x0401},
	{"Multimedia controller", 0x0480},
	{"Multimedia video controller", 0x0400},
	{"Multiport serial controller", 0x0702},
	{"Network and computing encryption device", 0x1000},
	{"Network controller", 0x0280},
	{"Non-VGA unclassified device", 0x0000},
	{"Non-Volatile memory controller", 0x0108},
	{"NuBus bridge", 0x0606},
	{"Parallel controller", 0x0701},
	{"PCI bridge", 0x0604},
	{"PCI Hot-plug controller", 0x0804},
	{"PCMCIA bridge", 0x0605},
	{"Pentium", 0x0b02},
	{"Performance counters", 0x1101},
	{"PIC", 0x0800},
	{"PICMG controller", 0x0206},
	{"Power PC", 0x0b20},
	{"Processing accelerators", 0x1200},
	{"RACEway bridge", 0x0608},
	{"RAID bus controller", 0x0104},
	{"RAM memory", 0x0500},
	{"RF controller", 0x0d10},
	{"RTC", 0x0803},
	{"SATA controller", 0x0106},
	{"Satellite audio communication controller", 0x0f02},
	{"Satellite data communication controller", 0x0f04},
	{"Satellite TV controller", 0x0f01},
	{"Satellite voice communication controller", 0x0f03},
	{"Scanner controller", 0x0903},
	{"SCSI storage controller", 0x0100},
	{"SD Host controller", 0x0805},
	{"Semi-transparent PCI-to-PCI bridge", 0x0609},
	{"SERCOS interface", 0x0c08},
	{"Serial Attached SCSI controller", 0x0107},
	{"Serial bus controller", 0x0c80},
	{"Serial controller", 0x0700},
	{"Signal processing controller", 0x1180},
	{"Signal processing management", 0x1120},
	{"Smard Card controller", 0x0705},
	{"SMBus", 0x0c05},
	{"SNIA Smart Data Accelerator Interface (SDXI) controller", 0x1201},
	{"SSA", 0x0c02},
	{"System peripheral", 0x0880},
	{"Timer", 0x0802},
	{"Timing Card", 0x0899},
	{"Token ring network controller", 0x0201},
	{"Universal Flash Storage controller", 0x0109},
	{"USB controller", 0x0c03},
	{"VGA compatible controller", 0x0300},
	{"VGA compatible unclassified device", 0x0001},
	{"Wireless controller", 0x0d80},
	{"WorldFip controller", 0x0205},
	{"XGA compatible controller", 0x0301},
};

int pcie_class_from_name(const char *name, size_t len)
{
	size_t lo = 0, hi = ARRAY_LEN(class);
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const char *at = class[mid].name;
		int c = (at[0] | 0x20) - (name[0] | 0x20); /* most end here, or at the next */
		c = c || len < 2 ? c : (at[1] | 0x20) - (name[1] | 0x20);
		c = c ? c : strncasecmp(class[mid].name, name, len);
		if (c == 0 && class[mid].name[len]) {
			c = 1; /* NAME is only the beginning of it */
		}
		if (c == 0) {
			return class[mid].code;
		}
		if (c < 0) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return -1;
}

uint16_t pcie_vendor_from_name(const char *name, size_t *ret_len)
{
	/* The longer of two names with one beginning stands first. */
	static const struct {
		const char *name;
		uint16_t id;
	} vendor[] = {
		{"ASPEED Technology, Inc.", 0x1a03},
		{"ATI Technologies Inc", 0x1002},
		{"Advanced Micro Devices, Inc. [AMD/ATI]", 0x1002},
		{"Advanced Micro Devices, Inc. [AMD]", 0x1022},
		{"Advanced Micro Devices [AMD/ATI]", 0x1002},
		{"Advanced Micro Devices [AMD] nee ATI", 0x1002},
		{"Advanced Micro Devices [AMD]", 0x1022},
		{"Intel Corporation", 0x8086},
		{"Matrox Electronics Systems Ltd.", 0x102b},
		{"NVIDIA Corporation", 0x10de},
	};

	for (size_t i = 0; i < ARRAY_LEN(vendor); i++) {
		size_t len = strlen(vendor[i].name);
		if ((*name | 0x20) == (*vendor[i].name | 0x20) &&
			!strncasecmp(name, vendor[i].name, len)) {
			*ret_len = len;
			return vendor[i].id;
		}
	}
	return 0;
}
