/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What surrounds the GPU: boot mode, the two views of BARs and windows, power. */
#include <stdio.h>
#include <string.h>

#include "pcie/judge.h"

/* How the machine was started. UEFI says nothing of CSM: it may still be on for option ROMs. */
static void judge_boot(const struct pcie_judge *j, struct pcie_verdict *v)
{
	const struct pcie_host *h = &j->s->host;

	if (j->m->pc == PCIE_NO || h->have_efi != PCIE_KNOWN) {
		return;
	}
	pcie_evidence(v, "C1", pcie_source_name(j->s, h->efi_src), "%s",
		h->efi ? "UEFI is there" : "no UEFI is there");
	if (h->have_dmi == PCIE_KNOWN && h->bios_version[0]) {
		pcie_evidence(v, "C2", "DMI", "%s %s of %s", h->bios_vendor, h->bios_version,
			h->bios_date);
	}
	if (h->have_firmware_time == PCIE_KNOWN) {
		pcie_evidence(
			v, "C3", "ACPI FPDT", "firmware took %.1f s", (double)h->firmware_ns / 1e9);
	}
	if (h->have_rebar_uefi == PCIE_KNOWN) {
		pcie_evidence(v, "C4", "efivars ReBarState", "%u: %s", h->rebar_uefi,
			h->rebar_uefi == 0    ? "a ReBarUEFI module is set to off"
			: h->rebar_uefi >= 32 ? "a ReBarUEFI module without a limit"
					      : "a ReBarUEFI module with a limit of 2^n MiB");
	}
	if (h->efi) {
		pcie_say(v, "uefi", PCIE_PROVEN, PCIE_LEVEL_GOOD,
			"started by UEFI; whether CSM is on for option ROMs is not visible");
	} else if (j->m->guest == PCIE_YES) {
		pcie_say(v, "legacy", PCIE_PROVEN, PCIE_LEVEL_NOTE,
			"this guest was started without UEFI");
	} else {
		pcie_say(v, "legacy", PCIE_PROVEN, PCIE_LEVEL_NOTE,
			"started the legacy way (BIOS, or UEFI with CSM)");
		pcie_advise(v, "where the firmware is UEFI, install for it, then switch CSM off: "
			       "with CSM on many boards switch Above 4G Decoding and Resizable BAR "
			       "off");
	}
}

const struct pcie_rule pcie_rule_boot = {
	.id = "boot.mode",
	.title = "how was the machine started",
	.answers = "uefi legacy",
	.decides = false,
	.judge = judge_boot,
};

/*
 * The kernel's view beside the registers. A host bridge that translates shows a constant
 * offset; that is no finding.
 */

struct views {
	unsigned compared, differ;
	bool has_offset;
	uint64_t offset;
	bool one_offset; /* all differences are one and the same */
};

static void compare(struct views *w, uint64_t kernel, uint64_t reg)
{
	w->compared++;
	if (kernel == reg) {
		w->one_offset = w->one_offset && (!w->has_offset || w->offset == 0);
		w->has_offset = true;
		return;
	}
	w->differ++;
	if (w->has_offset && w->offset != kernel - reg) {
		w->one_offset = false;
	}
	w->has_offset = true;
	w->offset = kernel - reg;
}

static void compare_bars(const struct pcie_judge *j, struct pcie_verdict *v, struct views *w)
{
	for (int i = 0; i < j->d->nbar; i++) {
		const struct pcie_bar *b = &j->d->bar[i];
		if (b->kind != PCIE_BAR_NORMAL || b->have != PCIE_KNOWN || b->enhanced ||
			b->from_register || b->reg.have != PCIE_KNOWN || b->assigned != PCIE_YES ||
			!b->has_base) {
			continue;
		}
		unsigned before = w->differ;
		compare(w, b->base, b->reg.base);
		if (w->differ > before) {
			pcie_evidence(v, "V1", pcie_source_name(j->s, b->src),
				"BAR %d: kernel 0x%llx, register 0x%llx", b->index,
				(unsigned long long)b->base, (unsigned long long)b->reg.base);
		}
	}
}

