/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The three questions behind "is Above 4G Decoding on": the setup item, the aperture and
 * its use by this GPU. They have different witnesses and may have different answers.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "pcie/judge.h"
#include "pcie/smi.h"

/* What the aperture rule collects before it answers. */
struct signs {
	bool proven_high;    /* a host bridge window from the firmware */
	bool likely_high;    /* something sits there */
	bool kernel_made;    /* ... but the kernel may have made the room itself */
	bool hint;           /* nothing but what a driver did speaks for it */
	bool all_low;        /* the whole list ends below 4 GiB */
	bool driver_saw_low; /* a driver found no root window above 4 GiB */
};

static void add_device_sign(const struct pcie_judge *j, struct pcie_verdict *v, struct signs *g,
	const char *id, int dev)
{
	const struct pcie_machine *m = j->m;
	int k = m->high_dev[0] == dev ? 0 : 1;
	const struct pcie_device *d = &j->s->dev[dev];
	const struct pcie_bar *b = &d->bar[m->high_bar[k]];
	char text[PCIE_BAR_TEXT_MAX];
	pcie_evidence(v, id, pcie_source_name(j->s, b->src), "%s", pcie_bar_text(d, b, text));
	g->likely_high = true;
}

/* A VRAM BAR of this length has no place below 4 GiB: where a driver speaks of it, it is above. */
static bool is_too_long_for_low(const struct pcie_judge *j)
{
	const struct pcie_bar *b = j->vram_bar ? j->vram_bar->bar : NULL;
	bool by_driver = j->resized || j->has_vram ||
			 (b && !strcmp(pcie_source_name(j->s, b->src), PCIE_SOURCE_SMI));
	return b && j->has_len && j->len >= PCIE_4G && by_driver &&
	       j->vram_bar->state != PCIE_BAR_UNPLACED && b->assigned != PCIE_NO;
}

static void say_length(const struct pcie_judge *j, struct pcie_verdict *v)
{
	pcie_evidence(v, "E8", pcie_source_name(j->s, j->vram_bar->bar->src), "%s is %llu GiB long",
		pcie_vram_bar_name(j), (unsigned long long)(j->len >> 30));
}

