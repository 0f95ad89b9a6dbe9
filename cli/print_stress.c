/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/layout.h"
#include "cli/stress.h"
#include "runs/layer.h"
#include "runs/session.h"

enum { LABEL = 12, COLUMN = 11 };

static void add_cell(struct text *out, const char *s)
{
	text_add(out, " ");
	cmd_cell(out, s, 1 - COLUMN);
}

static void add_time(struct text *out, uint64_t ns, bool known)
{
	char buf[TEXT_TIME_MAX];
	add_cell(out, known ? text_ns(ns, buf) : "-");
}

static void add_layer(
	struct text *out, unsigned i, const struct cmd_stress_layer *l, struct cmd_style style)
{
	if (!l->n) {
		return;
	}
	char band[24] = "-";
	if (isfinite(l->band)) {
		snprintf(band, sizeof(band), "%s%.*f %%", style.utf8 ? "±" : "+-",
			l->band < 1 ? 1 : 0, l->band * 100);
	}
	text_addf(out, "%s%-*s", i == RUNS_HOST ? "" : "  ", i == RUNS_HOST ? LABEL : LABEL - 2,
		runs_layer_name(i));
	add_time(out, l->p50, true);
	add_cell(out, band);
	add_time(out, l->p99, l->has_p99);
	add_time(out, l->p999, l->has_p999);
	add_time(out, l->max, true);
	text_add(out, "\n");
}

static void add_table(struct text *out, const struct cmd_stress_summary *s, struct cmd_style style)
{
	static const char *const heads[] = {"p50", "band", "p99", "p99.9", "max"};
	text_addf(out, "%s%*s", cmd_colour(style, CMD_DIM), LABEL, "");
	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		add_cell(out, heads[i]);
	}
	text_addf(out, "%s\n", cmd_colour(style, CMD_PLAIN));
	for (unsigned i = 0; i <= RUNS_GAP; i++) {
		add_layer(out, i, &s->layer[i], style);
	}
}

static void add_line(struct text *out, const char *label, const char *fmt, ...) PRINTF(3, 4);

static void add_line(struct text *out, const char *label, const char *fmt, ...)
{
	char line[480];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	cmd_labelled(out, 0, LABEL, label, line);
}

static void add_speed(
	struct text *out, const struct stress_status *st, const struct cmd_stress_summary *s)
{
	if (s->bytes_per_s <= 0) {
		return;
	}
	if (s->ceiling <= 0) {
		add_line(out, "speed", "%.1f GB/s; the read ceiling was not measured",
			s->bytes_per_s / 1e9);
		return;
	}
	if (!s->is_ceiling) {
		add_line(out, "speed",
			"%.1f GB/s; the read-only loops between the launches reached %.1f (%s), so they "
			"tell no floor here",
			s->bytes_per_s / 1e9, s->ceiling / 1e9, st->ceiling_kernel);
		return;
	}
	char buf[TEXT_TIME_MAX], size[TEXT_SIZE_MAX];
	add_line(out, "floor", "%s: %s at %.1f GB/s, the best read-only loop (%s)",
		text_ns(s->floor_ns, buf), text_size10(st->bytes, size), s->ceiling / 1e9,
		st->ceiling_kernel);
	add_line(out, "speed", "%.1f GB/s, %.0f %% of the ceiling", s->bytes_per_s / 1e9,
		s->share * 100);
}

/* Whether a launch finds its weights in a cache. */
static void add_weights(struct text *out, const struct stress_status *st)
{
	char one[TEXT_SIZE_MAX], cache[TEXT_SIZE_MAX];
	if (!st->copies || !st->copy_bytes) {
		return;
	}
	text_size(st->copy_bytes, one);
	if (!st->cache_bytes) {
		add_line(out, "weights", "%u cop%s of %s in turn; the cache's size is not known",
			st->copies, st->copies == 1 ? "y" : "ies", one);
		return;
	}
	const double times = (double)st->copies * (double)st->copy_bytes / (double)st->cache_bytes;
	add_line(out, "weights", "%s: %u cop%s of %s%s, %.*f times the cache of %s%s",
		cmd_stress_temperature(st), st->copies, st->copies == 1 ? "y" : "ies", one,
		st->copies == 1 ? "" : " in turn", times < 0.1 ? 3 : 1, times,
		text_size(st->cache_bytes, cache),
		st->copies == 1 ? ", which keeps what fits" : "");
}

static void add_output(struct text *out, const struct stress_status *st,
	const struct cmd_stress_summary *s, struct cmd_style style)
{
	const char *on = cmd_colour(style, s->corrupt ? CMD_BAD : CMD_PLAIN);
	const char *off = cmd_colour(style, CMD_PLAIN);
	if (st->golden_hash && !st->mismatches) {
		add_line(out, "output", "hash 0x%016llx, the same in every sample",
			(unsigned long long)st->golden_hash);
	}
	if (st->mismatches) {
		text_add(out, on);
		add_line(out, "corruption", "%llu %s from the golden output, hash 0x%016llx",
			(unsigned long long)st->mismatches,
			st->mismatches == 1 ? "sample differs" : "samples differ",
			(unsigned long long)st->golden_hash);
		text_add(out, off);
	}
	if (st->weight_faults) {
		text_add(out, on);
		add_line(out, "corruption", "%llu of %llu checksums of the weights %s wrong",
			(unsigned long long)st->weight_faults,
			(unsigned long long)st->weight_checks,
			st->weight_faults == 1 ? "is" : "are");
		text_add(out, off);
	}
	if (st->finding.kind) {
		char text[STRESS_FINDING_TEXT];
		stress_finding_text(&st->finding, text);
		text_add(out, on);
		add_line(out, "first", "%s", text);
		text_add(out, off);
	}
	if (st->max_error >= 0) {
		bool bad = st->max_error > st->error_limit;
		text_add(out, bad ? on : "");
		add_line(out, bad ? "corruption" : "error",
			"%.1e of the sum of products against FP64; rounding explains up to %.1e",
			st->max_error, st->error_limit);
		text_add(out, bad ? off : "");
	}
}

