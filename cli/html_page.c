/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page around the pictures: verdict, ladder, differences, tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/chart.h"
#include "cli/compare_rows.h"
#include "cli/html.h"

static void heading(struct text *t, const char *s)
{
	text_addf(t, "<h2>%s</h2>\n", s);
}

static void add_side(struct text *t, int side, const struct runs_side *s)
{
	char when[CMD_WHEN_MAX];
	const struct runs_info *r = &s->run[0].info;
	text_addf(t, "<div class=\"side\"><p class=\"t%c\">%c: ", "ab"[side], "AB"[side]);
	cmd_html_text(t, s->name);
	text_addf(t, "</p>\n<p>%zu run%s in %zu boot%s, first %s</p>\n<p class=\"soft\">", s->n,
		s->n == 1 ? "" : "s", s->nboot, s->nboot == 1 ? "" : "s",
		cmd_when(r->started, when));
	cmd_html_textf(t, "%s %s%s%s, %s %s", r->backend, r->device, *r->kernel ? ", " : "",
		r->kernel, r->shape, r->dtype);
	text_add(t, "</p>\n");
	for (size_t i = 0; i < s->n; i++) {
		const struct runs_member *m = &s->run[i];
		if (m->info.state > RUNS_DONE && m->info.state != RUNS_STOPPED) {
			text_add(t, "<p class=\"worse\">");
			cmd_html_textf(t, "run %lld: %s. %s", (long long)m->info.id,
				runs_state_name(m->info.state), m->info.why);
			text_add(t, "</p>\n");
		}
		if (m->totals.dropped) {
			text_addf(t, "<p>run %lld: %llu samples dropped</p>\n",
				(long long)m->info.id, (unsigned long long)m->totals.dropped);
		}
		if (m->totals.events_lost) {
			text_addf(t,
				"<p>run %lld: %llu events lost: causes of slow episodes may be missing</p>\n",
				(long long)m->info.id, (unsigned long long)m->totals.events_lost);
		}
		if (m->totals.mismatches) {
			text_addf(t, "<p class=\"worse\">run %lld: %llu wrong outputs</p>\n",
				(long long)m->info.id, (unsigned long long)m->totals.mismatches);
		}
	}
	text_add(t, "</div>\n");
}

/* A rung: passed, where it ends (HERE), reached as the last one, or not come to. */
static void add_rung(struct text *t, const char *class, const char *name)
{
	text_addf(t, "<li class=\"%s\"%s><b>%s</b>\n", class,
		*class == 'h' || *class == 'r' ? " aria-current=\"step\"" : "", name);
}

static void add_comparable(struct text *t, const struct runs_comparison *c)
{
	add_rung(t, c->nreason ? "here" : "passed", "Comparable");
	if (!c->nreason) {
		text_add(t, "Nothing else differs that is known to matter.</li>\n");
		return;
	}
	text_add(t, "No: ");
	for (size_t i = 0; i < c->nreason; i++) {
		cmd_html_textf(t, "%s%s (%s against %s)", i ? ", " : "", c->reason[i].name,
			c->reason[i].a, c->reason[i].b);
	}
	text_add(t, ". What follows describes the two.</li>\n");
}

static void add_noise(struct text *t, const struct runs_pair *p, const char *class)
{
	add_rung(t, class, "More than boots do by themselves");
	if (!isnan(p->noise)) {
		text_addf(t,
			"Boots of one side differ by a factor of %.2f (one standard deviation). ",
			exp(p->noise));
	}
	if (p->tested) {
		text_addf(t, "p = %.2g, %s permutation of %.0f splits over boots%s.", p->p,
			p->spread.exact ? "exact" : "drawn", p->spread.splits,
			p->verdict == RUNS_NO_DIFFERENCE ? ": within boot-to-boot noise" : "");
	} else {
		text_add(t, "Not tested.");
	}
	text_add(t, "</li>\n");
}

