/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/lspci.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pcie/lspci_int.h"

/* A text of nothing but pieces cannot be joined to devices; more than these are not kept. */
enum { MAX_ORPHANS = 64 };

struct pcie_lspci *pcie_lspci_create(struct pcie_snapshot *into)
{
	struct pcie_lspci *p = xcalloc(1, sizeof(*p));
	p->s = into;
	return p;
}

void pcie_lspci_destroy(struct pcie_lspci *p)
{
	if (!p) {
		return;
	}
	free(p->noted);
	free(p->orphan);
	free(p);
}

int lspci_hex(const char *s, uint64_t *ret, const char **ret_end)
{
	uint64_t v = 0;
	int n = 0;
	for (int d; n < 16 && (d = pcie_hex_digit(s[n])) >= 0; n++) {
		v = v << 4 | (uint64_t)d;
	}
	*ret = v;
	*ret_end = s + n;
	return n;
}

void lspci_squeeze(struct lspci_squeezed *q, const char *s)
{
	static const uint8_t blank[256] = {[' '] = 1, ['\t'] = 1};
	size_t room = sizeof(q->s) - 1 - q->len, len = strnlen(s, room), left = 0;
	char *to = q->s + q->len;

	for (size_t i = 0; i < len; i++) {
		to[i - left] = s[i];
		left += blank[(unsigned char)s[i]];
	}
	q->len += len - left;
	q->s[q->len] = '\0';
}

/* Later states. */

static bool same_kind(const struct pcie_bar *a, const struct pcie_bar *b)
{
	return a->kind == b->kind && a->index == b->index && a->io == b->io;
}

static bool bar_differs(const struct pcie_bar *a, const struct pcie_bar *b)
{
	if (a->kind != PCIE_BAR_NORMAL || a->io) {
		return false;
	}
	if (a->assigned && b->assigned && a->assigned != b->assigned) {
		return true;
	}
	return (a->has_base && b->has_base && a->base != b->base) ||
	       (a->has_size && b->has_size && a->size != b->size);
}

/* The BARs of NEW for those of OLD; a size that NEW leaves out stays what it was. */
static bool update_bars(struct pcie_device *old, const struct pcie_device *new)
{
	struct pcie_bar was[PCIE_BARS];
	int nwas = old->nbar;
	bool differ = false;

	memcpy(was, old->bar, sizeof(was));
	memcpy(old->bar, new->bar, sizeof(old->bar));
	old->nbar = new->nbar;
	for (int i = 0, at = 0; i < old->nbar; i++) {
		struct pcie_bar *b = &old->bar[i];
		int k = b->index < 0 ? at : 0;
		while (k < nwas && !same_kind(&was[k], b)) {
			k++;
		}
		if (k == nwas) {
			continue;
		}
		at = k + 1;
		differ = differ || bar_differs(&was[k], b);
		bool same_type = was[k].is64 == b->is64 && was[k].prefetchable == b->prefetchable;
		if (b->have == PCIE_KNOWN && !b->has_size && was[k].has_size && same_type) {
			b->has_size = true;
			b->size = was[k].size;
		}
		if (b->reg.have == PCIE_UNKNOWN) {
			b->reg = was[k].reg;
		}
	}
	return differ;
}

static void update_rebar(struct pcie_rebar *old, const struct pcie_rebar *new)
{
	bool weaker = (new->have != PCIE_KNOWN && old->have == PCIE_KNOWN && !old->sizes_unknown) ||
		      (new->have == PCIE_KNOWN &&new->sizes_unknown && old->count > 0);
	if (new->have != PCIE_UNKNOWN && !weaker) {
		*old = *new;
	}
}

static void update_windows(struct pcie_device *old, const struct pcie_device *new)
{
	if (!new->is_bridge) {
		return;
	}
	old->is_bridge = true;
	if (new->secondary || new->subordinate) {
		old->secondary = new->secondary;
		old->subordinate = new->subordinate;
	}
	for (int i = 0; i < PCIE_WINDOWS; i++) {
		if (new->window[i].have != PCIE_UNKNOWN) {
			struct pcie_window w = new->window[i];
			w.reg = old->window[i].reg;
			old->window[i] = w;
		}
	}
}