/* Launches that began more than a period late. */
static void add_pace(struct text *out, const struct cmd_stress_options *o,
	const struct cmd_stress_result *r, const struct cmd_stress_summary *s)
{
	char period[TEXT_TIME_MAX] = "";
	if (!o->config.paced_ns && !r->missed) {
		return;
	}
	if (o->config.paced_ns) {
		text_ns(o->config.paced_ns, period);
	}
	add_line(out, "paced", "%s%s%s%llu of %llu began more than a period late%s",
		*period ? "every " : "", period, *period ? ": " : "", (unsigned long long)r->missed,
		(unsigned long long)s->samples,
		/* A latency counts from the intended start; what the device took does not. */
		o->config.paced_ns && s->layer[RUNS_DEVICE].p50 > o->config.paced_ns
			? ": they take longer than that, and wait ever longer"
			: "");
}

static void add_head(struct text *out, const struct cmd_stress_options *o,
	const struct stress_status *st, const struct cmd_stress_summary *s, struct cmd_style style)
{
	const struct stress_config *c = &o->config;
	text_addf(out, "%s%s%s  %s\n", cmd_colour(style, CMD_BOLD),
		*st->backend ? st->backend : c->backend, cmd_colour(style, CMD_PLAIN), st->device);
	char line[200] = "", shape[STRESS_SHAPE_MAX];
	if (strcmp(st->backend, "script")) { /* a script has no matrices */
		snprintf(line, sizeof(line), "%s %s, ", stress_shape_name(c, shape),
			runs_dtype_name(c->dtype));
	}
	if (c->mode != STRESS_ISOLATED) {
		cmd_append(line, sizeof(line), "%s, ", stress_mode_name(c->mode));
	}
	if (*st->kernel) {
		cmd_append(line, sizeof(line), "kernel %s%s, ", st->kernel,
			st->tuned ? " (tuned)" : "");
	}
	if (st->threads) {
		cmd_append(line, sizeof(line), "%u thread%s, ", st->threads,
			st->threads == 1 ? "" : "s");
	}
	cmd_append(line, sizeof(line), "%.1f s", s->seconds);
	cmd_wrapped(out, 0, 0, line);
}

void cmd_stress_print(struct text *out, const struct cmd_stress_options *o,
	const struct cmd_stress_result *r, const struct cmd_stress_summary *s,
	struct cmd_style style)
{
	const struct stress_status *st = &r->status;
	add_head(out, o, st, s, style);
	if (s->samples) {
		text_add(out, "\n");
		add_table(out, s, style);
		text_add(out, "\n");
	}
	add_speed(out, st, s);
	add_weights(out, st);
	if (s->period_ns) {
		char each[TEXT_TIME_MAX];
		add_line(out, "batches", "%s from one start to the next: device and gap",
			text_ns(s->period_ns, each));
	}
	add_line(out, "samples", "%llu; dropped %llu%s", (unsigned long long)s->samples,
		(unsigned long long)st->dropped,
		st->dropped ? " (they came faster than they were read: tails may be incomplete)"
			    : "");
	if (s->missing_p99) {
		add_line(out, "", "p99 needs %llu samples, p99.9 %llu",
			(unsigned long long)s->missing_p99, (unsigned long long)s->missing_p999);
	} else if (s->missing_p999) {
		add_line(out, "", "p99.9 needs %llu samples", (unsigned long long)s->missing_p999);
	}
	add_pace(out, o, r, s);
	add_output(out, st, s, style);
	if (r->golden.verdict) {
		const bool bad = r->golden.verdict == RUNS_GOLDEN_DIFFERS;
		char text[RUNS_GOLDEN_TEXT];
		runs_golden_text(&r->golden, st->golden_hash, text);
		text_add(out, bad ? cmd_colour(style, CMD_BAD) : "");
		add_line(out, bad ? "corruption" : "golden", "%s", text);
		text_add(out, bad ? cmd_colour(style, CMD_PLAIN) : "");
	}
	if (s->delayed) {
		add_line(out, "delayed",
			"%d us before every second launch: launch %+.2f us, device %+.2f us, "
			"notify %+.2f us",
			STRESS_DELAY_NS / 1000, s->delay_ns[CMD_DELAY_LAUNCH] / 1e3,
			s->delay_ns[CMD_DELAY_DEVICE] / 1e3, s->delay_ns[CMD_DELAY_NOTIFY] / 1e3);
	}
	if (st->events_dropped) {
		add_line(out, "events",
			"%llu readings lost: causes of slow episodes may be missing",
			(unsigned long long)st->events_dropped);
	}
	if (*st->note) {
		add_line(out, "note", "%s", st->note);
	}
	cmd_stress_print_readings(out, r, style);
	if (r->run && r->recorded_until) {
		char when[16];
		const time_t t = (time_t)(r->recorded_until / 1000000000);
		struct tm tm;
		strftime(when, sizeof(when), "%H:%M:%S", localtime_r(&t, &tm));
		add_line(out, "recorded", "run %lld, until %s only: %s", (long long)r->run, when,
			r->trouble);
	} else if (r->run) {
		add_line(out, "recorded", "run %lld", (long long)r->run);
	}
}
