/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/print_runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "cli/layout.h"
#include "cli/print_episodes.h"

enum { STEPS = 1000 }; /* of a run that are shown */

const char *cmd_when(int64_t ns, char buf[static CMD_WHEN_MAX])
{
	time_t t = (time_t)(ns / 1000000000);
	struct tm tm;
	if (!ns || !localtime_r(&t, &tm) ||
		!strftime(buf, CMD_WHEN_MAX, "%Y-%m-%d %H:%M:%S", &tm)) {
		text_copy(buf, CMD_WHEN_MAX, "-");
	}
	return buf;
}

const char *cmd_percent(double share, char buf[static CMD_WHEN_MAX])
{
	if (isnan(share)) {
		text_copy(buf, CMD_WHEN_MAX, "-");
	} else {
		snprintf(buf, CMD_WHEN_MAX, share < 0.0995 ? "%.2f %%" : "%.1f %%", 100 * share);
	}
	return buf;
}

/* The layer by which a run is told: host, or device where only batches were measured. */
static int main_layer(struct runs_store *s, const struct runs_info *run,
	struct runs_description *ret, struct why *why)
{
	int r = runs_describe_load(s, run, STRESS_GEMM, RUNS_HOST, ret, why);
	if (!r && !ret->n) {
		r = runs_describe_load(s, run, STRESS_GEMM, RUNS_DEVICE, ret, why);
	}
	return r;
}

static void set_ns(struct js *obj, const char *key, double ns)
{
	if (!isnan(ns)) {
		js_set_u64(obj, key, (uint64_t)ns);
	}
}

void cmd_description_json(struct js *obj, const struct runs_description *d)
{
	js_set_u64(obj, "samples", d->n);
	if (!d->n) {
		return;
	}
	js_set_u64(obj, "p50_ns", d->p50);
	js_set_real(obj, "band", d->band);
	js_set_u64(obj, "min_ns", d->min);
	js_set_u64(obj, "p5_ns", d->p5);
	js_set_u64(obj, "p95_ns", d->p95);
	set_ns(obj, "p99_ns", d->p99);
	set_ns(obj, "p999_ns", d->p999);
	js_set_u64(obj, "max_ns", d->max);
	js_set_real(obj, "effective_samples", floor(d->n_eff));
	js_set_real(obj, "lag1", d->lag1);
	js_set_real(obj, "drift_per_minute", d->drift);
	js_set_real(obj, "slow_share", d->slow_count);
	js_set_real(obj, "slow_time_share", d->slow_time);
	if (d->modes.n > 1) {
		struct js *modes = js_array();
		for (size_t i = 0; i < d->modes.n; i++) {
			struct js *m = js_object();
			js_set_u64(m, "ns", d->modes.peak[i]);
			js_set_real(m, "share", d->modes.share[i]);
			js_set_real(m, "dwell_s", d->dwell_s[i]);
			js_push(modes, m);
		}
		js_set(obj, "modes", modes);
	}
}

static struct js *head_json(const struct runs_info *run)
{
	struct js *j = js_object();
	js_set_int(j, "id", run->id);
	js_set_str(j, "label", run->label);
	js_set_int(j, "started", run->started);
	js_set_str(j, "boot", run->boot_id);
	js_set_str(j, "state", runs_state_name(run->state));
	js_set_str(j, "backend", run->backend);
	js_set_str(j, "shape", run->shape);
	return j;
}

int cmd_runs_json(struct runs_store *s, const struct runs_list *l, struct js **ret, struct why *why)
{
	struct js *runs = js_array();
	int r = 0;
	for (size_t i = 0; !r && i < l->n; i++) {
		struct runs_description d;
		r = main_layer(s, &l->run[i], &d, why);
		if (r) {
			break;
		}
		struct js *j = head_json(&l->run[i]);
		js_set_int(j, "seconds", d.seconds);
		if (d.n) {
			js_set_u64(j, "p50_ns", d.p50);
			js_set_real(j, "band", d.band);
		}
		js_push(runs, j);
	}
	if (r) {
		js_free(runs);
		return r;
	}
	*ret = js_object();
	js_set_str(*ret, "schema", "barscope.runs/1");
	js_set(*ret, "runs", runs);
	return 0;
}

static enum cmd_colour state_colour(enum runs_state s)
{
	return s == RUNS_MACHINE_DOWN || s == RUNS_FAILED ? CMD_BAD
	       : s == RUNS_DIED || s == RUNS_STOPPED      ? CMD_WARN
							  : CMD_PLAIN;
}

