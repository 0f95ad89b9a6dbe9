/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two snapshots of one machine: the truth rules of docs/ARCHITECTURE.md. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pcie/cmdline_option.h"
#include "pcie/gpu_kind.h"
#include "pcie/merge_int.h"
#include "pcie/smi.h"
#include "pcie/witness.h"

enum { NO_LOG = 255 }; /* no source has this number */

struct merge {
	struct pcie_snapshot *into;
	const struct pcie_snapshot *from;
	pcie_src source[256]; /* of FROM, in INTO */
	pcie_src log;         /* the log's number in INTO */
	int *dev;             /* of FROM, in INTO; -1: not there */
	bool *nobodys;        /* of FROM: a driver's words about one of several GPUs of INTO */
	bool whole;           /* INTO knows every device and BAR there is: a live machine, a tree */
	bool stale;           /* FROM's log is of another boot */
};

static void map_sources(struct merge *m)
{
	m->log = NO_LOG;
	for (size_t i = 1; i < m->from->nsource; i++) {
		m->source[i] = pcie_snapshot_source(m->into, m->from->source[i]);
		if (!strcmp(m->from->source[i], PCIE_SOURCE_LOG)) {
			m->log = m->source[i];
		}
	}
}

/*
 * A GPU without an address is the only one of its kind with one, when a BAR of the two has
 * the same address.
 */
static int find_by_bars(const struct pcie_snapshot *s, const struct pcie_device *d)
{
	int found = -1;
	for (size_t i = 0; i < s->ndev && !d->is_bridge; i++) {
		bool same = false;
		for (int a = 0; a < d->nbar; a++) {
			for (int b = 0; b < s->dev[i].nbar; b++) {
				const struct pcie_bar *x = &d->bar[a], *y = &s->dev[i].bar[b];
				same = same ||
				       (x->has_base && y->has_base && x->base == y->base &&
					       !x->io && !y->io && x->kind == PCIE_BAR_NORMAL &&
					       y->kind == PCIE_BAR_NORMAL);
			}
		}
		if (same && found >= 0) {
			return -1;
		}
		found = same ? (int)i : found;
	}
	return found;
}

/*
 * What a GPU driver's line without an address is about: the GPU that the driver has, else the only
 * one of its maker. -1: there is none in S, or, with *RET_MANY, more than one.
 */
static int find_by_driver(
	const struct pcie_snapshot *s, const struct pcie_device *d, bool *ret_many)
{
	uint16_t vendor = d->addr.known || d->is_bridge ? 0 : pcie_driver_vendor(d->driver);
	int found = -1;
	*ret_many = false;
	for (int pass = 0; pass < 2 && vendor && found < 0; pass++) {
		for (size_t i = 0; i < s->ndev; i++) {
			const struct pcie_device *o = &s->dev[i];
			bool driven = o->have_driver == PCIE_KNOWN &&
				      pcie_driver_vendor(o->driver) == vendor;
			bool other = d->device && o->device && d->device != o->device;
			if (!pcie_device_is_gpu(o) || other ||
				(pass == 0 ? !driven : pcie_device_vendor(o) != vendor)) {
				continue;
			}
			if (found >= 0) {
				*ret_many = true;
				return -1;
			}
			found = (int)i;
		}
	}
	return found;
}

/* For a handful of devices without an address; more are not searched for. */
enum { MAX_NAMELESS = 16 };

static void map_devices(struct merge *m)
{
	int nameless = 0;
	m->dev = xcalloc(m->from->ndev, sizeof(*m->dev));
	m->nobodys = xcalloc(m->from->ndev, sizeof(*m->nobodys));
	for (size_t i = 0; i < m->from->ndev; i++) {
		const struct pcie_device *d = &m->from->dev[i];
		m->dev[i] = pcie_snapshot_find(m->into, d->addr);
		if (!d->addr.known && nameless++ < MAX_NAMELESS) {
			m->dev[i] = find_by_bars(m->into, d);
			if (m->dev[i] < 0) {
				m->dev[i] = find_by_driver(m->into, d, &m->nobodys[i]);
			}
		}
	}
	for (size_t i = 0; i < m->into->ndev; i++) {
		m->whole = m->whole || m->into->dev[i].bars_complete;
	}
}

/* FROM's device I as a copy with INTO's sources, and numbers for the BARs of both. */
static void prepare(struct merge *m, size_t i, struct pcie_device *ret)
{
	*ret = m->from->dev[i];
	merge_remap_sources(ret, m->source);
	if (m->dev[i] >= 0) {
		merge_number_bars(&m->into->dev[m->dev[i]], ret);
		merge_number_bars(ret, &m->into->dev[m->dev[i]]);
	}
}

static void note_contradiction(struct merge *m, int dev, const struct pcie_bar *b)
{
	pcie_snapshot_note(m->into, dev,
		"the log and the listing differ in BAR %d: the log is of another boot or another "
		"moment, only its history is kept",
		b->index);
}

