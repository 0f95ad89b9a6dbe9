/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "pcie/gpu_kind.h"
#include "pcie/plan_commands.h"
#include "pcie/plan_layout.h"
#include "pcie/rebar.h"

const char *pcie_plan_rule_name(enum pcie_plan_rule r)
{
	return r == PCIE_PLAN_LEGACY ? "legacy" : "tight";
}

static void add_note(struct pcie_plan *p, const char *fmt, ...) PRINTF(2, 3);
static void add_note(struct pcie_plan *p, const char *fmt, ...)
{
	va_list ap;
	char *s;
	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) >= 0) {
		p->note = xgrow(p->note, p->nnote, &p->capnote, sizeof(*p->note));
		p->note[p->nnote++] = s;
	}
	va_end(ap);
}

/* Which rule a kernel may use. Between 6.10 and 6.19 stable trees differ: both. */
static void find_rules(struct pcie_plan *p, const struct pcie_snapshot *s)
{
	unsigned major = 0, minor = 0;
	p->applies[PCIE_PLAN_LEGACY] = p->applies[PCIE_PLAN_TIGHT] = true;
	if (s->host.have_kernel != PCIE_KNOWN ||
		sscanf(s->host.kernel, "%u.%u", &major, &minor) != 2 || major > 99) {
		add_note(p, "the kernel's version is not known: it may use either rule");
		return;
	}
	if (major < 6 || (major == 6 && minor < 10)) {
		p->applies[PCIE_PLAN_TIGHT] = false;
	} else if (major >= 7) {
		p->applies[PCIE_PLAN_LEGACY] = false;
	} else {
		add_note(p, "kernel %u.%u may use either rule, or one between them", major, minor);
	}
}

/* Targets. */

static void set_target(struct pcie_plan_gpu *g, uint64_t target, const char *why)
{
	g->target = target;
	g->has_target = true;
	text_copy(g->target_why, sizeof(g->target_why), why);
}

/* The largest size that a driver or a person tried on DEV, as the log or a shell line shows. */
static uint64_t tried_size(const struct pcie_snapshot *s, int dev)
{
	uint64_t most = 0;
	for (size_t i = 0; i < s->nstatement; i++) {
		const struct pcie_statement *t = &s->statement[i];
		bool about = t->kind == PCIE_SAID_RESIZE_TRY || t->kind == PCIE_SAID_RESIZE_FAILED;
		bool size = t->value >= MIB && (t->value & (t->value - 1)) == 0;
		if (t->dev == dev && about && size) {
			most = MAX(most, t->value);
		}
	}
	return most;
}

/*
 * It has a place, and nothing tells whether the card offers more: neither that it has no
 * Resizable BAR, nor that the BAR shows all of its VRAM.
 */
static bool sizes_are_open(
	const struct pcie_snapshot *s, const struct pcie_plan_gpu *g, uint64_t vram)
{
	const struct pcie_device *d = &s->dev[g->dev];
	const struct pcie_bar *b = &d->bar[g->bar_slot];
	bool placed = b->have == PCIE_KNOWN && b->assigned == PCIE_YES && b->has_base;
	return placed && d->rebar.have != PCIE_ABSENT && !d->coherent &&
	       !(vram && vram <= g->current);
}

/* The kernel gave it none, or lists nothing where the register has a BAR. */
static bool has_no_address(const struct pcie_bar *b)
{
	return b->have == PCIE_KNOWN ? b->assigned == PCIE_NO : b->have == PCIE_ABSENT;
}

bool pcie_plan_is_unplaced(const struct pcie_snapshot *s, const struct pcie_plan_gpu *g)
{
	return g->bar_slot >= 0 && has_no_address(&s->dev[g->dev].bar[g->bar_slot]);
}

static void find_target(
	struct pcie_plan_gpu *g, const struct pcie_snapshot *s, const struct pcie_plan_options *o)
{
	const struct pcie_device *d = &s->dev[g->dev];
	uint64_t supported = pcie_rebar_supported(d, pcie_rebar_entry(d, g->bar));
	char size[TEXT_SIZE_MAX], why[sizeof(g->target_why)];
	uint64_t vram = d->vram.have == PCIE_KNOWN && !d->mig ? d->vram.bytes : 0;
	const char *whose = "VRAM";
	if (!vram && !d->mig && !pcie_device_is_coherent(d) && pcie_vram_in_name(d->name, &vram)) {
		whose = "VRAM, as its name says";
	}