static void update_identity(struct pcie_device *old, const struct pcie_device *new)
{
	if (new->have_ids == PCIE_KNOWN) {
		old->have_ids = PCIE_KNOWN;
		old->ids_src = new->ids_src;
		old->vendor = new->vendor ? new->vendor : old->vendor;
		old->device = new->device ? new->device : old->device;
	}
	if (new->have_subsystem == PCIE_KNOWN) {
		old->have_subsystem = PCIE_KNOWN;
		old->subvendor = new->subvendor ? new->subvendor : old->subvendor;
		old->subdevice = new->subdevice ? new->subdevice : old->subdevice;
	}
	bool finer = !new->class_no_progif || old->class_no_progif;
	if (new->have_class == PCIE_KNOWN &&
		(old->have_class != PCIE_KNOWN || finer ||
			old->class_code >> 8 != new->class_code >> 8)) {
		old->have_class = PCIE_KNOWN;
		old->class_code = new->class_code;
		old->class_no_progif = new->class_no_progif;
	}
	if (new->name[0]) {
		memcpy(old->name, new->name, sizeof(old->name));
	}
	if (new->revision) {
		old->revision = new->revision;
	}
	if (new->port_type != PCIE_PORT_NONE) {
		old->port_type = new->port_type;
	}
}

static void update_environment(struct pcie_device *old, const struct pcie_device *new)
{
	if (new->link.have == PCIE_KNOWN) {
		old->link = new->link;
	}
	if (new->have_driver != PCIE_UNKNOWN) {
		old->have_driver = new->have_driver;
		old->driver_src = new->driver_src;
		memcpy(old->driver, new->driver, sizeof(old->driver));
	}
	if (new->have_numa == PCIE_KNOWN) {
		old->have_numa = PCIE_KNOWN;
		old->numa = new->numa;
	}
	if (new->have_iommu == PCIE_KNOWN) {
		old->have_iommu = PCIE_KNOWN;
		old->iommu_group = new->iommu_group;
	}
	if (new->sriov_total) {
		old->sriov_total = new->sriov_total;
		old->sriov_num = new->sriov_num;
	}
	if (new->power[0]) {
		memcpy(old->power, new->power, sizeof(old->power));
		old->power_src = new->power_src;
	}
	if (new->mem_enable) {
		old->io_enable = new->io_enable;
		old->mem_enable = new->mem_enable;
	}
	if (new->bus_master) {
		old->bus_master = new->bus_master;
	}
	old->hotplug_slot = old->hotplug_slot || new->hotplug_slot;
}

bool pcie_lspci_update(struct pcie_device *old, const struct pcie_device *new)
{
	bool differ = false;

	update_identity(old, new);
	update_windows(old, new);
	update_rebar(&old->rebar, &new->rebar);
	update_rebar(&old->vf_rebar, &new->vf_rebar);
	update_environment(old, new);
	if (new->capabilities != PCIE_UNKNOWN &&
		(old->capabilities != PCIE_KNOWN || new->capabilities != PCIE_DENIED)) {
		old->capabilities = new->capabilities;
		old->ext_capabilities = new->ext_capabilities;
	}
	if (new->config != PCIE_UNKNOWN && old->config != PCIE_KNOWN) {
		old->config = new->config;
	}
	/* A plain listing and an excerpt of capabilities say nothing about BARs. */
	bool looked = new->nbar > 0 || new->mem_enable || new->bus_master;
	if (looked && !(new->config_gone &&new->nbar == 0)) {
		differ = update_bars(old, new);
		old->config_gone = new->config_gone;
	} else if (new->config_gone) {
		old->config_gone = true;
	}
	return differ;
}

/* Blocks. */

