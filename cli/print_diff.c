/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "cli/diff.h"
#include "cli/layout.h"

static enum cmd_colour colour_of(enum pcie_tri worse)
{
	return worse == PCIE_YES ? CMD_BAD : worse == PCIE_NO ? CMD_GOOD : CMD_PLAIN;
}

static void print_changes(struct text *out, const struct pcie_changes *c, struct cmd_style style)
{
	static const char *const mark[] = {"  ", "+ ", "- "};
	for (size_t i = 0; i < c->n; i++) {
		const struct pcie_change *x = &c->change[i];
		struct text t = {0};
		text_addf(&t, "%s%-22s %s %s %s", mark[x->worse], x->what, x->before,
			style.utf8 ? "→" : "->", x->after);
		text_add(out, cmd_colour(style, colour_of(x->worse)));
		cmd_wrapped(out, 2, 27, t.s);
		text_add(out, cmd_colour(style, CMD_PLAIN));
		text_finish(&t);
	}
}

static void print_device(struct text *out, const char *word, const struct pcie_device *d)
{
	char addr[PCIE_ADDR_MAX], line[256] = "";
	cmd_append(line, sizeof(line), "%s%s  %s", word,
		d->addr.known ? pcie_addr_format(d->addr, addr) : "(no address)",
		d->name[0] ? d->name : "unnamed device");
	if (d->have_ids == PCIE_KNOWN && d->device) {
		cmd_append(line, sizeof(line), " [%04x:%04x]", d->vendor, d->device);
	}
	cmd_wrapped(out, 0, 14, line);
}

void cmd_diff_print(struct text *out, const struct pcie_snapshot *a, const struct pcie_snapshot *b,
	const struct pcie_diff *d, struct cmd_style style)
{
	char addr[PCIE_ADDR_MAX];

	if (pcie_diff_is_empty(d)) {
		text_addf(out, "Nothing differs among %zu devices.\n", d->matched);
		return;
	}
	if (d->host.n) {
		text_add(out, "Host\n");
		print_changes(out, &d->host, style);
	}
	for (size_t i = 0; i < d->ngone; i++) {
		text_add(out, cmd_colour(style, CMD_BAD));
		print_device(out, "gone  ", &a->dev[d->gone[i]]);
		text_add(out, cmd_colour(style, CMD_PLAIN));
	}
	for (size_t i = 0; i < d->nfresh; i++) {
		print_device(out, "new   ", &b->dev[d->fresh[i]]);
	}
	for (size_t i = 0; i < d->nonly_a; i++) {
		print_device(out, "not in B's text  ", &a->dev[d->only_a[i]]);
	}
	for (size_t i = 0; i < d->nonly_b; i++) {
		print_device(out, "not in A's text  ", &b->dev[d->only_b[i]]);
	}
	for (size_t i = 0; i < d->npair; i++) {
		const struct pcie_pair *p = &d->pair[i];
		print_device(out, "", &b->dev[p->b]);
		if (p->moved) {
			text_addf(
				out, "    was at %s\n", pcie_addr_format(a->dev[p->a].addr, addr));
		}
		print_changes(out, &p->changes, style);
	}
}