static void add_effect(struct text *t, const struct runs_pair *p, const char *class)
{
	char ns[TEXT_TIME_MAX], lo[TEXT_TIME_MAX], hi[TEXT_TIME_MAX];
	add_rung(t, class, "How large it is");
	if (p->a.n < 2 || p->b.n < 2) {
		text_add(t, "An interval needs two boots a side at least.</li>\n");
		return;
	}
	text_ns((uint64_t)fabs(p->shift.estimate), ns);
	text_ns((uint64_t)fabs(p->shift.low), lo);
	text_ns((uint64_t)fabs(p->shift.high), hi);
	text_addf(t,
		"Spread ratio B to A %.2f, %.1f %% interval %.2f to %.2f. Median shifted by %s%s "
		"(Hodges-Lehmann; %.1f %% interval %s%s to %s%s).</li>\n",
		p->ratio.estimate, 100 * p->ratio.level, p->ratio.low, p->ratio.high,
		p->shift.estimate < 0 ? "−" : "+", ns, 100 * p->shift.level,
		p->shift.low < 0 ? "−" : "+", lo, p->shift.high < 0 ? "−" : "+", hi);
}

/* Which configuration a picture or test is of. */
static void add_configuration(struct text *t, const struct runs_pair *p)
{
	bool moved = strcmp(p->device, p->device_b) != 0;
	cmd_html_textf(t, "%s%s%s%s%s %s %s, %s latency.", p->backend, *p->device ? " " : "",
		p->device, moved ? ", now " : "", moved ? p->device_b : "", p->shape, p->dtype,
		runs_layer_name(p->layer));
}

static void add_ladder(struct text *t, const struct runs_comparison *c)
{
	const struct runs_pair *p = &c->pair[c->decided];
	/* On which rung it ends: 0 not comparable, 1 description, 2 noise, 3 a difference. */
	int end = c->nreason ? 0 : !p->tested ? 1 : p->verdict == RUNS_NO_DIFFERENCE ? 2 : 3;
	heading(t, "How far the comparison carries");
	if (c->npair > 1) {
		text_addf(t, "<p>The pair that decides, of %zu: ", c->npair);
		add_configuration(t, p);
		text_add(t, "</p>\n");
	}
	text_add(t, "<ol class=\"ladder\">\n");
	add_comparable(t, c);
	add_rung(t, end == 1 ? "here" : end > 1 ? "passed" : "open", "Enough boots");
	text_addf(t, "%zu against %zu; no result of theirs can be rarer than p = %.2g.", p->a.n,
		p->b.n, p->spread.least);
	if (p->same_boot) {
		text_add(t, " A boot stands on both sides, so nothing can be tested.");
	} else if (!p->tested && !c->nreason) {
		text_add(t, " A description and no verdict: four boots a side carry one test.");
	}
	text_add(t, "</li>\n");
	add_noise(t, p, end == 2 ? "here" : end > 2 ? "passed" : "open");
	add_effect(t, p, end == 3 ? "reached" : "open");
	text_add(t, "</ol>\n");
	if (p->trend_p <= 0.05) {
		text_addf(t,
			"<p>The band drifts over the boots by itself (p = %.2g): their order may "
			"explain part of a difference.</p>\n",
			p->trend_p);
	}
}

/* One picture at both widths. CAPTION is ours and may hold markup. */
static void add_figure(struct text *t, const struct cmd_page *p, const char *title,
	void (*draw)(struct text *t, const struct cmd_page *p, int w), const char *caption)
{
	text_addf(t, "<figure><h3>%s</h3>\n", title);
	draw(t, p, CMD_WIDE);
	draw(t, p, CMD_NARROW);
	text_addf(t, "<figcaption>%s</figcaption></figure>\n", caption);
}