/* The devices that both know. On a whole machine one contradiction makes the log stale for all. */
static bool *find_stale(struct merge *m)
{
	bool *stale = xcalloc(m->from->ndev, sizeof(*stale));
	for (size_t i = 0; i < m->from->ndev; i++) {
		if (m->dev[i] < 0) {
			continue;
		}
		struct pcie_device from;
		prepare(m, i, &from);
		int bar = merge_contradiction(&m->into->dev[m->dev[i]], &from, m->log);
		if (bar >= 0) {
			stale[i] = m->stale = true;
			note_contradiction(m, m->dev[i], &from.bar[bar]);
		}
	}
	for (size_t i = 0; i < m->from->ndev && m->stale && m->whole; i++) {
		stale[i] = true;
	}
	return stale;
}

/* nvidia-smi's BAR1 in D, of which only the length is known. */
static struct pcie_bar *find_bar1(const struct pcie_snapshot *names, struct pcie_device *d)
{
	for (int i = 0; i < d->nbar; i++) {
		struct pcie_bar *b = &d->bar[i];
		if (b->kind == PCIE_BAR_NORMAL && b->index < 0 && b->have == PCIE_KNOWN &&
			b->has_size && !b->has_base && !b->is64_known &&
			!strcmp(names->source[b->src], PCIE_SOURCE_SMI)) {
			return b;
		}
	}
	return NULL;
}

/* One witness has nvidia-smi's BAR1, the other the BAR itself, which counts. */
static void compare_bar1(struct merge *m, int dev, struct pcie_device *from)
{
	struct pcie_device *into = &m->into->dev[dev], *by = into;
	struct pcie_bar *said = find_bar1(m->into, from);
	if (!said) {
		said = find_bar1(m->into, into);
		by = from;
	}
	int i = said && !into->mig && !from->mig ? pcie_device_vram_bar(by) : -1;
	const struct pcie_bar *is = i >= 0 ? &by->bar[i] : NULL;
	if (is && is->have == PCIE_KNOWN && is->has_size && is->src != said->src &&
		is->size != said->size) {
		pcie_smi_note_bar1(m->into, dev, said->size, is->size);
		said->have = PCIE_UNKNOWN;
	}
}

static void merge_devices(struct merge *m)
{
	bool *stale = find_stale(m);
	size_t strange = 0;

	for (size_t i = 0; i < m->from->ndev; i++) {
		struct pcie_device from;
		prepare(m, i, &from);
		if (m->dev[i] >= 0) {
			compare_bar1(m, m->dev[i], &from);
			merge_device(&m->into->dev[m->dev[i]], &from, m->log, stale[i]);
			continue;
		}
		if (m->nobodys[i]) {
			pcie_snapshot_note(m->into, -1,
				"what %s says of a GPU without its address may be about any of several: it "
				"is left out",
				from.driver);
			continue;
		}
		if (m->whole) {
			strange += from.addr.known;
			continue;
		}
		struct pcie_device *d = pcie_snapshot_add(m->into, from.addr);
		*d = from;
		d->parent = d->physfn = -1;
		m->dev[i] = (int)m->into->ndev - 1;
	}
	if (strange > 0) {
		pcie_snapshot_note(m->into, -1,
			"%s names %zu device%s that this machine does not have", m->from->origin,
			strange, strange == 1 ? "" : "s");
	}
	free(stale);
}

static bool has_aperture(const struct pcie_snapshot *s, const struct pcie_aperture *a)
{
	for (size_t i = 0; i < s->naperture; i++) {
		if (s->aperture[i].base == a->base && s->aperture[i].limit == a->limit &&
			s->aperture[i].io == a->io && !strcmp(s->aperture[i].root, a->root)) {
			return true;
		}
	}
	return false;
}

static void merge_apertures(struct merge *m)
{
	if (m->stale && m->whole) {
		return; /* another boot may have had another setup */
	}
	for (size_t i = 0; i < m->from->naperture; i++) {
		struct pcie_aperture a = m->from->aperture[i];
		a.src = m->source[a.src];
		if (!has_aperture(m->into, &a)) {
			*pcie_snapshot_add_aperture(m->into) = a;
		}
	}
	m->into->apertures_complete = m->into->apertures_complete || m->from->apertures_complete;
}

static int map_dev(const struct merge *m, int dev)
{
	return dev >= 0 && (size_t)dev < m->from->ndev ? m->dev[dev] : -1;
}

