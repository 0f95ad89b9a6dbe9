/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A PCI address, domain:bus:device.function. Pure; any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcie_addr {
	uint32_t domain; /* 16 bits by specification; VMD and Hyper-V use more */
	uint8_t bus;
	uint8_t dev; /* 0–31 */
	uint8_t fn;  /* 0–7 */
	bool known;  /* false: the text names none ("address": null) */
};

enum { PCIE_ADDR_MAX = 20 };

/* "dddd:bb:dd.f", lower case, domain of 4 to 8 digits; "-" when not known. Returns BUF. */
const char *pcie_addr_format(struct pcie_addr a, char buf[static PCIE_ADDR_MAX]);

/*
 * Reads "[dddd[dddd]:]bb:dd.f" at the start of S (domain 0 when it has none) and
 * returns the characters used, or -EINVAL. What follows is the caller's to judge.
 */
int pcie_addr_scan(const char *s, struct pcie_addr *ret);

/* The whole string must be an address. -EINVAL. */
int pcie_addr_parse(const char *s, struct pcie_addr *ret);

/* Order by domain, bus, device, function; not known ones last. Like memcmp. */
int pcie_addr_compare(struct pcie_addr a, struct pcie_addr b);