static void collect_high(const struct pcie_judge *j, struct pcie_verdict *v, struct signs *g)
{
	const struct pcie_machine *m = j->m;
	const struct pcie_snapshot *s = j->s;
	char range[PCIE_RANGE_MAX];

	if (m->high_firmware >= 0) {
		const struct pcie_history *h = &s->history[m->high_firmware];
		char addr[PCIE_ADDR_MAX];
		pcie_evidence(v, "E1", "kernel log", "%s %s at 0x%llx as the firmware left it",
			pcie_addr_format(h->addr, addr), h->resource,
			(unsigned long long)h->firmware_base);
		g->proven_high = true;
	}
	if (m->high_aperture >= 0) {
		const struct pcie_aperture *a = &s->aperture[m->high_aperture];
		pcie_evidence(v, "E3", pcie_source_name(s, a->src), "root bus window %s %s",
			a->root, pcie_range(a->base, a->limit, range));
		g->proven_high = true;
	}
	if (m->high_iomem >= 0) {
		const struct pcie_iomem *r = &s->iomem[m->high_iomem];
		pcie_evidence(v, "E4", "/proc/iomem", "%s %s", r->name,
			pcie_range(r->base, r->limit, range));
		/* iomem does not tell a firmware's window from one of pci=big_root_window. */
		g->proven_high = g->proven_high || m->big_root == PCIE_NO;
		g->likely_high = true;
	}
	for (unsigned i = 0; i < j->npath; i++) {
		const struct pcie_device *p = &s->dev[j->path[i]];
		const struct pcie_window *w = pcie_pref_window(p);
		char addr[PCIE_ADDR_MAX];
		if (w && !w->unassigned && w->base >= PCIE_4G) {
			pcie_evidence(v, "E5", pcie_source_name(s, w->src),
				"prefetchable window of %s, above this GPU: %s",
				pcie_addr_format(p->addr, addr),
				pcie_range(w->base, w->limit, range));
			g->likely_high = true;
			break;
		}
	}
	for (int k = 0; k < 2; k++) {
		if (m->high_dev[k] >= 0 && m->high_dev[k] != j->dev) {
			add_device_sign(j, v, g, "E6", m->high_dev[k]);
			break;
		}
	}
	for (int i = 0; i < j->d->nbar; i++) {
		char text[PCIE_BAR_TEXT_MAX];
		const struct pcie_bar *b = &j->d->bar[i];
		if (b->kind == PCIE_BAR_NORMAL && pcie_bar_is_high(b)) {
			pcie_evidence(v, "E2", pcie_source_name(s, b->src), "%s",
				pcie_bar_text(j->d, b, text));
			g->likely_high = true;
			break;
		}
	}
	bool amdgpu = j->d->have_driver == PCIE_KNOWN && !strcmp(j->d->driver, "amdgpu");
	if (!g->likely_high && !m->low_complete && amdgpu && (j->tried || j->tried_in_log)) {
		pcie_evidence(v, "E10", "driver practice",
			"amdgpu tries a resize only when a root bus window is above 4 GiB");
		g->likely_high = g->hint = true;
	}
	if (!g->likely_high && !m->low_complete && is_too_long_for_low(j)) {
		say_length(j, v);
		g->likely_high = g->hint = true;
	}
	if (!g->likely_high && m->once_high >= 0) {
		const struct pcie_history *h = &s->history[m->once_high];
		char addr[PCIE_ADDR_MAX];
		pcie_evidence(v, "E9", "kernel log", "%s %s was at 0x%llx",
			pcie_addr_format(h->addr, addr), h->resource,
			(unsigned long long)h->firmware_base);
		g->likely_high = true;
	}
	if (!g->likely_high && m->high_bridge >= 0) {
		char addr[PCIE_ADDR_MAX];
		pcie_evidence(v, "E5", "bridge windows", "%s has a window above 4 GiB",
			pcie_addr_format(s->dev[m->high_bridge].addr, addr));
		g->likely_high = true;
	}
}

static void collect_doubts(const struct pcie_judge *j, struct pcie_verdict *v, struct signs *g)
{
	const struct pcie_machine *m = j->m;
	const struct pcie_snapshot *s = j->s;
	char range[PCIE_RANGE_MAX];

	if (m->nocrs == PCIE_YES) {
		pcie_against(v, "F4", "kernel command line",
			"pci=nocrs: the kernel ignores the host bridge's windows, so placements "
			"say nothing of the firmware");
		g->kernel_made = true;
	}
	if (m->big_root == PCIE_YES) {
		pcie_against(v, "F4", "kernel command line",
			"pci=big_root_window: the kernel makes a window of its own");
		g->kernel_made = true;
	}
	if (m->kernel_aperture >= 0) {
		const struct pcie_aperture *a = &s->aperture[m->kernel_aperture];
		pcie_against(v, "F4", pcie_source_name(s, a->src),
			"root bus window %s is not the firmware's",
			pcie_range(a->base, a->limit, range));
		g->kernel_made = g->kernel_made || m->high_aperture < 0;
		g->likely_high = true;
	}
	if (m->apple) {
		pcie_against(v, "F8", "Apple hardware",
			"firmware of this kind has named 64-bit windows that do not work: a working "
			"driver is the only proof");
	}
	if (m->guest == PCIE_YES) {
		pcie_against(v, "F3", s->host.virt[0] ? s->host.virt : "virtual machine",
			"these are the guest's addresses: they tell of its virtual firmware, not of "
			"the host's setup");
	}
}

