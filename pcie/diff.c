/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/diff.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pcie/diff_match.h"
#include "pcie/path.h"
#include "pcie/verdict.h"

static struct pcie_change *add(struct pcie_changes *c, enum pcie_tri worse, const char *what)
{
	c->change = xgrow(c->change, c->n, &c->cap, sizeof(*c->change));
	struct pcie_change *x = &c->change[c->n++];
	*x = (struct pcie_change){.worse = worse};
	text_copy(x->what, sizeof(x->what), what);
	return x;
}

static void add_text(struct pcie_changes *c, enum pcie_tri worse, const char *what,
	const char *before, const char *after)
{
	struct pcie_change *x = add(c, worse, what);
	text_copy(x->before, sizeof(x->before), before);
	text_copy(x->after, sizeof(x->after), after);
}

/* Both known and different. */
static void compare_text(
	struct pcie_changes *c, const char *what, bool known, const char *a, const char *b)
{
	if (known && strcmp(a, b)) {
		add_text(c, PCIE_TRI_UNKNOWN, what, a, b);
	}
}

static bool both(enum pcie_fact a, enum pcie_fact b)
{
	return a == PCIE_KNOWN && b == PCIE_KNOWN;
}

static enum pcie_tri less_is_worse(uint64_t before, uint64_t after)
{
	return after < before ? PCIE_YES : PCIE_NO;
}

static void diff_host(struct pcie_changes *c, const struct pcie_host *a, const struct pcie_host *b)
{
	bool dmi = both(a->have_dmi, b->have_dmi);
	compare_text(c, "kernel", both(a->have_kernel, b->have_kernel), a->kernel, b->kernel);
	compare_text(
		c, "command line", both(a->have_cmdline, b->have_cmdline), a->cmdline, b->cmdline);
	compare_text(c, "BIOS version", dmi, a->bios_version, b->bios_version);
	compare_text(c, "BIOS date", dmi, a->bios_date, b->bios_date);
	compare_text(c, "board", dmi, a->board, b->board);
	compare_text(c, "boot", both(a->have_efi, b->have_efi), a->efi ? "UEFI" : "legacy",
		b->efi ? "UEFI" : "legacy");
	if (both(a->have_phys_bits, b->have_phys_bits) && a->phys_bits != b->phys_bits) {
		struct pcie_change *x =
			add(c, less_is_worse(a->phys_bits, b->phys_bits), "physical address bits");
		snprintf(x->before, sizeof(x->before), "%u", a->phys_bits);
		snprintf(x->after, sizeof(x->after), "%u", b->phys_bits);
	}
	for (int i = 0; both(a->have_setup, b->have_setup) && i < a->nsetup; i++) {
		for (int k = 0; k < b->nsetup; k++) {
			const struct pcie_setup_item *x = &a->setup[i], *y = &b->setup[k];
			if (!strcmp(x->name, y->name)) {
				compare_text(c, x->name, both(x->value, y->value), x->current,
					y->current);
			}
		}
	}
}

/* The largest memory aperture of each side above 4 GiB, and how many rows there are. */
static void diff_apertures(
	struct pcie_changes *c, const struct pcie_snapshot *a, const struct pcie_snapshot *b)
{
	const struct pcie_snapshot *side[2] = {a, b};
	char text[2][96] = {"", ""};
	uint64_t bytes[2] = {0, 0};

	if (!a->naperture || !b->naperture) {
		return;
	}
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < side[k]->naperture; i++) {
			const struct pcie_aperture *p = &side[k]->aperture[i];
			if (!p->io && !p->ignored && p->base >> 32 &&
				p->limit - p->base + 1 > bytes[k]) {
				bytes[k] = p->limit - p->base + 1;
				snprintf(text[k], sizeof(text[k]), "0x%" PRIx64 "-0x%" PRIx64,
					p->base, p->limit);
			}
		}
		if (!bytes[k]) {
			text_copy(text[k], sizeof(text[k]), "none");
		}
	}
	if (strcmp(text[0], text[1])) {
		enum pcie_tri worse =
			bytes[0] == bytes[1] ? PCIE_TRI_UNKNOWN : less_is_worse(bytes[0], bytes[1]);
		add_text(c, worse, "aperture above 4 GiB", text[0], text[1]);
	}
}

