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
	int dev;
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
		keys.k[i].dev = (int)i;
		keys.k[i].place = place(s, (int)i);
		identity(&s->dev[i], keys.k[i].identity, sizeof(keys.k[i].identity));
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

static int by_identity(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	int c = strcmp(x->identity, y->identity);
	return c ? c : x->dev - y->dev;
}

static void join(struct key *a, struct key *b, int *to, int *from)
{
	to[a->dev] = b->dev;
	from[b->dev] = a->dev;
	a->taken = b->taken = true;
}

/* Same place and the same thing in it (or a thing that one side cannot name). */
static void match_places(struct keys *a, struct keys *b, int *to, int *from)
{
	sort_array(a->k, a->n, sizeof(*a->k), by_place);
	sort_array(b->k, b->n, sizeof(*b->k), by_place);
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		int c = strcmp(a->k[i].place, b->k[k].place);
		if (c) {
			c < 0 ? i++ : k++;
			continue;
		}
		const char *x = a->k[i].identity, *y = b->k[k].identity;
		if (a->k[i].place[0] && (!*x || !*y || !strcmp(x, y))) {
			join(&a->k[i], &b->k[k], to, from);
		}
		i++;
		k++;
	}
}

/* What is left: the same thing elsewhere, when each side has exactly as many of it. */
static void match_identities(struct keys *a, struct keys *b, int *to, int *from)
{
	sort_array(a->k, a->n, sizeof(*a->k), by_identity);
	sort_array(b->k, b->n, sizeof(*b->k), by_identity);
	for (size_t i = 0, k = 0; i < a->n && k < b->n;) {
		const char *id = a->k[i].identity;
		int c = strcmp(id, b->k[k].identity);
		if (c) {
			c < 0 ? i++ : k++;
			continue;
		}
		size_t in = i, kn = k, left = 0, right = 0;
		for (; in < a->n && !strcmp(a->k[in].identity, id); in++) {
			left += !a->k[in].taken;
		}
		for (; kn < b->n && !strcmp(b->k[kn].identity, id); kn++) {
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
	match_places(&ka, &kb, to, from);
	match_identities(&ka, &kb, to, from);
	free_keys(&ka);
	free_keys(&kb);
	*ret_to = to;
	*ret_from = from;
}
