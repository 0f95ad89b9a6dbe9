/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/print_compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/compare_rows.h"
#include "cli/diff.h"
#include "cli/layout.h"
#include "cli/print_runs.h"

static struct js *values_json(const double *v, size_t n, bool logs)
{
	struct js *a = js_array();
	for (size_t i = 0; i < n; i++) {
		struct js *o = js_object();
		js_set_real(o, "value", logs ? exp(v[i]) : v[i]);
		js_push(a, o);
	}
	return a;
}

static struct js *side_json(const struct runs_side *s)
{
	struct js *j = js_object(), *boots = js_array(), *runs = js_array();
	js_set_str(j, "name", s->name);
	for (size_t i = 0; i < s->nboot; i++) {
		struct js *b = js_object();
		js_set_str(b, "boot", s->boot[i].boot_id);
		js_set_int(b, "started", s->boot[i].started);
		js_set_int(b, "runs", (int64_t)s->boot[i].nrun);
		js_push(boots, b);
	}
	for (size_t i = 0; i < s->n; i++) {
		const struct runs_member *m = &s->run[i];
		struct js *r = js_object(), *layers = js_array();
		js_set_int(r, "id", m->info.id);
		js_set_str(r, "label", m->info.label);
		js_set_str(r, "boot", m->info.boot_id);
		js_set_str(r, "state", runs_state_name(m->info.state));
		js_set_str(r, "backend", m->info.backend);
		js_set_str(r, "shape", m->info.shape);
		js_set_str(r, "device", m->info.device);
		js_set_u64(r, "dropped", m->totals.dropped);
		js_set_u64(r, "events_lost", m->totals.events_lost);
		js_set_u64(r, "mismatches", m->totals.mismatches);
		for (unsigned k = 0; k < STRESS_SERIES * RUNS_LAYERS; k++) {
			const struct runs_description *d =
				&m->layer[k / RUNS_LAYERS][k % RUNS_LAYERS];
			if (d->n) {
				struct js *l = js_object();
				js_set_str(l, "series", runs_series_name(k / RUNS_LAYERS));
				js_set_str(l, "layer", runs_layer_name(k % RUNS_LAYERS));
				cmd_description_json(l, d);
				js_push(layers, l);
			}
		}
		js_set(r, "layers", layers);
		js_push(runs, r);
	}
	js_set(j, "boots", boots);
	js_set(j, "runs", runs);
	return j;
}

static struct js *shift_json(const struct runs_shift *s)
{
	struct js *j = js_object();
	js_set_real(j, "estimate", s->estimate);
	js_set_real(j, "low", s->low);
	js_set_real(j, "high", s->high);
	js_set_real(j, "level", s->level);
	return j;
}

static struct js *pair_json(const struct runs_pair *p)
{
	struct js *j = js_object();
	js_set_str(j, "backend", p->backend);
	js_set_str(j, "shape", p->shape);
	js_set_str(j, "dtype", p->dtype);
	if (*p->device) {
		js_set_str(j, "device", p->device);
	}
	if (strcmp(p->device, p->device_b) != 0) {
		js_set_str(j, "device_b", p->device_b);
	}
	js_set_str(j, "layer", runs_layer_name(p->layer));
	js_set_str(j, "verdict", runs_verdict_name(p->verdict));
	js_set(j, "a_band", values_json(p->a.log_band, p->a.n, true));
	js_set(j, "b_band", values_json(p->b.log_band, p->b.n, true));
	js_set(j, "a_p50_ns", values_json(p->a.p50, p->a.n, false));
	js_set(j, "b_p50_ns", values_json(p->b.p50, p->b.n, false));
	js_set(j, "shift_ns", shift_json(&p->shift));
	js_set(j, "spread_ratio", shift_json(&p->ratio));
	js_set_bool(j, "tested", p->tested);
	if (p->tested) {
		js_set_real(j, "p", p->p);
	}
	js_set_real(j, "p_least", p->spread.least);
	js_set_real(j, "boot_noise_log_sd", p->noise);
	if (p->trend_p < 1) {
		js_set_real(j, "trend_p", p->trend_p);
	}
	return j;
}

static struct js *reasons_json(const struct runs_reason *r, size_t n)
{
	struct js *a = js_array();
	for (size_t i = 0; i < n; i++) {
		struct js *o = js_object();
		js_set_str(o, "name", r[i].name);
		js_set_str(o, "a", r[i].a);
		js_set_str(o, "b", r[i].b);
		js_push(a, o);
	}
	return a;
}

struct js *cmd_compare_json(const struct runs_comparison *c, const struct cmd_machines *m)
{
	struct js *j = js_object();
	js_set_str(j, "schema", "barscope.compare/1");
	js_set_str(j, "verdict", runs_verdict_name(c->verdict));
	js_set_str(j, "sentence", c->sentence);
	js_set(j, "not_comparable", reasons_json(c->reason, c->nreason));
	js_set(j, "differs", reasons_json(c->noted, c->nnoted));
	if (m->diff) {
		js_set(j, "machine", cmd_diff_json(m->a, m->b, m->diff));
	}
	struct js *pairs = js_array();
	for (size_t i = 0; i < c->npair; i++) {
		js_push(pairs, pair_json(&c->pair[i]));
	}
	js_set(j, "pairs", pairs);
	js_set_int(j, "decided_by", (int64_t)c->decided);
	js_set(j, "a", side_json(c->a));
	js_set(j, "b", side_json(c->b));
	return j;
}