	if (g->bar_slot < 0) {
		return;
	}
	if (o->size) {
		set_target(g, o->size, "asked for with --size");
		return;
	}
	if (supported) {
		uint64_t over = vram ? pcie_rebar_smallest_over(supported, vram) : 0;
		if (over) {
			snprintf(why, sizeof(why), "the smallest size over %s of %s",
				text_size(vram, size), whose);
			set_target(g, over, why);
		} else {
			set_target(g, pcie_rebar_largest(supported),
				"the largest that the card offers");
		}
		return;
	}
	uint64_t tried = tried_size(s, g->dev);
	if (tried > g->current) {
		set_target(g, tried, "what was tried");
	} else if (vram > g->current && d->rebar.have != PCIE_ABSENT) {
		uint64_t over = MIB;
		while (over < vram && over < (uint64_t)1 << 62) {
			over <<= 1;
		}
		snprintf(why, sizeof(why), "it covers %s of %s; what the card offers is not known",
			text_size(vram, size), whose);
		set_target(g, over, why);
	} else if (g->has_current && d->rebar.have == PCIE_KNOWN &&
		   g->current < (uint64_t)1 << 62) {
		set_target(g, 2 * g->current, "the next size; what the card offers is not shown");
	} else if (g->has_current && !sizes_are_open(s, g, vram)) {
		set_target(g, g->current,
			pcie_plan_is_unplaced(s, g) ? "its own size"
						    : "its size; no other is known");
	}
}

/* The size that the card does not offer: no arithmetic helps. */
static bool card_refuses(
	struct pcie_plan_gpu *g, const struct pcie_device *d, struct pcie_plan_fit *fit)
{
	uint64_t supported = pcie_rebar_supported(d, pcie_rebar_entry(d, g->bar));
	bool fixed = d->rebar.have == PCIE_ABSENT && g->has_current && g->target != g->current;
	char size[TEXT_SIZE_MAX];

	if ((!supported || pcie_rebar_offers(supported, g->target)) && !fixed) {
		return false;
	}
	fit->fits = PCIE_NO;
	fit->block = PCIE_PLAN_CARD;
	fit->nblocker = 1;
	fit->blocker[0].dev = g->dev;
	snprintf(fit->blocker[0].what, sizeof(fit->blocker[0].what),
		"the card offers no size of %s", text_size(g->target, size));
	return true;
}

/* GPUs. */

static bool has_unplaced_bar(const struct pcie_device *d)
{
	for (int i = 0; i < d->nbar; i++) {
		const struct pcie_bar *b = &d->bar[i];
		if (has_no_address(b) && plan_is_movable(b)) {
			return true;
		}
	}
	return false;
}

bool pcie_plan_leaves_out(const struct pcie_snapshot *s, int dev, const int *without, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (int d = dev; d >= 0; d = s->dev[d].parent) {
			if (d == without[i]) {
				return true;
			}
		}
	}
	return false;
}

size_t pcie_plan_add_lost_bars(struct pcie_snapshot *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->ndev; i++) {
		struct pcie_device *d = &s->dev[i];
		const struct pcie_rebar_entry *e = pcie_rebar_main(d);
		if (!pcie_device_is_gpu(d) || pcie_device_vram_bar(d) >= 0 || !e ||
			!e->has_current) {
			continue;
		}
		struct pcie_bar *b = pcie_device_bar(d, PCIE_BAR_NORMAL, e->bar);
		if (b && b->have == PCIE_UNKNOWN) {
			b->have = PCIE_KNOWN;
			b->src = d->rebar.src;
			b->is64 = b->prefetchable = true; /* the only kind that may be so long */
			b->has_size = true;
			b->size = e->current;
			b->assigned = PCIE_NO;
			n++;
		}
	}
	return n;
}

static bool is_chosen(const struct pcie_snapshot *s, int dev, const struct pcie_plan_options *o)
{
	if (!pcie_device_is_gpu(&s->dev[dev]) ||
		pcie_plan_leaves_out(s, dev, o->without, o->nwithout)) {
		return false;
	}
	if (o->dev >= 0) {
		return o->dev == dev;
	}
	enum pcie_gpu_kind kind = pcie_device_kind(s, dev);
	return kind == PCIE_GPU_DISCRETE ||
	       (kind == PCIE_GPU_EMULATED && has_unplaced_bar(&s->dev[dev]));
}

static void add_gpu(struct pcie_plan *p, const struct pcie_snapshot *s, int dev,
	const struct pcie_plan_options *o)
{
	const struct pcie_device *d = &s->dev[dev];
	int at = pcie_device_vram_bar(d);
	struct pcie_plan_gpu *g = &p->gpu[p->ngpu++];

	*g = (struct pcie_plan_gpu){
		.dev = dev, .bar = at >= 0 ? d->bar[at].index : -1, .bar_slot = at};
	if (at >= 0) {
		g->current = plan_bar_size(s, dev, &d->bar[at]);
		g->has_current = g->current != 0;
	}
	find_target(g, s, o);
}