/* One line, however many there are: a PC's legacy windows alone can be a dozen. */
static void say_low_windows(const struct pcie_snapshot *s, struct pcie_verdict *v)
{
	const struct pcie_aperture *highest = NULL;
	char range[PCIE_RANGE_MAX];
	size_t n = 0;

	for (size_t i = 0; i < s->naperture; i++) {
		const struct pcie_aperture *a = &s->aperture[i];
		if (!a->io && !a->ignored) {
			highest = !highest || a->limit > highest->limit ? a : highest;
			n++;
		}
	}
	if (!highest) {
		return;
	}
	pcie_range(highest->base, highest->limit, range);
	if (n == 1) {
		pcie_evidence(v, "N1", pcie_source_name(s, highest->src),
			"root bus window %s %s, and no other; the list is complete", highest->root,
			range);
	} else {
		pcie_evidence(v, "N1", pcie_source_name(s, highest->src),
			"%zu root bus windows, the highest %s %s; the list is complete", n,
			highest->root, range);
	}
}

static void collect_low(const struct pcie_judge *j, struct pcie_verdict *v, struct signs *g)
{
	const struct pcie_machine *m = j->m;
	const struct pcie_snapshot *s = j->s;
	char range[PCIE_RANGE_MAX];

	if (m->low_complete) {
		say_low_windows(s, v);
		g->all_low = true;
	}
	if (m->ignored_aperture >= 0) {
		const struct pcie_aperture *a = &s->aperture[m->ignored_aperture];
		pcie_evidence(v, "N6", pcie_source_name(s, a->src),
			"host bridge window %s, which the kernel dropped",
			pcie_range(a->base, a->limit, range));
	}
	if (m->ignored_aperture < 0 && m->cut_window >= 0) {
		pcie_evidence(v, "N6", "kernel log", "%s",
			pcie_line_text(s, s->statement[m->cut_window].line));
	}
	if (m->no_platform >= 0) {
		pcie_evidence(v, "N5", "kernel log", "%s",
			pcie_line_text(s, s->statement[m->no_platform].line));
		g->driver_saw_low = true;
	}
}

static void say_no_aperture(
	const struct pcie_judge *j, struct pcie_verdict *v, enum pcie_confidence sure)
{
	bool need = pcie_needs_high(j);
	const char *headline =
		j->m->ignored_aperture >= 0 || j->m->cut_window >= 0
			? "the firmware names a window above 4 GiB, but the kernel dropped it"
		: need ? "no addresses above 4 GiB for PCI, and this GPU needs them"
		       : "no addresses above 4 GiB for PCI; nothing of this GPU needs them";
	pcie_say(v, "no", sure, need ? PCIE_LEVEL_BAD : PCIE_LEVEL_NOTE, "%s", headline);
}

/* A: addresses above 4 GiB are there for PCI. */
static void judge_aperture(const struct pcie_judge *j, struct pcie_verdict *v)
{
	const struct pcie_machine *m = j->m;
	struct signs g = {0};

	if (m->pc == PCIE_NO) {
		bool high = m->high_aperture >= 0 || m->high_dev[0] >= 0 || m->high_bridge >= 0;
		if (m->pc_stated) {
			pcie_evidence(v, "P1", "architecture", "%s", j->s->host.arch);
		} else {
			pcie_evidence(v, "P1", "host bridge", "not a PC's");
		}
		pcie_say(v, "n-a", m->pc_stated ? PCIE_PROVEN : PCIE_LIKELY, PCIE_LEVEL_NOTE, "%s",
			high ? "not a PC: its host bridges reach above 4 GiB by nature"
			     : "not a PC: there is no such firmware option");
		return;
	}

	collect_high(j, v, &g);
	collect_doubts(j, v, &g);
	if (!g.proven_high && !g.likely_high) {
		collect_low(j, v, &g);
	} else if (m->low_complete) {
		pcie_against(v, "N1", "root bus windows",
			"the complete list of root bus windows ends below 4 GiB");
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
			"the readings contradict each other: they may come from two boots");
		return;
	}

	if (g.proven_high || g.likely_high) {
		enum pcie_confidence sure = g.kernel_made || g.hint ? PCIE_WEAK
					    : g.proven_high && m->pc == PCIE_YES && m->pc_stated
						    ? PCIE_PROVEN
						    : PCIE_LIKELY;
		pcie_say(v, "yes", sure, PCIE_LEVEL_GOOD, "PCI has addresses above 4 GiB%s",
			g.kernel_made ? ", but the kernel may have made the room itself" : "");
	} else if (g.all_low) {
		bool plain = m->pc_stated && m->nocrs == PCIE_NO && m->ignored_aperture < 0 &&
			     m->cut_window < 0;
		say_no_aperture(j, v, plain ? PCIE_PROVEN : PCIE_LIKELY);
	} else if (g.driver_saw_low || m->ignored_aperture >= 0 || m->cut_window >= 0) {
		say_no_aperture(j, v, PCIE_LIKELY);
	} else {
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
			"nothing here tells whether PCI has addresses above 4 GiB");
		if (j->vram_bar && j->vram_bar->is64) {
			pcie_against(v, "F1", "BAR type",
				"a 64-bit BAR could be placed above 4 GiB; it does not show that there "
				"is room");
		}
		/* The advice on a failed BAR asks for the same. */
		if (j->cause != PCIE_CAUSE_UNKNOWN || !pcie_has_failed(j)) {
			pcie_advise(v, "run it on the machine as root, or add the boot log (root "
				       "bus resource lines) or /proc/iomem with --with FILE");
		}
	}
	if (v->level == PCIE_LEVEL_BAD) {
		pcie_advise_cause(j, v);
	}
}