static void print_side(
	struct text *t, const char *letter, const struct runs_side *s, struct cmd_style style)
{
	char when[CMD_WHEN_MAX];
	const struct runs_info *r = &s->run[0].info;
	const size_t devices = runs_side_devices(s);
	text_addf(t, "%s%s  %s%s  %zu run%s in %zu boot%s, first %s\n   %s%s%s",
		cmd_colour(style, CMD_BOLD), letter, s->name, cmd_colour(style, CMD_PLAIN), s->n,
		s->n == 1 ? "" : "s", s->nboot, s->nboot == 1 ? "" : "s",
		cmd_when(r->started, when), r->backend, *r->device ? " " : "", r->device);
	if (devices > 1) {
		text_addf(t, " and %zu more device%s", devices - 1, devices > 2 ? "s" : "");
	}
	text_addf(t, "%s%s, %s %s", *r->kernel ? ", " : "", r->kernel, r->shape, r->dtype);
	text_addf(t, r->threads ? ", %u thread%s\n" : "\n", r->threads, r->threads == 1 ? "" : "s");
	for (size_t i = 0; i < s->n; i++) {
		const struct runs_member *m = &s->run[i];
		if (m->info.state > RUNS_DONE && m->info.state != RUNS_STOPPED) {
			text_addf(t, "   run %lld: %s. %s\n", (long long)m->info.id,
				runs_state_name(m->info.state), m->info.why);
		}
		if (m->totals.dropped) {
			text_addf(t, "   run %lld: %llu samples dropped\n", (long long)m->info.id,
				(unsigned long long)m->totals.dropped);
		}
		if (m->totals.events_lost) {
			text_addf(t,
				"   run %lld: %llu events lost: causes of slow episodes may be missing\n",
				(long long)m->info.id, (unsigned long long)m->totals.events_lost);
		}
		if (m->totals.mismatches) {
			text_addf(t, "   run %lld: %s%llu wrong outputs%s\n", (long long)m->info.id,
				cmd_colour(style, CMD_BAD),
				(unsigned long long)m->totals.mismatches,
				cmd_colour(style, CMD_PLAIN));
		}
	}
}

static void heading(struct text *t, const char *s, struct cmd_style style)
{
	text_addf(t, "\n%s%s%s\n", cmd_colour(style, CMD_BOLD), s, cmd_colour(style, CMD_PLAIN));
}

static void print_machines(struct text *t, const struct cmd_machines *m, struct cmd_style style)
{
	heading(t, "Machine", style);
	if (!m->diff) {
		text_addf(t, "  not known: %s\n", m->missing);
		return;
	}
	cmd_diff_print(t, m->a, m->b, m->diff, style);
}

static void print_reasons(struct text *t, const struct runs_comparison *c, struct cmd_style style)
{
	const char *to = style.utf8 ? "\u2192" : "->";
	heading(t, "Environment", style);
	if (!c->nreason && !c->nnoted) {
		text_add(t, "  no difference\n");
	}
	for (size_t i = 0; i < c->nreason; i++) {
		text_addf(t, "  %s%-16s%s %s %s %s\n", cmd_colour(style, CMD_WARN),
			c->reason[i].name, cmd_colour(style, CMD_PLAIN), c->reason[i].a, to,
			c->reason[i].b);
	}
	for (size_t i = 0; i < c->nnoted; i++) {
		text_addf(t, "  %-16s %s %s %s\n", c->noted[i].name, c->noted[i].a, to,
			c->noted[i].b);
	}
}

static void print_layers(struct text *t, const struct runs_comparison *c, struct cmd_style style)
{
	_cleanup_free_ struct cmd_row *row = NULL;
	size_t n = cmd_compare_rows(c, &row);
	char x[CMD_WHEN_MAX];
	text_addf(t, "\n%s  %-24s %12s %12s  %10s%s\n", cmd_colour(style, CMD_DIM),
		c->by_device ? "median over all devices" : "median over the runs", "A", "B",
		"B to A", cmd_colour(style, CMD_PLAIN));
	for (size_t i = 0; i < n; i++) {
		text_addf(t, "  %s%-*s", row[i].first ? "" : "     ", row[i].first ? 24 : 19,
			row[i].name);
		cmd_cell(t, cmd_row_value(row[i].a, row[i].unit, x), -13);
		cmd_cell(t, cmd_row_value(row[i].b, row[i].unit, x), -13);
		text_addf(t, *cmd_row_change(&row[i], x) ? "  %10s\n" : "\n", x);
	}
}

