/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Do this GPU's BARs have their addresses for themselves, and does the bridge above pass
 * them on? The kernel's own list hardly shows otherwise; a text may, since firmware left it
 * so, or since the text is of two states or two machines: so this alone decides nothing.
 */
#include <string.h>

#include "pcie/judge.h"

/* The same card under two bus numbers: the text is of two states, and nothing overlaps. */
static bool is_same_card(const struct pcie_device *a, const struct pcie_device *b)
{
	if (a->have_ids == PCIE_KNOWN && b->have_ids == PCIE_KNOWN && a->device && b->device) {
		return a->vendor == b->vendor && a->device == b->device;
	}
	return !a->name[0] || !b->name[0] || !strcmp(a->name, b->name);
}

/* May B of D answer? What does not decode, or is behind a bridge that does not, cannot. */
static bool may_answer(
	const struct pcie_judge *j, const struct pcie_device *d, const struct pcie_bar *b)
{
	if (!pcie_bar_is_placed(b) || b->decode_enabled == PCIE_NO) {
		return false;
	}
	while (d->parent >= 0) {
		d = &j->s->dev[d->parent];
		if (d->mem_enable == PCIE_NO) {
			return false;
		}
	}
	return true;
}

/* Another device with a BAR in B's range, told by the same witness. */
static const struct pcie_bar *find_other(
	const struct pcie_judge *j, const struct pcie_bar *b, const struct pcie_device **ret)
{
	const struct pcie_snapshot *s = j->s;
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if ((int)i == j->dev || !d->addr.known || d->addr.domain != j->d->addr.domain ||
			is_same_card(j->d, d)) {
			continue;
		}
		for (int k = 0; k < d->nbar; k++) {
			const struct pcie_bar *o = &d->bar[k];
			if (o->src == b->src && may_answer(j, d, o) && pcie_bars_overlap(b, o)) {
				*ret = d;
				return o;
			}
		}
	}
	return NULL;
}

/* Bridges that also pass on what nobody else claims have no windows to be in (PCI-to-PCI 1.2, 2.3).
 */
static bool passes_by_windows(const struct pcie_device *bridge)
{
	return bridge->is_bridge && !bridge->config_gone && bridge->class_code != 0x060401;
}

/* Is B in no window of the bridge right above, both of which the same witness tells? */
static bool is_outside(const struct pcie_judge *j, const struct pcie_bar *b)
{
	const struct pcie_device *up = j->d->parent >= 0 ? &j->s->dev[j->d->parent] : NULL;
	unsigned open = 0;

	if (!up || !passes_by_windows(up) || j->m->pc == PCIE_NO) {
		return false; /* off PCs a host bridge may translate */
	}
	for (int k = PCIE_WINDOW_MEM; k <= PCIE_WINDOW_PREF; k++) {
		const struct pcie_window *w = &up->window[k];
		if (w->have == PCIE_ABSENT) {
			continue;
		}
		if (w->have != PCIE_KNOWN || w->from_register || w->src != b->src ||
			w->limit < w->base) {
			return false;
		}
		open += !w->unassigned;
		if (!w->unassigned && b->base >= w->base && b->base + (b->size - 1) <= w->limit) {
			return false;
		}
	}
	return open > 0; /* with both closed the text may have been cut, or the bridge sleeps */
}

static void say(const struct pcie_judge *j, struct pcie_verdict *v, const struct pcie_bar *b,
	const struct pcie_device *other, const struct pcie_bar *o)
{
	char text[PCIE_BAR_TEXT_MAX], addr[PCIE_ADDR_MAX];
	bool listed = j->d->bars_complete;
	enum pcie_confidence sure = listed ? PCIE_LIKELY : PCIE_WEAK;

	pcie_evidence(v, "O1", pcie_source_name(j->s, b->src), "%s", pcie_bar_text(j->d, b, text));
	if (other) {
		pcie_evidence(v, "O2", pcie_source_name(j->s, o->src), "%s",
			pcie_bar_text(other, o, text));
		pcie_say(v, "shared", sure, PCIE_LEVEL_NOTE, "a BAR has addresses that %s has too",
			pcie_addr_format(other->addr, addr));
	} else {
		const struct pcie_device *up = &j->s->dev[j->d->parent];
		for (int k = PCIE_WINDOW_MEM; k <= PCIE_WINDOW_PREF; k++) {
			const struct pcie_window *w = &up->window[k];
			char range[PCIE_RANGE_MAX];
			if (w->have == PCIE_KNOWN && !w->unassigned) {
				pcie_evidence(v, "O3", pcie_source_name(j->s, w->src),
					"%s window %s", pcie_addr_format(up->addr, addr),
					pcie_range(w->base, w->limit, range));
			}
		}
		pcie_say(v, "outside", sure, PCIE_LEVEL_NOTE,
			"a BAR is in no window of %s above it, which passes on nothing else",
			pcie_addr_format(up->addr, addr));
	}
	if (!listed) {
		pcie_against(v, "F6", "text",
			"it may be of two states, or of two machines: then nothing of this holds");
		pcie_advise(v, "look again at one listing of all devices: sudo lspci -vv, right "
			       "after the boot");
	}
	pcie_advise(v, "if it is so: update the firmware, try another slot or pci=realloc");
}

static void judge_overlap(const struct pcie_judge *j, struct pcie_verdict *v)
{
	for (int i = 0; i < j->d->nbar && !v->answer; i++) {
		const struct pcie_bar *b = &j->d->bar[i];
		const struct pcie_device *other = NULL;
		if (!may_answer(j, j->d, b)) {
			continue;
		}
		const struct pcie_bar *o = find_other(j, b, &other);
		if (o || is_outside(j, b)) {
			say(j, v, b, other, o);
		}
	}
}

const struct pcie_rule pcie_rule_overlap = {
	.id = "overlap",
	.title = "are its addresses its own, and passed on",
	.answers = "shared outside",
	.decides = false,
	.judge = judge_overlap,
};
