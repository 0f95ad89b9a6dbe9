/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random machines, printed as lspci of six ages prints them and mangled on the
 * way: every fact that is in the text must come back, and none that is not.
 * BARSCOPE_SEEDS sets the number of machines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "paste_machine.h"
#include "paste_mangle.h"
#include "pcie/witness.h"

struct trial {
	uint64_t seed;
	struct gen_options o;
	enum mangle how, then;
	const char *text;
	unsigned failures;
};

__attribute__((format(printf, 2, 3))) static void failed(struct trial *t, const char *fmt, ...)
{
	va_list ap;
	if (t->failures++ == 0) {
		printf("seed %llu era %d -%.*s -x%d nn%d D%d path %d denied %d, %s, %s:\n",
			(unsigned long long)t->seed, t->o.era, t->o.verbose, "vvv", t->o.hex,
			t->o.numeric, t->o.domain, t->o.path, t->o.denied, mangle_name(t->how),
			mangle_name(t->then));
	}
	if (t->failures > 10) {
		return;
	}
	va_start(ap, fmt);
	printf("  ");
	vprintf(fmt, ap);
	printf("\n");
	va_end(ap);
}

static bool is_listed(const struct gen_bar *b, const struct gen_options *o)
{
	return b->index < 6 && !(b->state == GEN_WIPED && (o->era >= ERA_3_8 || !b->is64));
}

/* The BAR of ours that B became: by number, or, where the text has none, by place. */
static const struct pcie_bar *find_bar(
	const struct pcie_device *d, const struct gen_bar *b, int place)
{
	const struct pcie_bar *found = pcie_device_find_bar(d, PCIE_BAR_NORMAL, b->index);
	if (found && found->have == PCIE_KNOWN) {
		return found;
	}
	for (int i = 0; i < d->nbar; i++) {
		const struct pcie_bar *c = &d->bar[i];
		if (c->kind == PCIE_BAR_NORMAL && c->have == PCIE_KNOWN && place-- == 0) {
			return c->index < 0 ? c : NULL;
		}
	}
	return NULL;
}

static void check_bar(struct trial *t, const char *addr, const struct gen_bar *b,
	const struct pcie_bar *ours, bool mem_enable)
{
	if (!ours || ours->have != PCIE_KNOWN) {
		failed(t, "%s BAR %d is missing", addr, b->index);
		return;
	}
	if (t->o.verbose > 1 && ours->index != b->index) {
		failed(t, "%s BAR %d has number %d", addr, b->index, ours->index);
	}
	bool has_base = b->state == GEN_ASSIGNED || b->state == GEN_VIRTUAL;
	if (ours->has_base != has_base || (has_base && ours->base != b->base)) {
		failed(t, "%s BAR %d: base 0x%llx, should be 0x%llx", addr, b->index,
			ours->has_base ? (unsigned long long)ours->base : 0,
			has_base ? (unsigned long long)b->base : 0);
	}
	if (ours->assigned != (has_base ? PCIE_YES : PCIE_NO)) {
		failed(t, "%s BAR %d: assigned %d", addr, b->index, ours->assigned);
	}
	if (has_base && (!ours->has_size || ours->size != b->size)) {
		failed(t, "%s BAR %d: size 0x%llx, should be 0x%llx", addr, b->index,
			ours->has_size ? (unsigned long long)ours->size : 0,
			(unsigned long long)b->size);
	}
	if (!has_base && ours->has_size) {
		failed(t, "%s BAR %d: a size that is not in the text", addr, b->index);
	}
	if (ours->io != b->io ||
		(!b->io && (ours->is64 != b->is64 || ours->prefetchable != b->pref))) {
		failed(t, "%s BAR %d: type differs", addr, b->index);
	}
	if (has_base && !b->io && b->state != GEN_VIRTUAL &&
		ours->decode_enabled != (mem_enable ? PCIE_YES : PCIE_NO)) {
		failed(t, "%s BAR %d: decode %d", addr, b->index, ours->decode_enabled);
	}
}