int cmd_runs_table(struct text *t, struct runs_store *s, const struct runs_list *l,
	struct cmd_style style, struct why *why)
{
	text_addf(t, "%s%5s  %-16s %-19s %-8s %-12s %-7s %-16s %7s  %-9s %s%s\n",
		cmd_colour(style, CMD_DIM), "run", "label", "started", "boot", "state", "backend",
		"shape", "seconds", "p50", "band", cmd_colour(style, CMD_PLAIN));
	for (size_t i = 0; i < l->n; i++) {
		const struct runs_info *run = &l->run[i];
		struct runs_description d;
		char when[CMD_WHEN_MAX], ns[TEXT_TIME_MAX], band[CMD_WHEN_MAX];
		int r = main_layer(s, run, &d, why);
		if (r) {
			return r;
		}
		text_addf(t, "%5lld  ", (long long)run->id);
		cmd_cell(t, run->label, 16);
		text_addf(t, " %-19s %-8.8s %s%-12s%s %-7s %-16s %7u  ",
			cmd_when(run->started, when), run->boot_id,
			cmd_colour(style, state_colour(run->state)), runs_state_name(run->state),
			cmd_colour(style, CMD_PLAIN), run->backend, run->shape, d.seconds);
		cmd_cell(t, d.n ? text_ns(d.p50, ns) : "-", 9);
		text_addf(t, " %s\n", cmd_percent(d.n ? d.band : NAN, band));
	}
	return 0;
}

/* Fills JSON or text, one layer after the other. */
static int each_layer(struct runs_store *s, const struct runs_info *run, struct js *json,
	struct text *t, struct why *why)
{
	uint32_t layers[STRESS_SERIES];
	int r = runs_info_layers(s, run->id, layers, why);
	for (unsigned i = 0; !r && i < STRESS_SERIES * RUNS_LAYERS; i++) {
		unsigned series = i / RUNS_LAYERS, layer = i % RUNS_LAYERS;
		struct runs_description d;
		if (!(layers[series] & 1u << layer)) {
			continue;
		}
		r = runs_describe_load(s, run, series, layer, &d, why);
		if (r || !d.n) {
			continue;
		}
		if (json) {
			struct js *j = js_object();
			js_set_str(j, "series", runs_series_name(series));
			js_set_str(j, "layer", runs_layer_name(layer));
			cmd_description_json(j, &d);
			js_push(json, j);
			continue;
		}
		char p50[TEXT_TIME_MAX], p99[TEXT_TIME_MAX], max[TEXT_TIME_MAX], band[CMD_WHEN_MAX];
		bool cycles = layer == RUNS_CYCLES;
		if (cycles) {
			snprintf(p50, sizeof(p50), "%llu", (unsigned long long)d.p50);
			snprintf(p99, sizeof(p99), "%.0f", d.p99);
			snprintf(max, sizeof(max), "%llu", (unsigned long long)d.max);
		} else {
			text_ns(d.p50, p50);
			text_ns(isnan(d.p99) ? 0 : (uint64_t)d.p99, p99);
			text_ns(d.max, max);
		}
		text_addf(t, "  %-9s %-7s %10llu  ", runs_series_name(series),
			runs_layer_name(layer), (unsigned long long)d.n);
		cmd_cell(t, p50, 10);
		cmd_cell(t, cmd_percent(d.band, band), 9);
		cmd_cell(t, isnan(d.p99) ? "-" : p99, 10);
		text_addf(t, "%s\n", max);
	}
	return r;
}

/* What was about to be done, and when: a text's lines or a JSON array. */
static int add_steps(struct runs_store *s, const struct runs_info *run, struct js *json,
	struct text *t, struct why *why)
{
	_cleanup_free_ struct runs_intent *step = NULL;
	size_t n;
	int r = runs_info_intents(s, run->id, STEPS, &step, &n, why);
	for (size_t i = 0; !r && i < n; i++) {
		if (json) {
			struct js *o = js_object();
			js_set_int(o, "at", step[i].at);
			js_set_str(o, "step", step[i].step);
			js_push(json, o);
		} else {
			text_addf(t, "%s  %6.1f s  %s\n",
				i ? "" : "steps, committed before they were taken:\n",
				(double)(step[i].at - run->started) / 1e9, step[i].step);
		}
	}
	return r;
}

int cmd_run_json(
	struct runs_store *s, const struct runs_info *run, struct js **ret, struct why *why)
{
	struct runs_totals totals;
	struct js *layers = js_array(), *env = NULL;
	int r = runs_info_totals(s, run->id, &totals, why);
	if (!r) {
		r = each_layer(s, run, layers, NULL, why);
	}
	if (!r) {
		r = runs_info_env(s, run->id, &env, why);
	}
	if (r) {
		js_free(layers);
		return r;
	}
	struct js *j = head_json(run);
	js_set_str(j, "schema", "barscope.run/1");
	js_set_str(j, "uid", run->uid);
	js_set_str(j, "program", run->program);
	if (*run->why) {
		js_set_str(j, "why", run->why);
	}
	js_set_str(j, "device", run->device);
	js_set_str(j, "kernel", run->kernel);
	js_set_str(j, "dtype", run->dtype);
	js_set_int(j, "threads", run->threads);
	js_set_int(j, "copies", run->copies);
	js_set_int(j, "seconds", totals.seconds);
	js_set_u64(j, "samples", totals.samples);
	js_set_u64(j, "dropped", totals.dropped);
	js_set_u64(j, "events_lost", totals.events_lost);
	js_set_u64(j, "mismatches", totals.mismatches);
	if (run->bytes) {
		js_set_u64(j, "bytes", run->bytes);
	}
	if (run->ceiling > 0) {
		js_set_real(j, "ceiling_gb_per_s", run->ceiling / 1e9);
	}
	if (run->golden) {
		js_set_hex(j, "hash", run->golden);
	}
	js_set(j, "layers", layers);
	js_set(j, "environment", env);
	struct js *steps = js_array();
	r = add_steps(s, run, steps, NULL, why);
	js_set(j, "steps", steps);
	if (!r) {
		r = cmd_episodes_json(j, s, run, why);
	}
	if (r) {
		js_free(j);
		return r;
	}
	*ret = j;
	return 0;
}