static void add_figures(struct text *t, const struct cmd_page *p)
{
	const struct runs_pair *pair = &p->c->pair[p->c->decided];
	heading(t, "Latency");
	text_add(t, "<p class=\"sub\"><span class=\"ta\">A: round marks, solid lines</span>; "
		    "<span class=\"tb\">B: square marks, broken lines</span>. ");
	add_configuration(t, pair);
	text_add(t, "</p>\n<div class=\"figures\">\n");
	add_figure(t, p, "One value a boot", cmd_html_boots,
		"The band of each boot, (p95 − p5) / 2 / p50, on which the verdict rests; and, beside "
		"or below it, the median of each boot. Lines are the sides’ medians.");
	add_figure(t, p, "Distributions", cmd_html_distribution,
		"All launches of both sides, A upwards and B downwards: the share that falls within "
		"1 % of each latency, on a logarithmic axis. Bars beside the middle line reach from "
		"p5 to p95, upright lines are medians.");
	add_figure(t, p, "Tails", cmd_html_tail,
		"How many launches took at least this long, on two logarithmic axes. The lowest steps "
		"are single launches.");
	add_figure(t, p, "Layers", cmd_html_layers,
		"Where the time goes and which part of it wavers, medians over the runs, each layer "
		"against A’s median of it: bars reach from p5 to p95, marks are p50 with its value on "
		"the right, ticks are p99 where enough independent samples carry it. Logarithmic "
		"axis; what lies beyond it stands at its edge.");
	add_figure(t, p, "Over time", cmd_html_time,
		"The runs of each side one after the other, at one scale. The strip reaches from p5 to "
		"p95 of each stretch, the line in it is p50, dots are its slowest launch; a triangle "
		"at the top stands for one beyond the axis. Beneath: slow episodes, and when events of "
		"each source were seen.");
	if (p->m->diff) {
		add_figure(t, p, "BARs before and after", cmd_html_map,
			"Physical addresses of the GPUs’ BARs (of all devices where there is no GPU), high "
			"ones on top, both machines on one ruler whose pieces are not to scale. Pale: "
			"apertures of the host bridges; grey: BARs of other devices; broken red: no "
			"address. Read of A’s last and B’s first boot.");
	}
	text_add(t, "</div>\n");
}

static void add_change(
	struct text *t, const char *what, const char *a, const char *b, enum pcie_tri worse)
{
	static const char *const class[] = {"t", "t better", "t worse"};
	static const char *const word[] = {"", " (more)", " (less)"};
	text_add(t, "<tr><td class=\"t\">");
	cmd_html_text(t, what);
	text_add(t, "</td><td class=\"t\">");
	cmd_html_text(t, a);
	text_addf(t, "</td><td class=\"%s\">", class[worse]);
	cmd_html_text(t, b);
	text_addf(t, "%s</td></tr>\n", word[worse]);
}

static void add_subject(struct text *t, const char *word, const struct pcie_device *d)
{
	char addr[PCIE_ADDR_MAX];
	text_add(t, "<tr><th colspan=\"3\">");
	cmd_html_textf(t, "%s%s %s", word,
		d->addr.known ? pcie_addr_format(d->addr, addr) : "(no address)", d->name);
	text_add(t, "</th></tr>\n");
}