void lspci_open(struct pcie_lspci *p, struct pcie_addr addr, bool orphan)
{
	lspci_close(p, false);
	p->text_src = p->text_src ? p->text_src : pcie_snapshot_source(p->s, "lspci");
	p->b = (struct lspci_block){
		.open = true,
		.orphan = orphan,
		.last_region = -1,
		.d = {.addr = addr, .parent = -1, .physfn = -1, .numa = -1},
	};
	p->nhex = 0;
	p->hex_broken = false;
}

/* What the list of capabilities proves, now that the block is whole. */
static void judge_capabilities(struct lspci_block *b)
{
	struct pcie_device *d = &b->d;
	enum pcie_fact rebar = PCIE_UNKNOWN;

	if (b->denied) {
		d->config = d->capabilities = d->ext_capabilities = rebar = PCIE_DENIED;
	} else if (b->no_cap_list) {
		d->capabilities = d->ext_capabilities = rebar = PCIE_ABSENT;
	} else if (b->ncap > 0 && b->caps_ended && b->verbose && !b->elided && !d->config_gone) {
		d->capabilities = PCIE_KNOWN;
		/*
		 * Nearly every PCI Express device has extended capabilities. A list without any
		 * rather means that nobody could read them (no MMCONFIG, a guest).
		 */
		if (b->next_cap > 0 || !b->express) {
			d->ext_capabilities = PCIE_KNOWN;
			rebar = PCIE_ABSENT;
		}
	}
	if (d->rebar.have == PCIE_UNKNOWN) {
		d->rebar.have = rebar;
	}
	if (d->vf_rebar.have == PCIE_UNKNOWN) {
		d->vf_rebar.have = rebar;
	}
}

/* A BAR that has an address and no length: the ReBAR control register has the length. */
static void sizes_from_rebar(struct pcie_device *d)
{
	for (int e = 0; e < d->rebar.count && d->rebar.have == PCIE_KNOWN; e++) {
		const struct pcie_rebar_entry *entry = &d->rebar.entry[e];
		for (int i = 0; i < d->nbar; i++) {
			struct pcie_bar *b = &d->bar[i];
			if (b->kind == PCIE_BAR_NORMAL && b->index == entry->bar &&
				b->assigned == PCIE_YES && !b->has_size && entry->has_current) {
				b->has_size = true;
				b->size = entry->current;
			}
		}
	}
}

/* A BAR that still has no number: the ReBAR list may name one of this size, and only one. */
static void number_from_rebar(struct pcie_device *d)
{
	for (int i = 0; i < d->nbar && d->rebar.have == PCIE_KNOWN; i++) {
		struct pcie_bar *b = &d->bar[i];
		if (b->kind != PCIE_BAR_NORMAL || b->index >= 0 || !b->has_size || b->io) {
			continue;
		}
		int found = -1, n = 0;
		for (int e = 0; e < d->rebar.count; e++) {
			const struct pcie_rebar_entry *entry = &d->rebar.entry[e];
			const struct pcie_bar *of =
				pcie_device_find_bar(d, PCIE_BAR_NORMAL, entry->bar);
			if (entry->current == b->size && !(of && of->have == PCIE_KNOWN)) {
				found = entry->bar;
				n++;
			}
		}
		if (n != 1) {
			continue;
		}
		for (int k = 0; k < d->nbar; k++) { /* the register's slot goes into this one */
			if (k != i && d->bar[k].kind == PCIE_BAR_NORMAL &&
				d->bar[k].index == found) {
				b->reg = d->bar[k].reg;
				d->bar[k].reg.have = PCIE_UNKNOWN;
				d->bar[k].index = -1;
			}
		}
		b->index = (int8_t)found;
	}
}

