/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The slot's link: between the card and the port that it is plugged into. On cards with
 * a switch of their own (Arc, Navi) the GPU function's link is inside the card and says
 * nothing; the card's upstream port has the slot's. A lower speed is what an idle GPU
 * does by itself; a narrower link is not.
 */
#include <stdio.h>

#include "pcie/gpu_kind.h"
#include "pcie/judge.h"

struct ends {
	int card, port;
	const struct pcie_link *a, *b; /* the card's, the port's; b may be NULL */
};

static struct ends find_ends(const struct pcie_judge *j)
{
	struct ends e = {.card = j->dev, .port = -1};
	if (j->ncard && j->npath >= j->ncard) {
		e.card = j->path[j->ncard - 1];
	}
	e.a = &j->s->dev[e.card].link;
	/* The next one on the path may be further up, where a text leaves bridges out. */
	e.port = j->s->dev[e.card].parent;
	if (e.port >= 0) {
		e.b = &j->s->dev[e.port].link;
	}
	return e;
}

static const char *gts(uint16_t speed, char buf[static 16])
{
	snprintf(buf, 16, "%u%s GT/s", speed / 10u, speed % 10 ? ".5" : "");
	return buf;
}

static void add_end(const struct pcie_judge *j, struct pcie_verdict *v, const char *who, int dev,
	const struct pcie_link *l)
{
	char addr[PCIE_ADDR_MAX], now[16], most[16];
	if (!l || l->have != PCIE_KNOWN) {
		return;
	}
	pcie_evidence(v, "L1", pcie_source_name(j->s, l->src), "%s %s: %s x%u now, at most %s x%u",
		who, pcie_addr_format(j->s->dev[dev].addr, addr), gts(l->speed, now), l->width,
		gts(l->max_speed, most), l->max_width);
}

/* The least of the two ends, 0 while an end's is not known. */
static unsigned both(unsigned a, unsigned b)
{
	return a && b ? MIN(a, b) : 0;
}

static bool sane_width(unsigned w)
{
	return w && w <= 32;
}

/*
 * The GPU's link ends at a switch on the card that was not read. Right below a root port there
 * is none: some boards carry the chip without it.
 */
static bool is_inside_card(const struct pcie_judge *j)
{
	if (j->ncard || !pcie_device_has_own_switch(j->d)) {
		return false;
	}
	const struct pcie_device *up = j->d->parent >= 0 ? &j->s->dev[j->d->parent] : NULL;
	return !(up && up->port_type == PCIE_PORT_ROOT && up->secondary == j->d->addr.bus);
}

