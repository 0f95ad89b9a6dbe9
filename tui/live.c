/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/live.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"

enum { CHUNK = 2048, AT_ONCE = 65536 };

static const uint64_t stop_patience_ns = 2000000000u;

const char *tui_layer_name(enum tui_layer l)
{
	static const char *const names[] = {"host", "device", "launch", "notify"};
	return names[l];
}

void tui_live_init(struct tui_live *l)
{
	*l = (struct tui_live){0};
	stress_config_init(&l->config);
	for (int i = 0; i < TUI_LAYERS; i++) {
		l->series[i] = runs_series_create(NULL);
	}
	runs_hist_init(&l->total, RUNS_HIST_TENTH_PCT);
}

void tui_live_finish(struct tui_live *l, int timeout_ms)
{
	stress_worker_destroy(l->worker, timeout_ms);
	for (int i = 0; i < TUI_LAYERS; i++) {
		runs_series_destroy(l->series[i]);
	}
	runs_hist_finish(&l->total);
	*l = (struct tui_live){0};
}

static void forget(struct tui_live *l)
{
	for (int i = 0; i < TUI_LAYERS; i++) {
		runs_series_clear(l->series[i]);
		l->has[i] = false;
	}
	runs_hist_reset(&l->total);
	l->samples = l->mismatches = 0;
	l->readings = (struct runs_readings){0};
	l->told = (struct tui_told){.phase = STRESS_STARTING};
}

static void read_status(struct tui_live *l)
{
	stress_worker_status(l->worker, &l->status);
	if (l->embellish) {
		l->embellish(&l->status);
	}
	if (l->killed) { /* whether its process has gone away yet or not */
		l->status.phase = STRESS_DIED;
		text_copy(l->status.why, sizeof(l->status.why),
			"the worker did not follow the stop and was killed");
	}
}

int tui_live_start(struct tui_live *l, uint64_t now_ns, struct why *why)
{
	stress_worker_destroy(l->worker, 0);
	l->worker = NULL;
	l->want_pause = l->want_stop = l->killed = false;
	forget(l);
	int r = stress_worker_start(&l->config, &l->worker, why);
	if (r < 0) {
		return r;
	}
	l->started_ns = now_ns;
	read_status(l);
	l->have_status = true;
	return 0;
}

void tui_live_stop(struct tui_live *l, uint64_t now_ns)
{
	if (l->worker && !l->want_stop) {
		stress_worker_stop(l->worker);
		l->want_stop = true;
		l->stop_asked_ns = now_ns;
	}
}

void tui_live_pause(struct tui_live *l, bool pause)
{
	if (l->worker) {
		stress_worker_pause(l->worker, pause);
		l->want_pause = pause;
	}
}

static bool is_final(enum stress_phase p)
{
	return p == STRESS_DONE || p == STRESS_FAILED || p == STRESS_DIED;
}

bool tui_live_active(const struct tui_live *l)
{
	return l->worker && !is_final(l->status.phase);
}

static void add(struct tui_live *l, enum tui_layer layer, uint64_t t_ns, uint64_t value)
{
	runs_series_add(l->series[layer], t_ns, value);
	l->has[layer] = true;
}

void tui_live_feed(struct tui_live *l, const struct stress_sample *s, size_t n)
{
	for (size_t i = 0; i < n; i++, s++) {
		if (stress_series_of(s) != STRESS_GEMM || (s->flags & STRESS_WARMUP)) {
			continue;
		}
		l->samples++;
		l->mismatches += (s->flags & STRESS_MISMATCH) != 0;
		/* A batch's stamps are not this sample's. */
		if (!(s->flags & STRESS_BATCH)) {
			add(l, TUI_HOST, s->done_ns, stress_host_ns(s));
			runs_hist_add(&l->total, stress_host_ns(s));
		}
		if (s->flags & STRESS_HAS_DEVICE) {
			add(l, TUI_DEVICE, s->done_ns, s->end_ns - s->start_ns);
		}
		if ((s->flags & STRESS_HAS_DEVICE) && !(s->flags & STRESS_BATCH) &&
			s->start_ns >= s->submit_ns && s->done_ns >= s->end_ns) {
			add(l, TUI_LAUNCH, s->done_ns, s->start_ns - s->submit_ns);
			add(l, TUI_NOTIFY, s->done_ns, s->done_ns - s->end_ns);
		}
	}
}

