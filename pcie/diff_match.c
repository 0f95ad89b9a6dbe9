/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/diff_match.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "pcie/path.h"

/*
 * The place of a device: its root bus and the slots from there down. Bus numbers are not
 * in it; where the tree is not known the address has to do.
 */
static char *place(const struct pcie_snapshot *s, int dev)
{
	const struct pcie_device *d = &s->dev[dev];
	int path[PCIE_PATH_MAX], n = pcie_path(s, dev, path);
	struct text t = {0};
	char addr[PCIE_ADDR_MAX];

	int top = n ? path[0] : dev;
	if (!d->addr.known) {
		return xstrdup("");
	}
	if (pcie_is_at_root(s, top)) {
		text_addf(&t, "%04x:%02x", d->addr.domain, s->dev[top].addr.bus);
	} else {
		text_addf(&t, "under %s", pcie_addr_format(s->dev[top].addr, addr));
	}
	for (int i = 0; i < n; i++) {
		text_addf(&t, "/%02x.%x", s->dev[path[i]].addr.dev, s->dev[path[i]].addr.fn);
	}
	text_addf(&t, "/%02x.%x", d->addr.dev, d->addr.fn);
	return text_steal(&t);
}

/* Vendor and device; where there are no ids the name. "" when nothing is known. */
static void identity(const struct pcie_device *d, char *buf, size_t size)
{
	if (d->have_ids == PCIE_KNOWN && d->device) {
		snprintf(buf, size, "%04x:%04x", d->vendor, d->device);
	} else {
		snprintf(buf, size, "%s", d->name);
	}
}

struct key {
	char *place;
	char identity[136];
	char board[152]; /* identity and subsystem; "" where that is not known */
	const struct pcie_device *d;
	int dev;
	bool by_board; /* which of the two by_identity sorts by */
	bool taken;
};

struct keys {
	struct key *k;
	size_t n;
};

static struct keys make_keys(const struct pcie_snapshot *s)
{
	struct keys keys = {.k = xcalloc(s->ndev + 1, sizeof(struct key)), .n = s->ndev};
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		struct key *k = &keys.k[i];
		k->d = d;
		k->dev = (int)i;
		k->place = place(s, (int)i);
		identity(d, k->identity, sizeof(k->identity));
		if (k->identity[0] && d->have_subsystem == PCIE_KNOWN) {
			snprintf(k->board, sizeof(k->board), "%s %04x:%04x", k->identity,
				d->subvendor, d->subdevice);
		}
	}
	return keys;
}

static void free_keys(struct keys *keys)
{
	for (size_t i = 0; i < keys->n; i++) {
		free(keys->k[i].place);
	}
	free(keys->k);
}

static int by_place(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int c = strcmp(x->place, y->place);
	return c ? c : strcmp(x->identity, y->identity);
}

/* What by_identity sorts by. */
static const char *what(const struct key *k)
{
	return k->by_board ? k->board : k->identity;
}

static int by_identity(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int c = strcmp(what(x), what(y));
	return c ? c : x->dev - y->dev;
}

static void join(struct key *a, struct key *b, int *to, int *from)
{
	to[a->dev] = b->dev;
	from[b->dev] = a->dev;
	a->taken = b->taken = true;
}

bool pcie_diff_same_board(const struct pcie_device *a, const struct pcie_device *b)
{
	return a->have_subsystem != PCIE_KNOWN || b->have_subsystem != PCIE_KNOWN ||
	       ((a->subvendor == b->subvendor || !a->subvendor || !b->subvendor) &&
		       (a->subdevice == b->subdevice || !a->subdevice || !b->subdevice));
}

/* "Intel Corporation Device 56a0": a name list without the device gives its number. */
static bool name_tells_id(const char *name, uint16_t device)
{
	const char *p = strstr(name, "Device ");
	unsigned id;
	int n = 0;
	return p && sscanf(p, "Device %4x%n", &id, &n) == 1 && n == 11 && !p[11] && id == device;
}

/* Neither side says that it is another thing: one may have no ids, and a name. */
static bool same_thing(const struct key *a, const struct key *b)
{
	bool ids_a = a->d->have_ids == PCIE_KNOWN && a->d->device;
	bool ids_b = b->d->have_ids == PCIE_KNOWN && b->d->device;

	if (!a->identity[0] || !b->identity[0] || !strcmp(a->identity, b->identity)) {
		return true;
	}
	if (ids_a == ids_b) {
		return false;
	}
	const struct pcie_device *with = ids_a ? a->d : b->d, *named = ids_a ? b->d : a->d;
	return !strcmp(with->name, named->name) || name_tells_id(named->name, with->device);
}

