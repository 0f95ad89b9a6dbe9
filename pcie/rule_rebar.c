/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * R: how much of its VRAM this GPU shows through its BAR (PCIe 6.0, 7.8.6). The answers
 * are tried in the contract's order; the first that fits is given.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcie/judge.h"
#include "pcie/rebar.h"

/* Above this no firmware of a small-BAR card starts: a longer BAR was grown. */
#define USUAL_DEFAULT (256 * MIB)

const char *pcie_vram_bar_name(const struct pcie_judge *j)
{
	static const char *const name[] = {"BAR 0", "BAR 1", "BAR 2", "BAR 3", "BAR 4", "BAR 5"};
	return j->vram_index >= 0 && j->vram_index < PCIE_BAR_SLOTS ? name[j->vram_index]
								    : "the largest BAR";
}

bool pcie_covers_vram(uint64_t len, uint64_t vram)
{
	return len >= vram - vram / 10;
}

static const char *size(uint64_t bytes, char buf[static TEXT_SIZE_MAX])
{
	return text_size(bytes, buf);
}

static void add_sizes(const struct pcie_judge *j, struct pcie_verdict *v)
{
	struct text t = {0};
	char buf[TEXT_SIZE_MAX];

	for (int n = 0; n < PCIE_REBAR_SIZES; n++) {
		if (j->supported >> n & 1) {
			text_addf(&t, "%s%s", t.len ? ", " : "",
				size((uint64_t)1 << (PCIE_REBAR_UNIT_SHIFT + n), buf));
		}
	}
	char *list = text_steal(&t);
	pcie_evidence(v, "R2", pcie_source_name(j->s, j->d->rebar.src), "%s supports %s",
		pcie_vram_bar_name(j), list);
	free(list);
}

/* What was read, whatever the answer. */
static void add_readings(const struct pcie_judge *j, struct pcie_verdict *v)
{
	char buf[TEXT_SIZE_MAX];

	if (j->has_len) {
		pcie_evidence(v, "R1", pcie_bar_source(j, j->vram_bar), "%s is %s long",
			pcie_vram_bar_name(j), size(j->len, buf));
	}
	if (j->entry) {
		add_sizes(j, v);
	} else if (j->rebar == PCIE_KNOWN) {
		pcie_evidence(v, "R2", pcie_source_name(j->s, j->d->rebar.src),
			"a Resizable BAR capability, its sizes not shown");
	} else if (j->rebar == PCIE_ABSENT) {
		pcie_evidence(v, "R2", pcie_source_name(j->s, j->d->rebar.src),
			"all capabilities were seen, and no Resizable BAR among them");
	}
	if (j->has_vram) {
		pcie_evidence(v, "R3",
			j->vram_sure == PCIE_PROVEN ? pcie_source_name(j->s, j->d->vram.src)
						    : "device name",
			"%s: %s", j->vram_what, size(j->vram, buf));
	}
	const struct pcie_statement *t = j->tried ? j->tried : j->resized;
	t = t ? t : j->no_platform;
	if (t) {
		pcie_evidence(v, "R4", "kernel log", "%s", pcie_line_text(j->s, t->line));
	}
	if (j->d->rebar.null_cap) {
		pcie_evidence(v, "R5", "config space",
			"a Null capability stands in the extended list: the hypervisor hides one");
	}
}

/* Kinds of device that the question is not for. */
static bool is_asked(const struct pcie_judge *j)
{
	if (j->coherent) {
		return false;
	}
	/* An emulated adapter has no VRAM, but its BAR may have failed. */
	return j->kind == PCIE_GPU_DISCRETE || (j->kind == PCIE_GPU_EMULATED && j->vram_bar &&
						       j->vram_bar->state == PCIE_BAR_UNPLACED);
}

static void say_not_asked(const struct pcie_judge *j, struct pcie_verdict *v)
{
	if (j->coherent) {
		pcie_evidence(v, "R6", "device", "%s",
			j->d->coherent ? "coherent memory" : "built together with a Grace CPU");
		pcie_say(v, "n-a", PCIE_LIKELY, PCIE_LEVEL_NOTE,
			"the CPU reaches this GPU's memory coherently, no BAR is used for it");
		return;
	}
	pcie_evidence(v, "R6", "device", "%s: %s", pcie_gpu_kind_name(j->kind), j->d->name);
	pcie_say(v, "n-a", PCIE_LIKELY, PCIE_LEVEL_NOTE, "not asked of %s %s",
		j->kind == PCIE_GPU_INTEGRATED || j->kind == PCIE_GPU_EMULATED ? "an" : "a",
		pcie_gpu_kind_name(j->kind));
}

/* The contract's order: the first that fits. */
enum pcie_rebar_answer pcie_rebar_find(const struct pcie_judge *j)
{
	/* A driver that misses the platform's support has looked for a larger size. */
	bool tried = j->tried || j->tried_in_log || (j->no_platform && !j->resized);

