/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/judge.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pcie/gpu_kind.h"
#include "pcie/rebar.h"

const char *pcie_source_name(const struct pcie_snapshot *s, pcie_src src)
{
	return src < s->nsource ? s->source[src] : "?";
}

const char *pcie_bar_source(const struct pcie_judge *j, const struct pcie_bar_finding *f)
{
	if (f->bar) {
		return pcie_source_name(j->s, f->bar->src);
	}
	return f->named ? pcie_source_name(j->s, j->d->rebar.src) : "kernel log";
}

bool pcie_bar_is_high(const struct pcie_bar *b)
{
	return b->have == PCIE_KNOWN && !b->io && b->assigned == PCIE_YES && b->has_base &&
	       b->base >= PCIE_4G;
}

const struct pcie_window *pcie_pref_window(const struct pcie_device *d)
{
	const struct pcie_window *w = &d->window[PCIE_WINDOW_PREF];
	return w->have == PCIE_KNOWN ? w : NULL;
}

/*
 * BAR by BAR. The kernel's view decides whether there is an address; the register view
 * says whether a BAR that the kernel does not list exists at all.
 */

static const struct pcie_history *bar_history(const struct pcie_judge *j, int index)
{
	for (size_t i = 0; i < j->s->nhistory; i++) {
		const struct pcie_history *h = &j->s->history[i];
		if (h->dev == j->dev && h->bar == index && !h->vf && !h->window && !h->io) {
			return h;
		}
	}
	return NULL;
}

static bool ended_badly(const struct pcie_history *h)
{
	return h && (h->final == PCIE_FINAL_FAILED || h->final == PCIE_FINAL_NO_SPACE ||
			    h->final == PCIE_FINAL_CANT_CLAIM);
}

/* The register has a type or an address, and it is memory. */
static bool register_is_memory(const struct pcie_bar *b)
{
	return b->reg.have == PCIE_KNOWN && !b->reg.io &&
	       (b->reg.is64 || b->reg.prefetchable || b->reg.base);
}

static void find_kernel_view(
	const struct pcie_judge *j, const struct pcie_bar *b, struct pcie_bar_finding *f)
{
	f->type_known = b->is64_known || j->d->bars_complete;
	f->is64 = b->is64;
	f->prefetchable = b->prefetchable;
	f->has_size = b->has_size;
	f->size = b->size;
	switch (b->assigned) {
	case PCIE_YES:
		f->state = PCIE_BAR_PLACED;
		f->sure = j->d->bars_complete ? PCIE_PROVEN
			  : b->from_register  ? PCIE_WEAK
					      : PCIE_LIKELY;
		break;
	case PCIE_NO:
		f->state = PCIE_BAR_UNPLACED;
		/* A cut log may lack the line that gave it a place; "<unassigned>" is also how
		 * lspci -b prints bus address 0. */
		f->sure =
			j->d->bars_complete || b->ignored ||
					(ended_badly(f->history) && j->s->log == PCIE_LOG_COMPLETE)
				? PCIE_PROVEN
				: PCIE_LIKELY;
		break;
	case PCIE_TRI_UNKNOWN:
		f->state = PCIE_BAR_OPEN;
		break;
	}
}

static void find_register_view(
	const struct pcie_judge *j, const struct pcie_bar *b, struct pcie_bar_finding *f)
{
	f->is64 = b->reg.is64;
	f->prefetchable = b->reg.prefetchable;
	f->type_known = true;
	if (b->enhanced || j->d->is_vf == PCIE_YES || j->d->config_gone) {
		f->state = PCIE_BAR_OPEN;
	} else if (b->have == PCIE_ABSENT) {
		f->state = PCIE_BAR_UNPLACED;
		f->wiped = true;
		f->sure = j->d->bars_complete && b->reg.is64 ? PCIE_PROVEN : PCIE_LIKELY;
	} else if (b->reg.base && b->reg.base < PCIE_ADDRESS_LIMIT) {
		f->state = PCIE_BAR_PLACED;
		f->sure = PCIE_WEAK;
	} else {
		f->state = PCIE_BAR_OPEN;
	}
}

