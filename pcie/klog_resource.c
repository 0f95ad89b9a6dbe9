/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the PCI core says about BARs and windows, in the words of all its ages.
 *
 * Up to 6.7:  "BAR 1: assigned [mem …]", "reg 0x14: [mem …]", "can't claim BAR 1 [mem …]: …".
 * Since 6.8:  "BAR 1 [mem …]: assigned", "bridge window [mem …]: releasing", "ROM", "VF BAR 0".
 * Before 2.6.32: "reg 14 64bit mmio: [d0000000-dfffffff]", and the words of klog_legacy.c.
 */
#include "pcie/klog_state.h"

#include "base/alloc.h"
#include "base/macros.h"

enum verb {
	ENUMERATED,
	ASSIGNED,
	RELEASING,
	RELEASED,
	NO_SPACE,
	FAILED,
	CANT_CLAIM,
	PINNED,
	NOT_ASSIGNED,
	NOT_CLAIMED,
	CONFLICT,
	NO_64BIT,
	VF_SPACE,
	CITED, /* belongs to the history, changes nothing */
	IGNORED,
};

struct verb_words {
	const char *words;
	enum verb verb;
};

/* Behind "NAME [range]: " since 6.8. */
static const struct verb_words after_range[] = {
	{"assigned", ASSIGNED},
	{"can't assign; no space", NO_SPACE},
	{"can't assign; ", FAILED}, /* bogus alignment, no address */
	{"failed to assign", FAILED},
	{"releasing", RELEASING},
	{"was not released", PINNED},
	{"can't claim; ", CANT_CLAIM},
	{"reassigned", ASSIGNED},
	{"old value restored", ASSIGNED},
	{"not assigned; can't enable device", NOT_ASSIGNED},
	{"not claimed; can't enable device", NOT_CLAIMED},
	{"disabling; bad alignment", FAILED},
	{"can't handle", NO_64BIT},
	{"contains BAR", VF_SPACE},
	{"failed to expand", CITED},
	{"failed to add", CITED},
	{"can't reserve", CONFLICT},
	{"released", RELEASED},
	{"legacy IDE quirk", ENUMERATED},
};

/* Behind "NAME: " or "NAME ", before a range or without one. */
static const struct verb_words before_range[] = {
	{"assigned ", ASSIGNED},
	{"no space for ", NO_SPACE},
	{"failed to assign ", FAILED},
	{"releasing ", RELEASING},
	{"reassigned ", ASSIGNED},
	{"old value restored", ASSIGNED},
	{"trying firmware assignment ", CITED},
	{"can't assign ", FAILED}, /* "(bogus alignment)" behind the range */
	{"can't allocate ", FAILED},
	{"set to ", ASSIGNED}, /* 2.6.33 to 2.6.36 */
	{"moved to ", CITED},
	{"got res ", ASSIGNED}, /* 2.6.27 to 2.6.32 */
	{"can't reserve ", CONFLICT},
	{"can't handle ", NO_64BIT},
	{"error updating ", CITED},
	{"bogus alignment", CITED},
	{"invalid", IGNORED},
};

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

