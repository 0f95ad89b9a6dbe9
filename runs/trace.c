/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"

enum { EVENTS = 100000 }; /* a run; the first ones count */

void runs_traces_finish(struct runs_traces *t)
{
	for (size_t i = 0; i < t->n; i++) {
		free(t->run[i].point);
		free(t->run[i].event);
		free(t->run[i].episode);
	}
	free(t->run);
	runs_hist_finish(&t->hist);
	*t = (struct runs_traces){0};
}

/* Blocks come in order of time; those of STEP seconds become one point. */
struct fold {
	struct runs_trace *trace;
	uint32_t step, at; /* the point that is being filled: seconds AT * STEP on */
	struct runs_hist hist;
	size_t cap;
};

static void flush(struct fold *f)
{
	struct runs_trace *t = f->trace;
	if (!f->hist.total) {
		return;
	}
	t->point = xgrow(t->point, t->n, &f->cap, sizeof(*t->point));
	t->point[t->n++] = (struct runs_point){
		.from = f->at * f->step,
		.to = MIN((f->at + 1) * f->step, t->seconds),
		.n = f->hist.total,
		.p5 = runs_hist_quantile(&f->hist, 0.05),
		.p50 = runs_hist_quantile(&f->hist, 0.5),
		.p95 = runs_hist_quantile(&f->hist, 0.95),
		.max = f->hist.max,
	};
	runs_hist_reset(&f->hist);
}

/* A run ends within a second: the few launches in it are no stretch of their own. */
static void join_stub(struct runs_trace *t)
{
	struct runs_point *last = t->n ? &t->point[t->n - 1] : NULL;
	if (t->n > 1 && last->n * 10 < last[-1].n && last->from == last[-1].to) {
		last[-1].to = last->to;
		last[-1].n += last->n;
		last[-1].max = MAX(last[-1].max, last->max);
		t->n--;
	}
}

static int add_block(
	void *arg, uint32_t second, const struct runs_hist *h, const struct runs_moments *m)
{
	struct fold *f = arg;
	(void)m;
	if (second / f->step != f->at) {
		flush(f);
		f->at = second / f->step;
	}
	return runs_hist_merge(&f->hist, h);
}

static int load_points(
	struct runs_store *s, struct runs_trace *t, unsigned layer, uint32_t step, struct why *why)
{
	struct fold f = {.trace = t, .step = step};
	runs_hist_init(&f.hist, RUNS_HIST_1PCT);
	int r = runs_info_blocks(s, t->run->info.id, STRESS_GEMM, layer, 1, add_block, &f, why);
	if (!r) {
		flush(&f);
		join_stub(t);
	}
	runs_hist_finish(&f.hist);
	return r;
}

/* Adds one run's launches; a coarser histogram makes all of it coarse. */
static int add_hist(struct runs_store *s, const struct runs_info *run, unsigned layer,
	struct runs_hist *all, struct why *why)
{
	struct runs_hist h;
	runs_hist_init(&h, RUNS_HIST_TENTH_PCT);
	int r = runs_info_hist(s, run, STRESS_GEMM, layer, &h, why);
	if (!r && h.bits < all->bits) {
		struct runs_hist coarse;
		runs_hist_init(&coarse, h.bits);
		r = runs_hist_merge(&coarse, all);
		runs_hist_finish(all);
		*all = coarse;
	}
	if (!r) {
		r = runs_hist_merge(all, &h);
	}
	runs_hist_finish(&h);
	return r;
}

static int load_run(struct runs_store *s, struct runs_traces *all, struct runs_trace *t,
	unsigned layer, uint32_t step, struct why *why)
{
	int64_t id = t->run->info.id;
	int r = load_points(s, t, layer, step, why);
	if (!r) {
		r = runs_info_events(s, id, EVENTS, &t->event, &t->nevent, why);
	}
	if (!r) {
		r = runs_info_episodes(s, id, EVENTS, &t->episode, &t->nepisode, why);
	}
	return r ? r : add_hist(s, &t->run->info, layer, &all->hist, why);
}

static bool belongs(const struct runs_member *m, const struct runs_pair *p, bool b)
{
	return m->layer[STRESS_GEMM][p->layer].n && runs_pair_has(p, &m->info, b);
}

int runs_traces_load(struct runs_store *store, const char *ref, const struct runs_side *side,
	const struct runs_pair *pair, bool b, uint32_t points, struct runs_traces *ret,
	struct why *why)
{
	_cleanup_store_ struct runs_store *file = NULL;
	int r = runs_side_file(ref, &file, why);
	if (r) {
		return r;
	}
	struct runs_traces all = {.run = xcalloc(MAX(side->n, 1), sizeof(*all.run))};
	runs_hist_init(&all.hist, RUNS_HIST_TENTH_PCT);
	for (size_t i = 0; i < side->n; i++) {
		const struct runs_member *m = &side->run[i];
		if (belongs(m, pair, b)) {
			all.run[all.n++] =
				(struct runs_trace){.run = m, .seconds = m->totals.last + 1};
			all.seconds += m->totals.last + 1;
		}
	}
	uint32_t step = (uint32_t)(all.seconds / MAX(points, 1)) + 1;
	for (size_t i = 0; !r && i < all.n; i++) {
		r = load_run(file ? file : store, &all, &all.run[i], pair->layer, step, why);
	}
	if (r) {
		runs_traces_finish(&all);
		return r;
	}
	*ret = all;
	return 0;
}