/*
 * Same place and the same thing in it (or a thing that one side cannot name). STRICT: not
 * where both sides know the board, and it is another.
 */
static void match_places(struct keys *a, struct keys *b, bool strict, int *to, int *from)
{
	sort_array(a->k, a->n, sizeof(*a->k), by_place);
	sort_array(b->k, b->n, sizeof(*b->k), by_place);
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		int c = strcmp(a->k[i].place, b->k[k].place);
		if (c) {
			c < 0 ? i++ : k++;
			continue;
		}
		struct key *x = &a->k[i++], *y = &b->k[k++];
		if (x->place[0] && same_thing(x, y) && !x->taken && !y->taken &&
			(!strict || pcie_diff_same_board(x->d, y->d))) {
			join(x, y, to, from);
		}
	}
}

/* The same thing at the same address, where one side does not know the tree above it. */
static void match_addresses(
	struct keys *a, struct keys *b, const struct pcie_snapshot *sb, int *to, int *from)
{
	struct key **at = xcalloc(b->n + 1, sizeof(struct key *)); /* by device */
	for (size_t i = 0; i < b->n; i++) {
		at[b->k[i].dev] = &b->k[i];
	}
	for (size_t i = 0; i < a->n; i++) {
		struct key *x = &a->k[i];
		int dev = x->d->addr.known && !x->taken ? pcie_snapshot_find(sb, x->d->addr) : -1;
		struct key *y = dev >= 0 ? at[dev] : NULL;
		bool open =
			y && (!strncmp(x->place, "under ", 6) || !strncmp(y->place, "under ", 6));
		if (open && !y->taken && same_thing(x, y) && pcie_diff_same_board(x->d, y->d)) {
			join(x, y, to, from);
		}
	}
	free(at);
}

/* Puts the keys in the order of their boards, or of their identities. */
static void sort_keys(struct keys *keys, bool boards)
{
	for (size_t i = 0; i < keys->n; i++) {
		keys->k[i].by_board = boards;
	}
	sort_array(keys->k, keys->n, sizeof(*keys->k), by_identity);
}

/* What is left: the same thing elsewhere, when each side has exactly as many of it. */
static void match_identities(struct keys *a, struct keys *b, bool boards, int *to, int *from)
{
	sort_keys(a, boards);
	sort_keys(b, boards);
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		const char *id = what(&a->k[i]);
		int c = strcmp(id, what(&b->k[k]));
		if (c) {
			c < 0 ? i++ : k++;
			continue;
		}
		size_t in = i, kn = k, left = 0, right = 0;
		for (; in < a->n && !strcmp(what(&a->k[in]), id); in++) {
			left += !a->k[in].taken;
		}
		for (; kn < b->n && !strcmp(what(&b->k[kn]), id); kn++) {
			right += !b->k[kn].taken;
		}
		/* Several equal ones keep their order. */
		for (size_t x = i, y = k; *id && left == right && x < in; x++) {
			if (a->k[x].taken) {
				continue;
			}
			while (y < kn && b->k[y].taken) {
				y++;
			}
			if (y < kn) {
				join(&a->k[x], &b->k[y], to, from);
			}
		}
		i = in;
		k = kn;
	}
}

void pcie_diff_match(
	const struct pcie_snapshot *a, const struct pcie_snapshot *b, int **ret_to, int **ret_from)
{
	int *to = xcalloc(a->ndev + 1, sizeof(*to)), *from = xcalloc(b->ndev + 1, sizeof(*from));
	struct keys ka = make_keys(a), kb = make_keys(b);

	for (size_t i = 0; i < a->ndev; i++) {
		to[i] = -1;
	}
	for (size_t i = 0; i < b->ndev; i++) {
		from[i] = -1;
	}
	/* The same board first, here or elsewhere; then another board of the same chip. */
	match_places(&ka, &kb, true, to, from);
	match_addresses(&ka, &kb, b, to, from);
	match_identities(&ka, &kb, true, to, from);
	match_places(&ka, &kb, false, to, from);
	match_identities(&ka, &kb, false, to, from);
	free_keys(&ka);
	free_keys(&kb);
	*ret_to = to;
	*ret_from = from;
}