static void check_bars(
	struct trial *t, const char *addr, const struct gen_dev *g, const struct pcie_device *d)
{
	int place = 0, vf = 0, known = 0;
	for (int i = 0; i < g->nbar; i++) {
		if (is_listed(&g->bar[i], &t->o)) {
			check_bar(
				t, addr, &g->bar[i], find_bar(d, &g->bar[i], place), g->mem_enable);
			place++;
		}
	}
	for (int i = 0; i < d->nbar; i++) {
		known += d->bar[i].kind == PCIE_BAR_NORMAL && d->bar[i].have == PCIE_KNOWN;
		vf += d->bar[i].kind == PCIE_BAR_VF && d->bar[i].have == PCIE_KNOWN;
	}
	if (known != place) {
		failed(t, "%s: %d BARs, %d are in the text", addr, known, place);
	}
	int vfs = t->o.verbose > 1 && !t->o.denied ? g->nvf : 0;
	if (vf != vfs) {
		failed(t, "%s: %d VF BARs, %d are in the text", addr, vf, vfs);
	}
	for (int i = 0; i < vfs; i++) {
		const struct pcie_bar *b = pcie_device_find_bar(d, PCIE_BAR_VF, g->vf[i].index);
		if (!b || b->base != g->vf[i].base || b->is64 != g->vf[i].is64) {
			failed(t, "%s: VF BAR %d differs", addr, g->vf[i].index);
		}
	}
}

static void check_rebar(
	struct trial *t, const char *addr, const struct gen_dev *g, const struct pcie_device *d)
{
	const struct pcie_rebar *r = &d->rebar;
	bool bytes = t->o.hex == 4 && !t->o.denied;
	bool decoded = bytes || (t->o.era >= ERA_3_7 && t->o.verbose > 1 && !t->o.denied);

	if (t->o.denied) {
		if (r->have != PCIE_DENIED) {
			failed(t, "%s: ReBAR is %s, not denied", addr, pcie_fact_name(r->have));
		}
		return;
	}
	if (!g->nrebar) {
		if (r->have != PCIE_ABSENT) {
			failed(t, "%s: ReBAR is %s, not absent", addr, pcie_fact_name(r->have));
		}
		return;
	}
	if (r->have != PCIE_KNOWN || r->sizes_unknown == decoded ||
		r->count != (decoded ? g->nrebar : 0)) {
		failed(t, "%s: ReBAR %s, %d entries, sizes %sknown", addr, pcie_fact_name(r->have),
			r->count, r->sizes_unknown ? "un" : "");
		return;
	}
	for (int i = 0; i < r->count; i++) {
		const struct gen_rebar *e = &g->rebar[i];
		if (r->entry[i].bar != e->bar || r->entry[i].supported != e->supported ||
			r->entry[i].current != UINT64_C(1) << (20 + e->current)) {
			failed(t, "%s: ReBAR entry %d differs: BAR %d, 0x%llx of 0x%llx", addr, i,
				r->entry[i].bar, (unsigned long long)r->entry[i].current,
				(unsigned long long)r->entry[i].supported);
		}
	}
}

static void check_window(struct trial *t, const char *addr, const char *name,
	const struct gen_window *g, const struct pcie_window *w)
{
	enum pcie_fact closed = t->o.era == ERA_3_1 && !t->o.hex ? PCIE_UNKNOWN : PCIE_ABSENT;
	if (w->have != (g->open ? PCIE_KNOWN : closed) ||
		(g->open && (w->base != g->base || w->limit != g->limit))) {
		failed(t, "%s: %s window %s 0x%llx-0x%llx, should be %s 0x%llx-0x%llx", addr, name,
			pcie_fact_name(w->have), (unsigned long long)w->base,
			(unsigned long long)w->limit, g->open ? "open" : "closed",
			(unsigned long long)g->base, (unsigned long long)g->limit);
	}
}

static void check_device(
	struct trial *t, const char *addr, const struct gen_dev *g, const struct pcie_device *d)
{
	static const uint16_t speed[] = {0, 25, 50, 80, 160, 320, 640};
	if (t->o.numeric || t->o.hex) {
		if (d->have_ids != PCIE_KNOWN || d->vendor != g->vendor || d->device != g->device) {
			failed(t, "%s: ids %04x:%04x, should be %04x:%04x", addr, d->vendor,
				d->device, g->vendor, g->device);
		}
	}
	if (d->have_class != PCIE_KNOWN || d->class_code >> 8 != g->class_code) {
		failed(t, "%s: class %06x, should be %04x", addr, d->class_code, g->class_code);
	}
	if (!t->o.verbose) {
		return;
	}
	if (g->driver ? strcmp(d->driver, g->driver) != 0 : d->have_driver == PCIE_KNOWN) {
		failed(t, "%s: driver '%s'", addr, d->driver);
	}
	if (d->have_numa != PCIE_KNOWN || d->numa != 0) {
		failed(t, "%s: NUMA node is missing", addr);
	}
	check_bars(t, addr, g, d);
	if (g->gpu) {
		check_rebar(t, addr, g, d);
	}
	if (g->bridge) {
		check_window(t, addr, "I/O", &g->io, &d->window[PCIE_WINDOW_IO]);
		check_window(t, addr, "memory", &g->mem, &d->window[PCIE_WINDOW_MEM]);
		check_window(t, addr, "prefetchable", &g->pref, &d->window[PCIE_WINDOW_PREF]);
		if (d->secondary != g->secondary || d->subordinate != g->subordinate) {
			failed(t, "%s: buses %02x-%02x", addr, d->secondary, d->subordinate);
		}
	}
	if (t->o.verbose > 1 && !t->o.denied && g->max_speed &&
		(d->link.speed != speed[g->speed] || d->link.max_speed != speed[g->max_speed] ||
			d->link.width != g->width || d->link.max_width != g->max_width)) {
		failed(t, "%s: link %u x%u of %u x%u", addr, d->link.speed, d->link.width,
			d->link.max_speed, d->link.max_width);
	}
}