	if (!is_asked(j)) {
		return PCIE_REBAR_NA;
	}
	if (!j->vram_bar) {
		return PCIE_REBAR_UNKNOWN;
	}
	if (j->vram_bar->state == PCIE_BAR_UNPLACED) {
		return PCIE_REBAR_UNASSIGNED;
	}
	if (!j->has_len) {
		return PCIE_REBAR_UNKNOWN;
	}
	if (j->has_vram && pcie_covers_vram(j->len, j->vram)) {
		return PCIE_REBAR_FULL;
	}
	if (j->entry && j->len >= j->max_size) {
		return j->has_vram || j->len <= USUAL_DEFAULT ? PCIE_REBAR_CARD_LIMIT
							      : PCIE_REBAR_AT_LARGEST;
	}
	if (j->entry) {
		return PCIE_REBAR_SMALL;
	}
	if (j->rebar == PCIE_ABSENT && j->has_vram) {
		return PCIE_REBAR_UNSUPPORTED;
	}
	if (tried && (j->has_vram || (j->tried && j->tried->value > j->len))) {
		return PCIE_REBAR_SMALL;
	}
	/* No card with this capability has so little VRAM. */
	if (j->rebar == PCIE_KNOWN && j->len > USUAL_DEFAULT && j->len <= GIB) {
		return PCIE_REBAR_SMALL;
	}
	if (j->resized && j->resized->value && j->len >= j->resized->value) {
		return PCIE_REBAR_GROWN;
	}
	return PCIE_REBAR_UNKNOWN;
}

/* Nothing about the readings leaves room for another answer. */
static bool readings_are_sure(const struct pcie_judge *j)
{
	return j->has_vram && j->vram_sure == PCIE_PROVEN && j->vram_bar_sure &&
	       j->vram_bar->sure == PCIE_PROVEN && j->d->have_ids == PCIE_KNOWN;
}

static void say_full(const struct pcie_judge *j, struct pcie_verdict *v)
{
	char len[TEXT_SIZE_MAX], vram[TEXT_SIZE_MAX];
	bool sure =
		j->vram_sure == PCIE_PROVEN && j->vram_bar_sure && j->vram_bar->sure == PCIE_PROVEN;
	const char *how = "";

	if (j->rebar == PCIE_ABSENT) {
		how = ", by a fixed large BAR";
	} else if (j->one_size) {
		how = ", its only size";
	}
	pcie_say(v, "full", sure ? PCIE_PROVEN : PCIE_LIKELY, PCIE_LEVEL_GOOD,
		"%s shows all of the VRAM: %s for %s%s", pcie_vram_bar_name(j), size(j->len, len),
		size(j->vram, vram), how);
}

static void say_card_limit(const struct pcie_judge *j, struct pcie_verdict *v)
{
	char len[TEXT_SIZE_MAX], vram[TEXT_SIZE_MAX];
	bool guest = j->m->guest == PCIE_YES;
	bool sure = readings_are_sure(j) && j->m->guest == PCIE_NO;

	if (guest && j->one_size) {
		pcie_against(v, "F3", j->s->host.virt[0] ? j->s->host.virt : "virtual machine",
			"a hypervisor may show a copy of the capability with the present size only");
	}
	pcie_say(v, "card-limit",
		sure                    ? PCIE_PROVEN
		: guest || !j->has_vram ? PCIE_WEAK
					: PCIE_LIKELY,
		PCIE_LEVEL_NOTE, "%s is %s, the largest size that the card offers%s%s",
		pcie_vram_bar_name(j), size(j->len, len), j->has_vram ? ", of " : "",
		j->has_vram ? size(j->vram, vram) : "");
	pcie_advise_cause(j, v);
}

/*
 * The smallest offered size that shows all of the VRAM, else the largest; with no list what
 * the driver asked for, or the power of two that covers the VRAM. 0: nothing of these.
 */
uint64_t pcie_rebar_target(const struct pcie_judge *j)
{
	if (j->entry) {
		uint64_t over = j->has_vram ? pcie_rebar_smallest_over(j->supported, j->vram) : 0;
		return over ? over : j->max_size;
	}
	if (j->tried && j->tried->value > j->len) {
		return j->tried->value;
	}
	uint64_t bytes = MIB;
	while (j->has_vram && bytes < j->vram && bytes < (uint64_t)1 << 62) {
		bytes <<= 1;
	}
	return j->has_vram ? bytes : 0;
}

static void say_small(const struct pcie_judge *j, struct pcie_verdict *v, uint64_t could_be)
{
	char len[TEXT_SIZE_MAX], more[TEXT_SIZE_MAX];
	bool grown = j->len > USUAL_DEFAULT && !(j->entry && j->len <= j->min_size);
	bool sure = readings_are_sure(j) && j->entry;
	bool likely = j->entry || j->tried || j->tried_in_log || j->no_platform;
	enum pcie_confidence c = sure ? PCIE_PROVEN : likely ? PCIE_LIKELY : PCIE_WEAK;

	if (could_be) {
		pcie_say(v, grown ? "partial" : "off", c, PCIE_LEVEL_BAD,
			grown ? "%s was grown to %s only; the card offers %s"
			      : "%s is %s, and could be %s",
			pcie_vram_bar_name(j), size(j->len, len), size(could_be, more));
	} else {
		pcie_say(v, grown ? "partial" : "off", c, PCIE_LEVEL_BAD,
			"%s is %s, and the card can do more", pcie_vram_bar_name(j),
			size(j->len, len));
	}
	pcie_advise_cause(j, v);
}