static void add_machine(struct text *t, const struct cmd_page *p)
{
	const struct pcie_diff *d = p->m->diff;
	heading(t, "What differs in the machine");
	if (!d) {
		text_add(t, "<p>");
		cmd_html_textf(t, "Not known: %s.", p->m->missing);
		text_add(t, "</p>\n");
		return;
	}
	if (pcie_diff_is_empty(d)) {
		text_addf(t, "<p>Nothing differs among %zu devices.</p>\n", d->matched);
		return;
	}
	text_add(t, "<div class=\"scroll\"><table><tr><th>what</th><th>A, its last boot</th>"
		    "<th>B, its first boot</th></tr>\n");
	for (size_t i = 0; i < d->host.n; i++) {
		const struct pcie_change *x = &d->host.change[i];
		add_change(t, x->what, x->before, x->after, x->worse);
	}
	for (size_t i = 0; i < d->ngone; i++) {
		add_subject(t, "gone: ", &p->m->a->dev[d->gone[i]]);
	}
	for (size_t i = 0; i < d->nfresh; i++) {
		add_subject(t, "new: ", &p->m->b->dev[d->fresh[i]]);
	}
	for (size_t i = 0; i < d->nonly_a; i++) {
		add_subject(t, "not in B's text: ", &p->m->a->dev[d->only_a[i]]);
	}
	for (size_t i = 0; i < d->nonly_b; i++) {
		add_subject(t, "not in A's text: ", &p->m->b->dev[d->only_b[i]]);
	}
	for (size_t i = 0; i < d->npair; i++) {
		const struct pcie_pair *pair = &d->pair[i];
		char addr[PCIE_ADDR_MAX];
		add_subject(t, "", &p->m->b->dev[pair->b]);
		if (pair->moved) {
			add_change(t, "address", pcie_addr_format(p->m->a->dev[pair->a].addr, addr),
				"as above", PCIE_TRI_UNKNOWN);
		}
		for (size_t k = 0; k < pair->changes.n; k++) {
			const struct pcie_change *x = &pair->changes.change[k];
			add_change(t, x->what, x->before, x->after, x->worse);
		}
	}
	text_add(t, "</table></div>\n");
}

static void add_environment(struct text *t, const struct runs_comparison *c)
{
	heading(t, "What differs around it");
	if (!c->nreason && !c->nnoted) {
		text_add(t, "<p>Nothing.</p>\n");
		return;
	}
	text_add(t, "<div class=\"scroll\"><table><tr><th>what</th><th>A</th><th>B</th>"
		    "<th>stands in the way</th></tr>\n");
	for (size_t i = 0; i < c->nreason + c->nnoted; i++) {
		const struct runs_reason *r =
			i < c->nreason ? &c->reason[i] : &c->noted[i - c->nreason];
		text_add(t, "<tr><td class=\"t\">");
		cmd_html_text(t, r->name);
		text_add(t, "</td><td class=\"t\">");
		cmd_html_text(t, r->a);
		text_add(t, "</td><td class=\"t\">");
		cmd_html_text(t, r->b);
		text_addf(t, "</td><td>%s</td></tr>\n", i < c->nreason ? "yes" : "no");
	}
	text_add(t, "</table></div>\n");
}

static void add_rows(struct text *t, const struct runs_comparison *c)
{
	_cleanup_free_ struct cmd_row *row = NULL;
	size_t n = cmd_compare_rows(c, &row);
	char x[CMD_WHEN_MAX];
	heading(t, "Figures, medians over the runs");
	text_add(t, "<div class=\"scroll\"><table><tr><th></th><th class=\"r\">A</th>"
		    "<th class=\"r\">B</th><th class=\"r\">B to A</th></tr>\n");
	for (size_t i = 0; i < n; i++) {
		text_addf(t, "<tr><td%s>%s</td>", row[i].first ? "" : " class=\"in\"", row[i].name);
		text_addf(t, "<td class=\"r\">%s</td>", cmd_row_value(row[i].a, row[i].unit, x));
		text_addf(t, "<td class=\"r\">%s</td>", cmd_row_value(row[i].b, row[i].unit, x));
		text_addf(t, "<td class=\"r\">%s</td></tr>\n", cmd_row_change(&row[i], x));
	}
	text_add(t, "</table></div>\n");
}

static void add_raw_row(
	struct text *t, int side, const struct runs_member *m, unsigned series, unsigned layer)
{
	const struct runs_description *d = &m->layer[series][layer];
	enum cmd_unit unit = layer == RUNS_CYCLES ? CMD_CYCLES : CMD_NS;
	char x[CMD_WHEN_MAX];
	text_addf(t, "<tr><td class=\"t%c\">%c</td><td class=\"r\">%lld</td><td>", "ab"[side],
		"AB"[side], (long long)m -> info.id);
	cmd_html_textf(t, "%.12s", m->info.boot_id);
	text_addf(t, "</td><td>%s</td><td>", cmd_when(m->info.started, x));
	cmd_html_text(t, m->info.shape);
	text_addf(t, "</td><td>%s %s</td><td class=\"r\">%llu</td><td class=\"r\">%.0f</td>",
		runs_series_name(series), runs_layer_name(layer), (unsigned long long)d->n,
		d->n_eff);
	const double v[] = {(double)d->min, (double)d->p5, (double)d->p50, (double)d->p95, d->p99,
		d->p999, (double)d->max};
	for (size_t i = 0; i < ARRAY_LEN(v); i++) {
		text_addf(t, "<td class=\"r\">%s</td>", cmd_row_value(v[i], unit, x));
	}
	text_addf(t, "<td class=\"r\">%s</td></tr>\n", cmd_percent(d->band, x));
}

