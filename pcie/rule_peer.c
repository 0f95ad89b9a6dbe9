/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traffic between GPUs: whether each shows all of its VRAM, with the headroom that peer
 * mappings take, and where the other GPUs stand (bridge, NUMA node, IOMMU group).
 */
#include <string.h>

#include "pcie/judge.h"

/* Reserved areas beyond the frame buffer's size that a peer mapping covers as well. */
#define PEER_HEADROOM (16 * MIB)

/* Are A and B on one root bus? UNKNOWN: nobody described the tree up to it. */
static enum pcie_tri on_one_root_bus(const struct pcie_snapshot *s, int a, int b)
{
	int path[PCIE_PATH_MAX], dev[] = {a, b};
	for (size_t i = 0; i < ARRAY_LEN(dev); i++) {
		dev[i] = pcie_path(s, dev[i], path) ? path[0] : dev[i];
		if (!s->dev[dev[i]].addr.known || !pcie_is_at_root(s, dev[i])) {
			return PCIE_TRI_UNKNOWN;
		}
	}
	const struct pcie_device *x = &s->dev[dev[0]], *y = &s->dev[dev[1]];
	bool same = x->root[0] && y->root[0]
			    ? !strcmp(x->root, y->root)
			    : x->addr.domain == y->addr.domain && x->addr.bus == y->addr.bus;
	return same ? PCIE_YES : PCIE_NO;
}

/* The lowest bridge above both, -1: none is known. */
static int common_bridge(const struct pcie_judge *j, int other)
{
	const struct pcie_snapshot *s = j->s;
	for (unsigned i = 0; i < j->npath; i++) {
		int depth = 0;
		for (int p = s->dev[other].parent; p >= 0 && depth < PCIE_PATH_MAX;
			p = s->dev[p].parent, depth++) {
			if (p == j->path[i]) {
				return p;
			}
		}
	}
	return -1;
}

static void add_peer(const struct pcie_judge *j, struct pcie_verdict *v, int other)
{
	const struct pcie_device *d = j->d, *o = &j->s->dev[other];
	char addr[PCIE_ADDR_MAX], bridge[PCIE_ADDR_MAX];
	int common = common_bridge(j, other);

	pcie_addr_format(o->addr, addr);
	if (common >= 0) {
		pcie_evidence(v, "T1", "tree", "%s is behind the same bridge, %s", addr,
			pcie_addr_format(j->s->dev[common].addr, bridge));
	} else if (d->have_numa == PCIE_KNOWN && o->have_numa == PCIE_KNOWN && d->numa >= 0 &&
		   o->numa >= 0 && d->numa != o->numa) {
		pcie_evidence(v, "T2", "numa_node", "%s is on NUMA node %d, this one on %d", addr,
			o->numa, d->numa);
	} else {
		enum pcie_tri same = on_one_root_bus(j->s, j->dev, other);
		if (same != PCIE_TRI_UNKNOWN) {
			pcie_evidence(v, "T1", "tree", "%s meets it at the host bridge%s", addr,
				same == PCIE_YES ? "" : ", on another root bus");
		}
	}
}

/* Ports on the GPU's path whose ACS sends peer traffic up to the root complex. */
static void add_acs(const struct pcie_judge *j, struct pcie_verdict *v)
{
	char addr[PCIE_ADDR_MAX];
	for (unsigned i = 0; i < j->npath; i++) {
		const struct pcie_device *p = &j->s->dev[j->path[i]];
		if (p->acs.have != PCIE_KNOWN) {
			continue;
		}
		if (p->acs.redirect) {
			pcie_against(v, "T5", "ACS capability",
				"%s redirects peer traffic to the root complex (control 0x%04x)",
				pcie_addr_format(p->addr, addr), p->acs.control);
		} else {
			pcie_evidence(v, "T5", "ACS capability",
				"%s lets peer traffic pass (control 0x%04x)",
				pcie_addr_format(p->addr, addr), p->acs.control);
		}
	}
}

static void judge_peer(const struct pcie_judge *j, struct pcie_verdict *v)
{
	int peer[15]; /* of a machine with sixteen */
	unsigned n = 0, all = 0;

	if (j->kind != PCIE_GPU_DISCRETE) {
		return;
	}
	for (size_t i = 0; i < j->s->ndev; i++) {
		if ((int)i != j->dev && pcie_device_is_gpu(&j->s->dev[i]) &&
			pcie_device_kind(j->s, (int)i) == PCIE_GPU_DISCRETE) {
			if (n < ARRAY_LEN(peer)) {
				peer[n++] = (int)i;
			}
			all++;
		}
	}
	if (!all) {
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		add_peer(j, v, peer[i]);
	}
	if (all > n) {
		pcie_evidence(v, "T1", "tree", "and %u more GPUs", all - n);
	}
	if (j->d->have_iommu == PCIE_KNOWN) {
		pcie_against(v, "T3", "iommu_group",
			"IOMMU group %d: with translation on, peer traffic may go up to the root "
			"complex and back (ACS)",
			j->d->iommu_group);
	}
	add_acs(j, v);
	if (!j->has_len || !j->has_vram || j->vram_bar->state != PCIE_BAR_PLACED) {
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_NOTE,
			"BAR length or VRAM size is not known; %u other GPU%s", all,
			all > 1 ? "s" : "");
		return;
	}
	char len[TEXT_SIZE_MAX], vram[TEXT_SIZE_MAX];
	text_size(j->len, len);
	text_size(j->vram, vram);
	pcie_evidence(v, "T4", "BAR and VRAM", "%s BAR for %s of VRAM", len, vram);
	if (j->len < j->vram) {
		pcie_say(v, "limited", PCIE_LIKELY, PCIE_LEVEL_NOTE,
			"the BAR (%s) is smaller than the VRAM (%s): peers cannot map all of it",
			len, vram);
	} else if (j->len - j->vram < PEER_HEADROOM) {
		pcie_say(v, "tight", PCIE_WEAK, PCIE_LEVEL_NOTE,
			"the BAR is just as large as the VRAM: peer mappings of all of it can miss "
			"by a few MiB");
	} else {
		pcie_say(v, "ready", PCIE_LIKELY, PCIE_LEVEL_GOOD,
			"the BAR covers the VRAM with room to spare");
	}
}

const struct pcie_rule pcie_rule_peer = {
	.id = "peer",
	.title = "can other GPUs map all of its VRAM",
	.answers = "ready tight limited unknown",
	.decides = false,
	.judge = judge_peer,
};