static struct pcie_bar_finding find_bar(
	const struct pcie_judge *j, const struct pcie_bar *b, const struct pcie_history *h)
{
	struct pcie_bar_finding f = {.bar = b, .history = h};

	if (b && b->have == PCIE_KNOWN) {
		if (b->io) {
			f.occupied = true;
			return f;
		}
		find_kernel_view(j, b, &f);
	} else if (b && register_is_memory(b)) {
		find_register_view(j, b, &f);
	} else if (b && (b->have == PCIE_UNKNOWN || b->have == PCIE_DENIED) &&
		   b->reg.have != PCIE_KNOWN && b->reg.have != PCIE_ABSENT) {
		f.state = PCIE_BAR_OPEN;
	} else if (!b && ended_badly(h)) {
		f.state = PCIE_BAR_UNPLACED;
		f.sure = PCIE_LIKELY;
		f.is64 = h->is64;
		f.prefetchable = h->prefetchable;
		f.type_known = true;
	}
	/* What the log last said of a BAR's size is a try; only a BAR without one takes it. */
	if (f.state == PCIE_BAR_UNPLACED && !f.has_size && h && h->has_size) {
		f.has_size = true;
		f.size = h->size;
	}
	return f;
}

/* Slot I holds the upper half of the 64-bit BAR before it. */
static bool is_upper_half(const struct pcie_device *d, int i)
{
	const struct pcie_bar *below = i ? pcie_device_find_bar(d, PCIE_BAR_NORMAL, i - 1) : NULL;
	if (!below) {
		return false;
	}
	return below->have == PCIE_KNOWN ? below->is64 && !below->io
					 : below->reg.have == PCIE_KNOWN && below->reg.is64;
}

/*
 * A BAR that the ReBAR list names, from a listing that has lines for other BARs and none for it:
 * what lspci prints of one that failed. A list from elsewhere leaves it open.
 */
static void find_named_bars(struct pcie_judge *j)
{
	const struct pcie_rebar *r = &j->d->rebar;
	bool listed = false;

	for (int i = 0; i < j->d->nbar; i++) {
		const struct pcie_bar *b = &j->d->bar[i];
		listed = listed || (b->kind == PCIE_BAR_NORMAL && b->have == PCIE_KNOWN &&
					   b->index >= 0 && b->src == r->src);
	}
	if (r->have != PCIE_KNOWN || !listed || j->d->bars_complete || j->nloose ||
		j->d->config_bytes >= 64 || j->d->config_gone || j->d->is_vf == PCIE_YES) {
		return;
	}
	for (int i = 0; i < r->count && i < PCIE_REBAR_ENTRIES; i++) {
		const struct pcie_rebar_entry *e = &r->entry[i];
		struct pcie_bar_finding *f = e->bar < PCIE_BAR_SLOTS ? &j->slot[e->bar] : NULL;
		if (!f || f->bar || f->occupied || f->state != PCIE_BAR_NOTHING || !e->supported) {
			continue;
		}
		bool placed = f->history && f->history->final == PCIE_FINAL_ASSIGNED;
		bool large = pcie_rebar_largest(e->supported) >= PCIE_4G;
		*f = (struct pcie_bar_finding){
			.state = placed ? PCIE_BAR_OPEN : PCIE_BAR_UNPLACED,
			.sure = PCIE_LIKELY,
			.history = f->history,
			.is64 = large,
			.prefetchable = large,
			.named = true,
			.has_size = e->has_current,
			.size = e->has_current ? e->current : 0,
		};
	}
}

static void find_bars(struct pcie_judge *j)
{
	const struct pcie_device *d = j->d;
	bool both = d->bars_complete && d->config_bytes >= 64 && !d->config_gone;

	for (int i = 0; i < PCIE_BAR_SLOTS; i++) {
		const struct pcie_bar *b = pcie_device_find_bar(d, PCIE_BAR_NORMAL, i);
		if ((!b || b->have != PCIE_KNOWN) && is_upper_half(d, i)) {
			j->slot[i].occupied = true;
			continue;
		}
		j->slot[i] = find_bar(j, b, bar_history(j, i));
		if (b && (b->have == PCIE_UNKNOWN || b->have == PCIE_DENIED ||
				 b->reg.have == PCIE_UNKNOWN || b->reg.have == PCIE_DENIED)) {
			both = false;
		}
	}
	for (int i = 0; i < d->nbar && j->nloose < PCIE_BAR_SLOTS; i++) {
		const struct pcie_bar *b = &d->bar[i];
		if (b->kind == PCIE_BAR_NORMAL && b->index < 0) {
			j->loose[j->nloose++] = find_bar(j, b, NULL);
			both = false;
		}
	}
	j->all_slots_seen = both;
	find_named_bars(j);
}