static void bar_words(const struct pcie_bar *b, char *buf, size_t size)
{
	char len[TEXT_SIZE_MAX] = "unknown size";
	if (b->have == PCIE_KNOWN && b->has_size) {
		text_size(b->size, len);
	}
	if (b->have == PCIE_KNOWN && b->has_base) {
		snprintf(buf, size, "%s at 0x%" PRIx64, len, b->base);
	} else {
		snprintf(buf, size, "no address");
	}
}

/* 1: has an address, 0: has none, -1: not known. */
static int placed(const struct pcie_bar *b)
{
	if (!b || b->have == PCIE_UNKNOWN || b->have == PCIE_DENIED) {
		return -1;
	}
	if (b->have == PCIE_ABSENT) {
		return 0;
	}
	return b->assigned == PCIE_YES ? 1 : b->assigned == PCIE_NO ? 0 : -1;
}

static bool is_placed_memory(const struct pcie_bar *b)
{
	return b->kind == PCIE_BAR_NORMAL && b->have == PCIE_KNOWN && !b->io && placed(b) == 1;
}

/* A listing prints all that have an address: what it leaves out is worth a word. */
static bool lists_bars(const struct pcie_snapshot *s, const struct pcie_device *d)
{
	for (int i = 0; i < d->nbar; i++) {
		if (is_placed_memory(&d->bar[i]) && !strcmp(s->source[d->bar[i].src], "lspci")) {
			return true;
		}
	}
	return false;
}

static bool has_entry(const struct pcie_rebar *r, int bar)
{
	for (int i = 0; r->have == PCIE_KNOWN && i < r->count; i++) {
		if (r->entry[i].bar == bar) {
			return true;
		}
	}
	return false;
}

/*
 * BARs of X that no one of Y, in SIDE's text, was matched with. Y's text is silent about them;
 * only a capability that names such a BAR shows that it is there and has no address.
 */
static void diff_unlisted(struct pcie_changes *c, const struct pcie_device *x, const bool *x_found,
	const struct pcie_device *y, const bool *y_found, char side)
{
	bool maybe = false;
	for (int i = 0; i < y->nbar; i++) {
		maybe |= !y_found[i] && is_placed_memory(&y->bar[i]);
	}
	for (int i = 0; i < x->nbar; i++) {
		const struct pcie_bar *b = &x->bar[i];
		if (x_found[i] || !is_placed_memory(b) || (maybe && b->index < 0)) {
			continue;
		}
		bool named = b->index >= 0 && has_entry(&y->rebar, b->index);
		char what[24], words[96], not_there[96];
		snprintf(what, sizeof(what), b->index >= 0 ? "BAR %d" : "BAR", b->index);
		bar_words(b, words, sizeof(words));
		snprintf(not_there, sizeof(not_there),
			named ? "no line in %c's text, though its Resizable BAR capability has it"
			      : "not in %c's text",
			side);
		bool gone = side == 'B';
		enum pcie_tri worse = !named ? PCIE_TRI_UNKNOWN : gone ? PCIE_YES : PCIE_NO;
		add_text(c, worse, what, gone ? words : not_there, gone ? not_there : words);
	}
}

static void diff_bars(struct pcie_changes *c, const struct pcie_snapshot *sa,
	const struct pcie_device *a, const struct pcie_snapshot *sb, const struct pcie_device *b)
{
	static const char *const kind[] = {"BAR", "ROM", "VF BAR"};
	static const struct pcie_bar none = {.have = PCIE_ABSENT, .index = -1};
	bool had[PCIE_BARS] = {false}, taken[PCIE_BARS] = {false};
	int to[PCIE_BARS];

	pcie_diff_match_bars(a, b, to);
	for (int i = 0; i < a->nbar; i++) {
		had[i] = to[i] != PCIE_DIFF_NOT_SAID;
		if (to[i] >= 0) {
			taken[to[i]] = true;
		}
	}
	if (lists_bars(sb, b)) {
		diff_unlisted(c, a, had, b, taken, 'B');
	}
	if (lists_bars(sa, a)) {
		diff_unlisted(c, b, taken, a, had, 'A');
	}
	for (int i = 0; i < a->nbar; i++) {
		const struct pcie_bar *x = &a->bar[i];
		const struct pcie_bar *y = to[i] >= 0                     ? &b->bar[to[i]]
					   : to[i] == PCIE_DIFF_NOT_THERE ? &none
									  : NULL;
		int index = x->index < 0 && y ? y->index : x->index;
		int was = placed(x), is = placed(y);
		if (was < 0 || is < 0 || x->kind == PCIE_BAR_ROM) {
			continue;
		}
		bool moved = was && is && x->has_base && y->has_base && x->base != y->base;
		bool resized = was && is && x->has_size && y->has_size && x->size != y->size;
		if (was == is && !moved && !resized) {
			continue;
		}
		char what[24], before[96], after[96];
		snprintf(what, sizeof(what), index >= 0 ? "%s %d" : "%s", kind[x->kind], index);
		bar_words(x, before, sizeof(before));
		bar_words(y, after, sizeof(after));
		enum pcie_tri worse = was != is ? (was ? PCIE_YES : PCIE_NO)
				      : resized ? less_is_worse(x->size, y->size)
						: PCIE_TRI_UNKNOWN;
		/* An I/O BAR that is missing is nobody's loss. */
		add_text(c, x->io || y->io ? PCIE_TRI_UNKNOWN : worse, what, before, after);
	}
}