/* Kind and type of a BAR in one number; -1 where the type was not said. */
static int bar_type(const struct pcie_device *d, const struct pcie_bar *b)
{
	bool io = b->io, is64 = b->is64, pref = b->prefetchable;
	if (b->have != PCIE_KNOWN && b->reg.have == PCIE_KNOWN) {
		io = b->reg.io;
		is64 = b->reg.is64;
		pref = b->reg.prefetchable;
	} else if (b->have != PCIE_KNOWN || (!io && !b->is64_known && !d->bars_complete)) {
		return -1;
	}
	return b->kind << 3 | (io ? 4 : is64 << 1 | pref);
}

/* BARs of one type that have no partner yet, in their order. */
struct bar_list {
	const struct pcie_device *d;
	int bar[PCIE_BARS], n;
	bool numbered;
};

static struct bar_list list_bars(const struct pcie_device *d, int type, const bool *taken)
{
	struct bar_list l = {.d = d};
	for (int i = 0; i < d->nbar; i++) {
		if (!taken[i] && bar_type(d, &d->bar[i]) == type) {
			l.numbered |= d->bar[i].index >= 0;
			l.bar[l.n++] = i;
		}
	}
	return l;
}

static bool same_size(const struct pcie_bar *x, const struct pcie_bar *y)
{
	return x->has_size && y->has_size && x->size == y->size;
}

/*
 * As many on both sides: in their order, whatever their sizes have become. Else a side leaves
 * some out, and the size tells which: what then still has no partner stays without one.
 */
static void pair_bars(
	const struct bar_list *a, const struct bar_list *b, int *to, bool *had, bool *taken)
{
	bool in_order = a->n == b->n;
	if (a->numbered && b->numbered) {
		return;
	}
	for (int i = 0; i < a->n; i++) {
		int k = in_order ? i : 0;
		while (!in_order && k < b->n &&
			(taken[b->bar[k]] ||
				!same_size(&a->d->bar[a->bar[i]], &b->d->bar[b->bar[k]]))) {
			k++;
		}
		if (k < b->n) {
			to[a->bar[i]] = b->bar[k];
			had[a->bar[i]] = taken[b->bar[k]] = true;
		}
	}
}

void pcie_diff_match_bars(
	const struct pcie_device *a, const struct pcie_device *b, int ret_to[static PCIE_BARS])
{
	bool had[PCIE_BARS] = {false}, taken[PCIE_BARS] = {false};

	for (int i = 0; i < a->nbar; i++) {
		const struct pcie_bar *x = &a->bar[i];
		ret_to[i] = PCIE_DIFF_NOT_SAID;
		for (int k = 0; x->index >= 0 && k < b->nbar; k++) {
			if (b->bar[k].kind == x->kind && b->bar[k].index == x->index) {
				ret_to[i] = k;
				had[i] = taken[k] = true;
			}
		}
	}
	for (int i = 0; i < a->nbar; i++) {
		int type = bar_type(a, &a->bar[i]);
		if (had[i] || type < 0) {
			continue;
		}
		struct bar_list x = list_bars(a, type, had), y = list_bars(b, type, taken);
		pair_bars(&x, &y, ret_to, had, taken);
	}
	for (int i = 0; i < a->nbar; i++) {
		int type = bar_type(a, &a->bar[i]);
		bool maybe = a->bar[i].index < 0 && (type < 0 || list_bars(b, type, taken).n > 0);
		if (!had[i] && b->bars_complete && !maybe) {
			ret_to[i] = PCIE_DIFF_NOT_THERE;
		}
	}
}

/*
 * From sysfs it is everything. A text is everything when it begins at the host bridge and has
 * what devices on other buses hang under.
 */
bool pcie_diff_lists_all(const struct pcie_snapshot *s)
{
	bool first = false, bridge = false, behind = false;

	if (!strcmp(s->origin, "live") || !strncmp(s->origin, "sysfs tree ", 11) ||
		!strncmp(s->origin, "record ", 7)) {
		return true;
	}
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if (d->bars_complete) {
			return true;
		}
		first |= d->addr.known && !d->addr.domain && !d->addr.bus && !d->addr.dev &&
			 !d->addr.fn;
		behind |= d->addr.known && d->addr.bus;
		bridge |= d->addr.known && !d->addr.bus &&
			  (d->is_bridge || d->class_code >> 8 == 0x0604);
	}
	return first && (bridge || !behind);
}