/* Whether SUPPORTED has more than one size in it. */
static bool has_choice(uint64_t supported)
{
	return supported & (supported - 1);
}

/* No other BAR of the list can grow as large as E's. */
static bool outgrows_others(const struct pcie_judge *j, const struct pcie_rebar_entry *e)
{
	const struct pcie_rebar *r = &j->d->rebar;
	for (int i = 0; i < r->count && i < PCIE_REBAR_ENTRIES; i++) {
		if (&r->entry[i] != e && r->entry[i].supported >= e->supported) {
			return false;
		}
	}
	return true;
}

/* True when no other BAR of the device could be the one that maps VRAM. */
static bool is_only_candidate(const struct pcie_judge *j, const struct pcie_bar_finding *f)
{
	bool list_seen = j->d->rebar.have == PCIE_KNOWN || j->d->rebar.have == PCIE_ABSENT;
	if (!j->all_slots_seen || !f->has_size || !list_seen) {
		return false;
	}
	for (int i = 0; i < PCIE_BAR_SLOTS; i++) {
		const struct pcie_bar_finding *o = &j->slot[i];
		if (o != f && o->state != PCIE_BAR_NOTHING && o->prefetchable &&
			(!o->has_size || o->size >= f->size)) {
			return false;
		}
	}
	return true;
}

/* No BAR is shown at all, but the ReBAR list names one that grows large. */
static void find_listed_bar(struct pcie_judge *j)
{
	const struct pcie_rebar *r = &j->d->rebar;
	uint64_t best = 0;
	for (int i = 0; r->have == PCIE_KNOWN && i < r->count && i < PCIE_REBAR_ENTRIES; i++) {
		const struct pcie_rebar_entry *e = &r->entry[i];
		if (e->bar < PCIE_BAR_SLOTS && e->has_current && has_choice(e->supported) &&
			e->supported > best) {
			best = e->supported;
			j->vram_index = e->bar;
			j->vram_bar = &j->slot[e->bar];
			j->slot[e->bar] = (struct pcie_bar_finding){.state = PCIE_BAR_OPEN,
				.is64 = true,
				.prefetchable = true,
				.has_size = true,
				.size = e->current};
		}
	}
}

/*
 * What is shown of a discrete card cannot be the BAR of its VRAM: those of PCI Express cards are
 * 64-bit, prefetchable and no smaller than 64 MiB, and NVIDIA's BAR 0 has the registers.
 */
static bool is_too_small(const struct pcie_judge *j, const struct pcie_bar *b)
{
	return b->kind == PCIE_BAR_NORMAL && b->have == PCIE_KNOWN && b->is64_known &&
	       b->has_size && b->is64 && b->prefetchable && b->size < 64 * MIB &&
	       !pcie_rebar_main(j->d);
}

/* Cards whose VRAM BAR is always there. */
static bool has_vram_bar(const struct pcie_judge *j)
{
	return j->kind == PCIE_GPU_DISCRETE && !j->coherent &&
	       (j->vendor == 0x10de || j->vendor == 0x1002 || j->vendor == 0x8086);
}

static void find_vram_bar(struct pcie_judge *j)
{
	int at = pcie_device_vram_bar(j->d);
	const struct pcie_bar *b = at >= 0 ? &j->d->bar[at] : NULL;
	const struct pcie_rebar_entry *named = pcie_rebar_main(j->d);
	j->vram_index = -1;

	if (b && has_vram_bar(j) && is_too_small(j, b)) {
		b = NULL;
	}
	if (!b && named && named->bar < PCIE_BAR_SLOTS && j->slot[named->bar].named) {
		j->vram_bar = &j->slot[named->bar];
		j->vram_index = named->bar;
	}

	for (int i = 0; b && i < PCIE_BAR_SLOTS; i++) {
		if (j->slot[i].bar == b) {
			j->vram_bar = &j->slot[i];
			j->vram_index = i;
		}
	}
	for (unsigned i = 0; b && i < j->nloose; i++) {
		if (j->loose[i].bar == b) {
			j->vram_bar = &j->loose[i];
		}
	}
	/* Known from the log only: the largest 64-bit prefetchable one that it names. */
	for (int i = 0; i < PCIE_BAR_SLOTS && !j->vram_bar; i++) {
		if (j->slot[i].state == PCIE_BAR_UNPLACED && j->slot[i].is64 &&
			j->slot[i].prefetchable) {
			j->vram_bar = &j->slot[i];
			j->vram_index = i;
		}
	}
	if (!j->vram_bar) {
		find_listed_bar(j);
	}
	if (!j->vram_bar || j->vram_bar->state == PCIE_BAR_NOTHING) {
		j->vram_bar = NULL;
		j->vram_bar_missing = has_vram_bar(j) && j->d->nbar > 0;
		return;
	}
	const struct pcie_rebar_entry *e = pcie_rebar_entry(j->d, j->vram_index);
	j->vram_bar_sure = (e && has_choice(e->supported) && outgrows_others(j, e)) ||
			   is_only_candidate(j, j->vram_bar);
	j->has_len = j->vram_bar->has_size;
	j->len = j->vram_bar->size;
	if (!j->has_len && e && e->has_current) {
		j->has_len = true;
		j->len = e->current;
	}
}