const struct pcie_rule pcie_rule_aperture = {
	.id = "above4g.aperture",
	.title = "are there addresses above 4 GiB for PCI",
	.answers = "yes no unknown n-a",
	.decides = true,
	.judge = judge_aperture,
};

/* A management controller has small BARs only: each is known, and each is low. */
static bool all_low(const struct pcie_judge *j, struct pcie_verdict *v)
{
	char text[PCIE_BAR_TEXT_MAX];
	const struct pcie_bar *last = NULL;

	for (int i = 0; i < PCIE_BAR_SLOTS; i++) {
		const struct pcie_bar_finding *f = &j->slot[i];
		if (f->state == PCIE_BAR_NOTHING) {
			continue;
		}
		if (f->state != PCIE_BAR_PLACED || !f->bar || f->bar->have != PCIE_KNOWN ||
			!f->bar->has_base || pcie_bar_is_high(f->bar)) {
			return false;
		}
		last = f->bar;
	}
	if (last) {
		pcie_evidence(v, "N3", pcie_source_name(j->s, last->src), "%s",
			pcie_bar_text(j->d, last, text));
	}
	return last && j->kind != PCIE_GPU_DISCRETE;
}

/* U: this GPU's VRAM BAR has an address above 4 GiB. */
static void judge_used(const struct pcie_judge *j, struct pcie_verdict *v)
{
	const struct pcie_bar_finding *f = j->vram_bar;
	const struct pcie_bar *b = f ? f->bar : NULL;
	const char *what = pcie_gpu_memory_name(j->kind);
	char text[PCIE_BAR_TEXT_MAX];

	if (f && f->state == PCIE_BAR_PLACED && b && b->have == PCIE_KNOWN && b->has_base &&
		!b->from_register) {
		bool high = b->base >= PCIE_4G;
		bool type_fits = f->is64 || !f->type_known;
		enum pcie_confidence sure = PCIE_LIKELY;
		if (j->vram_bar_sure && f->sure == PCIE_PROVEN && type_fits) {
			sure = PCIE_PROVEN;
		}
		/* Grown, and yet below: what some firmware does without addresses above 4 GiB. */
		bool grown = !high && b->has_size && b->size > 256 * MIB && b->size <= 2 * GIB;
		pcie_evidence(v,
			high    ? "E2"
			: grown ? "N4"
				: "N3",
			pcie_source_name(j->s, b->src), "%s%s", pcie_bar_text(j->d, b, text),
			grown ? "; below 4 GiB it can hardly grow further" : "");
		pcie_say(v, high ? "yes" : "no", sure, high ? PCIE_LEVEL_GOOD : PCIE_LEVEL_NOTE,
			"its %s BAR is %s 4 GiB", what, high ? "above" : "below");
		if (!high && f->is64 && j->m->pc != PCIE_NO) {
			pcie_against(v, "F2", "firmware practice",
				"firmware leaves a small BAR low even when the option is on: this is "
				"no proof of \"off\"");
		}
		if (!high && j->m->legacy_boot == PCIE_YES) {
			pcie_against(v, "F9", "boot mode",
				"started the legacy way: firmware then often keeps graphics low, "
				"whatever the option says");
		}
		if (!high && f->type_known && !f->is64) {
			pcie_against(v, "F1", "BAR type",
				"a 32-bit BAR cannot be placed above 4 GiB at all");
		}
		return;
	}
	if (f && f->state == PCIE_BAR_UNPLACED) {
		pcie_evidence(
			v, "N2", pcie_bar_source(j, f), "%s has no address", pcie_vram_bar_name(j));
		pcie_say(v, "no", j->vram_bar_sure ? f->sure : MIN(f->sure, PCIE_LIKELY),
			PCIE_LEVEL_NOTE, "its %s BAR has no address at all", what);
		return;
	}
	if (f && f->state == PCIE_BAR_PLACED && b && b->reg.have == PCIE_KNOWN && b->reg.base) {
		bool high = b->reg.base >= PCIE_4G;
		pcie_evidence(v, high ? "E2" : "N3", pcie_source_name(j->s, b->reg.src),
			"%s register holds 0x%llx", pcie_vram_bar_name(j),
			(unsigned long long)b->reg.base);
		pcie_say(v, high ? "yes" : "no", PCIE_WEAK,
			high ? PCIE_LEVEL_GOOD : PCIE_LEVEL_NOTE,
			"its %s BAR register points %s 4 GiB; the kernel's view is not known", what,
			high ? "above" : "below");
		return;
	}
	if (is_too_long_for_low(j)) {
		say_length(j, v);
		pcie_say(v, "yes", PCIE_WEAK, PCIE_LEVEL_GOOD,
			"its %s BAR is too large for a place below 4 GiB", what);
		return;
	}
	if (!f && all_low(j, v)) {
		pcie_say(v, "no", PCIE_LIKELY, PCIE_LEVEL_NOTE, "all its BARs are below 4 GiB");
		return;
	}
	if (j->d->config_gone) {
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
			"the device is powered down or off the bus");
		return;
	}
	pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
		"the address of its %s BAR is not known", what);
}

