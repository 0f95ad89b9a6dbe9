/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Root buses and the host bridge's windows: where PCI may be at all. */
#include <stdio.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "pcie/klog_state.h"

static struct klog_root *find_root(struct klog *k, uint32_t domain, uint8_t bus)
{
	for (size_t i = k->nroot; i-- > 0;) {
		if (k->root[i].domain == domain && k->root[i].bus == bus) {
			return &k->root[i];
		}
	}
	return NULL;
}

static struct klog_root *root(struct klog *k, uint32_t domain, uint8_t bus)
{
	struct klog_root *r = find_root(k, domain, bus);
	if (r || k->nroot >= KLOG_MAX_ROOTS) {
		k->full |= !r;
		return r;
	}
	k->root = xgrow(k->root, k->nroot, &k->caproot, sizeof(*k->root));
	r = &k->root[k->nroot++];
	*r = (struct klog_root){.domain = domain, .bus = bus, .last_bus = bus};
	return r;
}

/* The aperture of this root and range, made when new; NULL when there are too many. */
static struct pcie_aperture *aperture(
	struct klog *k, uint32_t domain, uint8_t bus, const struct klog_range *g)
{
	struct pcie_aperture want = {
		.base = g->base,
		.limit = g->limit,
		.src = k->src,
		.io = g->space == KLOG_IO,
		.prefetchable = g->pref,
	};
	snprintf(want.root, sizeof(want.root), "pci%04x:%02x", domain & 0xffffffff, bus);
	for (size_t i = 0; i < k->snap->naperture; i++) {
		struct pcie_aperture *a = &k->snap->aperture[i];
		if (a->base == want.base && a->limit == want.limit && a->io == want.io &&
			!strcmp(a->root, want.root)) {
			return a;
		}
	}
	if (k->snap->naperture >= KLOG_MAX_APERTURES) {
		k->full = true;
		return NULL;
	}
	struct pcie_aperture *a = pcie_snapshot_add_aperture(k->snap);
	*a = want;
	return a;
}

static bool is_listed(struct klog *k, const struct klog_root *r, const struct klog_range *g)
{
	char name[sizeof(((struct pcie_aperture *)0)->root)];
	snprintf(name, sizeof(name), "pci%04x:%02x", r->domain, r->bus);
	for (size_t i = 0; i < k->snap->naperture; i++) {
		const struct pcie_aperture *a = &k->snap->aperture[i];
		if (a->base == g->base && a->limit == g->limit && !strcmp(a->root, name)) {
			return true;
		}
	}
	return false;
}

void klog_root_list_ends(struct klog *k, bool at_end)
{
	if (k->open_root == KLOG_NO_DEVICE) {
		return;
	}
	struct klog_root *r = &k->root[k->open_root];
	/* Some host bridges name their buses first: then more might have followed. */
	r->complete |= r->has_mem && r->has_buses && (!at_end || r->buses_last);
	k->open_root = KLOG_NO_DEVICE;
}

static bool is_open(const struct klog *k, const struct klog_root *r)
{
	return k->open_root != KLOG_NO_DEVICE && r == &k->root[k->open_root];
}

static void list_begins(struct klog *k, const struct klog_root *r)
{
	klog_root_list_ends(k, false);
	k->open_root = (uint32_t)(r - k->root);
}

static void take_listed(struct klog *k, uint32_t domain, uint8_t bus, const struct klog_listed *l)
{
	struct klog_root *r = root(k, domain, bus);
	if (!r) {
		return;
	}
	if (!is_open(k, r)) {
		list_begins(k, r);
	}
	r->buses_last = l->g.space == KLOG_BUS;
	k->seen |= KLOG_SEEN_ROOT;
	if (l->g.space == KLOG_BUS) {
		r->has_buses = true;
		r->last_bus = (uint8_t)MIN(l->g.limit, 0xff);
		return;
	}
	size_t before = k->snap->naperture;
	struct pcie_aperture *a = aperture(k, domain, bus, &l->g);
	if (a) {
		r->nlisted += k->snap->naperture > before;
		r->has_mem |= l->g.space == KLOG_MEM;
		a->translated = l->translated;
		a->ignored = false;
	}
}

/* The list in hand is not the one that was read: a later boot's. What it had so far is its. */
static void other_list(struct klog *k, uint32_t domain, uint8_t bus)
{
	klog_start(k, KLOG_MARK_LIST);
	klog_fact(k);
	for (unsigned i = 0; i < k->nagain; i++) {
		take_listed(k, domain, bus, &k->again[i]);
	}
	k->nagain = 0;
}