static void find_vram(struct pcie_judge *j)
{
	const struct pcie_vram *v = &j->d->vram;

	if (v->have == PCIE_KNOWN && v->bytes && !j->d->mig) {
		j->has_vram = true;
		j->vram = v->bytes;
		j->vram_sure = PCIE_PROVEN;
		text_copy(j->vram_what, sizeof(j->vram_what), v->what[0] ? v->what : "VRAM size");
	} else if (!j->coherent && pcie_vram_in_name(j->d->name, &j->vram)) {
		j->has_vram = true;
		j->vram_sure = PCIE_LIKELY;
		text_copy(j->vram_what, sizeof(j->vram_what), "the card's name");
	}
}

static void find_rebar(struct pcie_judge *j)
{
	const struct pcie_device *d = j->d;

	j->rebar = d->rebar.have;
	if (d->rebar.have != PCIE_KNOWN || d->rebar.sizes_unknown) {
		return;
	}
	const struct pcie_rebar_entry *e = pcie_rebar_entry(d, j->vram_index);
	if (!pcie_rebar_supported(d, e)) {
		return;
	}
	j->entry = e;
	j->supported = pcie_rebar_supported(d, e);
	j->one_size = !has_choice(j->supported);
	j->min_size = pcie_rebar_smallest(j->supported);
	j->max_size = pcie_rebar_largest(j->supported);
}

bool pcie_resize_in_history(const struct pcie_judge *j, const struct pcie_history *h)
{
	if (!h || !h->after_driver) {
		return false;
	}
	bool released = false, refused = false;
	for (uint32_t i = 0; i < h->nline; i++) {
		const char *line = pcie_line_text(j->s, h->line[i]);
		released = released || strstr(line, "releasing");
		refused = refused || (released && (strstr(line, "no space") ||
							  strstr(line, "failed to assign")));
	}
	return refused;
}

static bool concerns(const struct pcie_judge *j, const struct pcie_statement *t, unsigned gpus)
{
	if (t->dev >= 0) {
		return t->dev == j->dev;
	}
	/* NVRM lines and the like often name no device: they mean the only one there is. */
	return !t->addr.known && gpus == 1 && j->kind == PCIE_GPU_DISCRETE;
}

static void find_statements(struct pcie_judge *j)
{
	unsigned gpus = 0;
	for (size_t i = 0; j->s->nstatement && i < j->s->ndev; i++) {
		gpus += pcie_device_is_gpu(&j->s->dev[i]) &&
			pcie_device_kind(j->s, (int)i) == PCIE_GPU_DISCRETE;
	}
	for (size_t i = 0; i < j->s->nstatement; i++) {
		const struct pcie_statement *t = &j->s->statement[i];
		if (!concerns(j, t, gpus)) {
			continue;
		}
		switch (t->kind) {
		case PCIE_SAID_RESIZE_FAILED:
			/* "BAR resizing failed" sums up the line that has the size. */
			j->tried = j->tried && j->tried->value && !t->value ? j->tried : t;
			j->resized = NULL;
			break;
		case PCIE_SAID_RESIZED:
			j->resized = t;
			j->tried = NULL;
			break;
		case PCIE_SAID_NO_PLATFORM:
			j->no_platform = t;
			break;
		case PCIE_SAID_INVALID_REGION:
			j->invalid = t;
			break;
		case PCIE_SAID_PROBE_FAILED:
			if (t->value == 12 || t->value == 22) {
				j->broken = t;
			}
			break;
		case PCIE_SAID_CANT_ENABLE:
			j->broken = t;
			break;
		case PCIE_SAID_FELL_OFF:
			j->fell_off = t;
			break;
		case PCIE_SAID_CANT_RESERVE:
			j->reserved = t;
			break;
		default:
			break;
		}
	}
	j->tried_in_log =
		!j->resized && j->vram_bar && pcie_resize_in_history(j, j->vram_bar->history);
}