/* It has the size already, and a place. */
static bool is_there(const struct pcie_snapshot *s, const struct pcie_plan_gpu *g)
{
	int at = pcie_device_vram_bar(&s->dev[g->dev]);
	const struct pcie_bar *b = at >= 0 ? &s->dev[g->dev].bar[at] : NULL;
	return b && b->have == PCIE_KNOWN && b->assigned == PCIE_YES && b->has_base &&
	       g->has_current && g->current == g->target;
}

/* Simulation. */

struct run {
	const struct pcie_snapshot *s;
	struct plan_layout l;
	struct plan_part *part;
	struct pcie_plan_gpu **gpu; /* of each part */
	size_t n;
};

/* Bridges between the device and the root that nobody described: a fit is not certain. */
static bool path_is_open(const struct plan_layout *l, int dev)
{
	int top = dev;
	for (int depth = 0; depth < PCIE_PATH_MAX; depth++) {
		int p = l->s->dev[top].parent;
		if (p < 0) {
			break;
		}
		if (l->released[p] && l->unsure[p]) {
			return true;
		}
		if (!l->released[p]) {
			return false; /* it is placed in a window that is known */
		}
		top = p;
	}
	return !pcie_is_at_root(l->s, top);
}

/*
 * One unit: all parts under TOP. When they do not fit together, the last one keeps its
 * present size, and so on: each that fits is counted.
 */
static void lay_unit(struct run *r, enum pcie_plan_rule rule, int top, enum pcie_tri *ret_fits,
	struct pcie_plan_fit *ret_fit)
{
	size_t member[64], n = 0;

	for (size_t i = 0; i < r->n && n < ARRAY_LEN(member); i++) {
		if (plan_layout_top(&r->l, r->part[i].dev) == top) {
			member[n++] = i;
			r->part[i].size = r->gpu[i]->target;
		}
	}
	for (size_t k = 0; k < n; k++) {
		ret_fit[member[k]] = (struct pcie_plan_fit){
			.container = -1, .fits = PCIE_TRI_UNKNOWN, .block = PCIE_PLAN_OPEN};
		ret_fits[member[k]] = PCIE_TRI_UNKNOWN;
	}
	for (size_t k = n; k > 0; k--) {
		struct pcie_plan_fit fit = {.container = -1};
		struct pcie_plan_item need = plan_layout_need(&r->l, rule, top, r->part, r->n);
		if (!need.size) {
			break; /* nothing to place: nobody knows how long its BARs are */
		}
		bool ok = plan_layout_place(&r->l, top, need, r->part, r->n, &fit);
		size_t last = member[k - 1];
		if (ok) {
			for (size_t m = 0; m < k; m++) {
				size_t i = member[m];
				bool open = !fit.container_what[0] &&
					    path_is_open(&r->l, r->part[i].dev);
				fit.fits = open ? PCIE_TRI_UNKNOWN : PCIE_YES;
				fit.block = open ? PCIE_PLAN_OPEN : PCIE_PLAN_FREE;
				fit.bar_place = r->part[i].place;
				ret_fit[i] = fit;
				ret_fits[i] = fit.fits;
			}
			return;
		}
		ret_fit[last] = fit;
		ret_fits[last] = fit.fits;
		r->part[last].size = r->gpu[last]->current;
	}
}

/* All parts of R by RULE: those under one window together, then the next. */
static void lay_all(struct run *r, enum pcie_plan_rule rule, enum pcie_tri *ret_fits,
	struct pcie_plan_fit *ret_fit)
{
	bool *done = xcalloc(r->s->ndev + 1, sizeof(*done));

	plan_layout_release(&r->l, r->part, r->n);
	for (size_t i = 0; i < r->n; i++) {
		int top = plan_layout_top(&r->l, r->part[i].dev);
		if (!done[top]) {
			done[top] = true;
			lay_unit(r, rule, top, ret_fits, ret_fit);
		}
	}
	free(done);
}

static struct plan_part part_of(const struct pcie_snapshot *s, const struct pcie_plan_gpu *g)
{
	return (struct plan_part){
		.dev = g->dev,
		.bar = pcie_device_vram_bar(&s->dev[g->dev]),
		.size = g->target,
	};
}

