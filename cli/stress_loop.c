/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loop of a run without a screen: worker, signals, recorder; it waits for none of them. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "cli/cmd.h"
#include "cli/signals.h"
#include "cli/stress.h"
#include "cli/stress_record.h"
#include "pcie/scan.h"
#include "runs/choices.h"
#include "runs/store.h"

static const uint64_t second = 1000000000u;

enum { BATCH = 4096, BATCHES = 16, BEHIND_MAX = 300, TICK_MS = 100, STOP_MS = 3000 };

struct cmd_stress_loop {
	const struct cmd_stress_options *o;
	struct stress_worker *worker;
	struct stress_status status;
	struct cmd_signals signals;

	struct runs_collect *collect;
	struct cmd_ramp ramp;
	struct cmd_stress_delay *delay; /* --inject-fault delay; else NULL */
	struct cmd_record record;
	struct cmd_stress_clocks *clocks; /* NULL: none are locked */
	struct runs_readings readings;
	uint64_t perturbed, missed;     /* GEMM samples */
	struct runs_hist with, without; /* of the telemetry's self-test */

	uint64_t began_ns;       /* host clock: the first time the phase was RUNNING; 0: not yet */
	uint64_t from_ns, to_ns; /* samples' clock; from 0: none yet */
	uint64_t gemms;          /* counted */
	bool enough;             /* all samples that were asked for are there */
	int signal;
	bool was_stalled, unanswered, progress, shown;
	bool store_failed; /* nothing more can be recorded: the run ends */
	struct stress_sample batch[BATCH];
};

/* -- start and end -------------------------------------------------------------------- */

static enum runs_state record_state(const struct cmd_stress_loop *l)
{
	if (l->status.phase == STRESS_FAILED || l->status.phase == STRESS_DIED || l->unanswered) {
		return RUNS_FAILED;
	}
	return l->signal || l->status.ended ? RUNS_STOPPED : RUNS_DONE;
}

void cmd_stress_loop_finish(struct cmd_stress_loop *l)
{
	if (!l) {
		return;
	}
	stress_worker_destroy(l->worker, 500);
	cmd_record_finish(&l->record);
	runs_collect_destroy(l->collect);
	for (size_t i = 0; l->delay && i < 2 * CMD_DELAYS; i++) {
		runs_hist_finish(&l->delay->h[i / CMD_DELAYS][i % CMD_DELAYS]);
	}
	free(l->delay);
	runs_hist_finish(&l->with);
	runs_hist_finish(&l->without);
	cmd_stress_clocks_end(l->clocks, l->status.locked_mhz > 0, NULL);
	cmd_signals_close(&l->signals);
	free(l);
}

/* -- samples --------------------------------------------------------------------------- */

