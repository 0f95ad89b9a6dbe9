/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/iomem.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"

/* Eight digits or more: /proc/ioports has four. */
static bool number(const char **p, uint64_t *ret)
{
	if (!isxdigit((unsigned char)**p)) {
		return false;
	}
	char *end;
	errno = 0;
	*ret = strtoull(*p, &end, 16);
	bool fits = errno == 0 && end - *p >= 8 && (*p)[1] != 'x';
	*p = end;
	return fits;
}

/* The name in LINE, or NULL when it is no line of the file. */
static const char *scan(const char *line, uint64_t *ret_base, uint64_t *ret_limit)
{
	const char *p = line + strspn(line, " \t");

	if (!number(&p, ret_base) || *p++ != '-' || !number(&p, ret_limit)) {
		return NULL;
	}
	p += strspn(p, " \t");
	if (*p++ != ':' || *ret_limit < *ret_base) {
		return NULL;
	}
	p += strspn(p, " \t");
	return *p ? p : NULL;
}

bool pcie_iomem_is_line(const char *line)
{
	uint64_t base, limit;
	return scan(line, &base, &limit) != NULL;
}

bool pcie_iomem_line(struct pcie_snapshot *s, const char *line)
{
	uint64_t base, limit;
	const char *p = scan(line, &base, &limit);
	if (!p) {
		return false;
	}

	s->iomem = xgrow(s->iomem, s->niomem, &s->capiomem, sizeof(*s->iomem));
	struct pcie_iomem *m = &s->iomem[s->niomem++];
	*m = (struct pcie_iomem){.base = base, .limit = limit, .parent = -1};
	size_t n = strcspn(p, "\r\n\t");
	const char *typed = memmem(p, n, "  ", 2), *arrow = memmem(p, n, " <", 2);
	n = typed ? (size_t)(typed - p) : n;
	n = arrow && arrow < p + n ? (size_t)(arrow - p) : n;
	char name[sizeof(m->name)];
	snprintf(name, sizeof(name), "%.*s", (int)MIN(n, sizeof(name)), p);
	text_copy(m->name, sizeof(m->name), name);
	return true;
}

static bool contains(const struct pcie_iomem *outer, const struct pcie_iomem *inner)
{
	return outer->base <= inner->base && inner->limit <= outer->limit;
}

/* "PCI Bus 0000:40" → "pci0000:40". */
static bool bus_name(const char *name, char *root, size_t size)
{
	unsigned domain, bus;
	if (sscanf(name, "PCI Bus %8x:%2x", &domain, &bus) != 2) {
		return false;
	}
	snprintf(root, size, "pci%04x:%02x", domain, bus);
	return true;
}

/* Device trees name the host bridge's range by its node: "pcie@7d500000". */
static bool node_name(const char *name)
{
	return !strncmp(name, "pcie@", 5) || !strncmp(name, "pci@", 4);
}

/* The buses that bridges lead to, sorted. */
struct buses {
	uint64_t *key; /* domain and bus */
	size_t n;
};

static int key_compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static struct buses find_buses(const struct pcie_snapshot *s)
{
	struct buses b = {.key = xcalloc(s->ndev, sizeof(*b.key))};
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if (d->is_bridge && d->addr.known && d->secondary > 0) {
			b.key[b.n++] = (uint64_t)d->addr.domain << 8 | d->secondary;
		}
	}
	sort_array(b.key, b.n, sizeof(*b.key), key_compare);
	return b;
}

/* Does a bridge lead to the bus of ROOT, "pci0000:02"? */
static bool is_behind_bridge(const struct buses *b, const char *root)
{
	unsigned domain, bus;
	if (sscanf(root, "pci%8x:%2x", &domain, &bus) != 2) {
		return false;
	}
	uint64_t key = (uint64_t)domain << 8 | bus;
	return bsearch(&key, b->key, b->n, sizeof(*b->key), key_compare) != NULL;
}

static void add_aperture(
	struct pcie_snapshot *s, const struct pcie_iomem *m, const char *root, pcie_src src)
{
	for (size_t i = 0; i < s->naperture; i++) {
		const struct pcie_aperture *a = &s->aperture[i];
		if (a->base == m->base && a->limit == m->limit && !a->io) {
			return;
		}
	}
	struct pcie_aperture *a = pcie_snapshot_add_aperture(s);
	text_copy(a->root, sizeof(a->root), root);
	a->base = m->base;
	a->limit = m->limit;
	a->src = src;
}

void pcie_iomem_finish(struct pcie_snapshot *s, pcie_src src)
{
	bool zero = true, ram = false;
	for (size_t i = 0; i < s->niomem; i++) {
		zero = zero && s->iomem[i].limit == 0;
		ram = ram || !strcmp(s->iomem[i].name, "System RAM");
	}
	if (s->niomem == 0) {
		return;
	}
	if (zero) {
		s->niomem = 0;
		s->have_iomem = PCIE_DENIED;
		return;
	}
	s->have_iomem = PCIE_KNOWN;

	int above = -1; /* the open range that may hold the next one */
	for (size_t i = 0; i < s->niomem; i++) {
		struct pcie_iomem *m = &s->iomem[i];
		while (above >= 0 && !contains(&s->iomem[above], m)) {
			above = s->iomem[above].parent;
		}
		m->parent = above;
		above = (int)i;
	}
	struct buses buses = find_buses(s);
	bool *inside = xcalloc(s->niomem, sizeof(*inside)); /* it, or a range around it, is one */
	for (size_t i = 0; i < s->niomem; i++) {
		const struct pcie_iomem *m = &s->iomem[i];
		char root[sizeof(s->aperture->root)];
		bool bus = bus_name(m->name, root, sizeof(root));
		bool node =
			node_name(m->name) && i + 1 < s->niomem && s->iomem[i + 1].parent == (int)i;
		bool below = m->parent >= 0 && inside[m->parent];
		inside[i] = below || bus || node_name(m->name);
		if ((bus || node) && !below && !(bus && is_behind_bridge(&buses, root))) {
			add_aperture(s, m, bus ? root : "", src);
		}
	}
	free(inside);
	free(buses.key);
	s->apertures_complete = s->apertures_complete || (ram && s->iomem[0].base == 0);
}