/* The GPUs for which there is something to compute; the others get their answer at once. */
static size_t choose_parts(struct pcie_plan *p, struct run *r)
{
	size_t n = 0;
	for (size_t i = 0; i < p->ngpu; i++) {
		struct pcie_plan_gpu *g = &p->gpu[i];
		const struct pcie_device *d = &r->s->dev[g->dev];
		for (int k = 0; k < PCIE_PLAN_RULES; k++) {
			struct pcie_plan_fit *fit = &g->fit[k];
			*fit = (struct pcie_plan_fit){.container = -1, .block = PCIE_PLAN_OPEN};
			if (!g->has_target) {
				continue;
			}
			if (is_there(r->s, g)) {
				fit->fits = PCIE_YES;
				fit->block = PCIE_PLAN_FREE;
				fit->has_place = true;
				fit->place = fit->bar_place = d->bar[pcie_device_vram_bar(d)].base;
			} else {
				card_refuses(g, d, fit);
			}
			g->alone[k] = fit->fits;
		}
		bool compute = g->has_target && g->fit[0].fits == PCIE_TRI_UNKNOWN;
		if (compute) {
			r->gpu[n] = g;
			r->part[n++] = part_of(r->s, g);
		}
	}
	return n;
}

static void simulate(
	struct pcie_plan *p, const struct pcie_snapshot *s, const struct pcie_plan_options *o)
{
	struct run all = {.s = s};
	all.part = xcalloc(p->ngpu + 1, sizeof(*all.part));
	all.gpu = xcalloc(p->ngpu + 1, sizeof(*all.gpu));
	all.n = choose_parts(p, &all);
	plan_layout_init(&all.l, s, o->without, o->nwithout);

	enum pcie_tri *fits = xcalloc(all.n + 1, sizeof(*fits));
	struct pcie_plan_fit *fit = xcalloc(all.n + 1, sizeof(*fit));
	for (int rule = 0; rule < PCIE_PLAN_RULES; rule++) {
		lay_all(&all, (enum pcie_plan_rule)rule, fits, fit);
		for (size_t i = 0; i < all.n; i++) {
			all.gpu[i]->fit[rule] = fit[i];
		}
		for (size_t i = 0; i < all.n; i++) {
			if (all.n == 1) {
				all.gpu[i]->alone[rule] = fits[i];
				continue;
			}
			struct run one = {.s = s, .l = all.l, .n = 1};
			struct plan_part part = part_of(s, all.gpu[i]);
			struct pcie_plan_fit f;
			one.part = &part;
			one.gpu = &all.gpu[i];
			lay_all(&one, (enum pcie_plan_rule)rule, &all.gpu[i]->alone[rule], &f);
			all.l = one.l; /* its arrays may have moved */
		}
		for (size_t i = 0; i < p->ngpu; i++) {
			p->together[rule] += p->gpu[i].fit[rule].fits == PCIE_YES;
		}
	}
	plan_layout_finish(&all.l);
	free(all.part);
	free(all.gpu);
	free(fits);
	free(fit);
}

struct pcie_plan *pcie_plan_create(const struct pcie_snapshot *s, const struct pcie_plan_options *o)
{
	struct pcie_plan *p = xcalloc(1, sizeof(*p));
	p->gpu = xcalloc(s->ndev + 1, sizeof(*p->gpu));

	find_rules(p, s);
	for (size_t i = 0; i < s->ndev; i++) {
		if (is_chosen(s, (int)i, o)) {
			add_gpu(p, s, (int)i, o);
		}
	}
	simulate(p, s, o);
	pcie_plan_add_commands(p, s);
	return p;
}

void pcie_plan_destroy(struct pcie_plan *p)
{
	if (!p) {
		return;
	}
	for (size_t i = 0; i < p->ncommand; i++) {
		free(p->command[i]);
	}
	for (size_t i = 0; i < p->nnote; i++) {
		free(p->note[i]);
	}
	free(p->command);
	free(p->note);
	free(p->gpu);
	free(p);
}

/* By the rules that apply: YES when all say so, NO when none says yes and one says no. */
static enum pcie_tri gpu_answer(const struct pcie_plan *p, const struct pcie_plan_gpu *g)
{
	unsigned yes = 0, no = 0, open = 0;
	for (int k = 0; k < PCIE_PLAN_RULES; k++) {
		if (!p->applies[k]) {
			continue;
		}
		yes += g->fit[k].fits == PCIE_YES;
		no += g->fit[k].fits == PCIE_NO;
		open += g->fit[k].fits == PCIE_TRI_UNKNOWN;
	}
	if (no && !yes && !open) {
		return PCIE_NO;
	}
	return yes && !no && !open ? PCIE_YES : PCIE_TRI_UNKNOWN;
}

enum pcie_tri pcie_plan_answer(const struct pcie_plan *p)
{
	bool open = p->ngpu == 0;
	for (size_t i = 0; i < p->ngpu; i++) {
		enum pcie_tri a = gpu_answer(p, &p->gpu[i]);
		if (a == PCIE_NO) {
			return PCIE_NO;
		}
		open = open || a != PCIE_YES;
	}
	return open ? PCIE_TRI_UNKNOWN : PCIE_YES;
}
