/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the PCI core says about BARs and windows, in the words of all its ages.
 *
 * Up to 6.7:  "BAR 1: assigned [mem …]", "reg 0x14: [mem …]", "can't claim BAR 1 [mem …]: …".
 * Since 6.8:  "BAR 1 [mem …]: assigned", "bridge window [mem …]: releasing", "ROM", "VF BAR 0".
 * Before 2.6.32: "reg 14 64bit mmio: [d0000000-dfffffff]", and the words of klog_legacy.c.
 */
#include "base/macros.h"
#include "pcie/klog_state.h"

struct verb_words {
	const char *words;
	enum klog_verb verb;
};

/* Behind "NAME [range]: " since 6.8. */
static const struct verb_words after_range[] = {
	{"assigned", KLOG_SAYS_ASSIGNED},
	{"can't assign; no space", KLOG_SAYS_NO_SPACE},
	{"can't assign; ", KLOG_SAYS_FAILED}, /* bogus alignment, no address */
	{"failed to assign", KLOG_SAYS_FAILED},
	{"releasing", KLOG_SAYS_RELEASING},
	{"was not released", KLOG_SAYS_PINNED},
	{"can't claim; ", KLOG_SAYS_CANT_CLAIM},
	{"reassigned", KLOG_SAYS_ASSIGNED},
	{"old value restored", KLOG_SAYS_ASSIGNED},
	{"not assigned; can't enable device", KLOG_SAYS_NOT_ASSIGNED},
	{"not claimed; can't enable device", KLOG_SAYS_NOT_CLAIMED},
	{"disabling; bad alignment", KLOG_SAYS_FAILED},
	{"can't handle", KLOG_SAYS_NO_64BIT},
	{"contains BAR", KLOG_SAYS_VF_SPACE},
	{"failed to expand", KLOG_SAYS_CITED},
	{"failed to add", KLOG_SAYS_CITED},
	{"can't reserve", KLOG_SAYS_RESERVED},
	{"released", KLOG_SAYS_RELEASED},
	{"legacy IDE quirk", KLOG_SAYS_ENUMERATED},
};

/* Behind "NAME: " or "NAME ", before a range or without one. */
static const struct verb_words before_range[] = {
	{"assigned ", KLOG_SAYS_ASSIGNED},
	{"no space for ", KLOG_SAYS_NO_SPACE},
	{"failed to assign ", KLOG_SAYS_FAILED},
	{"releasing ", KLOG_SAYS_RELEASING},
	{"reassigned ", KLOG_SAYS_ASSIGNED},
	{"old value restored", KLOG_SAYS_ASSIGNED},
	{"trying firmware assignment ", KLOG_SAYS_CITED},
	{"can't assign ", KLOG_SAYS_FAILED}, /* "(bogus alignment)" behind the range */
	{"can't allocate ", KLOG_SAYS_FAILED},
	{"set to ", KLOG_SAYS_ASSIGNED}, /* 2.6.33 to 2.6.36 */
	{"moved to ", KLOG_SAYS_CITED},
	{"got res ", KLOG_SAYS_ASSIGNED}, /* 2.6.27 to 2.6.32 */
	{"can't reserve ", KLOG_SAYS_RESERVED},
	{"can't handle ", KLOG_SAYS_NO_64BIT},
	{"error updating ", KLOG_SAYS_CITED},
	{"bogus alignment", KLOG_SAYS_CITED},
	{"invalid", KLOG_SAYS_IGNORED},
};

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

static enum klog_verb find_verb(const struct verb_words *table, size_t n, const char **p)
{
	for (size_t i = 0; i < n; i++) {
		if (table[i].words[0] == **p &&
			klog_eat_n(p, table[i].words, strlen(table[i].words))) {
			return table[i].verb;
		}
	}
	return KLOG_SAYS_IGNORED;
}

/* "[mem …] to [bus …] cannot fit 0x… required for …" and the other notes of window sizing. */
static void sizing_note(struct klog *k, uint32_t dev, const char *s, const struct klog_range *g)
{
	uint64_t need;
	if (klog_match(s, " to [%*] cannot fit %x", &need, 1) == 1) {
		klog_say(k, dev, PCIE_SAID_CANNOT_FIT, need);
		klog_said(k, dev, window_slot(g), KLOG_SAYS_CITED, g, false);
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
		enum klog_verb verb = find_verb(after_range, ARRAY_LEN(after_range), &s);
		if (verb == KLOG_SAYS_VF_SPACE) {
			uint64_t v[2];
			if (klog_match(s, " %u for %u VFs", v, 2) == 2) {
				klog_dev(k, dev)->sriov_total = (uint16_t)MIN(v[1], UINT16_MAX);
			}
			verb = KLOG_SAYS_ENUMERATED;
		}
		klog_said(k, dev, slot, verb, &g, from_driver);
	} else if (s[0] == '\0' || !strncmp(s, " (bus address", 13)) {
		if (slot >= KLOG_WINDOW_IO && slot < KLOG_SLOTS) {
			klog_window_listed(k, dev, slot, &g);
		} else {
			klog_said(k, dev, slot, KLOG_SAYS_ENUMERATED, &g, from_driver);
		}
	} else if (!strncmp(s, " has bogus alignment", 20)) {
		klog_said(k, dev, slot, KLOG_SAYS_FAILED, &g, from_driver);
	} else if (!strncmp(s, " conflicts with", 15)) {
		klog_said(k, dev, slot, KLOG_SAYS_CITED, &g, from_driver);
		klog_say(k, dev, PCIE_SAID_CONFLICT, (uint64_t)slot);
	} else if (!strncmp(s, " released", 9)) {
		klog_said(k, dev, slot, KLOG_SAYS_RELEASED, &g, from_driver);
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
	enum klog_verb verb = find_verb(before_range, ARRAY_LEN(before_range), &s);
	if (verb == KLOG_SAYS_IGNORED) {
		return false;
	}
	const char *open = strchr(s, '[');
	bool has = open && klog_range(&open, &g);
	if (open && !has) {
		/* Cut inside its range: only a failure needs none. */
		verb = verb == KLOG_SAYS_NO_SPACE || verb == KLOG_SAYS_FAILED ? verb
									      : KLOG_SAYS_IGNORED;
	}
	if (slot == WINDOW) {
		if (!has) {
			return false;
		}
		slot = window_slot(&g);
	}
	klog_said(k, dev, slot, verb, has ? &g : NULL, from_driver);
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
		klog_said(k, dev, slot, KLOG_SAYS_ENUMERATED, &g, false);
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
	enum klog_verb verb = KLOG_SAYS_CANT_CLAIM;

	if (klog_eat(&s, "can't enable device: BAR ")) {
		verb = KLOG_SAYS_NOT_ASSIGNED;
	} else if (klog_eat(&s, "disabling BAR ")) {
		verb = KLOG_SAYS_FAILED; /* "(bad alignment …)" */
	} else if (klog_eat(&s, "device not available because of BAR ")) {
		verb = KLOG_SAYS_CONFLICT; /* 2.6: "[…] collisions" */
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
	if (verb == KLOG_SAYS_NOT_ASSIGNED && strstr(s, "not claimed")) {
		verb = KLOG_SAYS_NOT_CLAIMED;
	}
	klog_said(k, dev, numbered_slot(klog_dev(k, dev), n), verb, has ? &g : NULL, from_driver);
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
	klog_said(k, dev, KLOG_VF + (int)n, KLOG_SAYS_ENUMERATED, &g, false);
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
