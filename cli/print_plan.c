/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/layout.h"
#include "cli/plan.h"
#include "pcie/path.h"

struct page {
	struct text *out;
	const struct pcie_snapshot *s;
	const struct pcie_plan *p;
	struct cmd_style style;
};

static void coloured(const struct page *g, enum cmd_colour c, const char *s)
{
	text_addf(g->out, "%s%s%s", cmd_colour(g->style, c), s, cmd_colour(g->style, CMD_PLAIN));
}

/* "BAR 1", or "VRAM BAR" where the text numbers none. */
enum { BAR_NAME_MAX = 16 };
static const char *bar_name(const struct pcie_plan_gpu *gpu, char buf[static BAR_NAME_MAX])
{
	if (gpu->bar < 0) {
		return "VRAM BAR";
	}
	snprintf(buf, BAR_NAME_MAX, "BAR %d", gpu->bar);
	return buf;
}

static void add_where(
	const struct pcie_plan_gpu *gpu, const struct pcie_plan_fit *f, struct text *t)
{
	char need[TEXT_SIZE_MAX], align[TEXT_SIZE_MAX], name[BAR_NAME_MAX];

	if (!f->need) {
		text_addf(t, "it has that size already, at 0x%llx", (unsigned long long)f->place);
		return;
	}
	bool window = f->need != gpu->target || f->place != f->bar_place;
	text_addf(t, "%s at 0x%llx", bar_name(gpu, name), (unsigned long long)f->bar_place);
	if (window) {
		text_addf(t, ", in a window of %s at 0x%llx (a multiple of %s)",
			text_size(f->need, need), (unsigned long long)f->place,
			text_size(f->align, align));
	}
	if (f->container_what[0]) {
		text_addf(t, ", in the %s as it is", f->container_what);
	}
}

/* The bridges above DEV are known up to the root bus. */
static bool path_is_known(const struct pcie_snapshot *s, int dev)
{
	int top = dev;
	for (int depth = 0; s->dev[top].parent >= 0 && depth < PCIE_PATH_MAX; depth++) {
		top = s->dev[top].parent;
	}
	return pcie_is_at_root(s, top);
}

static void add_why_not(
	const struct page *g, int dev, const struct pcie_plan_fit *f, struct text *t)
{
	char need[TEXT_SIZE_MAX], align[TEXT_SIZE_MAX], have[TEXT_SIZE_MAX], lack[TEXT_SIZE_MAX];

	switch (f->block) {
	case PCIE_PLAN_CARD:
		text_add(t, f->blocker[0].what);
		return;
	case PCIE_PLAN_NO_APERTURE:
		text_add(t, "the root bus has no addresses above 4 GiB");
		break;
	case PCIE_PLAN_APERTURE:
		text_add(t, "the root bus has no free range that is large enough");
		break;
	case PCIE_PLAN_PINNED:
		text_addf(t, "the %s stays as it is, because something else is in it",
			f->container_what);
		break;
	case PCIE_PLAN_WINDOW:
		text_addf(t, "the %s, on the way to a removable port, is too small",
			f->container_what);
		break;
	case PCIE_PLAN_OPEN:
	case PCIE_PLAN_FREE:
		text_add(
			t, path_is_known(g->s, dev)
				   ? "the root bus's addresses are not known here (the boot log or "
				     "/proc/iomem, read as root, tells them)"
				   : "the windows and apertures on its way are not known here");
		break;
	}
	if (f->need) {
		text_addf(t, "; needed are %s at a multiple of %s", text_size(f->need, need),
			text_size(f->align, align));
	}
	if (f->block == PCIE_PLAN_NO_APERTURE) {
		return;
	}
	if (f->has_have && f->have == 0) {
		text_add(t, ", and no free range has room at such an address");
	} else if (f->has_have && f->need > f->have) {
		text_addf(t, ", the most in one piece is %s: short by %s", text_size(f->have, have),
			text_size(f->need - f->have, lack));
	}
}

