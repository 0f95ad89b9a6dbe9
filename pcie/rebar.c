/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/rebar.h"

const struct pcie_rebar_entry *pcie_rebar_entry(const struct pcie_device *d, int bar)
{
	for (int i = 0; d->rebar.have == PCIE_KNOWN && i < d->rebar.count; i++) {
		if (i < PCIE_REBAR_ENTRIES && d->rebar.entry[i].bar == bar) {
			return &d->rebar.entry[i];
		}
	}
	return NULL;
}

const struct pcie_rebar_entry *pcie_rebar_main(const struct pcie_device *d)
{
	const struct pcie_rebar_entry *best = NULL;
	/* No card's VRAM BAR is smaller. */
	uint64_t best_most = 64 * MIB - 1, best_size = 0;

	for (int i = 0; d->rebar.have == PCIE_KNOWN && i < d->rebar.count; i++) {
		if (i >= PCIE_REBAR_ENTRIES) {
			break;
		}
		const struct pcie_rebar_entry *e = &d->rebar.entry[i];
		uint64_t most = pcie_rebar_largest(e->supported);
		uint64_t size = e->has_current ? e->current : 0;
		if (most > best_most || (most == best_most && size > best_size)) {
			best = e;
			best_most = most;
			best_size = size;
		}
	}
	return best;
}

uint64_t pcie_rebar_supported(const struct pcie_device *d, const struct pcie_rebar_entry *e)
{
	uint64_t supported = e ? e->supported & PCIE_REBAR_ALL_SIZES : 0;
	/* Sapphire RX 5600 XT Pulse: the kernel corrects what its firmware claims. */
	if (d->have_ids == PCIE_KNOWN && d->vendor == 0x1002 && d->device == 0x731f &&
		supported == 0x700) {
		return 0x3f00;
	}
	return supported;
}

bool pcie_rebar_offers(uint64_t supported, uint64_t bytes)
{
	return bytes && !(bytes & (bytes - 1)) && bytes >> PCIE_REBAR_UNIT_SHIFT & supported;
}

uint64_t pcie_rebar_smallest(uint64_t supported)
{
	return pcie_rebar_smallest_over(supported, 0);
}

uint64_t pcie_rebar_largest(uint64_t supported)
{
	supported &= PCIE_REBAR_ALL_SIZES;
	return supported ? (uint64_t)1 << (PCIE_REBAR_UNIT_SHIFT + 63 - __builtin_clzll(supported))
			 : 0;
}

uint64_t pcie_rebar_smallest_over(uint64_t supported, uint64_t bytes)
{
	for (int n = 0; n < PCIE_REBAR_SIZES; n++) {
		uint64_t size = (uint64_t)1 << (PCIE_REBAR_UNIT_SHIFT + n);
		if (supported >> n & 1 && size >= bytes) {
			return size;
		}
	}
	return 0;
}