static void diff_windows(
	struct pcie_changes *c, const struct pcie_device *a, const struct pcie_device *b)
{
	static const char *const kind[] = {"I/O window", "memory window", "prefetchable window"};
	for (int k = PCIE_WINDOW_MEM; k < PCIE_WINDOWS; k++) {
		const struct pcie_window *x = &a->window[k], *y = &b->window[k];
		char before[96], after[96], size[TEXT_SIZE_MAX];
		if (!both(x->have, y->have) || x->unassigned || y->unassigned ||
			(x->base == y->base && x->limit == y->limit)) {
			continue;
		}
		snprintf(before, sizeof(before), "%s at 0x%" PRIx64,
			text_size(x->limit - x->base + 1, size), x->base);
		snprintf(after, sizeof(after), "%s at 0x%" PRIx64,
			text_size(y->limit - y->base + 1, size), y->base);
		add_text(c, PCIE_TRI_UNKNOWN, kind[k], before, after);
	}
}

static void diff_rebar(
	struct pcie_changes *c, const struct pcie_device *a, const struct pcie_device *b)
{
	bool was = a->rebar.have == PCIE_KNOWN, is = b->rebar.have == PCIE_KNOWN;
	if ((was && b->rebar.have == PCIE_ABSENT) || (is && a->rebar.have == PCIE_ABSENT)) {
		add_text(c, was ? PCIE_YES : PCIE_NO, "Resizable BAR capability",
			was ? "there" : "not there", is ? "there" : "not there");
		return;
	}
	for (int i = 0; was && is && i < a->rebar.count; i++) {
		for (int k = 0; k < b->rebar.count; k++) {
			const struct pcie_rebar_entry *x = &a->rebar.entry[i];
			const struct pcie_rebar_entry *y = &b->rebar.entry[k];
			if (x->bar != y->bar || x->supported == y->supported) {
				continue;
			}
			struct pcie_change *n =
				add(c, less_is_worse(x->supported, y->supported), "");
			snprintf(n->what, sizeof(n->what), "BAR %u sizes offered", x->bar);
			snprintf(n->before, sizeof(n->before), "0x%" PRIx64, x->supported);
			snprintf(n->after, sizeof(n->after), "0x%" PRIx64, y->supported);
		}
	}
}

static void diff_link(struct pcie_changes *c, const struct pcie_link *x, const struct pcie_link *y)
{
	if (!both(x->have, y->have)) {
		return;
	}
	/* The present speed follows the load; width and what the ends can do do not. */
	if (x->width && y->width && x->width != y->width) {
		struct pcie_change *n = add(c, less_is_worse(x->width, y->width), "link width");
		snprintf(n->before, sizeof(n->before), "x%u", x->width);
		snprintf(n->after, sizeof(n->after), "x%u", y->width);
	}
	if (x->max_speed && y->max_speed && x->max_speed != y->max_speed) {
		struct pcie_change *n =
			add(c, less_is_worse(x->max_speed, y->max_speed), "link's highest speed");
		snprintf(n->before, sizeof(n->before), "%u.%u GT/s", x->max_speed / 10u,
			x->max_speed % 10u);
		snprintf(n->after, sizeof(n->after), "%u.%u GT/s", y->max_speed / 10u,
			y->max_speed % 10u);
	}
}

