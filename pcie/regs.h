/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registers that are read, and no others. PCI: PCI Local Bus 3.0; bridges:
 * PCI-to-PCI Bridge Architecture 1.2; PCIe: PCI Express Base 6.0.
 */
#pragma once

#include <stdint.h>

/* Type 0 and 1 headers (PCI 6.1) */
enum {
	REG_VENDOR = 0x00,
	REG_DEVICE = 0x02,
	REG_COMMAND = 0x04, /* 6.2.2 */
	COMMAND_IO = 1 << 0,
	COMMAND_MEM = 1 << 1,
	COMMAND_MASTER = 1 << 2,
	REG_STATUS = 0x06, /* 6.2.3 */
	STATUS_CAP_LIST = 1 << 4,
	REG_REVISION = 0x08,
	REG_CLASS = 0x09,
	REG_HEADER_TYPE = 0x0e,
	HEADER_TYPE_MASK = 0x7f,
	HEADER_NORMAL = 0,
	HEADER_BRIDGE = 1,
	HEADER_CARDBUS = 2,
	REG_BAR0 = 0x10, /* 6.2.5.1 */
	BAR_IO = 1 << 0,
	BAR_TYPE_MASK = 3 << 1,
	BAR_TYPE_64 = 2 << 1,
	BAR_PREFETCH = 1 << 3,
	BAR_FLAGS_MEM = 0xf,
	BAR_FLAGS_IO = 0x3,
	REG_SUBVENDOR = 0x2c,
	REG_SUBDEVICE = 0x2e,
	REG_ROM = 0x30, /* 6.2.5.2 */
	REG_BRIDGE_ROM = 0x38,
	ROM_ENABLE = 1 << 0,
	ROM_ADDRESS_SHIFT = 11,
	REG_CAP_LIST = 0x34, /* 6.7 */
	REG_CARDBUS_CAP_LIST = 0x14,
};

/* Type 1 header (Bridge 1.2, 3.2.5) */
enum {
	REG_PRIMARY_BUS = 0x18,
	REG_SECONDARY_BUS = 0x19,
	REG_SUBORDINATE_BUS = 0x1a,
	REG_IO_BASE = 0x1c,
	REG_IO_LIMIT = 0x1d,
	REG_MEM_BASE = 0x20,
	REG_MEM_LIMIT = 0x22,
	REG_PREF_BASE = 0x24,
	REG_PREF_LIMIT = 0x26,
	REG_PREF_BASE_HIGH = 0x28,
	REG_PREF_LIMIT_HIGH = 0x2c,
	REG_IO_BASE_HIGH = 0x30,
	REG_IO_LIMIT_HIGH = 0x32,
	WINDOW_TYPE_MASK = 0x0f,
	WINDOW_WIDE = 1, /* 32-bit I/O, 64-bit prefetchable */
};

/* Capabilities (PCI 6.7, appendix H) */
enum {
	CAP_POWER = 0x01,
	POWER_CONTROL = 4,
	POWER_STATE_MASK = 3,
	CAP_VPD = 0x03,
	CAP_SUBSYSTEM = 0x0d, /* Bridge 1.2, 3.2.5.13 */
	CAP_EXPRESS = 0x10,   /* PCIe 7.5.3 */
	EXPRESS_FLAGS = 2,
	EXPRESS_TYPE_SHIFT = 4,
	EXPRESS_SLOT = 1 << 8,
	EXPRESS_LINK_CAP = 0x0c,
	EXPRESS_LINK_STATUS = 0x12,
	LINK_SPEED_MASK = 0xf,
	LINK_WIDTH_SHIFT = 4,
	LINK_WIDTH_MASK = 0x3f,
	EXPRESS_SLOT_CAP = 0x14,
	SLOT_HOTPLUG = 1 << 6,
	CAP_ENHANCED_ALLOCATION = 0x14, /* PCIe 7.8.5 */
	EA_BYTES = 192, /* of up to 63 entries, as many as have room behind the header */
	EA_ENTRIES_MASK = 0x3f,
	EA_SIZE_MASK = 7,
	EA_BEI_SHIFT = 4,
	EA_BEI_MASK = 0xf,
};

/* Extended capabilities (PCIe 7.6.3) */
enum {
	EXT_FIRST = 0x100,
	EXT_NEXT_SHIFT = 20,
	EXT_ID_MASK = 0xffff,
	EXT_CAP_NULL = 0x0000,   /* 7.9.28 */
	EXT_CAP_AER = 0x0001,    /* 7.8.4 */
	EXT_CAP_SERIAL = 0x0003, /* 7.9.3 */
	EXT_CAP_ACS = 0x000d,    /* 7.7.11 */
	ACS_CONTROL = 6,
	ACS_REDIRECT = 0x000c,  /* P2P Request Redirect, P2P Completion Redirect */
	EXT_CAP_SRIOV = 0x0010, /* 9.3.3 */
	SRIOV_TOTAL = 0x0e,
	SRIOV_NUM = 0x10,
	SRIOV_BAR0 = 0x24,
	EXT_CAP_REBAR = 0x0015,    /* 7.8.6 */
	EXT_CAP_VF_REBAR = 0x0024, /* 9.3.7.5 */
	REBAR_CAP = 4,             /* entry k stands 8k behind */
	REBAR_CONTROL = 8,
	REBAR_BAR_MASK = 7,
	REBAR_COUNT_SHIFT = 5,
	REBAR_COUNT_MASK = 7,
	REBAR_SIZE_SHIFT = 8,
	REBAR_SIZE_MASK = 0x3f,
	REBAR_SIZE_MAX = 43, /* 8 EB */
	REBAR_CAP_SHIFT = 4,
	REBAR_EXTENDED_SHIFT = 16, /* control's upper half: 256 TB and more */
	REBAR_EXTENDED_FIRST = 28,
};

enum { LINK_SPEED_LAST = 6 };

/* A code of the link speed fields (PCIe 7.5.3.6) in units of 100 MT/s; 0: not assigned. */
static inline uint16_t pcie_link_speed(uint32_t code)
{
	static const uint16_t speed[LINK_SPEED_LAST + 1] = {0, 25, 50, 80, 160, 320, 640};
	return code <= LINK_SPEED_LAST ? speed[code] : 0;
}