/* Registers in place of a listing that has no lines for BARs or windows. */
static void view_from_registers(struct pcie_device *d, pcie_src src)
{
	bool any = false;
	for (int i = 0; i < d->nbar; i++) {
		any = any || d->bar[i].have == PCIE_KNOWN;
	}
	for (int i = 0; i < d->nbar && !any; i++) {
		struct pcie_bar *b = &d->bar[i];
		if (b->kind != PCIE_BAR_NORMAL || b->reg.have != PCIE_KNOWN) {
			continue;
		}
		b->have = PCIE_KNOWN;
		b->from_register = true;
		b->src = src;
		b->io = b->reg.io;
		b->is64 = b->reg.is64;
		b->prefetchable = b->reg.prefetchable;
		b->is64_known = true;
		b->has_base = b->reg.base != 0;
		b->base = b->reg.base;
		b->assigned = b->reg.base ? PCIE_YES : PCIE_TRI_UNKNOWN;
	}
	for (int i = 0; i < PCIE_WINDOWS && d->is_bridge; i++) {
		struct pcie_window *w = &d->window[i];
		if (w->have == PCIE_UNKNOWN && w->reg.have != PCIE_UNKNOWN) {
			w->have = w->reg.have;
			w->from_register = true;
			w->src = src;
			w->is64 = w->reg.is64;
			w->base = w->reg.base;
			w->limit = w->reg.limit;
		}
	}
}

/* Bytes beat the text for what capabilities hold; where the rows end, the text's word stands. */
static void decode_rows(struct pcie_lspci *p, int dev)
{
	struct pcie_device *d = &p->s->dev[dev];
	const struct pcie_rebar rebar = d->rebar, vf_rebar = d->vf_rebar;
	enum pcie_fact caps = d->capabilities, ext = d->ext_capabilities, config = d->config;

	p->hex_src = p->hex_src ? p->hex_src : pcie_snapshot_source(p->s, "lspci hex rows");
	d->capabilities = d->ext_capabilities = PCIE_UNKNOWN;
	d->rebar = d->vf_rebar = (struct pcie_rebar){.have = PCIE_UNKNOWN};
	pcie_config_decode(p->s, dev, p->hex, p->nhex, p->hex_src);
	d = &p->s->dev[dev];
	d->capabilities = d->capabilities == PCIE_UNKNOWN ? caps : d->capabilities;
	d->ext_capabilities = d->ext_capabilities == PCIE_UNKNOWN ? ext : d->ext_capabilities;
	d->rebar = d->rebar.have == PCIE_UNKNOWN ? rebar : d->rebar;
	d->vf_rebar = d->vf_rebar.have == PCIE_UNKNOWN ? vf_rebar : d->vf_rebar;
	if (config == PCIE_DENIED && p->nhex == PCIE_CONFIG_HEADER) {
		d->config = PCIE_DENIED;
	}
	view_from_registers(d, p->hex_src);
}

static void note_two_states(struct pcie_lspci *p, int dev)
{
	if ((size_t)dev >= p->nnoted) {
		size_t n = MAX(p->s->capdev, (size_t)dev + 1);
		p->noted = xreallocarray(p->noted, n, sizeof(*p->noted));
		memset(p->noted + p->nnoted, 0, (n - p->nnoted) * sizeof(*p->noted));
		p->nnoted = n;
	}
	if (!p->noted[dev]) {
		p->noted[dev] = true;
		pcie_snapshot_note(p->s, dev,
			"the text lists this device in more than one state: the last one counts");
	}
}

void lspci_close(struct pcie_lspci *p, bool cut)
{
	struct lspci_block *b = &p->b;
	struct pcie_device *d = &b->d;

	if (!b->open) {
		return;
	}
	b->open = false;
	b->caps_ended = b->caps_ended || !cut;
	judge_capabilities(b);
	if (p->nhex >= PCIE_CONFIG_HEADER) {
		lspci_number_bars(d, p->hex, p->nhex);
	}
	if (b->orphan) {
		if (p->norphan < MAX_ORPHANS && (d->nbar || d->is_bridge || d->rebar.have)) {
			sizes_from_rebar(d);
			p->orphan = xgrow(p->orphan, p->norphan, &p->caporphan, sizeof(*d));
			p->orphan[p->norphan++] = *d;
		}
		return;
	}

	int dev = pcie_snapshot_find(p->s, d->addr);
	if (dev < 0) {
		pcie_snapshot_add(p->s, d->addr);
		dev = (int)p->s->ndev - 1;
		p->s->dev[dev] = *d;
	} else if (pcie_lspci_update(&p->s->dev[dev], d)) {
		note_two_states(p, dev);
	}
	if (p->nhex > 0) {
		decode_rows(p, dev);
	}
	number_from_rebar(&p->s->dev[dev]);
	sizes_from_rebar(&p->s->dev[dev]);
}