void tui_live_feed_events(struct tui_live *l, const struct stress_event *e, size_t n,
	const struct tui_live_sink *sink)
{
	if (sink && sink->raw) {
		sink->raw(sink->data, e, n);
	}
	for (size_t i = 0; i < n; i++) {
		struct runs_event k;
		if (runs_readings_take(&l->readings, &e[i], &k) && sink && sink->event) {
			sink->event(sink->data, &e[i], &k);
		}
	}
}

unsigned tui_live_news(struct tui_live *l)
{
	const struct stress_status *st = &l->status;
	const struct tui_told now = {
		.phase = st->phase,
		.stalled = st->stalled,
		.wrong = l->told.wrong || l->mismatches || st->mismatches || st->weight_faults ||
			 st->finding.kind,
	};
	const unsigned news = (now.phase != l->told.phase ? TUI_NEWS_PHASE : 0u) |
			      (now.stalled != l->told.stalled ? TUI_NEWS_STALL : 0u) |
			      (now.wrong != l->told.wrong ? TUI_NEWS_WRONG : 0u);
	l->told = now;
	return news;
}

/* An ended worker is let go once its process is away, so that nothing waits for it here. */
static void let_go(struct tui_live *l, uint64_t now_ns)
{
	bool over = is_final(l->status.phase);
	if (!over && l->want_stop && now_ns - l->stop_asked_ns > stop_patience_ns) {
		stress_worker_kill(l->worker);
		l->killed = true;
		read_status(l);
	} else if (over && kill(l->status.pid, 0) < 0 && errno == ESRCH) {
		stress_worker_destroy(l->worker, 0);
		l->worker = NULL;
	}
}

bool tui_live_poll(struct tui_live *l, uint64_t now_ns, const struct tui_live_sink *sink)
{
	if (!l->worker) {
		return false;
	}
	struct stress_status before = l->status;
	stress_worker_poll(l->worker);
	read_status(l);

	struct stress_sample chunk[CHUNK];
	size_t n, taken = 0;
	/* Bounded: a worker that produces without end must not keep the screen waiting. */
	while (taken < AT_ONCE && (n = stress_worker_read(l->worker, chunk, CHUNK)) > 0) {
		tui_live_feed(l, chunk, n);
		if (sink && sink->samples) {
			sink->samples(sink->data, chunk, n);
		}
		taken += n;
	}
	/* Whoever looks: what stays in the ring is lost when that is full. */
	struct stress_event event[64];
	size_t heard = 0;
	while (heard < AT_ONCE &&
		(n = stress_worker_events(l->worker, event, ARRAY_LEN(event))) > 0) {
		tui_live_feed_events(l, event, n, sink);
		heard += n;
	}
	if (taken == 0) {
		let_go(l, now_ns);
	}
	return taken > 0 || before.phase != l->status.phase ||
	       before.stalled != l->status.stalled || l->status.stalled;
}

void tui_figures_make(
	const struct runs_hist *h, const struct stress_status *st, struct tui_figures *ret)
{
	*ret = (struct tui_figures){
		.n = h->total,
		.p5 = runs_hist_quantile(h, 0.05),
		.p50 = runs_hist_quantile(h, 0.50),
		.p95 = runs_hist_quantile(h, 0.95),
		.p99 = runs_hist_quantile(h, 0.99),
		.p999 = runs_hist_quantile(h, 0.999),
		.min = h->total ? h->min : 0,
		.max = h->max,
		.band = runs_hist_band(h),
		.p99_known = runs_enough((double)h->total, 0.99),
		.p999_known = runs_enough((double)h->total, 0.999),
	};
	if (st->bytes && ret->p50) {
		ret->bytes_per_s = (double)st->bytes * 1e9 / (double)ret->p50;
	}
	if (st->bytes && stress_tells_floor(st, ret->bytes_per_s)) {
		ret->floor_ns = (uint64_t)((double)st->bytes * 1e9 / st->ceiling_bytes_per_s);
		ret->ceiling_share = ret->bytes_per_s / st->ceiling_bytes_per_s;
	}
}
