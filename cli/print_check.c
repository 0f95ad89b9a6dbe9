/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/check.h"
#include "cli/layout.h"
#include "pcie/log_explain.h"

struct page {
	struct text *out;
	const struct pcie_snapshot *s;
	struct cmd_style style;
	bool explain;
	bool discrete; /* there is a discrete GPU */
};

static const char *mark(const struct page *p, enum pcie_level l)
{
	static const char *const ascii[] = {"ok", "--", "??", "!!"};
	static const char *const utf8[] = {"✓ ", "· ", "? ", "✗ "};
	return p->style.utf8 ? utf8[l] : ascii[l];
}

static enum cmd_colour colour_of(enum pcie_level l)
{
	static const enum cmd_colour c[] = {CMD_GOOD, CMD_PLAIN, CMD_WARN, CMD_BAD};
	return c[l];
}

static void heading(const struct page *p, const struct pcie_gpu *g)
{
	const struct pcie_device *d = &p->s->dev[g->dev];
	char addr[PCIE_ADDR_MAX], line[256];
	int n = snprintf(line, sizeof(line), "%s  %s",
		g->addr.known ? pcie_addr_format(g->addr, addr) : "(no address)",
		g->name[0] ? g->name : "unnamed device");
	if (d->have_ids == PCIE_KNOWN && d->device && n > 0 && (size_t)n < sizeof(line)) {
		n += snprintf(
			line + n, sizeof(line) - (size_t)n, " [%04x:%04x]", d->vendor, d->device);
	}
	if (g->kind != PCIE_GPU_DISCRETE && n > 0 && (size_t)n < sizeof(line)) {
		snprintf(line + n, sizeof(line) - (size_t)n, ", %s", pcie_gpu_kind_name(g->kind));
	}
	text_add(p->out, cmd_colour(p->style, CMD_BOLD));
	cmd_wrapped(p->out, 0, 14, line);
	text_add(p->out, cmd_colour(p->style, CMD_PLAIN));
}

static void print_list(
	const struct page *p, const char *word, const struct pcie_evidence *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct text t = {0};
		text_addf(&t, "%s %-3s %s: %s", word, e[i].id, e[i].source, e[i].value);
		cmd_wrapped(p->out, 5, 17, t.s);
		text_finish(&t);
	}
}

static void print_verdict(const struct page *p, const struct pcie_verdict *v)
{
	struct text t = {0};
	text_addf(&t, "%-16s %-12s%s", v->rule->id, v->answer, v->headline);
	if (p->explain || v->level == PCIE_LEVEL_BAD) {
		text_addf(&t, " (%s)", pcie_confidence_name(v->confidence));
	}
	text_addf(p->out, "  %s%s%s", cmd_colour(p->style, colour_of(v->level)), mark(p, v->level),
		cmd_colour(p->style, CMD_PLAIN));
	/* The mark took four of the five columns before the text. */
	size_t before = p->out->len;
	cmd_wrapped(p->out, 5, 34, t.s);
	memmove(p->out->s + before, p->out->s + before + 4, p->out->len - before - 4 + 1);
	p->out->len -= 4;
	text_finish(&t);
	if (p->explain) {
		text_addf(p->out, "     %s?\n", v->rule->title);
		print_list(p, "for    ", v->evidence, v->nevidence);
		print_list(p, "against", v->against, v->nagainst);
	}
}

/* Without --explain: the main questions, and of the others what is not good. */
static bool is_shown(const struct page *p, const struct pcie_gpu *g, const struct pcie_verdict *v)
{
	if (p->explain || v->level == PCIE_LEVEL_BAD) {
		return true;
	}
	if (g->kind != PCIE_GPU_DISCRETE && p->discrete) {
		return !strcmp(v->rule->id, "assignment");
	}
	if (v->rule->decides) {
		return true;
	}
	if (!strcmp(v->rule->id, "link")) {
		return strcmp(v->answer, "unknown") || v->level == PCIE_LEVEL_UNSURE;
	}
	return v->level > PCIE_LEVEL_GOOD && strcmp(v->answer, "unknown") &&
	       strcmp(v->rule->id, "above4g.setup");
}

/* The advice of one verdict, less what a verdict before it has said; SAID is of V's strings. */
static void add_advice(const struct page *p, const struct pcie_verdict *v, const char **said,
	size_t *nsaid, size_t max)
{
	for (size_t k = 0; k < v->nadvice; k++) {
		bool again = *nsaid == max;
		for (size_t i = 0; i < *nsaid; i++) {
			again = again || !strcmp(said[i], v->advice[k]);
		}
		if (again) {
			continue;
		}
		said[(*nsaid)++] = v->advice[k];
		struct text t = {0};
		text_addf(&t, "%zu. %s", *nsaid, v->advice[k]);
		if (*nsaid == 1) {
			text_add(p->out, "  What to do\n");
		}
		cmd_wrapped(p->out, 4, 7, t.s);
		text_finish(&t);
	}
}