static void print_rule(const struct page *g, const struct pcie_plan_gpu *gpu, int k)
{
	const struct pcie_plan_fit *f = &gpu->fit[k];
	struct text t = {0};

	text_addf(g->out, "  %-7s ", pcie_plan_rule_name((enum pcie_plan_rule)k));
	switch (f->fits) {
	case PCIE_YES:
		coloured(g, CMD_GOOD, "fits          ");
		add_where(gpu, f, &t);
		break;
	case PCIE_NO:
		coloured(g, CMD_BAD, "does not fit  ");
		add_why_not(g, gpu->dev, f, &t);
		break;
	case PCIE_TRI_UNKNOWN:
		coloured(g, CMD_WARN, "not known     ");
		add_why_not(g, gpu->dev, f, &t);
		break;
	}
	/* The first words stand behind the label already. */
	struct text wrapped = {0};
	cmd_wrapped(&wrapped, 24, 24, t.s ? t.s : "");
	text_add(g->out, wrapped.s + 24);
	text_finish(&wrapped);
	text_finish(&t);
	for (unsigned i = 0; i < f->nblocker && f->block != PCIE_PLAN_CARD; i++) {
		struct text b = {0};
		text_addf(&b, "- %s", f->blocker[i].what);
		cmd_wrapped(g->out, 24, 26, b.s);
		text_finish(&b);
	}
}

static bool same_fit(const struct pcie_plan_fit *a, const struct pcie_plan_fit *b)
{
	return a->fits == b->fits && a->block == b->block && a->need == b->need &&
	       a->align == b->align && a->have == b->have && a->place == b->place;
}

static void print_gpu(const struct page *g, const struct pcie_plan_gpu *gpu)
{
	const struct pcie_device *d = &g->s->dev[gpu->dev];
	char line[320] = "", addr[PCIE_ADDR_MAX], size[TEXT_SIZE_MAX], name[BAR_NAME_MAX];

	cmd_append(line, sizeof(line), "%s  %s",
		d->addr.known ? pcie_addr_format(d->addr, addr) : "(no address)",
		d->name[0] ? d->name : "unnamed device");
	text_add(g->out, cmd_colour(g->style, CMD_BOLD));
	cmd_wrapped(g->out, 0, 14, line);
	text_add(g->out, cmd_colour(g->style, CMD_PLAIN));

	line[0] = '\0';
	bool unplaced = pcie_plan_is_unplaced(g->s, gpu);
	cmd_append(line, sizeof(line), "%s", bar_name(gpu, name));
	if (gpu->has_current) {
		cmd_append(line, sizeof(line), unplaced ? ", %s, has no address" : " is %s",
			text_size(gpu->current, size));
	} else if (unplaced) {
		cmd_append(line, sizeof(line), " has no address");
	}
	bool fixed = !gpu->has_current && d->rebar.have == PCIE_ABSENT;
	if (!gpu->has_target && fixed) {
		cmd_append(line, sizeof(line),
			"%s its fixed size is not shown: give it with --size",
			unplaced ? ";" : ":");
		cmd_wrapped(g->out, 2, 4, line);
		return;
	}
	if (!gpu->has_target) {
		cmd_append(line, sizeof(line), "%s %s is known: give one with --size",
			gpu->has_current || unplaced ? ";" : ":",
			gpu->has_current && !unplaced ? "no larger size of this card"
						      : "no size of it");
		cmd_wrapped(g->out, 2, 4, line);
		return;
	}
	cmd_append(line, sizeof(line), "; target %s (%s)", text_size(gpu->target, size),
		gpu->target_why);
	cmd_wrapped(g->out, 2, 4, line);
	for (int k = 0; k < PCIE_PLAN_RULES; k++) {
		/* One line will do where the rules agree in everything. */
		if (k == PCIE_PLAN_TIGHT && same_fit(&gpu->fit[0], &gpu->fit[1])) {
			text_add(g->out, "  tight   the same\n");
			continue;
		}
		print_rule(g, gpu, k);
	}
	for (int k = 0; k < PCIE_PLAN_RULES; k++) {
		if (gpu->fit[k].fits == PCIE_YES && gpu->alone[k] == PCIE_NO) {
			text_addf(g->out,
				"  %-7s only with the others laid out anew, not by a resize alone\n",
				pcie_plan_rule_name((enum pcie_plan_rule)k));
		}
	}
}