static void check_machine(
	struct trial *t, const struct gen_machine *m, const struct pcie_snapshot *s)
{
	if (s->ndev != (size_t)m->n) {
		failed(t, "%zu devices, should be %d", s->ndev, m->n);
	}
	for (int i = 0; i < m->n; i++) {
		char addr[PCIE_ADDR_MAX];
		const struct gen_dev *g = &m->dev[i];
		pcie_addr_format(g->addr, addr);
		int dev = pcie_snapshot_find(s, g->addr);
		if (dev < 0) {
			failed(t, "%s is missing", addr);
			continue;
		}
		check_device(t, addr, g, &s->dev[dev]);
		int parent = s->dev[dev].parent;
		if (t->o.verbose &&
			(g->parent < 0 ? parent >= 0
				       : parent < 0 || pcie_addr_compare(s->dev[parent].addr,
							       m->dev[g->parent].addr))) {
			failed(t, "%s: parent is %d", addr, parent);
		}
	}
}

/*
 * Narrow columns: what has been before them, and what may be behind them, so that all is there.
 * They cut bytes: neither characters nor escapes may be before. Numbers before them are torn.
 */
static bool fold_makes_sense(enum mangle how, enum mangle then)
{
	switch (then) {
	case MANGLE_FOLD_30:
	case MANGLE_FOLD_50:
	case MANGLE_NARROW_40:
		switch (how) {
		case MANGLE_NONE:
		case MANGLE_ADDED:
		case MANGLE_BAR:
		case MANGLE_BULLET:
		case MANGLE_CRLF:
		case MANGLE_DOUBLE:
		case MANGLE_FENCE:
		case MANGLE_FLAT:
		case MANGLE_INDENT:
		case MANGLE_NARROW:
		case MANGLE_NO_TABS:
		case MANGLE_PROMPT:
		case MANGLE_QUOTE:
		case MANGLE_SPACES:
		case MANGLE_TIGHT:
			return true;
		default:
			return false;
		}
	case MANGLE_PARAGRAPH:
	case MANGLE_FLAT: /* a blank at a cut is gone, too */
	case MANGLE_TRAILING:
	case MANGLE_TABS_QP:
	case MANGLE_QUOTE_TWICE:
		return false;
	default:
		return true;
	}
}

/* Marks are before lines, and a paragraph is of plain words: no rows of bytes, no codes. */
static bool paragraph_makes_sense(const struct trial *t)
{
	if (t->o.hex) {
		return false;
	}
	switch (t->how == MANGLE_PARAGRAPH ? t->then : t->how) {
	case MANGLE_NONE:
	case MANGLE_CRLF:
	case MANGLE_NBSP:
	case MANGLE_SPACES:
	case MANGLE_NARROW:
		return true;
	case MANGLE_QUOTE:
	case MANGLE_COLOUR:
	case MANGLE_INDENT:
	case MANGLE_BAR:
	case MANGLE_TIGHT:
	case MANGLE_BULLET:
	case MANGLE_FENCE:
		return t->how == MANGLE_PARAGRAPH;
	default:
		return false;
	}
}

