/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Have all memory BARs of this GPU an address in the final state? I/O BARs, the ROM and
 * VF BARs do not count. A BAR that failed is invisible in sysfs (the kernel clears it) and
 * in lspci (no line): only its register, or the log, tells that it exists.
 */
#include <stdio.h>
#include <string.h>

#include "pcie/judge.h"

struct count {
	unsigned placed, unplaced, open;
	unsigned by_register; /* of the placed: the register has an address, no list was read */
	unsigned by_name;     /* of the unplaced: only a capability names it */
	unsigned blank;       /* slots that look as if no BAR were there */
	enum pcie_confidence sure; /* of the surest unplaced one */
};

static void name_bar(const struct pcie_bar_finding *f, int index, char *buf, size_t size)
{
	char len[TEXT_SIZE_MAX];
	const char *type = !f->type_known ? ""
			   : f->is64      ? f->prefetchable ? ", 64-bit prefetchable" : ", 64-bit"
			   : f->prefetchable ? ", 32-bit prefetchable"
					     : ", 32-bit";
	char which[16] = "a BAR";
	if (index >= 0) {
		snprintf(which, sizeof(which), "BAR %d", index);
	}
	if (f->has_size) {
		snprintf(buf, size, "%s, %s%s", which, text_size(f->size, len), type);
	} else {
		snprintf(buf, size, "%s%s", which, type);
	}
}

static void count_bar(const struct pcie_judge *j, struct pcie_verdict *v, struct count *n,
	const struct pcie_bar_finding *f, int index)
{
	char what[96];
	switch (f->state) {
	case PCIE_BAR_NOTHING:
		n->blank += !f->occupied;
		return;
	case PCIE_BAR_OPEN:
		n->open++;
		return;
	case PCIE_BAR_PLACED:
		n->placed++;
		n->by_register += f->sure == PCIE_WEAK;
		return;
	case PCIE_BAR_UNPLACED:
		break;
	}
	n->unplaced++;
	n->sure = MAX(n->sure, f->sure);
	name_bar(f, index, what, sizeof(what));
	if (f->wiped) {
		pcie_evidence(v, "B1", pcie_source_name(j->s, f->bar->reg.src),
			"%s: the register exists (0x%llx), the kernel lists nothing", what,
			(unsigned long long)f->bar->reg.base);
	} else if (f->named) {
		pcie_evidence(v, "B10", pcie_source_name(j->s, j->d->rebar.src),
			"%s: the Resizable BAR capability names it, and no line shows it", what);
		n->by_name++;
	} else if (f->bar && f->bar->ignored) {
		pcie_evidence(v, "B2", pcie_source_name(j->s, f->bar->src),
			"%s: the kernel rejected the firmware's value", what);
	} else if (f->bar) {
		pcie_evidence(v, "B2", pcie_source_name(j->s, f->bar->src), "%s: no address", what);
	}
	const struct pcie_history *h = f->history;
	if (h && h->nline && h->final != PCIE_FINAL_ASSIGNED) {
		pcie_evidence(
			v, "B3", "kernel log", "%s", pcie_line_text(j->s, h->line[h->nline - 1]));
	}
}

/* The BAR that the driver calls invalid has a place in what is shown. */
static bool contradicts(const struct pcie_judge *j)
{
	uint64_t bar = j->invalid->value;
	return bar < PCIE_BAR_SLOTS && j->slot[bar].state == PCIE_BAR_PLACED;
}

/* A BAR of the virtual functions has no address. */
static bool vf_bars_failed(const struct pcie_device *d)
{
	for (int i = 0; i < d->nbar; i++) {
		const struct pcie_bar *b = &d->bar[i];
		if (b->kind == PCIE_BAR_VF && b->have == PCIE_KNOWN && b->assigned == PCIE_NO) {
			return true;
		}
	}
	return false;
}

/* The driver did not start, as with a BAR that has no address; those shown have one. */
static void say_not_started(
	const struct pcie_judge *j, struct pcie_verdict *v, const struct count *n)
{
	pcie_against(v, "B5", "kernel log", "%s", pcie_line_text(j->s, j->broken->line));
	if (vf_bars_failed(j->d) && n->placed && !n->open) {
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
			"its own BARs that are shown have addresses, those of its virtual functions "
			"have none, and the driver did not start");
		pcie_advise(v, "for SR-IOV switch it on in the firmware setup, with a larger MMIO "
			       "window; without it load the driver with its virtual functions off");
		return;
	}
	pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
		"the driver did not start, as it does when a BAR has no address; not all BARs are "
		"shown here");
}

/* A device of the same kind in this machine whose VRAM BAR is shown; -1: none. */
static int shown_twin(const struct pcie_judge *j)
{
	for (size_t i = 0; i < j->s->ndev; i++) {
		const struct pcie_device *o = &j->s->dev[i];
		bool same = j->d->have_ids == PCIE_KNOWN
				    ? o->have_ids == PCIE_KNOWN && o->vendor == j->d->vendor &&
					      o->device == j->d->device
				    : j->d->name[0] && !strcmp(o->name, j->d->name);
		int at = (int)i != j->dev && same ? pcie_device_vram_bar(o) : -1;
		if (at >= 0 && o->bar[at].has_size && o->bar[at].size >= 64 * MIB) {
			return (int)i;
		}
	}
	return -1;
}