static void merge_log(struct merge *m)
{
	struct pcie_snapshot *s = m->into;
	uint32_t first = (uint32_t)s->nline;

	for (size_t i = 0; i < m->from->nline; i++) {
		s->line = xgrow(s->line, s->nline, &s->capline, sizeof(*s->line));
		s->line[s->nline++] = xstrdup(m->from->line[i]);
	}
	for (size_t i = 0; i < m->from->nhistory; i++) {
		struct pcie_history h = m->from->history[i];
		uint32_t *line = xcalloc(h.nline, sizeof(*line));
		for (uint32_t k = 0; k < h.nline; k++) {
			line[k] = h.line[k] + first;
		}
		h.line = line;
		h.cap = h.nline;
		h.dev = map_dev(m, h.dev);
		s->history = xgrow(s->history, s->nhistory, &s->caphistory, sizeof(*s->history));
		s->history[s->nhistory++] = h;
	}
	for (size_t i = 0; i < m->from->nstatement; i++) {
		struct pcie_statement st = m->from->statement[i];
		st.line += first;
		st.dev = map_dev(m, st.dev);
		if (st.dev >= 0 && !st.addr.known) {
			st.addr = s->dev[st.dev].addr;
		}
		s->statement =
			xgrow(s->statement, s->nstatement, &s->capstatement, sizeof(*s->statement));
		s->statement[s->nstatement++] = st;
	}
	s->log = MAX(s->log, m->from->log);
	s->boots = MAX(s->boots, m->from->boots);
}

static void merge_host(struct merge *m)
{
	struct pcie_host *a = &m->into->host;
	const struct pcie_host *b = &m->from->host;
	bool stale = m->stale && m->whole;

#define TAKE(fact, member)                                                                         \
	if (a->fact == PCIE_UNKNOWN && b->fact != PCIE_UNKNOWN) {                                  \
		a->fact = b->fact;                                                                 \
		memcpy(&a->member, &b->member, sizeof(a->member));                                 \
	}
	if (!stale) {
		TAKE(have_kernel, kernel)
		if (a->have_efi == PCIE_UNKNOWN) {
			a->efi_src = m->source[b->efi_src];
		}
		TAKE(have_efi, efi)
		TAKE(have_cmdline, cmdline)
	}
	TAKE(have_arch, arch)
	TAKE(have_phys_bits, phys_bits)
	TAKE(have_rebar_uefi, rebar_uefi)
	TAKE(have_firmware_time, firmware_ns)
#undef TAKE
	if (a->have_dmi == PCIE_UNKNOWN && b->have_dmi != PCIE_UNKNOWN) {
		a->have_dmi = b->have_dmi;
		memcpy(a->bios_vendor, b->bios_vendor, sizeof(a->bios_vendor));
		memcpy(a->bios_version, b->bios_version, sizeof(a->bios_version));
		memcpy(a->bios_date, b->bios_date, sizeof(a->bios_date));
		memcpy(a->board, b->board, sizeof(a->board));
		memcpy(a->sys_vendor, b->sys_vendor, sizeof(a->sys_vendor));
		memcpy(a->product, b->product, sizeof(a->product));
	}
	if (a->have_virtual == PCIE_UNKNOWN && b->have_virtual != PCIE_UNKNOWN) {
		a->have_virtual = b->have_virtual;
		a->is_virtual = b->is_virtual;
		memcpy(a->virt, b->virt, sizeof(a->virt));
	}
	if (a->have_setup == PCIE_UNKNOWN && b->have_setup != PCIE_UNKNOWN) {
		a->have_setup = b->have_setup;
		a->nsetup = b->nsetup;
		memcpy(a->setup, b->setup, sizeof(a->setup));
	}
}

static void merge_iomem(struct merge *m)
{
	struct pcie_snapshot *s = m->into;
	if (s->have_iomem == PCIE_KNOWN || m->from->have_iomem == PCIE_UNKNOWN) {
		return;
	}
	s->have_iomem = m->from->have_iomem;
	for (size_t i = 0; i < m->from->niomem; i++) {
		s->iomem = xgrow(s->iomem, s->niomem, &s->capiomem, sizeof(*s->iomem));
		s->iomem[s->niomem++] = m->from->iomem[i];
	}
}

static void merge_notes(struct merge *m)
{
	for (size_t i = 0; i < m->from->nnote; i++) {
		pcie_snapshot_note(
			m->into, map_dev(m, m->from->note[i].dev), "%s", m->from->note[i].text);
	}
}

int pcie_merge(struct pcie_snapshot *into, const struct pcie_snapshot *from)
{
	struct merge m = {.into = into, .from = from};

	map_sources(&m);
	map_devices(&m);
	merge_devices(&m);
	merge_apertures(&m);
	merge_log(&m);
	merge_host(&m);
	if (!m.whole && m.log != NO_LOG) {
		pcie_cmdline_options(into, m.log);
	}
	merge_iomem(&m);
	merge_notes(&m);
	free(m.dev);
	free(m.nobodys);
	pcie_snapshot_settle(into);
	return m.stale ? -ESTALE : 0;
}