const struct pcie_rule pcie_rule_used = {
	.id = "above4g.used",
	.title = "does this GPU use addresses above 4 GiB",
	.answers = "yes no unknown n-a",
	.decides = true,
	.judge = judge_used,
};

/* S: the setup item. */

static const struct pcie_setup_item *setup_item(const struct pcie_host *h)
{
	for (int i = 0; h->have_setup == PCIE_KNOWN && i < h->nsetup && i < PCIE_SETUP_ITEMS; i++) {
		const char *name = h->setup[i].name;
		if (strcasestr(name, "above 4g") || strcasestr(name, "above4g") ||
			strcasestr(name, "4g decod") || strcasestr(name, "mmio above 4")) {
			return &h->setup[i];
		}
	}
	return NULL;
}

static bool setup_value(const char *value, bool *ret_on)
{
	static const char *const on[] = {"enable", "on", "yes", "auto"};
	static const char *const off[] = {"disable", "off", "no"};
	for (size_t i = 0; i < ARRAY_LEN(off); i++) {
		if (!strncasecmp(value, off[i], strlen(off[i]))) {
			*ret_on = false;
			return true;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(on); i++) {
		if (!strncasecmp(value, on[i], strlen(on[i]))) {
			*ret_on = true;
			return true;
		}
	}
	return false;
}

/*
 * A BAR that the firmware left without an address though the log, which starts at power-on,
 * later shows it placed above 4 GiB: the window is in ACPI, and the firmware did not use it.
 */
static const struct pcie_history *rescued(const struct pcie_judge *j)
{
	if (j->s->log != PCIE_LOG_COMPLETE || j->hotplugged || !j->vram_bar) {
		return NULL;
	}
	const struct pcie_history *h = j->vram_bar->history;
	const struct pcie_bar *b = j->vram_bar->bar;
	if (!h || h->after_driver || !h->nline || !b || !pcie_bar_is_high(b)) {
		return NULL;
	}
	if (h->has_firmware) {
		/* All ones, cut to the BAR's size, are OVMF's way of giving up. */
		return h->firmware_base >> 52 ? h : NULL;
	}
	return strstr(pcie_line_text(j->s, h->line[0]), "[mem 0x00000000-") ? h : NULL;
}

bool pcie_was_rescued(const struct pcie_judge *j)
{
	return j->m->pc != PCIE_NO && j->m->nocrs != PCIE_YES && rescued(j) != NULL;
}

static void judge_setup(const struct pcie_judge *j, struct pcie_verdict *v)
{
	const struct pcie_machine *m = j->m;
	const struct pcie_setup_item *item = setup_item(&j->s->host);
	bool on;

	if (m->pc == PCIE_NO || m->apple) {
		pcie_evidence(v, "P1", m->apple ? "Apple hardware" : "architecture", "%s",
			m->apple       ? "it has no setup screen"
			: m->pc_stated ? j->s->host.arch
				       : "not a PC");
		pcie_say(v, "n-a", m->pc_stated || m->apple ? PCIE_PROVEN : PCIE_LIKELY,
			PCIE_LEVEL_NOTE, "this kind of machine has no such setup item");
		return;
	}
	if (item && item->value == PCIE_KNOWN && setup_value(item->current, &on)) {
		pcie_evidence(v, "E7", "firmware-attributes", "%s = %s", item->name, item->current);
		pcie_say(v, on ? "yes" : "no", PCIE_PROVEN, PCIE_LEVEL_NOTE,
			"the firmware says \"%s\" is %s", item->name, item->current);
		return;
	}
	if (m->guest == PCIE_YES) {
		pcie_evidence(
			v, "F3", j->s->host.virt[0] ? j->s->host.virt : "virtual machine", "guest");
		pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
			"a guest cannot see the host's setup");
		return;
	}
	const struct pcie_history *h = rescued(j);
	if (h && m->nocrs != PCIE_YES) {
		pcie_evidence(v, "N7", "kernel log",
			"%s had no address when the kernel found it, and has 0x%llx now",
			h->resource, (unsigned long long)h->base);
		pcie_say(v, "no", PCIE_WEAK, PCIE_LEVEL_NOTE,
			"the firmware did not place this BAR, the kernel did: the option is off or "
			"the firmware gave up");
		return;
	}
	if (m->high_firmware >= 0) {
		const struct pcie_history *f = &j->s->history[m->high_firmware];
		char addr[PCIE_ADDR_MAX];
		pcie_evidence(v, "E1", "kernel log", "%s %s at 0x%llx as the firmware left it",
			pcie_addr_format(f->addr, addr), f->resource,
			(unsigned long long)f->firmware_base);
		pcie_against(v, "F5", "firmware practice",
			"many servers and laptops always use these addresses and have no option");
		pcie_say(v, "yes", PCIE_LIKELY, PCIE_LEVEL_NOTE,
			"the firmware itself used addresses above 4 GiB");
		return;
	}
	if (m->low_complete && m->high_dev[0] < 0 && m->high_bridge < 0 && m->pc == PCIE_YES &&
		m->nocrs != PCIE_YES && m->ignored_aperture < 0 && m->cut_window < 0) {
		pcie_evidence(v, "N1", "root bus windows", "all of them end below 4 GiB");
		pcie_say(v, "no", m->legacy_boot == PCIE_NO ? PCIE_LIKELY : PCIE_WEAK,
			PCIE_LEVEL_NOTE, "off, or this firmware has no such option");
		return;
	}
	if (item && item->value == PCIE_DENIED) {
		pcie_evidence(v, "E7", "firmware-attributes", "%s is there; its value needs root",
			item->name);
	}
	pcie_say(v, "unknown", PCIE_WEAK, PCIE_LEVEL_UNSURE,
		"the setup item itself is not visible on this machine");
}

const struct pcie_rule pcie_rule_setup = {
	.id = "above4g.setup",
	.title = "is the firmware's \"Above 4G Decoding\" item on",
	.answers = "yes no unknown n-a",
	.decides = false,
	.judge = judge_setup,
};
