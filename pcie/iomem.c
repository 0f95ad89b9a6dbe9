/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/iomem.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

static bool number(const char **p, uint64_t *ret)
{
	if (!isxdigit((unsigned char)**p)) {
		return false;
	}
	char *end;
	errno = 0;
	*ret = strtoull(*p, &end, 16);
	*p = end;
	return errno == 0;
}

bool pcie_iomem_line(struct pcie_snapshot *s, const char *line)
{
	uint64_t base, limit;
	const char *p = line + strspn(line, " \t");

	if (!number(&p, &base) || *p++ != '-' || !number(&p, &limit)) {
		return false;
	}
	p += strspn(p, " \t");
	if (*p++ != ':' || limit < base) {
		return false;
	}
	p += strspn(p, " \t");

	s->iomem = xgrow(s->iomem, s->niomem, &s->capiomem, sizeof(*s->iomem));
	struct pcie_iomem *m = &s->iomem[s->niomem++];
	*m = (struct pcie_iomem){.base = base, .limit = limit, .parent = -1};
	size_t n = strcspn(p, "\r\n");
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
	for (size_t i = 0; i < s->niomem; i++) {
		const struct pcie_iomem *m = &s->iomem[i];
		char root[sizeof(s->aperture->root)], ignored[sizeof(root)];
		bool bus = bus_name(m->name, root, sizeof(root));
		bool node =
			node_name(m->name) && i + 1 < s->niomem && s->iomem[i + 1].parent == (int)i;
		bool below = false;
		for (int p = m->parent; p >= 0; p = s->iomem[p].parent) {
			below = below || bus_name(s->iomem[p].name, ignored, sizeof(ignored)) ||
				node_name(s->iomem[p].name);
		}
		if ((bus || node) && !below) {
			add_aperture(s, m, bus ? root : "", src);
		}
	}
	s->apertures_complete = s->apertures_complete || (ram && s->iomem[0].base == 0);
}