static void print_advice(const struct page *p, const struct pcie_gpu *g)
{
	const char *said[64];
	size_t n = 0;
	for (int level = PCIE_LEVEL_BAD; level >= PCIE_LEVEL_GOOD; level--) {
		for (size_t i = 0; i < g->nverdict; i++) {
			const struct pcie_verdict *v = &g->verdict[i];
			if ((int)v->level == level && is_shown(p, g, v)) {
				add_advice(p, v, said, &n, ARRAY_LEN(said));
			}
		}
	}
}

static void print_body(const struct page *p, const struct pcie_gpu *g)
{
	for (int level = PCIE_LEVEL_BAD; level >= PCIE_LEVEL_GOOD; level--) {
		for (size_t i = 0; i < g->nverdict; i++) {
			const struct pcie_verdict *v = &g->verdict[i];
			if ((int)v->level == level && is_shown(p, g, v)) {
				print_verdict(p, v);
			}
		}
	}
	if (g->cause != PCIE_CAUSE_NONE) {
		_cleanup_free_ char *why = pcie_gpu_why(g);
		struct text t = {0};
		text_addf(&t, "Cause: %s", why);
		cmd_wrapped(p->out, 2, 9, t.s);
		text_finish(&t);
	}
	print_advice(p, g);
}

/* The I-th GPU and all later ones with the same body: their names, then what is said. */
static void print_alike(const struct page *p, const struct pcie_verdicts *v, char **body, size_t i)
{
	_cleanup_free_ char *said = body[i];

	text_add(p->out, p->out->len ? "\n" : "");
	for (size_t k = i; k < v->ngpu; k++) {
		if (k != i && (!body[k] || strcmp(body[k], said))) {
			continue;
		}
		heading(p, &v->gpu[k]);
		if (k != i) {
			free(body[k]);
		}
		body[k] = NULL;
	}
	text_add(p->out, said);
}

/* What the log says in the end of each resource, with the lines that prove it. */
static void print_log(const struct page *p)
{
	struct pcie_log_item *item;
	size_t n = pcie_log_explain(p->s, &item);

	if (n) {
		text_add(p->out, "\nThe kernel log's last word\n");
	}
	for (size_t i = 0; i < n; i++) {
		struct text t = {0};
		text_addf(&t, "%s: %s", item[i].resource, item[i].final);
		text_add(p->out, cmd_colour(p->style, item[i].bad ? CMD_BAD : CMD_PLAIN));
		cmd_wrapped(p->out, 2, 4, t.s);
		text_add(p->out, cmd_colour(p->style, CMD_PLAIN));
		text_finish(&t);
		for (size_t k = 0; k < item[i].nline; k++) {
			cmd_wrapped(p->out, 6, 8, item[i].line[k]);
		}
	}
	free(item);
}

void cmd_check_print(struct text *out, const struct pcie_snapshot *s, const struct pcie_verdicts *v,
	bool explain, struct cmd_style style)
{
	const struct page p = {.out = out,
		.s = s,
		.style = style,
		.explain = explain,
		.discrete = pcie_verdicts_have_discrete(v)};
	/* What is said of each; GPUs of which the same is said stand above it together. */
	char **body = xcalloc(v->ngpu + 1, sizeof(*body));
	for (size_t i = 0; i < v->ngpu; i++) {
		struct text t = {0};
		struct page one = p;
		one.out = &t;
		print_body(&one, &v->gpu[i]);
		body[i] = text_steal(&t);
	}
	for (int level = PCIE_LEVEL_BAD; level >= PCIE_LEVEL_GOOD; level--) {
		for (size_t i = 0; i < v->ngpu; i++) {
			if (body[i] && (int)pcie_gpu_deciding_level(&v->gpu[i]) == level) {
				print_alike(&p, v, body, i);
			}
		}
	}
	free(body);
	if (explain) {
		print_log(&p);
	}
	for (size_t i = 0; i < s->nnote; i++) {
		if (i == 0) {
			text_add(out, "\nNotes\n");
		}
		struct text t = {0};
		char addr[PCIE_ADDR_MAX];
		if (s->note[i].dev >= 0) {
			text_addf(&t, "%s: ", pcie_addr_format(s->dev[s->note[i].dev].addr, addr));
		}
		text_add(&t, s->note[i].text);
		cmd_wrapped(out, 2, 4, t.s);
		text_finish(&t);
	}
}
