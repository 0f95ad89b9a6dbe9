/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/describe.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "runs/boots.h"

static const double slow = 1.5;
enum { LEAST_SECONDS = 20, WALK_MAX = 2048 };

void runs_walk_add(struct runs_walk *w, uint32_t second, const struct runs_hist *h,
	const struct runs_moments *m)
{
	size_t cap = w->cap;
	w->block = xgrow(w->block, w->n, &cap, sizeof(*w->block));
	w->cap = (uint32_t)cap;
	w->block[w->n].second = second;
	w->block[w->n].n = h->total;
	w->block[w->n].p50 = runs_hist_quantile(h, 0.5);
	w->block[w->n].mean = m->n ? m->s1 / (double)m->n : NAN;
	w->n++;
}

void runs_walk_finish(struct runs_walk *w)
{
	free(w->block);
	*w = (struct runs_walk){0};
}

double runs_effective_n(const struct runs_moments *m, const struct runs_walk *w)
{
	double n = (double)m->n, sd = runs_moments_log_sd(m), rho = runs_moments_lag1(m);
	double time = 1;
	if (!isnan(rho)) {
		time = fmax(time, (1 + fmin(rho, 0.9999)) / (1 - fmin(rho, 0.9999)));
	}
	if (w->n >= LEAST_SECONDS && sd > 0) {
		/* Means of blocks of b independent values would vary by sd² / b. */
		double mean = m->s1 / n, sum = 0, size = 0;
		uint32_t k = 0;
		for (uint32_t i = 0; i < w->n; i++) {
			if (!isnan(w->block[i].mean)) {
				double d = w->block[i].mean - mean;
				sum += d * d * (double)w->block[i].n;
				size += (double)w->block[i].n;
				k++;
			}
		}
		if (k >= LEAST_SECONDS && size > 0) {
			time = fmax(time, sum / (double)(k - 1) / (sd * sd));
		}
	}
	return n ? fmax(1, n / time) : 0;
}

/* Slope of the one-second medians by Theil and Sen, at most 300 of them; a share a minute. */
static double drift_of(const struct runs_walk *w, uint64_t p50)
{
	enum { POINTS = 300 };
	if (w->n < LEAST_SECONDS || !p50) {
		return NAN;
	}
	uint32_t step = (w->n + POINTS - 1) / POINTS;
	size_t n = 0, k = w->n / step;
	double *slope = xmalloc(k * k / 2 * sizeof(*slope) + sizeof(*slope));
	for (size_t i = 0; i < k; i++) {
		for (size_t j = i + 1; j < k; j++) {
			uint32_t a = (uint32_t)i * step, b = (uint32_t)j * step;
			double dt = (double)(w->block[b].second - w->block[a].second);
			if (dt > 0) {
				slope[n++] =
					((double)w->block[b].p50 - (double)w->block[a].p50) / dt;
			}
		}
	}
	double s = n ? runs_boots_median(slope, n) * 60 / (double)p50 : NAN;
	free(slope);
	return s;
}

/* How long a mode lasts: runs of seconds whose median lies in it. */
static void dwell(const struct runs_walk *w, struct runs_description *d)
{
	double total[RUNS_MODES_MAX] = {0}, visits[RUNS_MODES_MAX] = {0};
	size_t last = RUNS_MODES_MAX;
	for (uint32_t i = 0; i < w->n; i++) {
		size_t k = runs_modes_of(&d->modes, w->block[i].p50);
		total[k]++;
		visits[k] += k != last;
		last = k;
	}
	for (size_t k = 0; k < RUNS_MODES_MAX; k++) {
		d->dwell_s[k] = NAN;
		/* Where the mode's seconds fit its share of values, a second is fine enough. */
		double of_time = w->n ? total[k] / w->n : 0;
		if (k < d->modes.n && visits[k] > 0 && fabs(of_time - d->modes.share[k]) < 0.1) {
			double mean = total[k] / visits[k];
			d->dwell_s[k] = mean > 1 ? mean * MAX(w->step, 1u) : NAN;
		}
	}
}

void runs_describe(const struct runs_hist *h, const struct runs_moments *m,
	const struct runs_walk *w, struct runs_description *ret)
{
	*ret = (struct runs_description){.n = h->total, .seconds = w->n * MAX(w->step, 1u)};
	if (!h->total) {
		return;
	}
	struct runs_description *d = ret;
	d->min = h->min;
	d->max = h->max;
	d->p5 = runs_hist_quantile(h, 0.05);
	d->p50 = runs_hist_quantile(h, 0.5);
	d->p95 = runs_hist_quantile(h, 0.95);
	d->band = runs_hist_band(h);
	d->lag1 = runs_moments_lag1(m);
	/* M may be of some of the seconds only: what one value is worth holds for all. */
	d->n_eff = (double)h->total;
	if (m->n) {
		d->n_eff *= runs_effective_n(m, w) / (double)m->n;
		d->n_eff = fmax(d->n_eff, 1);
	}
	d->p99 = runs_enough(d->n_eff, 0.99) ? (double)runs_hist_quantile(h, 0.99) : NAN;
	d->p999 = runs_enough(d->n_eff, 0.999) ? (double)runs_hist_quantile(h, 0.999) : NAN;
	d->drift = drift_of(w, d->p50);
	uint64_t limit = (uint64_t)((double)d->p50 * slow) + 1;
	d->slow_count = (double)runs_hist_above(h, limit) / (double)h->total;
	d->slow_time = runs_hist_time_above(h, limit);
	runs_modes_find(h, &d->modes);
	dwell(w, d);
}

struct visit {
	struct runs_walk walk;
	struct runs_moments moments; /* of the seconds that were visited */
};

static int visit_block(
	void *arg, uint32_t second, const struct runs_hist *h, const struct runs_moments *m)
{
	struct visit *v = arg;
	runs_walk_add(&v->walk, second, h, m);
	runs_moments_merge(&v->moments, m);
	return 0;
}

int runs_describe_load(struct runs_store *s, const struct runs_info *run, unsigned series,
	unsigned layer, struct runs_description *ret, struct why *why)
{
	struct runs_hist h;
	uint32_t last;
	struct visit v = {0};
	runs_hist_init(&h, RUNS_HIST_1PCT);
	int r = runs_info_hist(s, run, series, layer, &h, why);
	if (!r) {
		r = runs_info_last_second(s, run->id, &last, why);
	}
	if (!r) {
		v.walk.step = last / WALK_MAX + 1;
		r = runs_info_blocks(s, run->id, series, layer, v.walk.step, visit_block, &v, why);
	}
	if (!r) {
		runs_describe(&h, &v.moments, &v.walk, ret);
		ret->seconds = MIN(ret->seconds, last + 1);
	}
	runs_hist_finish(&h);
	runs_walk_finish(&v.walk);
	return r;
}