/* Not every way of printing and mangling leaves all in the text: what is lost is not asked for. */
static bool makes_sense(const struct trial *t)
{
	if (t->o.path == 1 && t->o.verbose == 0) {
		return false; /* no bus numbers */
	}
	if ((t->how == MANGLE_NUMBERED || t->then == MANGLE_NUMBERED) && t->o.verbose == 0) {
		return false; /* too few lines to be sure that they are counted */
	}
	if (t->how == MANGLE_PARAGRAPH || t->then == MANGLE_PARAGRAPH) {
		return paragraph_makes_sense(t);
	}
	bool marked = t->how == MANGLE_BAR || t->how == MANGLE_BULLET || t->how == MANGLE_ADDED ||
		      t->how == MANGLE_NUMBERED;
	if (marked &&
		(t->then == MANGLE_BAR || t->then == MANGLE_BULLET || t->then == MANGLE_NUMBERED)) {
		return false; /* marks behind marks */
	}
	if (t->how == MANGLE_NUMBERED && (t->then == MANGLE_NO_TABS || t->then == MANGLE_HTML)) {
		return false;
	}
	if ((t->how == MANGLE_HTML && t->then == MANGLE_ENTITIES) ||
		(t->how == MANGLE_FLOWED && t->then == MANGLE_FLOWED) ||
		(t->how == MANGLE_ADDED && t->then == MANGLE_CODE)) {
		return false; /* nobody does that twice, or in this order */
	}
	if (t->how == MANGLE_UTF16 || t->how == MANGLE_TABS_QP) {
		return t->then == MANGLE_NONE;
	}
	if (t->then == MANGLE_ADDED) { /* a diff is what it was: only that can be mailed */
		return t->how == MANGLE_NONE || t->how == MANGLE_SPACES || t->how == MANGLE_NARROW;
	}
	if (t->how == MANGLE_PRINTABLE && t->then != MANGLE_CRLF) {
		return t->then == MANGLE_NONE; /* an encoding is the last thing that happens */
	}
	if (t->how >= MANGLE_FOLD_30 || t->then >= MANGLE_FOLD_30) {
		return fold_makes_sense(t->how, t->then);
	}
	if (t->how == MANGLE_HTML) { /* a cut inside of a tag */
		return t->then != MANGLE_HTML && t->then != MANGLE_CUT_72 &&
		       t->then != MANGLE_CUT_80;
	}
	return true;
}

static unsigned try_one(struct trial *t, const struct gen_machine *m)
{
	struct text text = {0}, once = {0}, mangled = {0};
	struct pcie_snapshot *s;
	struct why why = {""};

	gen_lspci(m, &t->o, &text);
	mangle(t->how, text.s, text.len, &once);
	mangle(t->then, once.s, once.len, &mangled);
	t->text = mangled.s;
	if (pcie_text_scan("test", mangled.s, mangled.len, &s, &why) < 0) {
		failed(t, "%s", why.text);
	} else {
		check_machine(t, m, s);
		pcie_snapshot_destroy(s);
	}
	if (t->failures > 0 && getenv("BARSCOPE_SHOW_TEXT")) {
		printf("%s\n", mangled.s);
	}
	text_finish(&text);
	text_finish(&once);
	text_finish(&mangled);
	return t->failures;
}

static void facts_come_back(void **state)
{
	(void)state;
	const char *seeds = getenv("BARSCOPE_SEEDS");
	unsigned long n = seeds ? strtoul(seeds, NULL, 10) : 60, bad = 0, trials = 0;

	for (uint64_t i = 1; i <= n && bad < 5; i++) {
		struct gen_machine m;
		uint64_t seed = i;
		gen_machine(&m, &seed);
		for (int how = 0; how < MANGLES && bad < 5; how++) {
			static const int hex[] = {0, 0, 1, 3, 4};
			struct trial t = {.seed = i, .how = (enum mangle)how};

			/* One after the other: compilers differ in an initializer's order. */
			t.o.era = (enum era)gen_below(&seed, ERAS);
			t.o.verbose = (int)gen_below(&seed, 4);
			t.o.hex = hex[gen_below(&seed, 5)];
			t.o.numeric = gen_below(&seed, 2);
			t.o.domain = gen_below(&seed, 2);
			if (gen_below(&seed, 3) == 0) {
				t.o.path = 1 + (int)gen_below(&seed, 2);
			}
			t.o.denied = gen_below(&seed, 5) == 0;
			t.then = (enum mangle)gen_below(&seed, MANGLES);
			if (makes_sense(&t)) {
				bad += try_one(&t, &m) > 0;
				trials++;
			}
		}
	}
	printf("%lu texts\n", trials);
	assert_int_equal(bad, 0);
}

