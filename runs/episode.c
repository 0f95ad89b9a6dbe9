/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/episode.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/macros.h"

enum {
	WAITING = 1024,
	LEAST = 200, /* launches before a threshold stands */
};
static const uint64_t window_ns = 500000000;
static const uint64_t join_ns = 5000000;      /* launches no further apart are one episode */
static const uint64_t longest_ns = 200000000; /* … which lasts no longer: causes would mix */
static const uint32_t join_n = 3;             /* … or with no more good ones between them */
static const double mads = 8;

enum track { HOST, LAUNCH, DEVICE, NOTIFY, CYCLES, GAP, TRACKS };

/* What is normal now, from the window before. 0: not known. */
struct normal {
	uint64_t median[TRACKS];
	uint64_t host_limit, gap_limit;
};

struct runs_episodes {
	struct runs_hist now[TRACKS], before[TRACKS];
	uint64_t window_start;
	struct normal normal;
	struct stress_sample last;
	bool has_last;

	bool open;
	struct runs_episode episode;
	double excess[TRACKS]; /* of the open one; CYCLES: cycles above the median, as time */
	uint32_t good;         /* normal launches since its last bad one */

	struct runs_episode waiting[WAITING]; /* ring */
	size_t first, n;
	uint64_t count;
};

const char *runs_part_name(unsigned part)
{
	static const char *const names[RUNS_PARTS] = {
		[RUNS_PART_HOST] = "host",
		[RUNS_PART_LAUNCH] = "launch path",
		[RUNS_PART_CLOCK] = "clock low",
		[RUNS_PART_MEMORY] = "memory",
		[RUNS_PART_DEVICE] = "device",
		[RUNS_PART_NOTIFY] = "notification",
		[RUNS_PART_BETWEEN] = "between launches",
	};
	return part < RUNS_PARTS ? names[part] : "?";
}

struct runs_episodes *runs_episodes_create(void)
{
	struct runs_episodes *e = xcalloc(1, sizeof(*e));
	for (size_t i = 0; i < TRACKS; i++) {
		runs_hist_init(&e->now[i], RUNS_HIST_1PCT);
		runs_hist_init(&e->before[i], RUNS_HIST_1PCT);
	}
	return e;
}

void runs_episodes_destroy(struct runs_episodes *e)
{
	if (!e) {
		return;
	}
	for (size_t i = 0; i < TRACKS; i++) {
		runs_hist_finish(&e->now[i]);
		runs_hist_finish(&e->before[i]);
	}
	free(e);
}

/* Median of |x − median|; the bucket's width at least, since less cannot be seen. */
static uint64_t mad_of(const struct runs_hist *h, uint64_t median)
{
	struct runs_hist d;
	runs_hist_init(&d, h->bits);
	for (uint32_t i = 0; i < h->n; i++) {
		if (h->count[i]) {
			uint64_t width, low = runs_hist_edge(h->bits, h->lo + i, &width);
			uint64_t x = low + width / 2;
			runs_hist_add_n(&d, x > median ? x - median : median - x, h->count[i]);
		}
	}
	uint64_t mad = runs_hist_quantile(&d, 0.5), least = (median >> h->bits) + 1;
	runs_hist_finish(&d);
	return MAX(mad, least);
}

static uint64_t limit_of(const struct runs_hist *h, uint64_t median)
{
	return median + (uint64_t)(mads * (double)mad_of(h, median));
}

/* Ends the window when it is long enough: what came in it and the one before is normal now. */
static void turn_window(struct runs_episodes *e, uint64_t now)
{
	if (e->now[HOST].total < LEAST || now - e->window_start < window_ns) {
		return;
	}
	e->window_start = now;
	for (size_t i = 0; i < TRACKS; i++) {
		struct runs_hist *both = &e->before[i];
		runs_hist_merge(both, &e->now[i]);
		e->normal.median[i] = runs_hist_quantile(both, 0.5);
		if (i == HOST) {
			e->normal.host_limit = limit_of(both, e->normal.median[i]);
		} else if (i == GAP) {
			/* A gap matters when it is long beside the launches too. */
			e->normal.gap_limit = MAX(limit_of(both, e->normal.median[i]),
				e->normal.median[i] + e->normal.median[HOST] / 4);
		}
		runs_hist_reset(both);
		struct runs_hist old = e->before[i];
		e->before[i] = e->now[i];
		e->now[i] = old;
	}
}

static void finish(struct runs_episodes *e)
{
	struct runs_episode *ep = &e->episode;
	const double *x = e->excess;
	double device = x[DEVICE], most = fmax(fmax(x[LAUNCH], x[NOTIFY]), device);
	if (x[GAP] > x[HOST]) {
		ep->part = RUNS_PART_BETWEEN;
	} else if (most <= 0) {
		ep->part = RUNS_PART_HOST;
	} else if (most == x[LAUNCH]) {
		ep->part = RUNS_PART_LAUNCH;
	} else if (most == x[NOTIFY]) {
		ep->part = RUNS_PART_NOTIFY;
	} else if (!e->normal.median[CYCLES]) {
		ep->part = RUNS_PART_DEVICE;
	} else {
		/* Did the cycles grow as much as the time? Less than half: the clock was low. */
		ep->part = x[CYCLES] < device / 2 ? RUNS_PART_CLOCK : RUNS_PART_MEMORY;
	}
	ep->excess_ns = (uint64_t)fmax(0, fmax(x[HOST], x[GAP]));
	if (e->n == WAITING) {
		e->first = (e->first + 1) % WAITING;
		e->n--;
	}
	e->waiting[(e->first + e->n++) % WAITING] = *ep;
	e->count++;
	e->open = false;
}

