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

/* D, by the name that another side gives it where its own has none. */
static void print_named(
	struct text *out, const char *word, const struct pcie_device *d, const char *other)
{
	char addr[PCIE_ADDR_MAX], line[256] = "";
	cmd_append(line, sizeof(line), "%s%s  %s", word,
		d->addr.known ? pcie_addr_format(d->addr, addr) : "(no address)",
		d->name[0] ? d->name
		: other[0] ? other
			   : "unnamed device");
	if (d->have_ids == PCIE_KNOWN && d->device) {
		cmd_append(line, sizeof(line), " [%04x:%04x]", d->vendor, d->device);
	}
	cmd_wrapped(out, 0, 14, line);
}

static void print_device(struct text *out, const char *word, const struct pcie_device *d)
{
	print_named(out, word, d, "");
}

/* Devices that the other side's text does not name: each, or their addresses where there are many.
 */
static void print_unseen(
	struct text *out, const char *side, const struct pcie_snapshot *s, const int *dev, size_t n)
{
	enum { EACH = 6 };
	char addr[PCIE_ADDR_MAX], word[32];

	snprintf(word, sizeof(word), "not in %s's text  ", side);
	for (size_t i = 0; i < n && n <= EACH; i++) {
		print_device(out, word, &s->dev[dev[i]]);
	}
	if (n <= EACH) {
		return;
	}
	struct text t = {0};
	text_addf(&t, "%s%zu devices:", word, n);
	for (size_t i = 0; i < n; i++) {
		const struct pcie_device *d = &s->dev[dev[i]];
		text_addf(&t, "%s %s", i ? "," : "",
			d->addr.known ? pcie_addr_format(d->addr, addr) : "(no address)");
	}
	cmd_wrapped(out, 0, 14, t.s);
	text_finish(&t);
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
	for (size_t i = 0; i < d->npair; i++) {
		const struct pcie_pair *p = &d->pair[i];
		print_named(out, "", &b->dev[p->b], a->dev[p->a].name);
		if (p->moved) {
			text_addf(
				out, "    was at %s\n", pcie_addr_format(a->dev[p->a].addr, addr));
		}
		print_changes(out, &p->changes, style);
	}
	print_unseen(out, "B", a, d->only_a, d->nonly_a);
	print_unseen(out, "A", b, d->only_b, d->nonly_b);
}