/*
 * A root whose list ended is listed once more: pasted twice, or before and after a change of
 * the setup. Returns true while nothing in it differs.
 */
static bool listed_again(struct klog *k, uint32_t domain, uint8_t bus, const struct klog_listed *l)
{
	struct klog_root *r = k->new_boot ? NULL : find_root(k, domain, bus);
	if (!r) {
		return false;
	}
	uint32_t index = (uint32_t)(r - k->root);
	if (k->again_root != index) {
		if (l->g.space == KLOG_BUS || !r->buses_last || !r->has_mem) {
			return false;
		}
		k->again_root = index;
		k->nagain = 0;
	}
	if (l->g.space == KLOG_BUS) {
		k->again_root = KLOG_NO_DEVICE;
		if (k->nagain >= r->nlisted) {
			return true;
		}
	} else if (is_listed(k, r, &l->g)) {
		if (k->nagain < ARRAY_LEN(k->again)) {
			k->again[k->nagain++] = *l;
		}
		return true;
	}
	other_list(k, domain, bus);
	return false;
}

/* "root bus resource [mem 0x… window] (bus address [0x…])", "root bus resource [bus 00-fe]". */
static void root_resource(struct klog *k, uint32_t domain, uint8_t bus, const char *s)
{
	struct klog_listed l;
	if (!klog_range(&s, &l.g) || !l.g.has_base) {
		return;
	}
	l.translated = klog_match(s, " (bus address [%x", (uint64_t[1]){0}, 1) == 1;
	k->used = true;
	if (!listed_again(k, domain, bus, &l)) {
		klog_fact(k);
		take_listed(k, domain, bus, &l);
	}
}

/* "resource 4 [mem …]": a root's windows once more, or a bridge's final ones (0 to 2). */
static void bus_resource(struct klog *k, uint32_t domain, uint8_t bus, const char *s)
{
	uint64_t n;
	struct klog_range g;
	if (!klog_dec(&s, &n)) {
		return;
	}
	klog_blanks(&s);
	bool old_mem = klog_eat(&s, "mem: "), old_io = !old_mem && klog_eat(&s, "io: ");
	klog_blanks(&s);
	if (!klog_range(&s, &g) || !g.has_base || g.space == KLOG_BUS) {
		return;
	}
	if (old_mem || old_io) {
		g.space = old_io ? KLOG_IO : KLOG_MEM;
	}
	k->seen |= KLOG_SEEN_LATE;
	uint32_t dev = k->behind[bus];
	bool behind = dev < k->snap->ndev && klog_dev(k, dev)->addr.domain == domain &&
		      klog_dev(k, dev)->secondary == bus;
	if (n <= 2 && behind) {
		klog_window_listed(k, dev, KLOG_WINDOW_IO + (int)n, &g);
		return;
	}
	/* A bus behind a subtractive bridge repeats its root's from 4 on. */
	if (n >= 4 && !behind) {
		klog_fact(k);
		struct klog_root *r = root(k, domain, bus);
		if (r && !r->complete && !is_listed(k, r, &g) && aperture(k, domain, bus, &g)) {
			r->has_mem |= g.space == KLOG_MEM;
		}
	}
}

/* "DDDD:BB: text". */
bool klog_bus_message(struct klog *k, const char *s)
{
	uint64_t domain, bus;
	if (!klog_hex(&s, &domain) || domain > UINT32_MAX || *s++ != ':' || !klog_hex(&s, &bus) ||
		bus > 0xff || *s++ != ':') {
		return false;
	}
	while (*s == ' ') {
		s++;
	}
	if (klog_eat(&s, "root bus resource ")) {
		root_resource(k, (uint32_t)domain, (uint8_t)bus, s);
		return true;
	}
	klog_root_list_ends(k, false);
	if (klog_eat(&s, "resource ")) {
		bus_resource(k, (uint32_t)domain, (uint8_t)bus, s);
		return true;
	}
	uint32_t dev = klog_machine(k);
	if (klog_eat(
		    &s, "Some PCI device resources are unassigned, try booting with pci=realloc")) {
		klog_say(k, dev, PCIE_SAID_TRY_REALLOC, 0);
	} else if (klog_eat(&s, "Automatically enabled pci realloc")) {
		klog_say(k, dev, PCIE_SAID_AUTO_REALLOC, 0);
	} else {
		return false;
	}
	return true;
}

