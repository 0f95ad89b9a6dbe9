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
	free(p->told);
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

/* Lines for other BARs and none for one whose register is there: what lspci prints of a lost one.
 */
static void note_left_out(struct pcie_device *d, pcie_src src)
{
	bool listed = false;
	for (int i = 0; i < d->nbar; i++) {
		listed = listed || (d->bar[i].have == PCIE_KNOWN && d->bar[i].index >= 0 &&
					   d->bar[i].kind == PCIE_BAR_NORMAL);
	}
	for (int i = 0; i < d->nbar && listed; i++) {
		struct pcie_bar *b = &d->bar[i];
		if (b->kind == PCIE_BAR_NORMAL && b->have == PCIE_UNKNOWN &&
			b->reg.have == PCIE_KNOWN && !b->reg.io) {
			b->have = PCIE_ABSENT;
			b->src = src;
		}
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
	note_left_out(d, p->text_src);
	view_from_registers(d, p->hex_src);
}

/* A list of sizes that was damaged or cut tells no largest size: as if none were shown. */
static void drop_torn_sizes(struct lspci_block *b)
{
	struct pcie_rebar *const list[] = {&b->d.rebar, &b->d.vf_rebar};
	if (!b->torn[0]) {
		return;
	}
	number_from_rebar(&b->d);
	sizes_from_rebar(&b->d);
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		list[i]->sizes_unknown = list[i]->have == PCIE_KNOWN;
		list[i]->count = 0;
		memset(list[i]->entry, 0, sizeof(list[i]->entry));
	}
}

static void note_torn_sizes(struct pcie_lspci *p, int dev)
{
	if (p->b.torn[0]) {
		pcie_snapshot_note(p->s, dev,
			"BAR %d: the list of supported sizes cannot be read at '%s': the largest size "
			"is not known from it",
			p->b.torn_bar, p->b.torn);
	}
}

static struct lspci_told *told(struct pcie_lspci *p, int dev)
{
	if ((size_t)dev >= p->ntold) {
		size_t n = MAX(p->s->capdev, (size_t)dev + 1);
		p->told = xreallocarray(p->told, n, sizeof(*p->told));
		memset(p->told + p->ntold, 0, (n - p->ntold) * sizeof(*p->told));
		p->ntold = n;
	}
	return &p->told[dev];
}

static void note_two_states(struct pcie_lspci *p, int dev)
{
	struct lspci_told *t = told(p, dev);
	if (!t->two) {
		t->two = true;
		pcie_snapshot_note(p->s, dev,
			"the text lists this device in more than one state: the last one counts");
	}
}

/* The bridges above DEV that were listed before it, and not again since, are of its state too. */
static void forget_bridges(struct pcie_lspci *p, int dev)
{
	enum { DEEPEST = 32 };
	unsigned block = told(p, dev)->block;

	for (int i = 0; i < DEEPEST; i++) {
		int up = (int)p->above[p->s->dev[dev].addr.bus] - 1;
		if (up < 0 || up == dev ||
			p->s->dev[up].addr.domain != p->s->dev[dev].addr.domain ||
			told(p, up)->block > block) {
			return;
		}
		struct pcie_device *d = &p->s->dev[up];
		p->above[d->secondary] = 0;
		d->secondary = d->subordinate = 0;
		memset(d->window, 0, sizeof(d->window));
		dev = up;
	}
}

/* The block's device over what was read of it before. */
static void update(struct pcie_lspci *p, int dev)
{
	struct pcie_device *old = &p->s->dev[dev], *new = &p->b.d;

	if (lspci_is_other_state(old, new)) {
		forget_bridges(p, dev);
		lspci_replace(old, new);
		note_two_states(p, dev);
	} else if (pcie_lspci_update(old, new)) {
		note_two_states(p, dev);
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
	drop_torn_sizes(b);
	if (b->orphan) {
		note_torn_sizes(p, -1);
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
	} else {
		update(p, dev);
	}
	note_torn_sizes(p, dev);
	d = &p->s->dev[dev];
	told(p, dev)->block = ++p->blocks;
	if (d->is_bridge && d->secondary) {
		p->above[d->secondary] = (uint32_t)dev + 1;
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
		.line = line, .n = 1 + more, .cut = (l->cut || u.open) && at + n + more == l->n};
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
