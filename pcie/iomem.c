/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/iomem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "base/text.h"

enum { MAX_DEPTH = 64, MIN_DIGITS = 8 };

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9') {
		return c - '0';
	}
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* At least eight digits: I/O ports are printed with four. */
static const char *scan_number(const char *s, uint64_t *ret)
{
	uint64_t v = 0;
	int n = 0;
	for (int d; n < 17 && (d = hex_digit(s[n])) >= 0; n++) {
		v = v << 4 | (uint64_t)d;
	}
	*ret = v;
	return n >= MIN_DIGITS && n <= 16 ? s + n : NULL;
}

/* The range and the name of a line; NULL when it is none. */
static const char *scan_line(const char *s, uint64_t *ret_base, uint64_t *ret_limit)
{
	while (*s == ' ' || *s == '\t') {
		s++;
	}
	s = scan_number(s, ret_base);
	if (!s || *s != '-') {
		return NULL;
	}
	s = scan_number(s + 1, ret_limit);
	if (!s) {
		return NULL;
	}
	while (*s == ' ' || *s == '\t') {
		s++;
	}
	if (*s != ':' || *ret_limit < *ret_base) {
		return NULL;
	}
	for (s++; *s == ' ' || *s == '\t'; s++) {
	}
	return *s ? s : NULL;
}

bool pcie_iomem_is_line(const char *s)
{
	uint64_t base, limit;
	return scan_line(s, &base, &limit) != NULL;
}

/* Without what a person typed behind it: "PCI Bus 0000:03    <<<< BMG". */
static void copy_name(char *dst, size_t size, const char *src)
{
	text_copy(dst, size, src);
	for (char *p = dst; *p; p++) {
		if (p[0] == ' ' && (p[1] == ' ' || p[1] == '<' || p[1] == '\t')) {
			*p = '\0';
			return;
		}
	}
}

/* "PCI Bus 0000:5d"; domains may have more digits. */
static bool scan_bus(const char *name, uint32_t *ret_domain, unsigned *ret_bus)
{
	unsigned domain, bus;
	char end;
	if (sscanf(name, "PCI Bus %8x:%2x%c", &domain, &bus, &end) != 2) {
		return false;
	}
	*ret_domain = domain;
	*ret_bus = bus;
	return true;
}

static bool is_behind_bridge(const struct pcie_snapshot *s, uint32_t domain, unsigned bus)
{
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if (d->is_bridge && d->addr.known && d->addr.domain == domain && bus != 0 &&
			d->secondary == bus) {
			return true;
		}
	}
	return false;
}

static void add_aperture(struct pcie_snapshot *s, const struct pcie_iomem *r, pcie_src src,
	uint32_t domain, unsigned bus, bool root)
{
	for (size_t i = 0; i < s->naperture; i++) {
		if (s->aperture[i].src == src && s->aperture[i].base == r->base &&
			s->aperture[i].limit == r->limit) {
			return;
		}
	}
	struct pcie_aperture *a = pcie_snapshot_add_aperture(s);
	a->base = r->base;
	a->limit = r->limit;
	a->src = src;
	if (root) {
		snprintf(a->root, sizeof(a->root), "pci%04x:%02x", domain & 0xffffffff, bus & 0xff);
	}
}

/*
 * A "PCI Bus" with no other around it is a host bridge's window. Where the
 * outermost bus is one behind a bridge, the window has another name (device
 * tree: "pcie@40010000"), if it is there at all.
 */
static void find_apertures(struct pcie_snapshot *s, size_t first, pcie_src src)
{
	for (size_t i = first; i < s->niomem; i++) {
		uint32_t domain, other_domain;
		unsigned bus, other;
		if (!scan_bus(s->iomem[i].name, &domain, &bus)) {
			continue;
		}
		bool outermost = true;
		int window = -1;
		for (int p = s->iomem[i].parent; p >= 0; p = s->iomem[p].parent) {
			outermost = outermost && !scan_bus(s->iomem[p].name, &other_domain, &other);
			if (!strncasecmp(s->iomem[p].name, "pci", 3)) {
				window = p;
			}
		}
		if (!outermost) {
			continue;
		}
		if (!is_behind_bridge(s, domain, bus)) {
			add_aperture(s, &s->iomem[i], src, domain, bus, true);
		} else if (window >= 0) {
			add_aperture(s, &s->iomem[window], src, domain, bus, false);
		}
	}
}

size_t pcie_iomem_parse(struct pcie_snapshot *s, const struct pcie_lines *lines, pcie_src src)
{
	int stack[MAX_DEPTH];
	int depth = 0;
	size_t first = s->niomem, n = 0;
	bool any = false;

	for (size_t i = 0; i < lines->n; i++) {
		struct pcie_iomem r = {.parent = -1};
		const char *name = scan_line(lines->line[i].s, &r.base, &r.limit);
		if (!name) {
			continue;
		}
		n++;
		any = any || r.limit > 0;
		if (r.limit == 0) {
			continue;
		}
		copy_name(r.name, sizeof(r.name), name);
		while (depth > 0 && (r.base < s->iomem[stack[depth - 1]].base ||
					    r.limit > s->iomem[stack[depth - 1]].limit)) {
			depth--;
		}
		r.parent = depth > 0 ? stack[depth - 1] : -1;
		s->iomem = xgrow(s->iomem, s->niomem, &s->capiomem, sizeof(*s->iomem));
		s->iomem[s->niomem] = r;
		if (depth < MAX_DEPTH) {
			stack[depth++] = (int)s->niomem;
		}
		s->niomem++;
	}
	if (n == 0) {
		return 0;
	}
	if (any) {
		s->have_iomem = PCIE_KNOWN;
		find_apertures(s, first, src);
	} else if (s->have_iomem != PCIE_KNOWN) {
		s->have_iomem = PCIE_DENIED;
	}
	return n;
}