static void add_raw(struct text *t, const struct runs_comparison *c)
{
	const struct runs_side *side[2] = {c->a, c->b};
	heading(t, "Every run");
	text_add(t,
		"<div class=\"scroll\"><table class=\"raw\"><thead><tr><th></th>"
		"<th class=\"r\">run</th><th>boot</th><th>started</th><th>shape</th><th>layer</th>"
		"<th class=\"r\">samples</th><th class=\"r\">independent</th>"
		"<th class=\"r\">min</th><th class=\"r\">p5</th><th class=\"r\">p50</th>"
		"<th class=\"r\">p95</th><th class=\"r\">p99</th><th class=\"r\">p99.9</th>"
		"<th class=\"r\">max</th><th class=\"r\">band</th></tr></thead>\n<tbody>\n");
	for (int k = 0; k < 2; k++) {
		for (size_t i = 0; i < side[k]->n; i++) {
			for (unsigned x = 0; x < STRESS_SERIES * RUNS_LAYERS; x++) {
				unsigned s = x / RUNS_LAYERS, l = x % RUNS_LAYERS;
				if (side[k]->run[i].layer[s][l].n) {
					add_raw_row(t, k, &side[k]->run[i], s, l);
				}
			}
		}
	}
	text_add(t, "</tbody></table></div>\n");
}

char *cmd_compare_html(const struct cmd_page *p)
{
	static const char *const words[] = {
		[RUNS_NOT_COMPARABLE] = "Not comparable",
		[RUNS_DESCRIPTION] = "Description only",
		[RUNS_NO_DIFFERENCE] = "No difference shown",
		[RUNS_BETTER] = "Better",
		[RUNS_WORSE] = "Worse",
	};
	const struct runs_comparison *c = p->c;
	struct text t = {0};
	text_add(&t, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
		     "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		     "style-src 'unsafe-inline'; img-src data:\"/>\n"
		     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
		     "<link rel=\"icon\" href=\"data:,\"/>\n<title>");
	cmd_html_textf(&t, "%s against %s", c->a->name, c->b->name);
	text_addf(
		&t, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n<h1>", cmd_html_style);
	cmd_html_text(&t, c->a->name);
	text_add(&t, " <span class=\"soft\">against</span> ");
	cmd_html_text(&t, c->b->name);
	text_addf(&t,
		"</h1>\n<p class=\"sub\">barscope compare</p>\n<div class=\"verdict %s\"><b>%s</b>",
		runs_verdict_name(c->verdict), words[c->verdict]);
	cmd_html_text(&t, c->sentence);
	text_add(&t, "</div>\n");
	if (p->head && *p->head) {
		text_add(&t, p->head);
	}
	text_add(&t, "<div class=\"sides\">\n");
	add_side(&t, 0, c->a);
	add_side(&t, 1, c->b);
	text_add(&t, "</div>\n");
	add_ladder(&t, c);
	add_figures(&t, p);
	add_machine(&t, p);
	add_environment(&t, c);
	add_rows(&t, c);
	add_raw(&t, c);
	text_add(&t,
		"<footer>The unit of a comparison is the boot: the spread of one value a boot is "
		"tested, everything else is description. Nothing on this page was loaded from "
		"elsewhere, and it runs no script.</footer>\n</main>\n</body>\n</html>\n");
	return text_steal(&t);
}