/* "acpi PNP0A08:00: …" and "pci_root PNP0A08:00: …": windows as the firmware names them. */
static bool host_bridge_message(struct klog *k, const char *s)
{
	struct klog_range g;
	bool ignored = klog_eat(&s, "ignoring ");
	bool clipped = !ignored && klog_eat(&s, "clipped ");
	if (!clipped && !klog_eat(&s, "host bridge window ")) {
		return false;
	}
	if (!clipped && klog_eat(&s, "expanded to ")) {
		return true; /* the root's list shows what came out */
	}
	if (!klog_range(&s, &g) || !g.has_base || g.space == KLOG_BUS) {
		return false;
	}
	bool hole = !strncmp(s, " (ignored", 9);
	clipped |= !hole && strstr(s, "ignored, not CPU addressable");
	if (ignored || hole || clipped) {
		if (g.space == KLOG_MEM) {
			klog_fact(k);
			klog_say(k, klog_machine(k), PCIE_SAID_WINDOW_CUT, g.base);
		}
		ignored = !clipped;
	}
	if (!k->has_acpi_root || clipped) {
		return true;
	}
	klog_fact(k);
	struct pcie_aperture *a = aperture(k, k->acpi_domain, k->acpi_bus, &g);
	if (a) {
		a->ignored = ignored;
	}
	return true;
}

/* "pci 0000:00:18.1: adding root bus resource [mem …] (tainting kernel)": pci=big_root_window. */
bool klog_root_added(struct klog *k, uint32_t dev, const char *s)
{
	struct klog_range g;
	if (!klog_eat(&s, "adding root bus resource ") || !klog_range(&s, &g) || !g.has_base) {
		return false;
	}
	struct pcie_addr a = klog_dev(k, dev)->addr;
	struct pcie_aperture *made = aperture(k, a.domain, a.bus, &g);
	if (made) {
		made->kernel_made = true;
	}
	return true;
}

/* "ACPI: PCI Root Bridge [PCI0] (domain 0000 [bus 00-ff])", 2.6: "(0000:00)". */
static bool acpi_root(struct klog *k, const char *s)
{
	uint64_t v[2];
	if (klog_match(s, "ACPI: PCI Root Bridge [%*] (domain %x [bus %x", v, 2) == 2 ||
		klog_match(s, "ACPI: PCI Root Bridge [%*] (%x:%x)", v, 2) == 2) {
		k->acpi_domain = (uint32_t)v[0];
		k->acpi_bus = (uint8_t)v[1];
		k->has_acpi_root = true;
		return true;
	}
	return false;
}

/* A root bus that is found again in the same boot: it is not the same boot. */
static bool host_bridge_found(struct klog *k, const char *s)
{
	uint64_t v[2];
	if (klog_match(s, "PCI host bridge to bus %x:%x", v, 2) != 2 || v[0] > UINT32_MAX ||
		v[1] > 0xff) {
		return false;
	}
	uint64_t now = k->msg.stamp.has_time ? k->msg.stamp.usec + 1 : 0;
	struct klog_root *r = k->new_boot ? NULL : find_root(k, (uint32_t)v[0], (uint8_t)v[1]);
	if (r && r->found && (now == 0 || r->found != now)) {
		klog_start(k, KLOG_MARK_LIST);
	}
	klog_fact(k);
	r = root(k, (uint32_t)v[0], (uint8_t)v[1]);
	if (r) {
		r->found = now ? now : 1;
		list_begins(k, r);
	}
	return true;
}

bool klog_pci_message(struct klog *k, const char *s)
{
	const char *p = s;
	switch (s[0]) {
	case 'A':
		return acpi_root(k, s);
	case 'a':
	case 'p':
		if (!klog_eat(&p, "acpi PNP0A") && !klog_eat(&p, "pci_root PNP0A") &&
			!klog_eat(&p, "acpi LNRO") && !klog_eat(&p, "acpi HISI")) {
			return false;
		}
		p = strstr(p, ": ");
		return p && host_bridge_message(k, p + 2);
	case 'P':
		if (host_bridge_found(k, s)) {
			return true;
		}
		if (!klog_eat(&p, "PCI: ")) {
			return false;
		}
		if (!strncmp(p, "Ignoring host bridge windows from ACPI", 38) ||
			klog_match(p, "root bus %x: using default resources", (uint64_t[1]){0},
				1) == 1) {
			klog_fact(k);
			k->nocrs = true;
		} else if (!strncmp(p, "Using E820 reservations", 23) ||
			   !strncmp(p, "Using host bridge windows", 25)) {
			k->used = true;
		} else {
			return false;
		}
		return true;
	default:
		return false;
	}
}