static void apply(struct klog *k, struct klog_resource *r, enum verb verb,
	const struct klog_range *g, bool from_driver)
{
	bool address = g && is_address(g);

	switch (verb) {
	case ENUMERATED:
		enumerated(k, r, g);
		return;
	case ASSIGNED:
		if (!address) {
			return;
		}
		take_type(r, g);
		take_address(r, g);
		r->state = KLOG_ASSIGNED;
		assigned_again(k, r);
		break;
	case RELEASING:
		if (g) {
			releasing(r, g, from_driver);
		}
		break;
	case RELEASED:
		r->has_base = false;
		r->state = KLOG_RELEASED;
		break;
	case NO_SPACE:
	case FAILED:
	case CANT_CLAIM:
		if (g) {
			take_type(r, g);
			r->tried = MAX(r->tried, g->size);
		}
		r->has_base = false;
		r->state = verb == NO_SPACE ? KLOG_NO_SPACE
			   : verb == FAILED ? KLOG_FAILED
					    : KLOG_CANT_CLAIM;
		break;
	case NOT_ASSIGNED:
	case NOT_CLAIMED:
		if (g) {
			take_type(r, g);
		}
		if (r->state < KLOG_NO_SPACE || r->state > KLOG_CANT_CLAIM) {
			r->has_base = false;
			r->state = verb == NOT_CLAIMED ? KLOG_CANT_CLAIM : KLOG_FAILED;
		}
		break;
	case PINNED:
		r->pinned = true;
		if (address && r->state < KLOG_ASSIGNED) {
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

/* One message about SLOT. G is NULL when it has no range. */
static void said(struct klog *k, uint32_t dev, int slot, enum verb verb, const struct klog_range *g,
	bool from_driver)
{
	if (verb == IGNORED || slot >= KLOG_SLOTS) {
		return;
	}
	struct klog_resource *r = klog_resource(k, dev, slot);
	apply(k, r, verb, g, from_driver);
	r->order = k->order;
	klog_cite(k, &r->cites);
	k->used = true;
	switch (verb) {
	case NOT_ASSIGNED:
	case NOT_CLAIMED:
		klog_say(k, dev, PCIE_SAID_CANT_ENABLE, (uint64_t)slot);
		break;
	case CONFLICT:
		klog_say(k, dev, PCIE_SAID_CONFLICT, (uint64_t)slot);
		break;
	case NO_64BIT:
		klog_say(k, dev, PCIE_SAID_NO_64BIT, (uint64_t)slot);
		break;
	default:
		break;
	}
}

/* A window's slot by its range, as %pR shows it. */
static int window_slot(const struct klog_range *g)
{
	return g->space == KLOG_IO ? KLOG_WINDOW_IO : g->pref ? KLOG_WINDOW_PREF : KLOG_WINDOW_MEM;
}

/*
 * The number of "BAR N". Kernels without SR-IOV call a bridge's windows BAR 7 to BAR 9, those
 * with it BAR 13 to BAR 15; a device that turns out to be a bridge later is put right at the end.
 */
static int numbered_slot(const struct pcie_device *d, uint64_t n)
{
	if (d->is_bridge && n >= KLOG_VF && n < KLOG_VF + 3) {
		return (int)n - KLOG_VF + KLOG_WINDOW_IO;
	}
	return n < KLOG_SLOTS ? (int)n : KLOG_SLOTS;
}

enum { WINDOW = -2, NONE = -1 };

/* The name that a resource message begins with: its slot, WINDOW, or NONE. */
static int resource_name(struct klog *k, uint32_t dev, const char **p)
{
	const char *s = *p;
	uint64_t n;
	int slot;

	if (klog_eat(&s, "BAR ")) {
		if (!klog_dec(&s, &n)) {
			return NONE;
		}
		slot = numbered_slot(klog_dev(k, dev), n);
		if (slot >= KLOG_VF && slot < KLOG_VF + 3) {
			klog_resource(k, dev, slot)->numbered = true;
		}
	} else if (klog_eat(&s, "bridge window")) {
		slot = WINDOW;
	} else if (klog_eat(&s, "ROM")) {
		slot = KLOG_ROM;
	} else if (klog_eat(&s, "VF BAR ")) {
		if (!klog_dec(&s, &n) || n > 5) {
			return NONE;
		}
		slot = KLOG_VF + (int)n;
	} else if (klog_eat(&s, "resource ")) {
		if (!klog_dec(&s, &n)) {
			return NONE;
		}
		slot = numbered_slot(klog_dev(k, dev), n);
	} else {
		return NONE;
	}
	if (*s != ':' && *s != ' ' && *s != '\0') {
		return NONE;
	}
	*p = s;
	return slot;
}

static enum verb find_verb(const struct verb_words *table, size_t n, const char **p)
{
	for (size_t i = 0; i < n; i++) {
		if (table[i].words[0] == **p &&
			klog_eat_n(p, table[i].words, strlen(table[i].words))) {
			return table[i].verb;
		}
	}
	return IGNORED;
}

/* "[mem …] to [bus …] cannot fit 0x… required for …" and the other notes of window sizing. */
static void sizing_note(struct klog *k, uint32_t dev, const char *s, const struct klog_range *g)
{
	uint64_t need;
	if (klog_match(s, " to [%*] cannot fit %x", &need, 1) == 1) {
		klog_say(k, dev, PCIE_SAID_CANNOT_FIT, need);
		said(k, dev, window_slot(g), CITED, g, false);
	} else if (klog_match(s, " to [%*] requires relaxed", NULL, 0) == 0 ||
		   klog_match(s, " to [%*] add_size", NULL, 0) == 0) {
		k->used = true; /* the size asked for, not the window's */
	}
}

/* "NAME [range]…": SLOT is known or WINDOW. */
static bool with_range(struct klog *k, uint32_t dev, int slot, const char *s, bool from_driver)
{
	struct klog_range g;
	if (!klog_range(&s, &g)) {
		return false;
	}
	if (slot == WINDOW) {
		slot = window_slot(&g);
	}
	if (s[0] == ':') {
		s++;
		klog_blanks(&s);
		enum verb verb = find_verb(after_range, ARRAY_LEN(after_range), &s);
		if (verb == VF_SPACE) {
			uint64_t v[2];
			if (klog_match(s, " %u for %u VFs", v, 2) == 2) {
				klog_dev(k, dev)->sriov_total = (uint16_t)MIN(v[1], UINT16_MAX);
			}
			verb = ENUMERATED;
		}
		said(k, dev, slot, verb, &g, from_driver);
	} else if (s[0] == '\0' || !strncmp(s, " (bus address", 13)) {
		if (slot >= KLOG_WINDOW_IO && slot < KLOG_SLOTS) {
			klog_window_listed(k, dev, slot, &g);
		} else {
			said(k, dev, slot, ENUMERATED, &g, from_driver);
		}
	} else if (!strncmp(s, " conflicts with", 15)) {
		said(k, dev, slot, CITED, &g, from_driver);
		klog_say(k, dev, PCIE_SAID_CONFLICT, (uint64_t)slot);
	} else if (!strncmp(s, " released", 9)) {
		said(k, dev, slot, RELEASED, &g, from_driver);
	} else if (slot >= KLOG_WINDOW_IO) {
		sizing_note(k, dev, s, &g);
	}
	return true;
}

/* "NAME: verb [range]" or "NAME: [range] …". */
static bool with_verb(struct klog *k, uint32_t dev, int slot, const char *s, bool from_driver)
{
	struct klog_range g;
	if (*s == '[') {
		return with_range(k, dev, slot, s, from_driver);
	}
	enum verb verb = find_verb(before_range, ARRAY_LEN(before_range), &s);
	if (verb == IGNORED) {
		return false;
	}
	const char *open = strchr(s, '[');
	bool has = open && klog_range(&open, &g);
	if (open && !has) {
		/* Cut inside its range: only a failure needs none. */
		verb = verb == NO_SPACE || verb == FAILED ? verb : IGNORED;
	}
	if (slot == WINDOW) {
		if (!has) {
			return false;
		}
		slot = window_slot(&g);
	}
	said(k, dev, slot, verb, has ? &g : NULL, from_driver);
	return true;
}

/* "reg 0x14: [mem …]", "reg 14: [mem …]", "reg 14 64bit mmio pref: [d0000000-dfffffff]". */
static bool reg_message(struct klog *k, uint32_t dev, const char *s)
{
	uint64_t reg;
	struct klog_range g;
	if (!klog_hex(&s, &reg)) {
		return false;
	}
	bool old64 = false, old_pref = false, old_io = false, old = false;
	if (*s == ' ') {
		old = true;
		old64 = strstr(s, "64bit mmio") != NULL;
		old_pref = strstr(s, "pref:") != NULL;
		old_io = strstr(s, "io port:") != NULL;
	}
	s = strchr(s, ':');
	if (!s) {
		return false;
	}
	s++;
	klog_blanks(&s);
	if (!klog_range(&s, &g)) {
		if (strstr(s, "can't handle BAR")) {
			klog_say(k, dev, PCIE_SAID_NO_64BIT, 0);
		}
		return true;
	}
	if (old && g.space == KLOG_UNTYPED) {
		g.space = old_io ? KLOG_IO : KLOG_MEM;
		g.is64 = old64;
		g.pref = old_pref;
	}
	int slot = NONE;
	if (reg >= 0x10 && reg <= 0x24 && reg % 4 == 0) {
		slot = (int)(reg - 0x10) / 4;
	} else if (reg == 0x30 || reg == 0x38) {
		slot = KLOG_ROM;
	}
	if (slot >= 0) { /* above 0xff: a VF BAR, which a line of its own sums up */
		said(k, dev, slot, ENUMERATED, &g, false);
		/* Most of those kernels do not say which are prefetchable. */
		klog_resource(k, dev, slot)->typed &= !old || old_pref;
	}
	return true;
}

/* "can't claim BAR 1 [mem …]: why", "can't enable device: BAR 1 [mem …] not assigned". */
static bool cant_message(struct klog *k, uint32_t dev, const char *s, bool from_driver)
{
	uint64_t n;
	struct klog_range g;
	enum verb verb = CANT_CLAIM;

	if (klog_eat(&s, "can't enable device: BAR ")) {
		verb = NOT_ASSIGNED;
	} else if (klog_eat(&s, "disabling BAR ")) {
		verb = FAILED; /* "(bad alignment …)" */
	} else if (klog_eat(&s, "device not available because of BAR ")) {
		verb = CONFLICT; /* 2.6: "[…] collisions" */
	} else if (!klog_eat(&s, "can't claim BAR ")) {
		return false;
	}
	if (!klog_dec(&s, &n)) {
		return false;
	}
	while (*s == ':' || *s == ' ') {
		s++;
	}
	bool has = klog_range(&s, &g);
	if (verb == NOT_ASSIGNED && strstr(s, "not claimed")) {
		verb = NOT_CLAIMED;
	}
	said(k, dev, numbered_slot(klog_dev(k, dev), n), verb, has ? &g : NULL, from_driver);
	return true;
}

/* "VF(n) BAR0 space: [mem …] (contains BAR0 for 31 VFs)". */
static bool vf_space(struct klog *k, uint32_t dev, const char *s)
{
	uint64_t n, v[2];
	struct klog_range g;
	if (!klog_eat(&s, "VF(n) BAR") || !klog_dec(&s, &n) || n > 5 || !klog_eat(&s, " space: ") ||
		!klog_range(&s, &g)) {
		return false;
	}
	if (klog_match(s, " (contains BAR%u for %u VFs", v, 2) == 2) {
		klog_dev(k, dev)->sriov_total = (uint16_t)MIN(v[1], UINT16_MAX);
	}
	said(k, dev, KLOG_VF + (int)n, ENUMERATED, &g, false);
	return true;
}

/* "bridge 64bit mmio pref: [d0000000-dfffffff]" of 2.6.27 to 2.6.33. */
static bool old_window(struct klog *k, uint32_t dev, const char *s)
{
	struct klog_range g;
	int slot = strstr(s, "io port:") ? KLOG_WINDOW_IO
		   : strstr(s, "pref:")  ? KLOG_WINDOW_PREF
		   : strstr(s, "mmio:")  ? KLOG_WINDOW_MEM
					 : NONE;
	const char *open = strchr(s, '[');
	if (slot == NONE || !open || !klog_range(&open, &g)) {
		return false;
	}
	g.space = slot == KLOG_WINDOW_IO ? KLOG_IO : KLOG_MEM;
	g.is64 = strstr(s, "64bit") != NULL;
	g.pref = slot == KLOG_WINDOW_PREF;
	klog_window_listed(k, dev, slot, &g);
	return true;
}

bool klog_resource_message(struct klog *k, uint32_t dev, const char *s, bool from_driver)
{
	struct klog_range g;
	int slot;

	klog_eat(&s, "legacy IDE quirk: ");
	switch (s[0]) {
	case 'B':
	case 'R':
	case 'r':
		if (klog_eat(&s, "reg ")) {
			return reg_message(k, dev, s);
		}
		break;
	case 'V':
		if (vf_space(k, dev, s)) {
			return true;
		}
		break;
	case 'b':
		if (!strncmp(s, "bridge ", 7) && s[7] != 'w') {
			return old_window(k, dev, s);
		}
		break;
	case 'A':
		if (klog_eat(&s, "Assigned bridge window ") && klog_range(&s, &g)) {
			sizing_note(k, dev, s, &g);
			return true;
		}
		return false;
	case 'c':
	case 'd':
		return cant_message(k, dev, s, from_driver);
	default:
		return false;
	}
	slot = resource_name(k, dev, &s);
	if (slot == NONE) {
		return false;
	}
	if (*s == ':') {
		s++;
		klog_blanks(&s);
		return with_verb(k, dev, slot, s, from_driver);
	}
	klog_blanks(&s);
	return *s == '[' ? with_range(k, dev, slot, s, from_driver) : false;
}

/* The resources of DEV that its driver released to resize one: how that ended. */

void klog_resize_failed(struct klog *k, uint32_t dev)
{
	for (int slot = 0; slot < KLOG_ROM; slot++) {
		struct klog_resource *r = klog_find_resource(k, dev, slot);
		if (!r || !r->in_resize) {
			continue;
		}
		r->in_resize = false;
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

void klog_resource_failed(struct klog *k, uint32_t dev, int slot, const struct klog_range *g)
{
	said(k, dev, slot, FAILED, g, false);
}
