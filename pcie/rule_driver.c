/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the driver was told about resizing, and the VFs' own resizable BARs. */
#include <stdlib.h>
#include <string.h>

#include "pcie/judge.h"

/* Options that decide on resizing, per driver. */
static const struct {
	const char *driver, *option, *fix;
	bool zero_is_off;     /* 0 means no resizing */
	bool negative_is_off; /* a negative value does */
} resize_option[] = {
	{"nvidia", "EnableResizableBar", "options nvidia NVreg_EnableResizableBar=1", true, false},
	{"nvidia", "NVreg_EnableResizableBar", "options nvidia NVreg_EnableResizableBar=1", true,
		false},
	{"amdgpu", "rebar", "options amdgpu rebar=-1", true, false},
	{"xe", "vram_bar_size", "options xe vram_bar_size=0", false, true},
	{"i915", "lmem_bar_size", "options i915 lmem_bar_size=0", false, true},
};

/* What option O says of resizing; UNKNOWN: it is about something else. */
static enum pcie_tri read_option(const struct pcie_option *o, const char **ret_fix)
{
	for (size_t k = 0; k < ARRAY_LEN(resize_option); k++) {
		if (strcmp(o->name, resize_option[k].option)) {
			continue;
		}
		char *end;
		long value = strtol(o->value, &end, 0);
		if (end == o->value || *end) {
			continue;
		}
		*ret_fix = resize_option[k].fix;
		bool off = (resize_option[k].zero_is_off && value == 0) ||
			   (resize_option[k].negative_is_off && value < 0);
		return off ? PCIE_NO : PCIE_YES;
	}
	return PCIE_TRI_UNKNOWN;
}

enum pcie_tri pcie_resize_option(
	const struct pcie_judge *j, const struct pcie_option **ret, const char **ret_fix)
{
	enum pcie_tri on = PCIE_TRI_UNKNOWN;

	for (int i = 0; i < j->d->noption && i < PCIE_OPTIONS; i++) {
		const char *fix = NULL;
		enum pcie_tri one = read_option(&j->d->option[i], &fix);
		if (one == PCIE_TRI_UNKNOWN) {
			continue;
		}
		if (on != PCIE_TRI_UNKNOWN && on != one) {
			return PCIE_TRI_UNKNOWN; /* two readings that contradict each other */
		}
		on = one;
		*ret = &j->d->option[i];
		*ret_fix = fix;
	}
	return on;
}

static void judge_driver(const struct pcie_judge *j, struct pcie_verdict *v)
{
	const struct pcie_option *o = NULL;
	const char *fix = NULL;

	if (j->kind != PCIE_GPU_DISCRETE) {
		return;
	}
	enum pcie_tri on = pcie_resize_option(j, &o, &fix);
	if (on == PCIE_TRI_UNKNOWN) {
		return;
	}
	pcie_evidence(v, "D1", pcie_source_name(j->s, o->src), "%s: %s", o->name, o->value);
	if (on == PCIE_YES) {
		pcie_say(v, "on", PCIE_PROVEN, PCIE_LEVEL_GOOD, "the driver may resize the BAR");
		return;
	}
	pcie_say(v, "off", PCIE_PROVEN, pcie_can_grow(j) ? PCIE_LEVEL_NOTE : PCIE_LEVEL_GOOD,
		"the driver does not resize the BAR and takes the size that the firmware set");
	if (pcie_can_grow(j)) {
		pcie_advise(v, "in /etc/modprobe.d: %s; rebuild the initramfs and reboot", fix);
	}
	if (j->vendor == 0x10de && j->vram_index > 1) {
		pcie_against(v, "D2", "driver source",
			"NVIDIA's option resizes BAR 1 only; this card's VRAM BAR is BAR %d",
			j->vram_index);
	}
}

const struct pcie_rule pcie_rule_driver = {
	.id = "driver.resize",
	.title = "may the driver resize the BAR",
	.answers = "on off",
	.decides = false,
	.judge = judge_driver,
};

static void judge_vf_rebar(const struct pcie_judge *j, struct pcie_verdict *v)
{
	const struct pcie_rebar *r = &j->d->vf_rebar;
	char now[TEXT_SIZE_MAX];

	if (r->have != PCIE_KNOWN || !r->count) {
		return;
	}
	for (int i = 0; i < r->count && i < PCIE_REBAR_ENTRIES; i++) {
		if (r->entry[i].has_current) {
			pcie_evidence(v, "R7", pcie_source_name(j->s, r->src),
				"VF BAR %u: %s for each VF", r->entry[i].bar,
				text_size(r->entry[i].current, now));
		}
	}
	pcie_say(v, "there", PCIE_PROVEN, PCIE_LEVEL_NOTE,
		"its virtual functions have resizable BARs of their own: they are counted times %u",
		j->d->sriov_total);
}

const struct pcie_rule pcie_rule_vf_rebar = {
	.id = "vf-rebar",
	.title = "have its virtual functions resizable BARs of their own",
	.answers = "there",
	.decides = false,
	.judge = judge_vf_rebar,
};
