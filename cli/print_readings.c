/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the GPU's readings told in a run, and what they cost it. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/macros.h"
#include "cli/layout.h"
#include "cli/stress.h"
#include "stress/nvml.h"

enum { LABEL = 12 };

/* The share of a time, or of launches; below a hundredth of a percent as "< 0.01". */
static void add_percent(struct text *t, double share)
{
	if (share > 0 && share < 1e-4) {
		text_add(t, "< 0.01 %");
	} else {
		text_addf(t, "%.2f %%", share * 100);
	}
}

static void line_of(struct text *out, const char *label, struct text *line)
{
	if (line->len) {
		cmd_labelled(out, 0, LABEL, label, line->s);
	}
	text_finish(line);
}

/* "SM 1755–1980 MHz" */
static void add_range(struct text *t, const struct runs_readings *r, unsigned kind, double scale,
	const char *name, const char *unit)
{
	if (!r->has[kind]) {
		return;
	}
	const double least = (double)r->least[kind] * scale, most = (double)r->most[kind] * scale;

	text_addf(t, "%s%s %.0f", t->len ? ", " : "", name, least);
	if (round(least) < round(most)) {
		text_addf(t, " to %.0f", most);
	}
	text_addf(t, " %s", unit);
}

static void add_state(struct text *out, const struct runs_readings *r)
{
	struct text t = {0};

	add_range(&t, r, STRESS_EVENT_CLOCK_SM, 1, "SM", "MHz");
	add_range(&t, r, STRESS_EVENT_CLOCK_MEM, 1, "memory", "MHz");
	add_range(&t, r, STRESS_EVENT_TEMPERATURE, 1e-3, "chip", "°C");
	add_range(&t, r, STRESS_EVENT_MEM_TEMPERATURE, 1e-3, "memory", "°C");
	add_range(&t, r, STRESS_EVENT_POWER, 1e-3, "power", "W");
	if (r->has[STRESS_EVENT_LINK]) {
		text_addf(&t, "%slink Gen%d x%d", t.len ? ", " : "",
			(int)(r->value[STRESS_EVENT_LINK] >> 8),
			(int)(r->value[STRESS_EVENT_LINK] & 0xff));
	}
	line_of(out, "GPU", &t);
}

static double seconds_of(const struct runs_readings *r)
{
	return (double)(r->last_ns - r->first_ns) / 1e9;
}

static void add_limits(struct text *out, const struct runs_readings *r)
{
	/* Idle, and clocks that the user or the display has set, hold nothing back. */
	const uint64_t harmless = NVML_REASON_IDLE | NVML_REASON_APP_CLOCKS | NVML_REASON_DISPLAY;
	char reasons[NVML_REASONS_MAX];
	struct text t = {0};

	if (r->reasons & ~harmless) {
		text_addf(&t, "seen: %s", nvml_reasons_text(r->reasons & ~harmless, reasons));
	}
	for (unsigned p = 0; p < NVML_POLICIES; p++) {
		if (r->throttled_ns[p] && seconds_of(r) > 0) {
			text_addf(&t, "%s%s for ", t.len ? "; " : "", nvml_policy_name(p));
			add_percent(&t, MIN((double)r->throttled_ns[p] / 1e9 / seconds_of(r), 1.0));
			text_add(&t, " of the time");
		}
	}
	line_of(out, "held back", &t);
}

static void add_errors(struct text *out, const struct runs_readings *r)
{
	static const struct {
		unsigned kind;
		const char *name;
	} counted[] = {
		{STRESS_EVENT_REPLAY, "PCIe replays"},
		{STRESS_EVENT_AER, "errors on the link (AER)"},
		{STRESS_EVENT_ECC, "ECC errors"},
	};
	struct text t = {0};

	for (size_t i = 0; i < ARRAY_LEN(counted); i++) {
		if (r->has[counted[i].kind]) {
			text_addf(&t, "%s%lld %s", t.len ? ", " : "",
				(long long)r->value[counted[i].kind], counted[i].name);
		}
	}
	line_of(out, "new errors", &t);
}

static void add_cost(struct text *out, const struct cmd_stress_result *r)
{
	const struct runs_readings *d = r->readings;
	const struct runs_hist *h = runs_collect_rollup(r->collect, STRESS_GEMM, RUNS_HOST);
	const double seconds = seconds_of(d);
	char slowest[TEXT_TIME_MAX];
	struct text t = {0};

	if (!d->calls || seconds <= 0) {
		return;
	}
	text_ns(d->slowest_ns, slowest);
	text_addf(&t, "%.1f a second, ", (double)d->calls / seconds);
	add_percent(&t, (double)d->took_ns / 1e9 / seconds);
	text_addf(&t, " of the time, the slowest %s (%s)", slowest, d->slowest);
	if (h && h->total) {
		text_add(&t, "; ");
		add_percent(&t, (double)r->perturbed / (double)h->total);
		text_add(&t, " of the launches overlap one");
	}
	line_of(out, "readings", &t);
}

/* By how much quantile Q is higher with readings, as a share; NaN: too few launches. */
static double change(const struct cmd_stress_result *r, double q)
{
	const double with = (double)runs_hist_quantile(r->with, q);
	const double without = (double)runs_hist_quantile(r->without, q);
	const bool enough = runs_enough((double)MIN(r->with->total, r->without->total), q);

	return enough && without > 0 ? with / without - 1 : NAN;
}