void cmd_plan_print(struct text *out, const struct pcie_snapshot *s, const struct pcie_plan *p,
	struct cmd_style style)
{
	const struct page g = {.out = out, .s = s, .p = p, .style = style};

	if (!p->ngpu) {
		return; /* nothing to plan: neither rules nor kernels matter */
	}
	for (size_t i = 0; i < p->ngpu; i++) {
		if (i) {
			text_add(out, "\n");
		}
		print_gpu(&g, &p->gpu[i]);
	}
	if (p->ngpu > 1) {
		text_addf(out,
			"\nTogether %u of %zu fit by the legacy rule, %u by the tight one.\n",
			p->together[PCIE_PLAN_LEGACY], p->ngpu, p->together[PCIE_PLAN_TIGHT]);
	}
	if (!p->applies[PCIE_PLAN_TIGHT]) {
		text_add(out, "\nThis kernel sizes windows by the legacy rule.\n");
	} else if (!p->applies[PCIE_PLAN_LEGACY]) {
		text_add(out, "\nThis kernel sizes windows by the tight rule.\n");
	}
	if (p->ncommand) {
		text_add(out, "\nWhat to do, safest first (nothing was run)\n");
	}
	for (size_t i = 0; i < p->ncommand; i++) {
		/* Commands are for copying: never wrapped. */
		text_addf(out, "  %zu. %s\n", i + 1, p->command[i]);
	}
	for (size_t i = 0; i < p->nnote; i++) {
		struct text t = {0};
		if (i == 0) {
			text_add(out, "\nNotes\n");
		}
		text_addf(&t, "- %s", p->note[i]);
		cmd_wrapped(out, 2, 4, t.s);
		text_finish(&t);
	}
}

static enum cmd_colour map_colour(enum pcie_map_kind k)
{
	switch (k) {
	case PCIE_MAP_FREE:
		return CMD_GOOD;
	case PCIE_MAP_APERTURE:
		return CMD_BOLD;
	case PCIE_MAP_RAM:
		return CMD_DIM;
	case PCIE_MAP_WINDOW:
	case PCIE_MAP_BAR:
		break;
	}
	return CMD_PLAIN;
}

void cmd_plan_print_map(struct text *out, const struct pcie_snapshot *s,
	const struct pcie_plan_options *o, size_t limit, struct cmd_style style)
{
	char addr[PCIE_ADDR_MAX];
	struct pcie_map_row *row;
	size_t n = pcie_map_create(s, o->without, o->nwithout, &row);
	const uint64_t border = (uint64_t)1 << 32;
	bool low = false, crossed = false, spans = false;

	if (n) {
		text_addf(out, "%sAddress map", out->len ? "\n" : "");
		for (size_t i = 0; i < o->nwithout; i++) {
			text_addf(out, "%s%s", i ? ", " : " without ",
				pcie_addr_format(s->dev[o->without[i]].addr, addr));
		}
		text_add(out, "\n");
	}
	for (size_t i = 0; i < n && (!limit || i < limit); i++) {
		char size[TEXT_SIZE_MAX], range[48];
		low = low || row[i].base < border;
		spans = spans || (row[i].base < border && row[i].limit >= border);
		if (row[i].base >= border && !crossed) {
			crossed = true;
			text_add(out,
				low ? "  ---- 4 GiB ----\n" : "  (nothing known below 4 GiB)\n");
		}
		snprintf(range, sizeof(range), "0x%llx-0x%llx", (unsigned long long)row[i].base,
			(unsigned long long)row[i].limit);
		text_addf(out, "  %s%-31s %9s  %*s%s%s\n",
			cmd_colour(style, map_colour(row[i].kind)), range,
			text_size(row[i].limit - row[i].base + 1, size), (int)row[i].depth * 2, "",
			row[i].what, cmd_colour(style, CMD_PLAIN));
	}
	if (n && low && !crossed && !spans && (!limit || n <= limit)) {
		text_add(out, "  ---- 4 GiB ---- (nothing above)\n");
	}
	if (limit && n > limit) {
		text_addf(out, "  and %zu more rows: --map shows all\n", n - limit);
	}
	free(row);
}