bool pcie_on_path(const struct pcie_judge *j, int dev)
{
	for (unsigned i = 0; i < j->npath; i++) {
		if (j->path[i] == dev) {
			return true;
		}
	}
	return false;
}

/* Where the tree is not known to the root: bridges by the windows that hold the VRAM BAR. */
static void find_path_by_range(struct pcie_judge *j)
{
	const struct pcie_bar *b = j->vram_bar ? j->vram_bar->bar : NULL;
	int top = j->npath ? j->path[j->npath - 1] : j->dev;
	int up[PCIE_PATH_MAX];

	if (pcie_is_at_root(j->s, top) || !b || b->have != PCIE_KNOWN || !b->has_base) {
		return;
	}
	uint64_t limit = b->base + (b->has_size && b->size ? b->size - 1 : 0);
	int n = pcie_path_by_range(j->s, j->dev, b->base, limit, up);
	for (int i = 0; i < n && j->npath < PCIE_PATH_MAX; i++) {
		j->path[j->npath++] = up[i];
	}
}

static int buses_behind(const struct pcie_snapshot *s, int bridge)
{
	return s->dev[bridge].subordinate - s->dev[bridge].secondary;
}

/* Bridges whose buses take in the topmost one's, where those between are not shown. */
static void find_path_by_bus(struct pcie_judge *j)
{
	const struct pcie_snapshot *s = j->s;
	int top = j->npath ? j->path[j->npath - 1] : j->dev;
	struct pcie_addr a = s->dev[top].addr;
	unsigned first = j->npath;

	if (!a.known || pcie_is_at_root(s, top)) {
		return;
	}
	for (size_t i = 0; i < s->ndev && j->npath < PCIE_PATH_MAX; i++) {
		const struct pcie_device *b = &s->dev[i];
		if (!b->is_bridge || !b->secondary || b->secondary > a.bus ||
			b->subordinate < a.bus || !b->addr.known || b->addr.domain != a.domain ||
			pcie_on_path(j, (int)i)) {
			continue;
		}
		/* The fewer buses behind it, the nearer it is. */
		unsigned at = j->npath++;
		for (; at > first && buses_behind(s, j->path[at - 1]) > buses_behind(s, (int)i);
			at--) {
			j->path[at] = j->path[at - 1];
		}
		j->path[at] = (int)i;
	}
}

static void find_path(struct pcie_judge *j)
{
	const struct pcie_snapshot *s = j->s;
	int down[PCIE_PATH_MAX];
	int n = pcie_path(s, j->dev, down);

	for (int i = n - 1; i >= 0; i--) {
		j->path[j->npath++] = down[i];
	}
	find_path_by_range(j);
	find_path_by_bus(j);
	j->hotplugged = j->d->removable;
	for (unsigned i = 0; i < j->npath; i++) {
		const struct pcie_device *p = &s->dev[j->path[i]];
		j->hotplugged = j->hotplugged || p->removable || strstr(p->name, "Thunderbolt");
	}
	if (pcie_slot_device(s, j->dev) != j->dev) {
		j->ncard = 2;
	}
}

void pcie_judge_init(struct pcie_judge *ret, const struct pcie_snapshot *s,
	const struct pcie_machine *m, int dev)
{
	*ret = (struct pcie_judge){
		.s = s,
		.m = m,
		.dev = dev,
		.d = &s->dev[dev],
		.kind = pcie_device_kind(s, dev),
		.coherent = pcie_device_is_coherent(&s->dev[dev]),
		.vendor = pcie_device_vendor(&s->dev[dev]),
	};
	find_bars(ret);
	find_vram_bar(ret);
	find_vram(ret);
	find_rebar(ret);
	find_statements(ret);
	find_path(ret);
}
