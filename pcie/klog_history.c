/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One resource's history as it grows: what each kind of message makes of its state. */
#include "pcie/klog_state.h"

#include "base/alloc.h"
#include "base/macros.h"

struct klog_resource *klog_find_resource(struct klog *k, uint32_t dev, int slot)
{
	uint32_t i = k->dev[dev].resource[slot];
	return i ? &k->resource[i - 1] : NULL;
}

struct klog_resource *klog_resource(struct klog *k, uint32_t dev, int slot)
{
	struct klog_resource *r = klog_find_resource(k, dev, slot);
	if (!r) {
		k->resource = xgrow(k->resource, k->nresource, &k->capresource, sizeof(*r));
		r = &k->resource[k->nresource++];
		*r = (struct klog_resource){.dev = dev, .slot = (uint8_t)slot};
		k->dev[dev].resource[slot] = (uint32_t)k->nresource;
	}
	return r;
}

void klog_found_again(struct klog *k, uint32_t dev)
{
	if (!k->dev[dev].again) {
		return;
	}
	k->dev[dev].again = false;
	for (int slot = 0; slot < KLOG_SLOTS; slot++) {
		struct klog_resource *r = klog_find_resource(k, dev, slot);
		if (r) {
			r->state = KLOG_NOTHING;
			r->has_base = r->has_size = r->has_old = r->in_resize = false;
			r->may_be_restored = r->pinned = false;
		}
	}
}

/* A register that reads all ones is no address: "0xfc000000-0xffffffff" of 64 MiB at the top. */
static bool is_address(const struct klog_range *g)
{
	bool top = g->limit == UINT64_MAX ||
		   (g->limit == UINT32_MAX && !g->is64 && g->space == KLOG_MEM);
	return g->has_base && g->base && g->size && !(top && g->size >= MIB);
}

static void take_address(struct klog_resource *r, const struct klog_range *g)
{
	r->has_base = is_address(g);
	r->base = r->has_base ? g->base : 0;
}

static void take_type(struct klog_resource *r, const struct klog_range *g)
{
	if (g->space == KLOG_MEM || g->space == KLOG_IO) {
		r->io = g->space == KLOG_IO;
		r->is64 = g->is64;
		r->pref = g->pref;
		r->typed = true;
	}
	if (g->has_size && g->size) {
		r->has_size = true;
		r->size = g->size;
	}
}

static void enumerated(struct klog *k, struct klog_resource *r, const struct klog_range *g)
{
	/*
	 * The text's last line may be "BAR 1 [mem …]" cut before ": failed to assign": it takes
	 * nothing back.
	 */
	if (k->msg.last && r->state > KLOG_UNSET) {
		return;
	}
	take_type(r, g);
	take_address(r, g);
	if (r->has_base && !r->has_firmware && r->state == KLOG_NOTHING) {
		r->has_firmware = true;
		r->firmware_base = r->base;
	}
	r->state = r->has_base ? KLOG_FIRMWARE : KLOG_UNSET;
	r->has_old = r->in_resize = r->may_be_restored = false;
}

static void releasing(struct klog_resource *r, const struct klog_range *g, bool from_driver)
{
	if (g->space == KLOG_ODD) {
		r->state = KLOG_WIPED;
		r->has_base = false;
		return;
	}
	take_type(r, g);
	if (is_address(g)) {
		r->has_old = true;
		r->old_base = g->base;
		r->old_size = g->size;
	}
	r->has_base = false;
	r->in_resize |= from_driver || r->slot < KLOG_ROM;
	r->tried = r->state == KLOG_RELEASED ? r->tried : 0;
	r->state = KLOG_RELEASED;
}

/* Back where it was, after another size had found no room: a resize failed, said or not. */
static void assigned_again(struct klog *k, struct klog_resource *r)
{
	if (r->slot < KLOG_ROM && r->has_old && r->base == r->old_base && r->size == r->old_size &&
		r->tried && r->tried != r->old_size) {
		klog_say(k, r->dev, PCIE_SAID_RESIZE_FAILED, r->tried);
	}
	r->tried = 0;
}