/* Addresses are shown, and none of them can be the VRAM's. */
static void say_vram_missing(
	const struct pcie_judge *j, struct pcie_verdict *v, const struct count *n)
{
	int twin = shown_twin(j);
	char addr[PCIE_ADDR_MAX];

	pcie_evidence(v, "B6", "the BARs shown", "%u memory BAR%s, each with an address", n->placed,
		n->placed == 1 ? "" : "s");
	if (twin >= 0) {
		pcie_evidence(v, "B11", "the same kind of card",
			"%s shows the BAR that maps its VRAM",
			pcie_addr_format(j->s->dev[twin].addr, addr));
	}
	pcie_against(v, "F6", "text",
		"lspci prints no line for a BAR that failed; a line may also be lost in copying");
	pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
		"the BAR that maps its VRAM is not among those shown: it failed, or the text is not "
		"whole");
	pcie_advise(v,
		"run it on the machine as root, or add the boot log (dmesg) or the hex rows of "
		"lspci -xxx with --with FILE: they show whether that BAR failed");
}

static void judge_assignment(const struct pcie_judge *j, struct pcie_verdict *v)
{
	struct count n = {0};

	for (int i = 0; i < PCIE_BAR_SLOTS; i++) {
		count_bar(j, v, &n, &j->slot[i], i);
	}
	for (unsigned i = 0; i < j->nloose; i++) {
		count_bar(j, v, &n, &j->loose[i], -1);
	}
	if (j->invalid) {
		pcie_evidence(v, "B4", "kernel log", "%s", pcie_line_text(j->s, j->invalid->line));
	}
	if (n.by_name) {
		pcie_against(v, "F6", "text",
			"a line may have been lost in copying; lspci prints none for a BAR that failed");
	}
	if (n.unplaced) {
		pcie_say(v, "failed", n.sure, PCIE_LEVEL_BAD, "%u memory BAR%s without an address",
			n.unplaced, n.unplaced > 1 ? "s" : "");
		pcie_advise_cause(j, v);
		return;
	}
	if (j->invalid && !j->all_slots_seen && contradicts(j)) {
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
			"the driver found a BAR without an address, another reading shows one: two "
			"boots, or two moments");
		return;
	}
	if (j->invalid && !j->all_slots_seen) {
		pcie_say(v, "failed", PCIE_LIKELY, PCIE_LEVEL_BAD,
			"the driver found a BAR without an address");
		pcie_advise_cause(j, v);
		return;
	}
	if (j->broken && !j->all_slots_seen) {
		say_not_started(j, v, &n);
		return;
	}
	if (n.open || !n.placed) {
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE, "%s",
			j->d->config_gone ? "the device is powered down or off the bus"
			: n.placed        ? "the state of some BARs is not known"
					  : "nothing is known about its BARs");
		return;
	}
	if (j->vram_bar_missing) {
		say_vram_missing(j, v, &n);
		return;
	}
	if (n.by_register) {
		pcie_evidence(v, "B7", "registers",
			"%u memory BAR%s, each with an address in its register", n.placed,
			n.placed == 1 ? "" : "s");
		pcie_against(v, "F10", "registers",
			"the kernel may have rejected what a register holds: its own list was not read");
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
			"the registers hold addresses; whether the kernel uses them is not shown");
		pcie_advise(v, "add the Region lines (lspci -v beside -x) or the boot log, with "
			       "--with FILE");
		return;
	}
	bool sure = j->all_slots_seen && (!n.blank || j->s->log == PCIE_LOG_COMPLETE);
	if (j->all_slots_seen) {
		pcie_evidence(v, "B6", "sysfs and config space",
			"%u memory BAR%s, each with an address in the kernel's view", n.placed,
			n.placed == 1 ? "" : "s");
		if (!sure) {
			pcie_against(v, "F7", "registers",
				"a 32-bit BAR that failed leaves a register of zero, like one that is "
				"not there: only the boot log would tell");
		}
	} else {
		pcie_evidence(v, "B6", "the BARs shown", "%u memory BAR%s, each with an address",
			n.placed, n.placed == 1 ? "" : "s");
		pcie_against(v, "F6", "text", "a text may leave out a BAR that failed");
	}
	pcie_say(v, "ok", sure ? PCIE_PROVEN : PCIE_LIKELY, PCIE_LEVEL_GOOD,
		"all memory BARs have addresses");
}

const struct pcie_rule pcie_rule_assignment = {
	.id = "assignment",
	.title = "have all memory BARs an address",
	.answers = "ok failed unknown",
	.decides = true,
	.judge = judge_assignment,
};