/* Does A, read from a beginning of the text, say nothing but what B, from all of it, says? */
static void check_part(
	struct trial *t, const struct pcie_device *a, const struct pcie_device *b, size_t len)
{
	for (int i = 0; i < a->nbar; i++) {
		const struct pcie_bar *x = &a->bar[i], *y = NULL;
		for (int k = 0; k < b->nbar && !y; k++) {
			const struct pcie_bar *c = &b->bar[k];
			bool same = c->kind == x->kind && c->io == x->io &&
				    (x->index < 0 || c->index < 0 || c->index == x->index) &&
				    (!x->has_base || (c->has_base && c->base == x->base));
			y = same ? c : NULL;
		}
		if (x->have != PCIE_KNOWN) {
			continue;
		}
		if (x->index < 0 && !x->has_base && i < b->nbar) {
			y = &b->bar[i]; /* by its place */
		}
		if (!y || (x->has_size && (!y->has_size || x->size != y->size)) ||
			(x->is64_known &&
				(x->is64 != y->is64 || x->prefetchable != y->prefetchable))) {
			failed(t, "cut at %zu: BAR %d at 0x%llx, 0x%llx bytes", len, x->index,
				(unsigned long long)x->base, (unsigned long long)x->size);
		}
	}
	for (int i = 0; i < PCIE_WINDOWS; i++) {
		const struct pcie_window *x = &a->window[i], *y = &b->window[i];
		if (x->have == PCIE_KNOWN && (x->base != y->base || x->limit != y->limit)) {
			failed(t, "cut at %zu: window 0x%llx-0x%llx", len,
				(unsigned long long)x->base, (unsigned long long)x->limit);
		}
	}
	for (int i = 0; i < a->rebar.count; i++) {
		const struct pcie_rebar_entry *x = &a->rebar.entry[i], *y = &b->rebar.entry[i];
		if (i >= b->rebar.count || x->bar != y->bar || (x->supported & ~y->supported) ||
			(x->has_current && x->current != y->current)) {
			failed(t, "cut at %zu: ReBAR entry %d", len, i);
		}
	}
	if (a->rebar.have == PCIE_ABSENT && b->rebar.have != PCIE_ABSENT) {
		failed(t, "cut at %zu: ReBAR is absent", len);
	}
	if (a->have_ids == PCIE_KNOWN &&
		((a->vendor && a->vendor != b->vendor) || (a->device && a->device != b->device))) {
		failed(t, "cut at %zu: ids %04x:%04x", len, a->vendor, a->device);
	}
	if ((a->link.width && a->link.width != b->link.width) ||
		(a->link.speed && a->link.speed != b->link.speed) ||
		(a->is_bridge && a->secondary && a->secondary != b->secondary)) {
		failed(t, "cut at %zu: link or bus", len);
	}
}

static void a_cut_text_invents_nothing(void **state)
{
	(void)state;
	unsigned bad = 0;
	for (uint64_t i = 1; i <= 12 && bad < 3; i++) {
		struct gen_machine m;
		uint64_t seed = 1000 + i;
		struct trial t = {.seed = seed,
			.o = {.era = (enum era)(i % ERAS),
				.verbose = 1 + (int)(i / ERAS),
				.hex = i % 3 == 2 ? 3 : 0,
				.numeric = i & 1}};
		static const enum mangle how[] = {
			MANGLE_NONE, MANGLE_FOLD_30, MANGLE_NARROW_40, MANGLE_FLOWED};
		struct text plain = {0}, text = {0};
		struct pcie_snapshot *all, *part;

		t.how = how[i % ARRAY_LEN(how)];
		gen_machine(&m, &seed);
		m.n = MIN(m.n, 5);
		gen_lspci(&m, &t.o, &plain);
		mangle(t.how, plain.s, plain.len, &text);
		assert_int_equal(pcie_text_scan("all", text.s, text.len, &all, NULL), 0);
		for (size_t len = 1; len < text.len; len++) {
			if (pcie_text_scan("part", text.s, len, &part, NULL) < 0) {
				continue;
			}
			for (size_t k = 0; k < part->ndev; k++) {
				int dev = pcie_snapshot_find(all, part->dev[k].addr);
				if (dev < 0) {
					failed(&t, "cut at %zu: a device that is not there", len);
					continue;
				}
				check_part(&t, &part->dev[k], &all->dev[dev], len);
			}
			pcie_snapshot_destroy(part);
		}
		pcie_snapshot_destroy(all);
		if (t.failures > 0 && getenv("BARSCOPE_SHOW_TEXT")) {
			printf("%s\n", text.s);
		}
		text_finish(&plain);
		text_finish(&text);
		bad += t.failures > 0;
	}
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(facts_come_back),
		cmocka_unit_test(a_cut_text_invents_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