static void apply(struct klog *k, struct klog_resource *r, enum klog_verb verb,
	const struct klog_range *g, bool from_driver)
{
	bool address = g && is_address(g);

	switch (verb) {
	case KLOG_SAYS_ENUMERATED:
		enumerated(k, r, g);
		return;
	case KLOG_SAYS_ASSIGNED:
		if (!address) {
			return;
		}
		take_type(r, g);
		take_address(r, g);
		r->state = KLOG_ASSIGNED;
		assigned_again(k, r);
		break;
	case KLOG_SAYS_RELEASING:
		if (g) {
			releasing(r, g, from_driver);
		}
		break;
	case KLOG_SAYS_RELEASED:
		r->has_base = false;
		r->state = KLOG_RELEASED;
		break;
	case KLOG_SAYS_NO_SPACE:
	case KLOG_SAYS_FAILED:
	case KLOG_SAYS_CANT_CLAIM:
		if (g) {
			take_type(r, g);
			r->tried = MAX(r->tried, g->size);
		}
		r->has_base = false;
		r->state = verb == KLOG_SAYS_NO_SPACE ? KLOG_NO_SPACE
			   : verb == KLOG_SAYS_FAILED ? KLOG_FAILED
						      : KLOG_CANT_CLAIM;
		break;
	case KLOG_SAYS_NOT_ASSIGNED:
	case KLOG_SAYS_NOT_CLAIMED:
		if (g) {
			take_type(r, g);
		}
		if (r->state < KLOG_NO_SPACE || r->state > KLOG_CANT_CLAIM) {
			r->has_base = false;
			r->state = verb == KLOG_SAYS_NOT_CLAIMED ? KLOG_CANT_CLAIM : KLOG_FAILED;
		}
		break;
	case KLOG_SAYS_PINNED:
		r->pinned = true;
		if (address && r->state < KLOG_ASSIGNED) {
			take_type(r, g);
			take_address(r, g);
			r->state = KLOG_ASSIGNED;
		}
		return;
	case KLOG_SAYS_RESERVED:
		if (address && r->state == KLOG_NOTHING) {
			take_type(r, g);
			take_address(r, g);
			r->state = KLOG_ASSIGNED;
		}
		return;
	default:
		return;
	}
	r->may_be_restored = false;
	r->after_driver = from_driver || (r->slot > KLOG_ROM && k->gpu_driver_seen);
}

void klog_said(struct klog *k, uint32_t dev, int slot, enum klog_verb verb,
	const struct klog_range *g, bool from_driver)
{
	if (verb == KLOG_SAYS_IGNORED || slot >= KLOG_SLOTS) {
		return;
	}
	klog_found_again(k, dev);
	struct klog_resource *r = klog_resource(k, dev, slot);
	apply(k, r, verb, g, from_driver);
	r->order = k->order;
	klog_cite(k, &r->cites);
	k->used = true;
	switch (verb) {
	case KLOG_SAYS_NOT_ASSIGNED:
	case KLOG_SAYS_NOT_CLAIMED:
		klog_say(k, dev, PCIE_SAID_CANT_ENABLE, (uint64_t)slot);
		break;
	case KLOG_SAYS_CONFLICT:
		klog_say(k, dev, PCIE_SAID_CONFLICT, (uint64_t)slot);
		break;
	case KLOG_SAYS_RESERVED:
		klog_say(k, dev, PCIE_SAID_CANT_RESERVE, (uint64_t)slot);
		break;
	case KLOG_SAYS_NO_64BIT:
		klog_say(k, dev, PCIE_SAID_NO_64BIT, (uint64_t)slot);
		break;
	default:
		break;
	}
}

/* The resources of DEV that its driver released to resize one: how that ended. */

uint64_t klog_resize_failed(struct klog *k, uint32_t dev)
{
	uint64_t tried = 0;
	for (int slot = 0; slot < KLOG_ROM; slot++) {
		struct klog_resource *r = klog_find_resource(k, dev, slot);
		if (!r || !r->in_resize) {
			continue;
		}
		r->in_resize = false;
		tried = r->tried > r->old_size ? MAX(tried, r->tried) : tried;
		r->tried = 0; /* said now */
		if (!r->has_old || (r->state == KLOG_ASSIGNED && r->base == r->old_base &&
					   r->size == r->old_size)) {
			continue;
		}
		/* The kernel puts the old size back; where, only a later line tells. */
		r->may_be_restored = true;
		r->has_size = true;
		r->size = r->old_size;
		if (r->state == KLOG_ASSIGNED || r->state == KLOG_RELEASED) {
			r->state = KLOG_LOST;
			r->has_base = false;
		}
		klog_cite(k, &r->cites);
	}
	return tried;
}

void klog_resized(struct klog *k, uint32_t dev)
{
	for (int slot = 0; slot < KLOG_ROM; slot++) {
		struct klog_resource *r = klog_find_resource(k, dev, slot);
		if (r) {
			r->in_resize = r->may_be_restored = false;
		}
	}
}
