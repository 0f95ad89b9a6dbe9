/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a driver says of no device by its address, and whose that is in the end. */
#include <string.h>

#include "base/text.h"
#include "pcie/klog_state.h"

/* The only GPU of this maker: what the maker's driver says of nobody is about this one. */
static uint32_t only_gpu(struct klog *k, enum klog_maker maker, bool *ret_many)
{
	static const uint16_t vendor[] = {0x1002, 0x8086, 0x10de};
	uint32_t found = KLOG_NO_DEVICE;
	for (int pass = 0; pass < 2 && found == KLOG_NO_DEVICE; pass++) {
		for (uint32_t i = 0; i < k->snap->ndev; i++) {
			const struct pcie_device *d = klog_dev(k, i);
			bool mine = klog_driver_maker(d->driver, strlen(d->driver)) == maker ||
				    (d->have_ids == PCIE_KNOWN && d->vendor == vendor[maker]);
			bool other = d->have_ids == PCIE_KNOWN && d->vendor != vendor[maker];
			if (!d->addr.known || !pcie_device_is_gpu(d) ||
				(pass == 0 ? !mine : other)) {
				continue;
			}
			if (found != KLOG_NO_DEVICE) {
				*ret_many = pass == 0;
				return KLOG_NO_DEVICE;
			}
			found = i;
		}
	}
	return found;
}

/* GPUs beside the last one that none names; GONE: what is said of them may be of any of several. */
static bool mark_nobodys(struct klog *k, bool gone)
{
	bool any = false;
	for (uint32_t i = 0; i < k->snap->ndev; i++) {
		struct pcie_device *d = klog_dev(k, i);
		if (k->dev[i].nobodys) {
			any = true;
			text_copy(d->driver, sizeof(d->driver), "amdgpu");
			d->is_bridge = gone;
		}
	}
	return any;
}

void klog_adopt(struct klog *k, enum klog_maker maker)
{
	static const char *const driver[] = {"amdgpu", "i915", "nvidia"};
	uint32_t from = k->orphan[maker];
	if (from == KLOG_NO_DEVICE) {
		return;
	}
	struct klog_device *orphan = &k->dev[from];
	uint32_t to = only_gpu(k, maker, &k->nobodys[maker]);
	bool named = to != KLOG_NO_DEVICE || k->nobodys[maker];
	if (maker == KLOG_AMD && mark_nobodys(k, named) && named) {
		to = KLOG_NO_DEVICE;
		k->nobodys[maker] = true;
	}
	struct pcie_device *d = klog_dev(k, to == KLOG_NO_DEVICE ? from : to);
	if (d->driver[0] == '\0') {
		text_copy(d->driver, sizeof(d->driver), driver[maker]);
	}
	if (to == KLOG_NO_DEVICE && k->nobodys[maker]) {
		klog_dev(k, from)->is_bridge = true;
		return; /* of one of several, and no GPU of its own */
	}
	if (to == KLOG_NO_DEVICE) {
		return; /* a GPU without an address: better than nothing */
	}
	const struct pcie_device *o = klog_dev(k, from);
	if (orphan->vram_rank > k->dev[to].vram_rank) {
		d->vram = o->vram;
	}
	if (d->have_ids != PCIE_KNOWN && o->have_ids == PCIE_KNOWN) {
		d->have_ids = d->have_subsystem = PCIE_KNOWN;
		d->ids_src = o->ids_src;
		d->vendor = o->vendor;
		d->device = o->device;
		d->subvendor = o->subvendor;
		d->subdevice = o->subdevice;
	}
	k->dev[to].invalid_bars |= orphan->invalid_bars;
	if (!k->dev[to].visible) {
		k->dev[to].visible = orphan->visible;
		k->dev[to].visible_order = orphan->visible_order;
	}
	for (size_t i = 0; i < k->nstatement; i++) {
		if (k->statement[i].dev == from) {
			k->statement[i].dev = to;
		}
	}
	klog_dev(k, from)->is_bridge = true; /* marks it as moved: not handed over */
}