static double above(uint64_t v, uint64_t median)
{
	return (double)v - (double)median;
}

static void take_bad(struct runs_episodes *e, const struct stress_sample *s, uint64_t host,
	uint64_t gap, bool long_gap)
{
	const uint64_t *median = e->normal.median;
	uint64_t from = long_gap ? s->submit_ns - gap : s->submit_ns;
	if (!e->open) {
		e->open = true;
		e->episode = (struct runs_episode){.from_ns = from};
		for (size_t i = 0; i < TRACKS; i++) {
			e->excess[i] = 0;
		}
	}
	struct runs_episode *ep = &e->episode;
	ep->to_ns = s->done_ns;
	ep->worst_ns = MAX(ep->worst_ns, MAX(host, long_gap ? gap : 0));
	ep->n++;
	ep->perturbed += (s->flags & STRESS_PERTURBED) != 0;
	e->good = 0;
	e->excess[HOST] += above(host, median[HOST]);
	e->excess[GAP] += long_gap ? above(gap, median[GAP]) : 0;
	if (s->flags & STRESS_HAS_DEVICE) {
		uint64_t device = s->end_ns - s->start_ns;
		e->excess[LAUNCH] += above(s->start_ns, s->submit_ns) - (double)median[LAUNCH];
		e->excess[DEVICE] += above(device, median[DEVICE]);
		e->excess[NOTIFY] += above(s->done_ns, s->end_ns) - (double)median[NOTIFY];
		if ((s->flags & STRESS_HAS_CYCLES) && median[CYCLES]) {
			double more = (double)s->cycles / (double)median[CYCLES] - 1;
			e->excess[CYCLES] += more * (double)median[DEVICE];
		}
	}
}

static void take_one(struct runs_episodes *e, const struct stress_sample *s)
{
	uint64_t host = stress_host_ns(s), gap = 0;
	bool has_gap = e->has_last && !(s->flags & STRESS_RESUMED) && s->seq == e->last.seq + 1 &&
		       s->submit_ns >= e->last.done_ns;
	gap = has_gap ? s->submit_ns - e->last.done_ns : 0;
	turn_window(e, s->done_ns);
	const struct normal *n = &e->normal;
	bool slow = n->host_limit && host > n->host_limit;
	bool long_gap = has_gap && n->gap_limit && gap > n->gap_limit;
	if (e->open && !slow && !long_gap) {
		e->good++;
	}
	const struct runs_episode *ep = &e->episode;
	if (e->open && ((e->good > join_n && s->submit_ns > ep->to_ns + join_ns) ||
			       s->submit_ns > ep->from_ns + longest_ns)) {
		finish(e);
	}
	if (slow || long_gap) {
		take_bad(e, s, host, gap, long_gap);
	}
	runs_hist_add(&e->now[HOST], host);
	if (has_gap) {
		runs_hist_add(&e->now[GAP], gap);
	}
	if (s->flags & STRESS_HAS_DEVICE && s->end_ns >= s->start_ns) {
		runs_hist_add(&e->now[LAUNCH],
			s->start_ns > s->submit_ns ? s->start_ns - s->submit_ns : 0);
		runs_hist_add(&e->now[DEVICE], s->end_ns - s->start_ns);
		runs_hist_add(&e->now[NOTIFY], s->done_ns > s->end_ns ? s->done_ns - s->end_ns : 0);
	}
	if (s->flags & STRESS_HAS_CYCLES) {
		runs_hist_add(&e->now[CYCLES], s->cycles);
	}
}

void runs_episodes_add(struct runs_episodes *e, const struct stress_sample *samples, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct stress_sample *s = &samples[i];
		if (stress_series_of(s) == STRESS_GEMM &&
			!(s->flags & (STRESS_WARMUP | STRESS_BATCH))) {
			take_one(e, s);
		}
		e->last = *s;
		e->has_last = !(s->flags & (STRESS_WARMUP | STRESS_BATCH));
	}
}

size_t runs_episodes_take(
	struct runs_episodes *e, uint64_t now_ns, struct runs_episode *ret, size_t max)
{
	if (e->open && (now_ns == UINT64_MAX || (now_ns > e->episode.to_ns &&
							now_ns - e->episode.to_ns > window_ns))) {
		finish(e);
	}
	size_t k = 0;
	for (; k < max && e->n; k++, e->n--) {
		ret[k] = e->waiting[e->first];
		e->first = (e->first + 1) % WAITING;
	}
	return k;
}

uint64_t runs_episodes_count(const struct runs_episodes *e)
{
	return e->count;
}