static uint64_t from_to(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* Delayed launches and the others apart. */
static void take_delay(struct cmd_stress_delay *d, const struct stress_sample *s)
{
	struct runs_hist *h = d->h[(s->flags & STRESS_INJECTED) != 0];
	if (stress_series_of(s) != STRESS_GEMM || !(s->flags & STRESS_HAS_DEVICE)) {
		return;
	}
	runs_hist_add(&h[CMD_DELAY_LAUNCH], from_to(s->submit_ns, s->start_ns));
	runs_hist_add(&h[CMD_DELAY_DEVICE], from_to(s->start_ns, s->end_ns));
	runs_hist_add(&h[CMD_DELAY_NOTIFY], from_to(s->end_ns, s->done_ns));
}

/* Takes a sample in; false when it is behind the end that was asked for. */
static bool take_sample(struct cmd_stress_loop *l, const struct stress_sample *s)
{
	if (s->flags & STRESS_WARMUP) {
		return true;
	}
	if (!l->from_ns) {
		l->from_ns = s->submit_ns;
	}
	if (l->o->duration_ns && s->submit_ns >= l->from_ns + l->o->duration_ns) {
		return false;
	}
	l->to_ns = MAX(l->to_ns, s->done_ns);
	if (stress_series_of(s) == STRESS_GEMM) {
		l->perturbed += (s->flags & STRESS_PERTURBED) != 0;
		l->missed += (s->flags & STRESS_MISSED) != 0;
		if (l->o->config.telemetry_test) {
			runs_hist_add(s->flags & STRESS_HUSHED ? &l->without : &l->with,
				stress_host_ns(s));
		}
		l->gemms++;
		return !l->o->samples || l->gemms < l->o->samples;
	}
	return true;
}

static void take_samples(struct cmd_stress_loop *l)
{
	/* A script without a clock fills the ring as fast as it is emptied: so much a turn, and
	 * nothing while the store is behind. */
	struct runs_recorder_state st = {0};
	if (l->record.session) {
		runs_recorder_state(l->record.recorder, &st);
	}
	size_t n, turns = st.waiting_seconds > BEHIND_MAX && !l->enough ? 0 : BATCHES;
	while (turns-- && (n = stress_worker_read(l->worker, l->batch, BATCH)) > 0) {
		if (l->enough) {
			continue; /* the ring is emptied, so that the worker can end */
		}
		size_t keep = 0;
		while (keep < n && !l->enough) {
			uint64_t gemms = l->gemms, to = l->to_ns;
			l->enough = !take_sample(l, &l->batch[keep]);
			/* The last one of --samples counts, the first one past --seconds does not.
			 */
			keep += !l->enough || l->gemms != gemms || l->to_ns != to;
		}
		for (size_t i = 0; l->delay && i < keep; i++) {
			if (!(l->batch[i].flags & STRESS_WARMUP)) {
				take_delay(l->delay, &l->batch[i]);
			}
		}
		runs_collect_add(l->collect, l->batch, keep);
		if (l->record.session) {
			runs_session_samples(l->record.session, l->batch, keep);
		}
	}
	runs_second_destroy(runs_collect_take(l->collect, clock_ns()));
}

static void take_events(struct cmd_stress_loop *l)
{
	struct stress_event event[64];
	size_t n;
	while ((n = stress_worker_events(l->worker, event, ARRAY_LEN(event))) > 0) {
		if (l->record.session) {
			runs_session_readings(l->record.session, event, n);
		}
		for (size_t i = 0; i < n; i++) {
			struct runs_event ignored;
			runs_readings_take(&l->readings, &event[i], &ignored);
		}
	}
}

/* -- what happens meanwhile --------------------------------------------------------------- */

static void clear_progress(struct cmd_stress_loop *l)
{
	if (l->shown) {
		fputs("\r\033[K", stderr);
		l->shown = false;
	}
}

static void show_progress(struct cmd_stress_loop *l, uint64_t since_ns)
{
	if (!l->progress) {
		return;
	}
	const struct stress_config *c = &l->o->config;
	const bool fills = c->fill_permille || c->fill_bytes;
	static const char *const phases[] = {"starting", "warming up", "running", "paused",
		"stopping", "done", "failed", "died"};
	char line[160];
	/* A test of all memory and weights all over it take minutes. */
	snprintf(line, sizeof(line), "%s%s, %.0f s", phases[l->status.phase],
		fills && l->status.phase == STRESS_STARTING ? ": memory is tested and filled" : "",
		(double)(clock_ns() - since_ns) / 1e9);
	const struct runs_hist *h = runs_collect_rollup(l->collect, STRESS_GEMM, RUNS_HOST);
	if (h) {
		char t[TEXT_TIME_MAX];
		snprintf(line, sizeof(line), "%.0f s%s, %llu samples, p50 %s, band %.1f %%",
			(double)(l->to_ns - l->from_ns) / 1e9,
			l->status.stalled ? " (no answer)" : "", (unsigned long long)l->gemms,
			text_ns(runs_hist_quantile(h, 0.5), t), runs_hist_band(h) * 100);
	}
	fprintf(stderr, "\r%s\033[K", line);
	fflush(stderr);
	l->shown = true;
}

static void say_stall(struct cmd_stress_loop *l)
{
	if (l->status.stalled == l->was_stalled) {
		return;
	}
	l->was_stalled = l->status.stalled;
	clear_progress(l);
	if (l->was_stalled) {
		fprintf(stderr, "barscope: the worker has not answered for %.1f s\n",
			(double)l->status.silent_ns / 1e9);
	} else {
		fprintf(stderr, "barscope: the worker answers again\n");
	}
}

static bool is_over(const struct stress_status *s)
{
	return s->phase == STRESS_DONE || s->phase == STRESS_FAILED || s->phase == STRESS_DIED;
}

/* One turn; at most TICK_MS long. */
static void turn(struct cmd_stress_loop *l)
{
	struct pollfd p[] = {
		{.fd = stress_worker_fd(l->worker), .events = POLLIN},
		{.fd = l->signals.fd, .events = POLLIN},
		{.fd = l->record.recorder ? runs_recorder_fd(l->record.recorder) : -1,
			.events = POLLIN},
	};
	poll(p, ARRAY_LEN(p), TICK_MS);
	if (p[1].revents) {
		const int signal = cmd_signals_take(&l->signals);
		l->signal = signal ? signal : l->signal;
	}
	stress_worker_poll(l->worker);
	stress_worker_status(l->worker, &l->status);
	take_samples(l);
	take_events(l);
	l->store_failed = !cmd_record_tick(&l->record, &l->status);
	if (l->o->ramp && l->status.phase == STRESS_WARMING) {
		cmd_ramp_turn(&l->ramp, l->worker, l->record.session, l->record.recorder,
			&l->o->config, clock_ns());
	}
	say_stall(l);
}

/* A silent worker's samples cannot end the run, so the host's clock does. */
static bool is_time_up(struct cmd_stress_loop *l)
{
	const struct stress_status *st = &l->status;
	if (st->phase != STRESS_RUNNING) {
		/* A driver may take a minute to open a device; a warm-up answers all the time. */
		uint64_t patience = (st->phase == STRESS_STARTING ? 120 : 10) * second;
		l->unanswered = l->o->duration_ns && st->silent_ns > patience;
		return l->unanswered;
	}
	uint64_t now = clock_ns();
	if (!l->began_ns) {
		l->began_ns = now;
	}
	l->unanswered = l->status.stalled && l->o->duration_ns &&
			now - l->began_ns > l->o->duration_ns + second;
	return l->unanswered;
}

static void run(struct cmd_stress_loop *l)
{
	const uint64_t began = clock_ns();
	uint64_t shown = 0;
	while (!l->enough && !l->signal && !l->store_failed && !is_over(&l->status) &&
		!is_time_up(l)) {
		turn(l);
		uint64_t now = clock_ns();
		if (now - shown >= second / 4) {
			shown = now;
			show_progress(l, began);
		}
	}
	clear_progress(l);
	stress_worker_stop(l->worker);
	uint64_t until = clock_ns() + (uint64_t)STOP_MS * 1000000u;
	int first = l->signal;
	while (!is_over(&l->status) && !l->unanswered && clock_ns() < until) {
		turn(l);
		if (l->signal != first) {
			break; /* asked twice: no more waiting */
		}
	}
}

/* What is not recorded is compared all the same, where there is a store. */
static void look_at_golden(const struct cmd_stress_loop *l, struct cmd_stress_result *r)
{
	const struct stress_status *st = &l->status;
	struct runs_golden_key k = {.build = st->build, .seed = l->o->config.seed};
	_cleanup_free_ char *path = NULL;
	_cleanup_store_ struct runs_store *s = NULL;
	struct runs_info named = {.seed = 0};
	struct why why;
	if (!st->build || !st->golden_hash || runs_store_path(l->o->store, &path, &why) < 0 ||
		access(path, F_OK) || runs_store_open(path, RUNS_STORE_READ, &s, &why) < 0) {
		return;
	}
	runs_info_configured(&named, &l->o->config);
	text_copy(k.isa, sizeof(k.isa), st->isa);
	text_copy(k.kernel, sizeof(k.kernel), st->kernel);
	text_copy(k.shape, sizeof(k.shape), named.shape);
	text_copy(k.dtype, sizeof(k.dtype), named.dtype);
	runs_golden_look(s, &k, st->golden_hash, &r->golden, &why);
}

static void name_trouble(const struct cmd_stress_loop *l, struct cmd_stress_result *r)
{
	const struct stress_status *st = &l->status;
	if (st->phase == STRESS_FAILED && l->o->cuda_for && !*st->kernel) {
		snprintf(r->trouble, sizeof(r->trouble), "%s needs the cuda back end: %s",
			l->o->cuda_for, st->why);
	} else if (st->phase == STRESS_FAILED || st->phase == STRESS_DIED) {
		text_copy(r->trouble, sizeof(r->trouble), st->why);
	} else if (l->unanswered) {
		snprintf(r->trouble, sizeof(r->trouble), "the worker has not answered for %.1f s",
			(double)st->silent_ns / 1e9);
	}
}

/* A worker that has died, or does not end, may have left the clocks locked. */
static bool release_clocks(struct cmd_stress_loop *l, struct why *why)
{
	struct cmd_stress_clocks *c = l->clocks;
	if (!c) {
		return true;
	}
	stress_worker_destroy(l->worker, 0);
	l->worker = NULL;
	l->clocks = NULL;
	return cmd_stress_clocks_end(c, l->status.locked_mhz > 0, why);
}

static int start(struct cmd_stress_loop *l, struct why *why)
{
	int r = cmd_signals_open(&l->signals, why);
	if (r < 0) {
		return r;
	}
	l->progress = isatty(STDERR_FILENO);
	if (l->o->record) {
		r = cmd_record_begin(&l->record, l->o, &l->o->config, l->o->record, why);
		r = r ? r : cmd_record_await(&l->record, why);
	}
	if (r == 0 && l->o->config.lock_mhz) {
		r = cmd_stress_clocks_begin(l->o, &l->clocks, why);
	}
	if (r < 0) {
		return r;
	}
	l->collect = runs_collect_create(clock_ns(), false);
	if (l->o->config.inject == STRESS_INJECT_DELAY) {
		l->delay = xcalloc(1, sizeof(*l->delay));
		for (size_t i = 0; i < 2 * CMD_DELAYS; i++) {
			runs_hist_init(
				&l->delay->h[i / CMD_DELAYS][i % CMD_DELAYS], RUNS_HIST_TENTH_PCT);
		}
	}
	struct stress_config config = l->o->config;
	struct why note;
	runs_choices_lend_usual(&config, &note);
	if (*note.text) {
		fprintf(stderr, "barscope: %s\n", note.text);
	}
	return stress_worker_start(&config, &l->worker, why);
}

int cmd_stress_loop(const struct cmd_stress_options *o, struct cmd_stress_loop **ret_loop,
	struct cmd_stress_result *ret)
{
	struct cmd_stress_loop *l = xcalloc(1, sizeof(*l));
	l->o = o;
	l->signals.fd = -1;
	runs_hist_init(&l->with, RUNS_HIST_TENTH_PCT);
	runs_hist_init(&l->without, RUNS_HIST_TENTH_PCT);
	struct why why;
	if (start(l, &why) < 0) {
		cmd_stress_loop_finish(l);
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	run(l);
	const bool unlocked = release_clocks(l, &why);
	struct cmd_stress_result r = {
		.status = l->status,
		.collect = l->collect,
		.delay = l->delay,
		.from_ns = l->from_ns,
		.to_ns = l->to_ns,
		.signal = l->signal,
		.unanswered = l->unanswered,
		.run = l->record.run,
		.readings = &l->readings,
		.perturbed = l->perturbed,
		.missed = l->missed,
		.with = &l->with,
		.without = &l->without,
	};
	const bool recorded = l->record.session;
	name_trouble(l, &r);
	if (!unlocked) {
		text_copy(r.trouble, sizeof(r.trouble), why.text);
	}
	if (!cmd_record_end(&l->record, &l->status, record_state(l), &why)) {
		text_copy(r.trouble, sizeof(r.trouble), why.text);
	}
	if (recorded) {
		r.recorded_until = l->record.until;
		r.golden = l->record.golden;
	} else {
		look_at_golden(l, &r);
	}
	*ret_loop = l;
	*ret = r;
	return 0;
}
