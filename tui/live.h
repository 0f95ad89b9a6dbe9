/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The stress as the screen follows it: the worker and what came out of its ring, kept as
 * series and histograms of constant memory. Nothing here waits for the worker. Main
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "runs/collect.h"
#include "runs/hist.h"
#include "runs/readings.h"
#include "runs/series.h"
#include "stress/worker.h"

enum tui_layer { TUI_HOST, TUI_DEVICE, TUI_LAUNCH, TUI_NOTIFY, TUI_LAYERS };

/* "host", "device", "launch", "notify". */
const char *tui_layer_name(enum tui_layer l);

/* What was said of a worker, each once. */
struct tui_told {
	enum stress_phase phase;
	bool stalled, wrong;
};

/* What tui_live_news() tells. */
enum {
	TUI_NEWS_PHASE = 1, /* it is another one */
	TUI_NEWS_STALL = 2, /* it stalled, or goes on */
	TUI_NEWS_WRONG = 4, /* an output or a weight is not what it was */
};

struct tui_live {
	struct stress_config config;  /* of the next start */
	struct stress_worker *worker; /* NULL: none, or it ended */
	struct stress_status status;  /* the last copy; outlives the worker */
	bool have_status;
	bool want_pause, want_stop;
	bool killed; /* it did not follow the stop */
	uint64_t stop_asked_ns;
	uint64_t started_ns;
	uint64_t samples, mismatches;  /* of this run, without the warm-up */
	struct runs_readings readings; /* the device's last */
	struct tui_told told;
	struct runs_series *series[TUI_LAYERS];
	bool has[TUI_LAYERS];   /* samples came with this layer */
	struct runs_hist total; /* the whole run, host */
	/* The demo's: adds to the status what no script can know. NULL else. */
	void (*embellish)(struct stress_status *st);
	/* … and what stood beside its launches. */
	bool (*witness)(const struct stress_sample *s, struct runs_event *ret);
};

/* What a window of samples says; the band is (p95 − p5) / 2 / p50. */
struct tui_figures {
	uint64_t n, p5, p50, p95, p99, p999, min, max;
	double band;                /* a share; NaN: no samples */
	bool p99_known, p999_known; /* enough samples to name them */
	double bytes_per_s;         /* 0: not known */
	double ceiling_share;       /* 0: no ceiling, or slower loops */
	uint64_t floor_ns;          /* the bytes at the ceiling's rate; 0: likewise */
};

void tui_live_init(struct tui_live *l);
/* Ends the worker, waiting at most TIMEOUT_MS for it. */
void tui_live_finish(struct tui_live *l, int timeout_ms);

/* Starts a worker with l->config; one that runs is ended first. Forgets the samples. */
int tui_live_start(struct tui_live *l, uint64_t now_ns, struct why *why);
/* Asks the worker to stop; one that does not follow within two seconds is killed by poll. */
void tui_live_stop(struct tui_live *l, uint64_t now_ns);
void tui_live_pause(struct tui_live *l, bool pause);

/* A worker is there and has not ended. */
bool tui_live_active(const struct tui_live *l);

/* Takes in state, samples and telemetry; SINK sees them too: it, and each of its functions, may
 * be NULL. True: something changed. An event is one that runs_readings_take() lets through; RAW is
 * all of them. */
struct tui_live_sink {
	void (*samples)(void *data, const struct stress_sample *s, size_t n);
	void (*raw)(void *data, const struct stress_event *e, size_t n);
	void (*event)(void *data, const struct stress_event *e, const struct runs_event *k);
	void *data;
};
bool tui_live_poll(struct tui_live *l, uint64_t now_ns, const struct tui_live_sink *sink);

/* TUI_NEWS_… since the call before, each once. */
unsigned tui_live_news(struct tui_live *l);

/* Adds samples, or events, as if they had come from a worker. */
void tui_live_feed(struct tui_live *l, const struct stress_sample *s, size_t n);
void tui_live_feed_events(struct tui_live *l, const struct stress_event *e, size_t n,
	const struct tui_live_sink *sink);

/* H with what the status knows of bytes and ceiling. */
void tui_figures_make(
	const struct runs_hist *h, const struct stress_status *st, struct tui_figures *ret);