static void print_pair(struct text *t, const struct runs_pair *p)
{
	char a[CMD_WHEN_MAX], b[CMD_WHEN_MAX];
	bool moved = strcmp(p->device, p->device_b) != 0;
	text_addf(t, "  %s%s%s%s%s %s %s, %s latency, one value a boot\n", p->backend,
		*p->device ? " " : "", p->device, moved ? ", now " : "", moved ? p->device_b : "",
		p->shape, p->dtype, runs_layer_name(p->layer));
	text_add(t, "    band A:");
	for (size_t i = 0; i < p->a.n; i++) {
		text_addf(t, " %s", cmd_percent(exp(p->a.log_band[i]), a));
	}
	text_add(t, "\n    band B:");
	for (size_t i = 0; i < p->b.n; i++) {
		text_addf(t, " %s", cmd_percent(exp(p->b.log_band[i]), b));
	}
	text_add(t, "\n");
	if (p->a.n > 1 && p->b.n > 1) {
		text_addf(t,
			"    spread ratio %.2f (%.1f %% interval %.2f to %.2f), shift of the median "
			"%+.0f ns (%.0f to %.0f)\n",
			p->ratio.estimate, 100 * p->ratio.level, p->ratio.low, p->ratio.high,
			p->shift.estimate, p->shift.low, p->shift.high);
	}
	if (!isnan(p->noise)) {
		text_addf(t,
			"    boots of one side differ by a factor of %.2f (one standard deviation)\n",
			exp(p->noise));
	}
	if (p->tested) {
		text_addf(t, "    p = %.3g (%s permutation of %.0f splits, least possible %.2g)\n",
			p->p, p->spread.exact ? "exact" : "drawn", p->spread.splits,
			p->spread.least);
	}
	if (p->trend_p <= 0.05) {
		text_addf(t,
			"    the band drifts over the boots by themselves (p = %.2g): the order "
			"of the boots may explain part of it\n",
			p->trend_p);
	}
}

void cmd_compare_print(struct text *t, const struct runs_comparison *c,
	const struct cmd_machines *m, struct cmd_style style)
{
	static const enum cmd_colour colours[] = {
		[RUNS_NOT_COMPARABLE] = CMD_WARN,
		[RUNS_DESCRIPTION] = CMD_WARN,
		[RUNS_NO_DIFFERENCE] = CMD_PLAIN,
		[RUNS_BETTER] = CMD_GOOD,
		[RUNS_WORSE] = CMD_BAD,
	};
	print_side(t, "A", c->a, style);
	print_side(t, "B", c->b, style);
	print_machines(t, m, style);
	print_reasons(t, c, style);
	print_layers(t, c, style);
	heading(t, "Boots", style);
	for (size_t i = 0; i < c->npair; i++) {
		print_pair(t, &c->pair[i]);
	}
	text_addf(t, "\n%s%s%s\n", cmd_colour(style, colours[c->verdict]), c->sentence,
		cmd_colour(style, CMD_PLAIN));
}

static void csv_number(struct text *t, double v)
{
	if (isnan(v)) {
		text_add(t, ",");
	} else {
		text_addf(t, ",%.9g", v);
	}
}

/* RFC 4180: quoted, quotes doubled. */
static void csv_text(struct text *t, const char *s)
{
	text_add(t, ",\"");
	for (; *s; s++) {
		text_add(t, *s == '"' ? "\"" : "");
		text_addn(t, s, 1);
	}
	text_add(t, "\"");
}

static void csv_side(struct text *t, const char *letter, const struct runs_side *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct runs_member *m = &s->run[i];
		for (unsigned k = 0; k < STRESS_SERIES * RUNS_LAYERS; k++) {
			const struct runs_description *d =
				&m->layer[k / RUNS_LAYERS][k % RUNS_LAYERS];
			if (!d->n) {
				continue;
			}
			text_addf(t, "%s,%lld", letter, (long long)m->info.id);
			csv_text(t, m->info.label);
			csv_text(t, m->info.boot_id);
			text_addf(t, ",%lld", (long long)m->info.started);
			csv_text(t, m->info.backend);
			csv_text(t, m->info.shape);
			csv_text(t, runs_series_name(k / RUNS_LAYERS));
			csv_text(t, runs_layer_name(k % RUNS_LAYERS));
			text_addf(t, ",%llu", (unsigned long long)d->n);
			const double v[] = {d->n_eff, (double)d->min, (double)d->p5, (double)d->p50,
				(double)d->p95, d->p99, d->p999, (double)d->max, d->band, d->lag1,
				d->drift, d->slow_time};
			for (size_t x = 0; x < ARRAY_LEN(v); x++) {
				csv_number(t, v[x]);
			}
			text_add(t, "\r\n");
		}
	}
}

void cmd_compare_csv(struct text *t, const struct runs_comparison *c)
{
	text_add(t, "side,run,label,boot,started,backend,shape,series,layer,samples,"
		    "effective_samples,min,p5,p50,p95,p99,p999,max,band,lag1,drift_per_minute,"
		    "slow_time_share\r\n");
	csv_side(t, "A", c->a);
	csv_side(t, "B", c->b);
}