void pcie_lspci_end(struct pcie_lspci *p, bool cut)
{
	lspci_close(p, cut);
	p->about.known = false;
	p->blank = false;
	p->fold_known = false;
}

void pcie_lspci_blank(struct pcie_lspci *p)
{
	p->blank = true;
	p->b.caps_ended = p->b.caps_ended || p->b.ncap > 0;
}

void pcie_lspci_about(struct pcie_lspci *p, struct pcie_addr addr)
{
	lspci_close(p, false);
	p->about = addr;
}

const struct pcie_device *pcie_lspci_orphans(const struct pcie_lspci *p, size_t *ret_n)
{
	*ret_n = p->norphan;
	return p->orphan;
}

/* Dispatch. */

bool pcie_lspci_is_start(const char *s, size_t len)
{
	s = pcie_skip(s);
	return lspci_is_header(s, len, false) || lspci_is_hex_row(s) || lspci_word(s) != WORD_NONE;
}

static size_t take_logical(struct pcie_lspci *p, const struct pcie_lines *l, size_t at)
{
	const char *s = pcie_skip(l->line[at].s);
	size_t n;

	if (pcie_hex_digit(*s) >= 0 && s[0] && s[1] && s[2]) {
		if (lspci_take_hex_row(p, s)) {
			p->blank = false;
			return 1;
		}
		n = lspci_take_header(p, l, at);
		if (n) {
			p->blank = false;
			return n;
		}
	}

	enum lspci_word word = lspci_word(s);
	if (word == WORD_NONE) {
		n = lspci_take_header(p, l, at); /* one that lost its address */
		p->blank = p->blank && !n;
		return n;
	}
	if (word == WORD_ELISION || word == WORD_DETAIL) {
		p->b.elided = p->b.elided || (word == WORD_ELISION && !p->blank);
		return p->b.open ? 1 : 0;
	}
	if (!p->b.open) {
		lspci_open(p, p->about, !p->about.known);
	}
	p->blank = false;
	return lspci_take_property(p, word, l, at);
}

/*
 * A line of a narrow column, put together first. One that was broken anywhere is whole then;
 * the column between words may be a guess, and the rest is looked for as everywhere.
 */
static size_t take_folded(struct pcie_lspci *p, const struct pcie_lines *l, size_t at)
{
	struct lspci_unfolded u;
	struct pcie_line line[LSPCI_PIECES + 2];
	size_t n = lspci_unfold(l, at, p->fold, &u);
	if (n == 0) {
		return 0;
	}
	size_t more = p->fold.anywhere ? 0 : MIN(ARRAY_LEN(line) - 1, l->n - at - n);
	line[0] = l->line[at];
	line[0].s = u.s;
	line[0].len = u.len;
	memcpy(line + 1, l->line + at + n, more * sizeof(*line));
	const struct pcie_lines some = {
		.line = line, .n = 1 + more, .cut = l->cut && at + n + more == l->n};
	size_t taken = take_logical(p, &some, 0);
	return taken ? n + taken - 1 : 0;
}

size_t pcie_lspci_take(struct pcie_lspci *p, const struct pcie_lines *l, size_t at)
{
	const char *s = pcie_skip(l->line[at].s);

	if (!p->fold_known && (lspci_starts_with_address(s) || lspci_word(s) != WORD_NONE)) {
		p->fold = lspci_find_fold(l, at);
		p->fold_known = true;
	}
	size_t n = p->fold_known && p->fold.column ? take_folded(p, l, at) : 0;
	return n ? n : take_logical(p, l, at);
}