static const struct {
	double q;
	const char *name, *key;
} compared[] = {{0.5, "p50", "p50"}, {0.99, "p99", "p99"}, {0.999, "p99.9", "p999"}};

static void add_test(struct text *out, const struct cmd_stress_result *r)
{
	struct text t = {0};

	if (!r->with->total || !r->without->total) {
		return;
	}
	text_add(&t, "readings cost");
	for (size_t i = 0; i < ARRAY_LEN(compared); i++) {
		const double c = change(r, compared[i].q);

		if (!isnan(c)) {
			text_addf(&t, "%s %+.1f %% %s", i ? "," : "", c * 100, compared[i].name);
		}
	}
	text_addf(&t, " (%llu launches in seconds with them, %llu without)",
		(unsigned long long)r->with->total, (unsigned long long)r->without->total);
	line_of(out, "self-test", &t);
}

void cmd_stress_print_readings(
	struct text *out, const struct cmd_stress_result *r, struct cmd_style style)
{
	const struct stress_status *st = &r->status;

	add_state(out, r->readings);
	add_limits(out, r->readings);
	add_errors(out, r->readings);
	add_cost(out, r);
	add_test(out, r);
	if (st->ended) {
		text_add(out, cmd_colour(style, CMD_BAD));
		cmd_labelled(out, 0, LABEL, "ended", st->why);
		text_add(out, cmd_colour(style, CMD_PLAIN));
	} else if (*st->telemetry) {
		cmd_labelled(out, 0, LABEL, "readings", st->telemetry);
	}
}

/* -- for programs ----------------------------------------------------------------------------- */

static void set_range(
	struct js *j, const struct runs_readings *r, unsigned kind, double scale, const char *name)
{
	if (!r->has[kind]) {
		return;
	}
	struct js *o = js_object();

	js_set_real(o, "min", (double)r->least[kind] * scale);
	js_set_real(o, "max", (double)r->most[kind] * scale);
	js_set_real(o, "last", (double)r->value[kind] * scale);
	js_set(j, name, o);
}

static void set_throttled(struct js *j, const struct runs_readings *r)
{
	struct js *o = js_object();

	for (unsigned p = 0; p < NVML_POLICIES; p++) {
		if (r->throttled_ns[p]) {
			js_set_u64(o, nvml_policy_name(p), r->throttled_ns[p]);
		}
	}
	js_set(j, "throttled_ns", o);
}

static struct js *test_json(const struct cmd_stress_result *r)
{
	struct js *j = js_object();

	js_set_u64(j, "samples_with", r->with->total);
	js_set_u64(j, "samples_without", r->without->total);
	for (size_t i = 0; i < ARRAY_LEN(compared); i++) {
		const double c = change(r, compared[i].q);

		if (!isnan(c)) {
			js_set_real(j, compared[i].key, c);
		}
	}
	return j;
}

void cmd_stress_json_readings(struct js *j, const struct cmd_stress_result *r)
{
	static const char *const ended[] = {NULL, "heat", "xid", "lost"};
	const struct stress_status *st = &r->status;
	const struct runs_readings *d = r->readings;

	if (st->ended && (size_t)st->ended < ARRAY_LEN(ended)) {
		js_set_str(j, "ended_by", ended[st->ended]);
		js_set_str(j, "why", st->why);
	}
	if (!d->calls && !*st->telemetry) {
		return;
	}
	struct js *o = js_object();

	if (*st->telemetry) {
		js_set_str(o, "missing", st->telemetry);
	}
	set_range(o, d, STRESS_EVENT_CLOCK_SM, 1, "clock_sm_mhz");
	set_range(o, d, STRESS_EVENT_CLOCK_MEM, 1, "clock_mem_mhz");
	set_range(o, d, STRESS_EVENT_TEMPERATURE, 1e-3, "temperature_c");
	set_range(o, d, STRESS_EVENT_MEM_TEMPERATURE, 1e-3, "memory_temperature_c");
	set_range(o, d, STRESS_EVENT_POWER, 1e-3, "power_w");
	if (d->has[STRESS_EVENT_LINK]) {
		js_set_int(o, "link_generation", d->value[STRESS_EVENT_LINK] >> 8);
		js_set_int(o, "link_width", d->value[STRESS_EVENT_LINK] & 0xff);
	}
	js_set_hex(o, "reasons_seen", d->reasons);
	set_throttled(o, d);
	js_set_int(o, "pcie_replays", d->value[STRESS_EVENT_REPLAY]);
	js_set_int(o, "aer_errors", d->value[STRESS_EVENT_AER]);
	js_set_int(o, "ecc_errors", d->value[STRESS_EVENT_ECC]);
	js_set_u64(o, "calls", d->calls);
	js_set_u64(o, "calls_ns", d->took_ns);
	js_set_u64(o, "slowest_ns", d->slowest_ns);
	js_set_str(o, "slowest", d->slowest);
	js_set_u64(o, "samples_overlapping", r->perturbed);
	if (r->with->total && r->without->total) {
		js_set(o, "self_test", test_json(r));
	}
	js_set(j, "telemetry", o);
}