static void diff_driver(
	struct pcie_changes *c, const struct pcie_device *a, const struct pcie_device *b)
{
	bool was = a->have_driver == PCIE_KNOWN, is = b->have_driver == PCIE_KNOWN;
	bool known_a = was || a->have_driver == PCIE_ABSENT;
	bool known_b = is || b->have_driver == PCIE_ABSENT;
	const char *x = was ? a->driver : "none", *y = is ? b->driver : "none";
	if (known_a && known_b && strcmp(x, y)) {
		enum pcie_tri worse = was && !is   ? PCIE_YES
				      : !was && is ? PCIE_NO
						   : PCIE_TRI_UNKNOWN;
		add_text(c, worse, "driver", x, y);
	}
	for (int i = 0; i < a->noption && i < PCIE_OPTIONS; i++) {
		for (int k = 0; k < b->noption && k < PCIE_OPTIONS; k++) {
			if (!strcmp(a->option[i].name, b->option[k].name)) {
				compare_text(c, a->option[i].name, true, a->option[i].value,
					b->option[k].value);
			}
		}
	}
}

static void diff_others(
	struct pcie_changes *c, const struct pcie_device *a, const struct pcie_device *b)
{
	char before[32], after[32];

	if (!pcie_diff_same_board(a, b)) {
		snprintf(before, sizeof(before), "%04x:%04x", a->subvendor, a->subdevice);
		snprintf(after, sizeof(after), "%04x:%04x", b->subvendor, b->subdevice);
		add_text(c, PCIE_TRI_UNKNOWN, "another board", before, after);
	}
	compare_text(c, "VBIOS", a->vbios[0] && b->vbios[0], a->vbios, b->vbios);
	if (both(a->have_numa, b->have_numa) && a->numa != b->numa) {
		snprintf(before, sizeof(before), "%d", a->numa);
		snprintf(after, sizeof(after), "%d", b->numa);
		add_text(c, PCIE_TRI_UNKNOWN, "NUMA node", before, after);
	}
	if (both(a->vram.have, b->vram.have) && a->vram.bytes != b->vram.bytes) {
		struct pcie_change *n = add(c, less_is_worse(a->vram.bytes, b->vram.bytes), "VRAM");
		char size[TEXT_SIZE_MAX];
		text_copy(n->before, sizeof(n->before), text_size(a->vram.bytes, size));
		text_copy(n->after, sizeof(n->after), text_size(b->vram.bytes, size));
	}
	if (a->config_gone != b->config_gone && a->config_bytes && b->config_bytes) {
		add_text(c, b->config_gone ? PCIE_YES : PCIE_NO, "config space",
			a->config_gone ? "all ones (gone or asleep)" : "readable",
			b->config_gone ? "all ones (gone or asleep)" : "readable");
	}
}

/*
 * A verdict's answer counts by its level; one that is not known on a side is no change. SAME_PATH:
 * both sides know the same bridges above; if not, an answer about the slot rests on other ends.
 */
static void diff_verdicts(
	struct pcie_changes *c, const struct pcie_gpu *a, const struct pcie_gpu *b, bool same_path)
{
	for (size_t i = 0; i < b->nverdict; i++) {
		const struct pcie_verdict *y = &b->verdict[i];
		const struct pcie_verdict *x = pcie_gpu_find(a, y->rule->id);
		if (!x || !strcmp(x->answer, y->answer) || !strcmp(x->answer, "unknown") ||
			!strcmp(y->answer, "unknown") ||
			(!same_path && !strcmp(y->rule->id, "link"))) {
			continue;
		}
		bool was_bad = x->level == PCIE_LEVEL_BAD, is_bad = y->level == PCIE_LEVEL_BAD;
		enum pcie_tri worse = was_bad == is_bad ? PCIE_TRI_UNKNOWN
				      : is_bad          ? PCIE_YES
							: PCIE_NO;
		add_text(c, worse, y->rule->id, x->answer, y->answer);
	}
}

static const struct pcie_gpu *gpu_of(const struct pcie_verdicts *v, int dev)
{
	for (size_t i = 0; i < v->ngpu; i++) {
		if (v->gpu[i].dev == dev) {
			return &v->gpu[i];
		}
	}
	return NULL;
}

/* Its address differs: other bus numbers alone are a move as well. */
static bool has_moved(const struct pcie_device *a, const struct pcie_device *b)
{
	return a->addr.known && b->addr.known && pcie_addr_compare(a->addr, b->addr);
}

static void add_pair(struct pcie_diff *d, struct pcie_pair *p)
{
	if (!p->changes.n && !p->moved) {
		return;
	}
	d->pair = xgrow(d->pair, d->npair, &d->cappair, sizeof(*d->pair));
	d->pair[d->npair++] = *p;
}