static void print_modes(struct text *t, const struct runs_description *d)
{
	char ns[TEXT_TIME_MAX], share[CMD_WHEN_MAX];
	if (d->modes.n < 2) {
		return;
	}
	text_addf(t, "%zu modes:", d->modes.n);
	for (size_t i = 0; i < d->modes.n; i++) {
		text_addf(t, "%s %s (%s of launches", i ? "," : "", text_ns(d->modes.peak[i], ns),
			cmd_percent(d->modes.share[i], share));
		if (!isnan(d->dwell_s[i])) {
			text_addf(t, ", %.1f s at a time", d->dwell_s[i]);
		}
		text_add(t, ")");
	}
	text_add(t, "\n");
}

int cmd_run_print(struct text *t, struct runs_store *s, const struct runs_info *run,
	struct cmd_style style, struct why *why)
{
	struct runs_totals totals;
	struct runs_description d;
	char when[CMD_WHEN_MAX], share[CMD_WHEN_MAX];
	int r = runs_info_totals(s, run->id, &totals, why);
	if (!r) {
		r = main_layer(s, run, &d, why);
	}
	if (r) {
		return r;
	}
	text_addf(t, "%srun %lld%s  %s  %s  %s%s%s\n", cmd_colour(style, CMD_BOLD),
		(long long)run->id, cmd_colour(style, CMD_PLAIN), run->label,
		cmd_when(run->started, when), cmd_colour(style, state_colour(run->state)),
		runs_state_name(run->state), cmd_colour(style, CMD_PLAIN));
	if (*run->why) {
		text_addf(t, "%s\n", run->why);
	}
	text_addf(t, "boot %s%s\n", run->boot_id, run->imported ? ", imported" : "");
	text_addf(t, "%s%s%s%s%s, %s %s", run->backend, *run->device ? " " : "", run->device,
		*run->kernel ? ", " : "", run->kernel, run->shape, run->dtype);
	if (run->threads) {
		text_addf(t, ", %u thread%s", run->threads, run->threads == 1 ? "" : "s");
	}
	if (run->copies) {
		text_addf(t, ", %u cop%s", run->copies, run->copies == 1 ? "y" : "ies");
	}
	text_add(t, "\n");
	text_addf(t, "%u s, %llu sample%s", totals.seconds, (unsigned long long)totals.samples,
		totals.samples == 1 ? "" : "s");
	if (totals.dropped) {
		text_addf(t, ", %llu dropped", (unsigned long long)totals.dropped);
	}
	if (totals.events_lost) {
		text_addf(t, ", %llu event%s lost", (unsigned long long)totals.events_lost,
			totals.events_lost == 1 ? "" : "s");
	}
	if (totals.mismatches) {
		text_addf(t, ", %s%llu wrong output%s%s", cmd_colour(style, CMD_BAD),
			(unsigned long long)totals.mismatches, totals.mismatches == 1 ? "" : "s",
			cmd_colour(style, CMD_PLAIN));
	}
	text_add(t, "\n");
	if (d.n) {
		text_addf(t, "worth %.0f independent samples (lag-1 correlation %.2f)", d.n_eff,
			isnan(d.lag1) ? 0 : d.lag1);
		if (!isnan(d.drift)) {
			text_addf(t, ", drift %+.2f %% a minute", 100 * d.drift);
		}
		text_addf(t, "\n%s of the time inside launches slower than 1.5 x median\n",
			cmd_percent(d.slow_time, share));
		print_modes(t, &d);
	}
	r = add_steps(s, run, NULL, t, why);
	if (!r) {
		r = cmd_episodes_print(t, s, run, why);
	}
	if (r) {
		return r;
	}
	text_addf(t, "\n%s  %-9s %-7s %10s  %-10s%-9s%-10s%s%s\n", cmd_colour(style, CMD_DIM),
		"series", "layer", "samples", "p50", "band", "p99", "max",
		cmd_colour(style, CMD_PLAIN));
	return each_layer(s, run, NULL, t, why);
}
