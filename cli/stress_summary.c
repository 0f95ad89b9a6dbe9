/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "cli/stress.h"
#include "runs/layer.h"

enum { BAND_LEAST = 20 }; /* samples, so that one lies beyond p5 and one beyond p95 */

static void summarise_layer(const struct runs_hist *h, struct cmd_stress_layer *ret)
{
	*ret = (struct cmd_stress_layer){.band = NAN};
	if (!h) {
		return;
	}
	*ret = (struct cmd_stress_layer){
		.n = h->total,
		.min = h->min,
		.p5 = runs_hist_quantile(h, 0.05),
		.p50 = runs_hist_quantile(h, 0.5),
		.p95 = runs_hist_quantile(h, 0.95),
		.p99 = runs_hist_quantile(h, 0.99),
		.p999 = runs_hist_quantile(h, 0.999),
		.max = h->max,
		.has_p99 = runs_enough((double)h->total, 0.99),
		.has_p999 = runs_enough((double)h->total, 0.999),
		.band = h->total >= BAND_LEAST ? runs_hist_band(h) : NAN,
	};
}

/* The least number of samples that is enough for quantile Q. */
static uint64_t enough_for(double q)
{
	uint64_t n = 1;
	while (!runs_enough((double)n, q)) {
		n += n / 100 + 1;
	}
	while (n > 1 && runs_enough((double)(n - 1), q)) {
		n--;
	}
	return n;
}

/* What the delay added to each layer, by the medians. */
static void summarise_delay(const struct cmd_stress_delay *d, struct cmd_stress_summary *s)
{
	if (!d || !d->h[0][0].total || !d->h[1][0].total) {
		return;
	}
	s->delayed = true;
	for (unsigned i = 0; i < CMD_DELAYS; i++) {
		s->delay_ns[i] = (double)runs_hist_quantile(&d->h[1][i], 0.5) -
				 (double)runs_hist_quantile(&d->h[0][i], 0.5);
	}
}

const char *cmd_stress_temperature(const struct stress_status *st)
{
	const double all = (double)st->copies * (double)st->copy_bytes;
	if (st->copies == 1 || all <= (double)st->cache_bytes) {
		return "hot";
	}
	return all >= 5 * (double)st->cache_bytes ? "cold" : "mixed";
}

void cmd_stress_summarise(const struct cmd_stress_result *r, struct cmd_stress_summary *ret)
{
	const struct stress_status *st = &r->status;
	struct cmd_stress_summary s = {0};
	for (unsigned i = 0; i < RUNS_LAYERS; i++) {
		summarise_layer(runs_collect_rollup(r->collect, STRESS_GEMM, i), &s.layer[i]);
	}
	const struct cmd_stress_layer *host = &s.layer[RUNS_HOST], *device = &s.layer[RUNS_DEVICE];
	s.samples = host->n ? host->n : device->n; /* batches have no host latency of their own */
	if (!host->n && device->n) {
		s.period_ns = device->p50 + s.layer[RUNS_GAP].p50;
	}
	s.seconds = (double)(r->to_ns - r->from_ns) / 1e9;
	const struct cmd_stress_layer *shown = host->n ? host : device;
	s.missing_p99 = s.samples && !shown->has_p99 ? enough_for(0.99) : 0;
	s.missing_p999 = s.samples && !shown->has_p999 ? enough_for(0.999) : 0;
	uint64_t p50 = s.period_ns ? s.period_ns : device->n ? device->p50 : host->p50;
	if (p50 && st->bytes) {
		s.bytes_per_s = (double)st->bytes * 1e9 / (double)p50;
	}
	if (st->ceiling_bytes_per_s > 0) {
		s.ceiling = st->ceiling_bytes_per_s;
		s.is_ceiling = stress_tells_floor(st, s.bytes_per_s);
	}
	if (s.is_ceiling) {
		s.share = s.bytes_per_s / s.ceiling;
		s.floor_ns = (uint64_t)((double)st->bytes * 1e9 / s.ceiling);
	}
	summarise_delay(r->delay, &s);
	s.corrupt = st->mismatches > 0 || st->weight_faults > 0 || st->finding.kind ||
		    r->golden.verdict == RUNS_GOLDEN_DIFFERS ||
		    (st->max_error >= 0 && st->max_error > st->error_limit);
	*ret = s;
}