/* An excerpt leaves out the bridges above: the paths then have other lengths. */
static bool same_path(
	const struct pcie_snapshot *a, int x, const struct pcie_snapshot *b, int y, bool all)
{
	int path[PCIE_PATH_MAX];
	return all || pcie_path(a, x, path) == pcie_path(b, y, path);
}

/*
 * Nothing of A's device I is in B. That is a loss when B lists all, or has something else at
 * that address; FOUND: what each of B's devices was matched with.
 */
static bool surely_missing(const struct pcie_snapshot *a, size_t i, const struct pcie_snapshot *b,
	bool lists_all, const int *found)
{
	int at = a->dev[i].addr.known ? pcie_snapshot_find(b, a->dev[i].addr) : -1;
	return lists_all || (at >= 0 && found[at] < 0);
}

static void add_index(int **list, size_t *n, size_t *cap, size_t i)
{
	*list = xgrow(*list, *n, cap, sizeof(**list));
	(*list)[(*n)++] = (int)i;
}

struct pcie_diff *pcie_diff_create(const struct pcie_snapshot *a, const struct pcie_snapshot *b)
{
	struct pcie_diff *d = xcalloc(1, sizeof(*d));
	struct pcie_verdicts *va = pcie_verdicts_create(a), *vb = pcie_verdicts_create(b);
	bool all_a = pcie_diff_lists_all(a), all_b = pcie_diff_lists_all(b);
	int *to, *from;

	pcie_diff_match(a, b, &to, &from);
	diff_host(&d->host, &a->host, &b->host);
	diff_apertures(&d->host, a, b);
	for (size_t i = 0; i < b->ndev; i++) {
		if (from[i] < 0 && surely_missing(b, i, a, all_a, to)) {
			add_index(&d->fresh, &d->nfresh, &d->capfresh, i);
		} else if (from[i] < 0) {
			add_index(&d->only_b, &d->nonly_b, &d->caponly_b, i);
		}
		if (from[i] < 0) {
			continue;
		}
		d->matched++;
		struct pcie_pair p = {.a = from[i], .b = (int)i};
		const struct pcie_device *x = &a->dev[p.a], *y = &b->dev[i];
		const struct pcie_gpu *gx = gpu_of(va, p.a), *gy = gpu_of(vb, (int)i);
		p.moved = has_moved(x, y);
		if (gx && gy) {
			diff_verdicts(
				&p.changes, gx, gy, same_path(a, p.a, b, p.b, all_a && all_b));
		}
		diff_driver(&p.changes, x, y);
		diff_bars(&p.changes, a, x, b, y);
		diff_windows(&p.changes, x, y);
		diff_rebar(&p.changes, x, y);
		diff_link(&p.changes, &x->link, &y->link);
		diff_others(&p.changes, x, y);
		add_pair(d, &p);
	}
	for (size_t i = 0; i < a->ndev; i++) {
		if (to[i] < 0 && surely_missing(a, i, b, all_b, from)) {
			add_index(&d->gone, &d->ngone, &d->capgone, i);
		} else if (to[i] < 0) {
			add_index(&d->only_a, &d->nonly_a, &d->caponly_a, i);
		}
	}
	free(to);
	free(from);
	pcie_verdicts_destroy(va);
	pcie_verdicts_destroy(vb);
	return d;
}

void pcie_diff_destroy(struct pcie_diff *d)
{
	if (!d) {
		return;
	}
	for (size_t i = 0; i < d->npair; i++) {
		free(d->pair[i].changes.change);
	}
	free(d->pair);
	free(d->host.change);
	free(d->gone);
	free(d->fresh);
	free(d->only_a);
	free(d->only_b);
	free(d);
}

bool pcie_diff_is_empty(const struct pcie_diff *d)
{
	return !d->host.n && !d->npair && !d->ngone && !d->nfresh && !d->nonly_a && !d->nonly_b;
}

static bool has_worse(const struct pcie_changes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->change[i].worse == PCIE_YES) {
			return true;
		}
	}
	return false;
}

bool pcie_diff_is_worse(const struct pcie_diff *d)
{
	if (d->ngone || has_worse(&d->host)) {
		return true;
	}
	for (size_t i = 0; i < d->npair; i++) {
		if (has_worse(&d->pair[i].changes)) {
			return true;
		}
	}
	return false;
}