static void compare_windows(const struct pcie_judge *j, struct pcie_verdict *v, struct views *w)
{
	for (unsigned p = 0; p < j->npath; p++) {
		const struct pcie_device *d = &j->s->dev[j->path[p]];
		for (int k = PCIE_WINDOW_MEM; k < PCIE_WINDOWS; k++) {
			const struct pcie_window *x = &d->window[k];
			char addr[PCIE_ADDR_MAX];
			if (x->have != PCIE_KNOWN || x->reg.have != PCIE_KNOWN || x->unassigned ||
				x->from_register) {
				continue;
			}
			unsigned before = w->differ;
			compare(w, x->base, x->reg.base);
			if (w->differ > before) {
				pcie_evidence(v, "V2", pcie_source_name(j->s, x->src),
					"window of %s: kernel 0x%llx, register 0x%llx",
					pcie_addr_format(d->addr, addr),
					(unsigned long long)x->base,
					(unsigned long long)x->reg.base);
			}
		}
	}
}

static void judge_views(const struct pcie_judge *j, struct pcie_verdict *v)
{
	struct views w = {.one_offset = true};

	if (j->d->is_vf == PCIE_YES || j->d->config_gone) {
		return;
	}
	compare_bars(j, v, &w);
	compare_windows(j, v, &w);
	if (!w.compared) {
		return;
	}
	if (w.differ == w.compared && w.one_offset && w.compared > 1) {
		pcie_say(v, "translated", PCIE_LIKELY, PCIE_LEVEL_GOOD,
			"the host bridge translates addresses by a constant offset");
	} else if (w.differ) {
		pcie_say(v, "differ", PCIE_LIKELY, PCIE_LEVEL_NOTE,
			"%u of %u addresses differ between the kernel and the device", w.differ,
			w.compared);
		pcie_advise(v, "a sleeping device loses its registers: look at power first, then "
			       "wake it and read again");
	} else {
		pcie_say(v, "match", PCIE_LIKELY, PCIE_LEVEL_GOOD,
			"the kernel's view and the registers agree");
	}
}

const struct pcie_rule pcie_rule_views = {
	.id = "views",
	.title = "do the kernel's view and the registers agree",
	.answers = "match translated differ",
	.decides = false,
	.judge = judge_views,
};

/* The driver's word: the link was lost while it was in use. Not waking is another matter. */
static bool lost_link(const struct pcie_judge *j)
{
	return j->fell_off && strstr(pcie_line_text(j->s, j->fell_off->line), "fallen off the bus");
}

static void judge_power(const struct pcie_judge *j, struct pcie_verdict *v)
{
	const struct pcie_device *d = j->d;

	if (d->power[0]) {
		pcie_evidence(v, "W1", pcie_source_name(j->s, d->power_src), "%s", d->power);
	}
	if (d->config_gone) {
		pcie_evidence(v, "W2", "config space", "reads all ones");
	}
	if (lost_link(j) && (d->config_gone || !d->config_bytes)) {
		pcie_evidence(v, "W3", "kernel log", "%s", pcie_line_text(j->s, j->fell_off->line));
		pcie_say(v, "gone", PCIE_LIKELY, PCIE_LEVEL_BAD,
			"it fell off the bus: the link to it was lost");
		pcie_advise(v,
			"switch the machine off and on: a warm restart often does not bring it "
			"back");
		pcie_advise(v, "no setting of BARs helps a GPU that falls off the bus: look at its "
			       "power cables and power supply, riser, slot (reseat it) and heat");
	} else if (d->config_gone) {
		pcie_say(v, "gone", PCIE_LIKELY, PCIE_LEVEL_NOTE,
			"powered down (D3cold) or off the bus: what is said of it is what the "
			"kernel remembers");
		pcie_advise(v, "wake it (use it once, or barscope show --wake) and look again");
	} else if (j->fell_off && !d->config_bytes) {
		pcie_evidence(v, "W3", "kernel log", "%s", pcie_line_text(j->s, j->fell_off->line));
		pcie_say(v, "gone", PCIE_LIKELY, PCIE_LEVEL_NOTE,
			"the kernel log says that it fell off the bus, or did not wake");
		pcie_advise(v,
			"no setting of BARs helps a GPU that falls off the bus: look at power "
			"cables, riser, slot and heat");
	} else if (d->asleep) {
		pcie_say(v, "asleep", PCIE_LIKELY, PCIE_LEVEL_NOTE,
			"asleep, and not woken to be read");
		pcie_advise(v, "--wake reads it, which wakes it up");
	}
}

const struct pcie_rule pcie_rule_power = {
	.id = "power",
	.title = "is the device awake",
	.answers = "asleep gone",
	.decides = false,
	.judge = judge_power,
};