static void judge_link(const struct pcie_judge *j, struct pcie_verdict *v)
{
	struct ends e = find_ends(j);
	bool have_a = e.a->have == PCIE_KNOWN && sane_width(e.a->width) && e.a->speed;
	bool have_b = e.b && e.b->have == PCIE_KNOWN;

	if (j->kind != PCIE_GPU_DISCRETE || j->d->config_gone) {
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_NOTE, "%s",
			j->d->config_gone ? "the device is powered down or off the bus"
					  : "it is in no slot");
		return;
	}
	add_end(j, v, j->ncard ? "the card's own switch" : "the GPU", e.card, e.a);
	if (have_a && is_inside_card(j) && j->m->guest != PCIE_YES) {
		pcie_evidence(v, "L3", "device",
			"a card of this kind has a switch of its own, whose ports are not shown: "
			"this link is inside the card");
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_NOTE,
			"the slot's link is at the card's own switch, which is not shown");
		pcie_advise(v, "read all devices: lspci -vv without -s, or barscope on the machine "
			       "itself");
		return;
	}
	add_end(j, v, "the port", e.port, e.b);
	if (!have_a) {
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_NOTE,
			"the link's width and speed are not known");
		return;
	}
	unsigned width = both(e.a->max_width, have_b ? e.b->max_width : 0);
	unsigned speed = both(e.a->max_speed, have_b ? e.b->max_speed : 0);
	char now[16], most[16];

	if (j->m->guest == PCIE_YES) {
		pcie_against(v, "F3", "virtual machine",
			"a virtual port's link says nothing of the slot");
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_NOTE,
			"a guest does not see the physical slot");
		return;
	}
	if (width && e.a->width < width) {
		pcie_say(v, "degraded", PCIE_LIKELY, PCIE_LEVEL_BAD,
			"x%u, though both ends can do x%u", e.a->width, width);
		pcie_advise(v, "reseat the card; look for dirt or a bent contact; try it without a "
			       "riser or in another slot");
		pcie_advise(v, "look whether the setup splits this slot (bifurcation), or whether "
			       "an M.2 drive shares its lanes");
		return;
	}
	if (!width && e.a->width < e.a->max_width && !j->hotplugged) {
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
			"x%u of the card's x%u; what the port can do is not known", e.a->width,
			e.a->max_width);
		pcie_advise(v,
			"read the port as well (lspci -vv of all devices): if it is x%u too, reseat "
			"the card, look at risers and at bifurcation in the setup",
			e.a->max_width);
		return;
	}
	bool narrow = width && width < e.a->max_width && e.a->width == width;
	if (speed && e.a->speed < speed) {
		pcie_against(v, "L2", "driver practice",
			"an idle GPU lowers its link speed by itself; look again under load");
		char full[64] = "full width";
		if (narrow) {
			snprintf(full, sizeof(full),
				"x%u, as wide as the port; the card can do x%u", width,
				e.a->max_width);
		}
		pcie_say(v, "ok", PCIE_WEAK, PCIE_LEVEL_NOTE,
			"%s; %s now of %s, which an idle GPU does by itself", full,
			gts(e.a->speed, now), gts((uint16_t)speed, most));
		pcie_advise(v, "under load (barscope stress) the speed should rise to %s",
			gts((uint16_t)speed, most));
		return;
	}
	if (narrow && speed) {
		pcie_say(v, "ok", PCIE_PROVEN, PCIE_LEVEL_GOOD,
			"%s x%u, as wide as the port; the card can do x%u", gts(e.a->speed, now),
			e.a->width, e.a->max_width);
	} else if (width && speed) {
		pcie_say(v, "ok", PCIE_PROVEN, PCIE_LEVEL_GOOD,
			"%s x%u, the most that both ends do", gts(e.a->speed, now), e.a->width);
	} else if (e.a->max_width && e.a->width == e.a->max_width && e.a->max_speed &&
		   e.a->speed == e.a->max_speed) {
		pcie_say(v, "ok", PCIE_LIKELY, PCIE_LEVEL_GOOD, "%s x%u, the card's most",
			gts(e.a->speed, now), e.a->width);
	} else {
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_NOTE,
			"%s x%u; what the port can do is not known", gts(e.a->speed, now),
			e.a->width);
	}
}

const struct pcie_rule pcie_rule_link = {
	.id = "link",
	.title = "is the slot's link as wide and fast as both ends allow",
	.answers = "ok degraded unknown",
	.decides = false,
	.judge = judge_link,
};

/* Counters of Advanced Error Reporting (PCIe 6.0, 7.8.4): since boot, as the kernel kept them. */
static void judge_aer(const struct pcie_judge *j, struct pcie_verdict *v)
{
	const struct pcie_aer *a = &j->d->aer;
	const struct pcie_statement *said = NULL;

	for (size_t i = 0; i < j->s->nstatement; i++) {
		const struct pcie_statement *t = &j->s->statement[i];
		if (t->kind == PCIE_SAID_AER && t->dev == j->dev &&
			(!said || t->value > said->value)) {
			said = t;
		}
	}
	if (a->have != PCIE_KNOWN && !said) {
		return;
	}
	if (said) {
		pcie_evidence(v, "A2", "kernel log", "%s", pcie_line_text(j->s, said->line));
	}
	if (a->have == PCIE_KNOWN) {
		pcie_evidence(v, "A1", pcie_source_name(j->s, a->src),
			"%llu correctable, %llu non-fatal, %llu fatal",
			(unsigned long long)a->correctable, (unsigned long long)a->nonfatal,
			(unsigned long long)a->fatal);
	}
	uint64_t hard = a->have == PCIE_KNOWN ? a->nonfatal + a->fatal : 0;
	if (hard || (said && said->value > 1)) {
		pcie_say(v, "errors", PCIE_LIKELY, PCIE_LEVEL_BAD,
			"uncorrectable PCIe errors on this device since boot");
		pcie_advise(v, "treat the slot, riser, power and cooling as suspects before the "
			       "software");
	} else if ((a->have == PCIE_KNOWN && a->correctable) || said) {
		pcie_say(v, "corrected", PCIE_LIKELY, PCIE_LEVEL_NOTE,
			"PCIe errors that the link corrected itself");
		pcie_advise(v, "if the count grows under load: reseat the card, try without a "
			       "riser, or set the slot one generation lower");
	} else {
		pcie_say(v, "none", PCIE_LIKELY, PCIE_LEVEL_GOOD, "no PCIe errors counted");
	}
}

const struct pcie_rule pcie_rule_aer = {
	.id = "aer",
	.title = "were there PCIe errors since boot",
	.answers = "none corrected errors",
	.decides = false,
	.judge = judge_aer,
};
