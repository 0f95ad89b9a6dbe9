/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/addr.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "pcie/chars.h"

const char *pcie_addr_format(struct pcie_addr a, char buf[static PCIE_ADDR_MAX])
{
	if (!a.known) {
		return "-";
	}
	snprintf(buf, PCIE_ADDR_MAX, "%04" PRIx32 ":%02x:%02x.%x", a.domain, a.bus, a.dev, a.fn);
	return buf;
}

/* Up to MAX hex digits; returns how many. */
static int hex(const char *s, int max, uint32_t *ret)
{
	uint32_t v = 0;
	int n = 0;
	for (; n < max; n++) {
		int d = pcie_hex_digit(s[n]);
		if (d < 0) {
			break;
		}
		v = v << 4 | (uint32_t)d;
	}
	*ret = v;
	return n;
}

int pcie_addr_scan(const char *s, struct pcie_addr *ret)
{
	uint32_t domain = 0, bus, dev, fn;
	const char *p = s;

	int n = hex(p, 8, &bus);
	if (n >= 4 && p[n] == ':') {
		domain = bus;
		p += n + 1;
		n = hex(p, 2, &bus);
	}
	if (n != 2 || p[n] != ':') {
		return -EINVAL;
	}
	p += 3;
	if (hex(p, 2, &dev) != 2 || dev > 31 || p[2] != '.') {
		return -EINVAL;
	}
	p += 3;
	if (hex(p, 1, &fn) != 1 || fn > 7) {
		return -EINVAL;
	}
	p++;
	*ret = (struct pcie_addr){
		.domain = domain,
		.bus = (uint8_t)bus,
		.dev = (uint8_t)dev,
		.fn = (uint8_t)fn,
		.known = true,
	};
	return (int)(p - s);
}

int pcie_addr_parse(const char *s, struct pcie_addr *ret)
{
	struct pcie_addr a;
	int n = pcie_addr_scan(s, &a);
	if (n < 0 || s[n]) {
		return -EINVAL;
	}
	*ret = a;
	return 0;
}

int pcie_addr_compare(struct pcie_addr a, struct pcie_addr b)
{
	if (a.known != b.known) {
		return a.known ? -1 : 1;
	}
	if (a.domain != b.domain) {
		return a.domain < b.domain ? -1 : 1;
	}
	int x = a.bus << 8 | a.dev << 3 | a.fn, y = b.bus << 8 | b.dev << 3 | b.fn;
	return (x > y) - (x < y);
}