/* Who tells the VRAM size of this vendor's cards. */
static const char *vram_witness(const struct pcie_judge *j)
{
	switch (j->vendor) {
	case 0x1002:
		return "the lines of amdgpu or radeon in the kernel log (sudo dmesg | grep -i vram)";
	case 0x8086:
		return "the lines of i915 or xe in the kernel log (sudo dmesg | grep -iE "
		       "'vram|lmem|local memory')";
	default:
		return "\"nvidia-smi -q\", or the driver's lines of the kernel log";
	}
}

static void say_unknown(const struct pcie_judge *j, struct pcie_verdict *v)
{
	const char *why = "the length of its VRAM BAR is not known";

	if (j->d->config_gone) {
		why = "the device is powered down or off the bus";
	} else if (j->has_len && j->rebar == PCIE_DENIED) {
		why = "the supported sizes need root, and the VRAM size is not known";
	} else if (j->has_len && j->has_vram) {
		why = "its BAR is smaller than its VRAM, and the supported sizes are not known";
	} else if (j->has_len) {
		why = "neither the VRAM size nor the supported sizes are known";
	}
	pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE, "%s", why);
	if (j->has_len && !j->has_vram) {
		pcie_advise(v, "tell the VRAM size: add %s, with --with FILE", vram_witness(j));
	}
	if (j->has_len && !j->entry && j->rebar != PCIE_ABSENT) {
		char n[4] = "N";
		if (j->vram_index >= 0) {
			snprintf(n, sizeof(n), "%d", j->vram_index % 10);
		}
		pcie_advise(v,
			"sudo lspci -vv shows the supported sizes; so does resource%s_resize in "
			"sysfs on kernel 6.1 and later",
			n);
	}
}

bool pcie_can_grow(const struct pcie_judge *j)
{
	return pcie_rebar_find(j) == PCIE_REBAR_SMALL;
}

static void say_unsupported(const struct pcie_judge *j, struct pcie_verdict *v)
{
	bool hidden = j->m->guest == PCIE_YES || j->d->rebar.null_cap;
	bool sure = readings_are_sure(j) && j->m->guest == PCIE_NO && !hidden;

	pcie_say(v, "unsupported", sure ? PCIE_PROVEN : PCIE_LIKELY, PCIE_LEVEL_NOTE, "%s",
		hidden ? "the hypervisor shows no Resizable BAR capability"
		       : "the card has no Resizable BAR capability");
	pcie_advise_cause(j, v);
}

static void say_unassigned(const struct pcie_judge *j, struct pcie_verdict *v)
{
	const struct pcie_bar_finding *f = j->vram_bar;
	pcie_say(v, "unassigned", j->vram_bar_sure ? f->sure : MIN(f->sure, PCIE_LIKELY),
		PCIE_LEVEL_BAD, "%s, which maps the %s, has no address", pcie_vram_bar_name(j),
		pcie_gpu_memory_name(j->kind));
	pcie_advise_cause(j, v);
}

static void judge_rebar(const struct pcie_judge *j, struct pcie_verdict *v)
{
	enum pcie_rebar_answer answer = pcie_rebar_find(j);
	char len[TEXT_SIZE_MAX];

	if (answer != PCIE_REBAR_NA) {
		add_readings(j, v);
	}
	switch (answer) {
	case PCIE_REBAR_NA:
		say_not_asked(j, v);
		break;
	case PCIE_REBAR_UNKNOWN:
		say_unknown(j, v);
		break;
	case PCIE_REBAR_UNASSIGNED:
		say_unassigned(j, v);
		break;
	case PCIE_REBAR_FULL:
		say_full(j, v);
		break;
	case PCIE_REBAR_AT_LARGEST:
		pcie_say(v, "full", PCIE_LIKELY, PCIE_LEVEL_GOOD,
			"%s is at the card's largest supported size, %s", pcie_vram_bar_name(j),
			size(j->len, len));
		break;
	case PCIE_REBAR_GROWN:
		pcie_say(v, "full", PCIE_WEAK, PCIE_LEVEL_GOOD, "the driver grew %s to %s",
			pcie_vram_bar_name(j), size(j->len, len));
		break;
	case PCIE_REBAR_CARD_LIMIT:
		say_card_limit(j, v);
		break;
	case PCIE_REBAR_UNSUPPORTED:
		say_unsupported(j, v);
		break;
	case PCIE_REBAR_SMALL:
		say_small(j, v, pcie_rebar_target(j));
		break;
	}
}

const struct pcie_rule pcie_rule_rebar = {
	.id = "rebar",
	.title = "does the BAR show all of the VRAM (Resizable BAR)",
	.answers = "full partial off card-limit unsupported unassigned unknown n-a",
	.decides = true,
	.judge = judge_rebar,
};
