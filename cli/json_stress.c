/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/stress.h"
#include "runs/layer.h"
#include "runs/session.h"

static void set_ns(struct js *j, const char *key, uint64_t ns, bool known)
{
	if (known) {
		js_set_u64(j, key, ns);
	}
}

static struct js *layer_json(const struct cmd_stress_layer *l)
{
	struct js *j = js_object();
	js_set_u64(j, "samples", l->n);
	js_set_u64(j, "p5_ns", l->p5);
	js_set_u64(j, "p50_ns", l->p50);
	js_set_u64(j, "p95_ns", l->p95);
	set_ns(j, "p99_ns", l->p99, l->has_p99);
	set_ns(j, "p999_ns", l->p999, l->has_p999);
	js_set_u64(j, "min_ns", l->min);
	js_set_u64(j, "max_ns", l->max);
	js_set_real(j, "band", l->band);
	return j;
}

static void add_latency(struct js *j, const struct cmd_stress_summary *s)
{
	const struct cmd_stress_layer *host = &s->layer[RUNS_HOST];
	const struct cmd_stress_layer *shown = host->n ? host : &s->layer[RUNS_DEVICE];
	if (shown->n) {
		js_set_u64(j, "p50_ns", shown->p50);
		js_set_real(j, "band", shown->band);
		set_ns(j, "p99_ns", shown->p99, shown->has_p99);
		set_ns(j, "p999_ns", shown->p999, shown->has_p999);
		js_set_u64(j, "max_ns", shown->max);
	}
	set_ns(j, "period_ns", s->period_ns, s->period_ns > 0);
	set_ns(j, "floor_ns", s->floor_ns, s->floor_ns > 0);
	if (s->bytes_per_s > 0) {
		js_set_real(j, "gb_per_s", s->bytes_per_s / 1e9);
	}
	if (s->ceiling > 0) {
		js_set_real(j, "ceiling_gb_per_s", s->ceiling / 1e9);
		if (s->share > 0) {
			js_set_real(j, "ceiling_share", s->share);
		}
	}
	struct js *layers = js_object();
	for (unsigned i = 0; i <= RUNS_GAP; i++) {
		if (s->layer[i].n) {
			js_set(layers, runs_layer_name(i), layer_json(&s->layer[i]));
		}
	}
	js_set(j, "layers", layers);
}

static void add_text(struct js *j, const char *key, const char *s)
{
	if (*s) {
		js_set_str(j, key, s);
	}
}

static struct js *finding_json(const struct stress_finding *f)
{
	char text[STRESS_FINDING_TEXT];
	struct js *j = js_object();
	stress_finding_text(f, text);
	js_set_str(j, "kind", stress_wrong_name(f->kind));
	js_set_str(j, "text", text);
	js_set_u64(j, "copy", f->copy);
	if (f->outputs) {
		js_set_u64(j, "outputs", f->outputs);
		js_set_u64(j, "m", f->m);
		js_set_u64(j, "n", f->n);
		js_set_hex(j, "output_is", f->output_is);
		js_set_hex(j, "output_was", f->output_was);
	}
	if (f->words) {
		js_set_u64(j, "words", f->words);
		js_set_u64(j, "offset", f->offset);
		js_set_hex(j, "address", f->address);
		js_set_hex(j, "word_is", f->word_is);
		js_set_hex(j, "word_was", f->word_was);
	}
	return j;
}

static const char *state_name(const struct cmd_stress_result *r)
{
	switch (r->status.phase) {
	case STRESS_FAILED:
		return "failed";
	case STRESS_DIED:
		return "died";
	default:
		return r->unanswered ? "hung" : r->signal || r->status.ended ? "stopped" : "done";
	}
}

struct js *cmd_stress_json(const struct cmd_stress_options *o, const struct cmd_stress_result *r,
	const struct cmd_stress_summary *s)
{
	const struct stress_status *st = &r->status;
	const struct stress_config *c = &o->config;
	struct js *j = js_object();
	js_set_str(j, "schema", "barscope.stress/1");
	js_set_str(j, "state", state_name(r));
	add_text(j, "why", r->trouble);
	js_set_str(j, "backend", *st->backend ? st->backend : c->backend);
	add_text(j, "device", st->device);
	add_text(j, "kernel", st->kernel);
	add_text(j, "note", st->note);
	char shape[STRESS_SHAPE_MAX];
	js_set_str(j, "shape", stress_shape_name(c, shape));
	js_set_str(j, "mode", stress_mode_name(c->mode));
	set_ns(j, "decoder_layers", c->layers, c->layers > 0);
	js_set_str(j, "dtype", runs_dtype_name(c->dtype));
	js_set_u64(j, "seed", c->seed);
	set_ns(j, "paced_ns", c->paced_ns, c->paced_ns > 0);
	set_ns(j, "threads", st->threads, st->threads > 0);
	set_ns(j, "copies", st->copies, st->copies > 0);
	set_ns(j, "copy_bytes", st->copy_bytes, st->copy_bytes > 0);
	set_ns(j, "cache_bytes", st->cache_bytes, st->cache_bytes > 0);
	if (st->copies && st->cache_bytes) {
		js_set_str(j, "weights", cmd_stress_temperature(st));
	}
	js_set_bool(j, "tuned", st->tuned);
	set_ns(j, "bytes", st->bytes, st->bytes > 0);
	js_set_real(j, "seconds", s->seconds);
	js_set_u64(j, "samples", s->samples);
	js_set_u64(j, "produced", st->produced);
	js_set_u64(j, "dropped", st->dropped);
	js_set_u64(j, "events_lost", st->events_dropped);
	set_ns(j, "missed", r->missed, c->paced_ns > 0 || r->missed > 0);
	add_latency(j, s);
	add_text(j, "ceiling_kernel", st->ceiling_kernel);
	if (st->golden_hash) {
		js_set_hex(j, "hash", st->golden_hash);
	}
	if (st->max_error >= 0) {
		js_set_real(j, "max_error", st->max_error);
		js_set_real(j, "error_limit", st->error_limit);
	}
	js_set_bool(j, "corruption", s->corrupt);
	js_set_u64(j, "mismatches", st->mismatches);
	set_ns(j, "weight_checks", st->weight_checks, st->weight_checks > 0);
	set_ns(j, "weight_faults", st->weight_faults, st->weight_checks > 0);
	if (r->golden.verdict) {
		static const char *const words[] = {"unknown", "new", "same", "differs"};
		js_set_str(j, "golden", words[r->golden.verdict]);
		js_set_hex(j, "golden_hash", r->golden.hash);
	}
	if (st->finding.kind) {
		js_set(j, "finding", finding_json(&st->finding));
	}
	if (s->delayed) {
		struct js *d = js_object();
		js_set_int(d, "delay_ns", STRESS_DELAY_NS);
		js_set_real(d, "launch_ns", s->delay_ns[CMD_DELAY_LAUNCH]);
		js_set_real(d, "device_ns", s->delay_ns[CMD_DELAY_DEVICE]);
		js_set_real(d, "notify_ns", s->delay_ns[CMD_DELAY_NOTIFY]);
		js_set(j, "delayed", d);
	}
	cmd_stress_json_readings(j, r);
	if (r->run) {
		js_set_int(j, "run", r->run);
		if (r->recorded_until) {
			js_set_int(j, "recorded_until", r->recorded_until);
		}
	}
	return j;
}
