/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of lspci -x to -xxxx. */
#include "pcie/lspci_int.h"
#include "pcie/regs.h"

enum { ROW = 16 };

/* " 00 11 … ff" as lspci prints it: one blank, two digits, sixteen times and no more. */
static bool is_tidy_row(const char *s, uint8_t bytes[static ROW])
{
	unsigned bad = 0;
	if (strnlen(s, 3 * ROW + 1) != 3 * ROW) {
		return false;
	}
	for (int i = 0; i < ROW; i++, s += 3) {
		int hi = pcie_hex_digit(s[1]), lo = pcie_hex_digit(s[2]);
		bad |= (unsigned)(hi | lo) & ~0xfu; /* negative: no digit */
		bad |= (unsigned char)s[0] ^ (unsigned)' ';
		bytes[i] = (uint8_t)((unsigned)hi << 4 | (unsigned)lo);
	}
	return bad == 0;
}

/* "1f0: 00 11 … ff": the offset in *RET_AT, the bytes in BYTES; how many, or 0. */
static int parse_row(const char *s, uint64_t *ret_at, uint8_t bytes[static ROW])
{
	const char *p;
	int n = 0, digits = lspci_hex(s, ret_at, &p);

	if (digits < 2 || digits > 3 || *p != ':' || *ret_at % ROW != 0) {
		return 0;
	}
	p++;
	if (is_tidy_row(p, bytes)) {
		return ROW;
	}
	for (; n < ROW; n++) {
		p = pcie_skip(p);
		int hi = pcie_hex_digit(*p), lo = hi < 0 ? -1 : pcie_hex_digit(p[1]);
		if (lo < 0) {
			break;
		}
		bytes[n] = (uint8_t)(hi << 4 | lo);
		p += 2;
		if (*p && !pcie_is_blank(*p)) {
			return 0;
		}
	}
	return n;
}

/* Two or three digits, a colon and a blank: most lines do not begin so. */
static bool may_be_row(const char *s)
{
	int n = 0;
	for (; n < 3 && pcie_hex_digit(s[n]) >= 0; n++) {
	}
	return n >= 2 && s[n] == ':' && pcie_is_blank(s[n + 1]);
}

bool lspci_is_hex_row(const char *s)
{
	uint64_t at;
	uint8_t bytes[ROW];
	return may_be_row(s) && parse_row(s, &at, bytes) >= 4;
}

bool lspci_take_hex_row(struct pcie_lspci *p, const char *s)
{
	uint64_t at;
	uint8_t bytes[ROW];
	int n = may_be_row(s) ? parse_row(s, &at, bytes) : 0;

	if (n < 4) {
		return false;
	}
	if (!p->b.open) {
		lspci_open(p, p->about, !p->about.known);
	}
	p->b.caps_ended = true;
	if (at == 0 && p->nhex > 0) {
		p->nhex = 0; /* another dump of the same device: the later counts */
		p->hex_broken = false;
	}
	if (at != p->nhex || p->hex_broken || at + ROW > sizeof(p->hex)) {
		p->hex_broken = true; /* a gap: what lies behind could belong to anything */
		return true;
	}
	memcpy(p->hex + at, bytes, (size_t)n);
	p->nhex += (size_t)n;
	p->hex_broken = n < ROW;
	return true;
}

static uint32_t dword(const uint8_t *b)
{
	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Does register V (with its upper half HIGH) fit the BAR that the text lists? */
static bool fits(const struct pcie_bar *b, uint32_t v, uint32_t high)
{
	bool io = v & BAR_IO;
	if (v == 0 || io != b->io) {
		return false;
	}
	if (io) {
		return !b->has_base || b->base == (v & ~(uint32_t)BAR_FLAGS_IO);
	}
	bool is64 = (v & BAR_TYPE_MASK) == BAR_TYPE_64;
	uint64_t base = (uint64_t)(is64 ? high : 0) << 32 | (v & ~(uint32_t)BAR_FLAGS_MEM);
	if (b->is64_known && (is64 != b->is64 || !!(v & BAR_PREFETCH) != b->prefetchable)) {
		return false;
	}
	if (b->assigned == PCIE_NO && b->ignored != (base != 0)) {
		return false; /* "<ignored>": the register has an address, "<unassigned>": none */
	}
	return !b->has_base || b->base == base;
}

/* The BAR at I has no register of its own: it reads 0. Does the place between two others fit? */
static void number_gap(struct pcie_device *d, int i, int from, int to)
{
	int need = 0;
	for (int k = i; k < d->nbar && d->bar[k].kind == PCIE_BAR_NORMAL; k++) {
		if (d->bar[k].index >= 0) {
			break;
		}
		need += 1 + d->bar[k].is64;
	}
	if (need != to - from) {
		return;
	}
	for (int k = i; from < to; k++) {
		d->bar[k].index = (int8_t)from;
		from += 1 + d->bar[k].is64;
	}
}

/* Reads register R; *RET_HIGH is its upper half, if it has one. */
static uint32_t read_bar(const uint8_t *bytes, int r, int last, uint32_t *ret_high, bool *ret_is64)
{
	uint32_t v = dword(bytes + REG_BAR0 + 4 * r);
	*ret_high = r + 1 < last ? dword(bytes + REG_BAR0 + 4 * r + 4) : 0;
	*ret_is64 = !(v & BAR_IO) && (v & BAR_TYPE_MASK) == BAR_TYPE_64;
	return v;
}

/*
 * A BAR without an address may fit more registers than the listing has such BARs, since one
 * that failed may have no line: then it keeps no number.
 */
static bool is_ambiguous(const struct pcie_device *d, const struct pcie_bar *b,
	const uint8_t *bytes, int from, int last)
{
	int listed = 0, registers = 0;
	if (b->has_base) {
		return false;
	}
	for (int i = 0; i < d->nbar; i++) {
		const struct pcie_bar *a = &d->bar[i];
		listed += a->kind == b->kind && !a->has_base && a->index < 0 && a->io == b->io &&
			  a->is64 == b->is64 && a->prefetchable == b->prefetchable &&
			  a->ignored == b->ignored;
	}
	for (int r = from; r < last; r++) {
		uint32_t high;
		bool is64;
		uint32_t v = read_bar(bytes, r, last, &high, &is64);
		registers += fits(b, v, high);
		r += is64;
	}
	return registers > listed;
}

void lspci_number_bars(struct pcie_device *d, const uint8_t *bytes, size_t len)
{
	int last = (bytes[REG_HEADER_TYPE] & HEADER_TYPE_MASK) == HEADER_NORMAL ? 6 : 2;
	int reg = 0, gap = -1, gap_from = 0;

	if (len < PCIE_CONFIG_HEADER) {
		return;
	}
	for (int i = 0; i < d->nbar; i++) {
		struct pcie_bar *b = &d->bar[i];
		if (b->kind != PCIE_BAR_NORMAL || b->index >= 0) {
			continue;
		}
		/* in the order of the registers */
		for (int r = reg; r < last && b->index < 0; r++) {
			uint32_t high;
			bool is64;
			uint32_t v = read_bar(bytes, r, last, &high, &is64);
			if (fits(b, v, high) && !is_ambiguous(d, b, bytes, reg, last)) {
				b->index = (int8_t)r;
				if (gap >= 0) {
					number_gap(d, gap, gap_from, r);
				}
				gap = -1;
				reg = r + 1 + is64;
			}
			r += is64;
		}
		if (b->index < 0 && gap < 0) {
			gap = i;
			gap_from = reg;
		}
	}
}
