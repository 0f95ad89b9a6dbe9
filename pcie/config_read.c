/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/config_read.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "pcie/regs.h"

/* How much of a capability the decoder looks at, header included; others: the header only. */
static const struct {
	uint16_t id;
	bool extended;
	uint8_t bytes;
} span[] = {
	{CAP_POWER, false, POWER_CONTROL + 2},
	{CAP_SUBSYSTEM, false, 8},
	{CAP_EXPRESS, false, EXPRESS_SLOT_CAP + 4},
	{CAP_ENHANCED_ALLOCATION, false, EA_BYTES},
	{EXT_CAP_ACS, true, ACS_CONTROL + 2},
	{EXT_CAP_SRIOV, true, SRIOV_BAR0 + 6 * 4},
	{EXT_CAP_REBAR, true, REBAR_CAP + PCIE_REBAR_ENTRIES * 8},
	{EXT_CAP_VF_REBAR, true, REBAR_CAP + PCIE_REBAR_ENTRIES * 8},
};

static size_t span_of(unsigned id, bool extended)
{
	for (size_t i = 0; i < ARRAY_LEN(span); i++) {
		if (span[i].id == id && span[i].extended == extended) {
			return span[i].bytes;
		}
	}
	return 4;
}

static uint32_t get32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* False when the read failed; what lies behind the end of the file is left as it is. */
static bool get(const struct pcie_config_source *src, size_t off, size_t len, uint8_t *buf)
{
	if (off >= src->size) {
		return true;
	}
	len = MIN(len, src->size - off);
	return src->read(src->ctx, off, buf + off, len) == (int)len;
}

/* The length that a reader without privilege gets (Linux, pci_read_config()). */
static int denied_length(const uint8_t *buf, int n)
{
	bool cardbus = (buf[REG_HEADER_TYPE] & HEADER_TYPE_MASK) == HEADER_CARDBUS;
	return cardbus && n >= PCIE_CONFIG_CARDBUS_HEADER ? PCIE_CONFIG_CARDBUS_HEADER
							  : PCIE_CONFIG_HEADER;
}

/* The walks return false when a read failed: the list goes on, and nobody knows where. */

static bool fetch_capabilities(const struct pcie_config_source *src, uint8_t *buf)
{
	bool cardbus = (buf[REG_HEADER_TYPE] & HEADER_TYPE_MASK) == HEADER_CARDBUS;
	size_t at = buf[cardbus ? REG_CARDBUS_CAP_LIST : REG_CAP_LIST] & 0xfc;
	if (!(buf[REG_STATUS] & STATUS_CAP_LIST)) {
		return true;
	}
	/* 48: as many as have room, so a loop in the list ends too. */
	for (int i = 0; i < 48 && at >= PCIE_CONFIG_HEADER && at < src->size; i++) {
		if (!get(src, at, 4, buf)) {
			return false;
		}
		size_t bytes = span_of(buf[at], false);
		bytes = MIN(bytes, PCIE_CONFIG_SIZE - at);
		if (bytes > 4 && !get(src, at + 4, bytes - 4, buf)) {
			return false;
		}
		at = buf[at + 1] & 0xfc;
	}
	return true;
}

static bool fetch_extended(const struct pcie_config_source *src, uint8_t *buf)
{
	size_t at = EXT_FIRST;
	for (int i = 0; i < 960 && at >= EXT_FIRST && at < src->size; i++) {
		if (!get(src, at, 4, buf)) {
			return false;
		}
		uint32_t header = get32(buf + at);
		if (header == 0 || header == UINT32_MAX) {
			return true;
		}
		size_t bytes = span_of(header & EXT_ID_MASK, true);
		bytes = MIN(bytes, PCIE_CONFIG_EXT_SIZE - at);
		if (bytes > 4 && !get(src, at + 4, bytes - 4, buf)) {
			return false;
		}
		at = header >> EXT_NEXT_SHIFT & 0xffc;
	}
	return true;
}

int pcie_config_fetch(
	const struct pcie_config_source *src, bool whole, uint8_t buf[static PCIE_CONFIG_EXT_SIZE])
{
	memset(buf, 0, PCIE_CONFIG_EXT_SIZE);
	struct pcie_config_source s = *src;
	s.size = MIN(s.size, (size_t)PCIE_CONFIG_EXT_SIZE);

	int n = s.read(s.ctx, 0, buf, PCIE_CONFIG_HEADER);
	if (n < PCIE_CONFIG_HEADER || s.size <= PCIE_CONFIG_HEADER) {
		return n;
	}
	if (whole) {
		int more = s.read(s.ctx, (size_t)n, buf + n, s.size - (size_t)n);
		return more > 0 ? n + more : denied_length(buf, n);
	}

	uint8_t probe[4];
	if (s.read(s.ctx, PCIE_CONFIG_HEADER, probe, sizeof(probe)) < (int)sizeof(probe)) {
		return PCIE_CONFIG_HEADER;
	}
	memcpy(buf + PCIE_CONFIG_HEADER, probe, sizeof(probe));
	if (s.size > PCIE_CONFIG_CARDBUS_HEADER &&
		(buf[REG_HEADER_TYPE] & HEADER_TYPE_MASK) == HEADER_CARDBUS &&
		s.read(s.ctx, PCIE_CONFIG_CARDBUS_HEADER, probe, sizeof(probe)) <
			(int)sizeof(probe)) {
		return PCIE_CONFIG_CARDBUS_HEADER;
	}
	if (!fetch_capabilities(&s, buf)) {
		return denied_length(buf, n);
	}
	if (s.size > PCIE_CONFIG_SIZE && !fetch_extended(&s, buf)) {
		return PCIE_CONFIG_SIZE;
	}
	return (int)s.size;
}
