/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What outlives the screen: the recorder, which alone writes the store, and the
 * baseline that it keeps. Nothing here waits for the disk. Main thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "runs/recorder.h"
#include "runs/session.h"
#include "stress/worker.h"
#include "tui/changes.h"
#include "tui/plot.h"

struct tui_baseline {
	struct tui_band band; /* host latency of the GEMM; band.set: there is one */
	struct runs_hist hist;
	int64_t marked; /* UNIX ns */
	char name[64];  /* stored runs in the baseline's place: "run:12"; "": it is the baseline */
	bool same_boot, stored;
	char backend[16], device[96], shape[32], dtype[8];
	struct tui_changes env; /* kernel, driver, governor … then and now */
};

/* A run whose end the store has not confirmed yet. */
struct tui_ending {
	uint64_t ticket;
	char label[64];
};
enum { TUI_ENDINGS = 8 };

struct tui_sizes;
struct tui_witness;

struct tui_keep {
	struct runs_recorder *recorder; /* NULL: none; why says so */
	char *path;                     /* of the store; owned; NULL: none, or not known */
	struct tui_witness *witness;    /* of the GPUs' sizes, for the recorder; owned */
	bool stuck;                     /* a recorder of before hangs, and may ask the witness */
	struct runs_session *session;   /* what runs is being recorded; NULL: it is not */
	char label[64];                 /* under this label */
	uint64_t since_ns;
	struct runs_recorder_state state;
	struct why why;
	struct tui_baseline baseline;
	uint64_t mark_ticket, load_ticket;     /* under way; 0: none */
	char asked[64];                        /* what the last load asked for */
	struct tui_ending ending[TUI_ENDINGS]; /* oldest first */
	size_t nending;
};

/* STORE NULL: the user's own. NONE: keep nothing. Without a store the screen works on and says
 * why. */
void tui_keep_init(struct tui_keep *k, const char *store, bool none);
/* Ends the recorder alone. -ETIMEDOUT: the disk hangs, and the thread that hangs with it may ask
 * the witness as long as the program lives. */
int tui_keep_give_up(struct tui_keep *k, int timeout_ms);
/* -ETIMEDOUT: the disk hangs, or hung when a recorder was given up; leave with _exit(). */
int tui_keep_finish(struct tui_keep *k, int timeout_ms);

/* What the scanner has learnt (copied). A run is recorded while the worker runs, and the driver is
 * not asked then: what is not told here stays unknown in the run's machine. */
void tui_keep_sizes(struct tui_keep *k, const struct tui_sizes *s);
const struct pcie_driver *tui_keep_witness(const struct tui_keep *k);

int tui_keep_fd(const struct tui_keep *k); /* -1: no recorder */

enum tui_keep_news {
	TUI_KEEP_NOTHING = 0,
	TUI_KEEP_CHANGED = 1,  /* the state */
	TUI_KEEP_LOADED = 2,   /* a baseline of before is there */
	TUI_KEEP_MARKED = 4,   /* the mark is on the disk */
	TUI_KEEP_UNMARKED = 8, /* it could not be stored: why */
};
/* A mask of news. On LOADED, *ret_record is the machine then (a capture; owned by K until the
 * next load), NULL when none was kept. */
unsigned tui_keep_poll(struct tui_keep *k, const char **ret_record, size_t *ret_len);

/* The oldest run that was stopped and whose fate is decided since, each once: 1: it is on the disk
 * to its end, negative errno: it is not, or not to its end (why); *ret_label is which. 0: none. */
int tui_keep_ended(struct tui_keep *k, char ret_label[64]);

/* Asks for the newest baseline of this configuration; "" or NULL: any. Once per configuration. */
void tui_keep_ask(struct tui_keep *k, const char *backend, const char *shape, const char *dtype);

/* H of the last WINDOW_NS becomes the baseline, at once here and soon on the disk; a store that
 * failed before is tried again. */
void tui_keep_mark(struct tui_keep *k, const struct stress_status *st,
	const struct stress_config *c, const struct runs_hist *h, uint64_t window_ns);

/* Stored runs take the baseline's place on the screen; the store keeps its own. */
void tui_keep_refer(struct tui_keep *k, const char *name, const struct runs_loaded *l);
/* … and give it back. */
void tui_keep_unrefer(struct tui_keep *k);

/* Records what runs under LABEL, or says why not. A store that failed before is tried again. */
int tui_keep_record(struct tui_keep *k, const char *label, const struct stress_config *c,
	uint64_t now_ns, struct why *why);
/* Closes the run that is recorded; nothing when none is. */
void tui_keep_stop(struct tui_keep *k, const struct stress_status *st, enum runs_state state,
	const char *reason);
void tui_keep_samples(struct tui_keep *k, const struct stress_sample *s, size_t n);
void tui_keep_events(struct tui_keep *k, const struct stress_event *e, size_t n);
/* Hands over finished seconds; call at least every 250 ms. */
void tui_keep_tick(struct tui_keep *k, const struct stress_status *st);

/* The store lags: since when, 0 when it does not. */
uint64_t tui_keep_lag_ns(const struct tui_keep *k);
