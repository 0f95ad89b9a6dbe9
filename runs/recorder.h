/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The only writer of runs: one background job that opens the store, commits what is posted, and
 * says what became of it. No function but runs_recorder_wait and runs_recorder_destroy waits for
 * the disk. All calls from one thread (the front's main thread); what is posted is handed over.
 *
 * Life: create → (begin → intents, seconds, rollups → end)* → destroy. After an error that
 * leaves the store unusable (FAILED) everything posted is counted as lost and the sentence stays
 * readable; what was committed before is safe. A run that is open then has been closed as
 * stopped, with the reason, if the disk allowed it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "runs/collect.h"
#include "runs/env.h"
#include "runs/golden.h"
#include "runs/info.h"
#include "stress/worker.h"

/* pcie_capture's type: the machine as a record. Called on the job's thread. */
typedef int runs_capture_fn(
	const char *root, bool with_log, bool wake, char **ret, size_t *ret_len, struct why *why);

struct pcie_driver;
struct runs_recorder_options {
	const char *path;         /* the store's file */
	const char *root;         /* NULL: "/"; where /proc and /sys are read */
	runs_capture_fn *capture; /* NULL: runs keep no machine */
	/* In its place: pcie_capture_asking() with this one, asked on the job's thread; not owned,
	 * lives as long as the recorder. */
	const struct pcie_driver *driver;
};

enum runs_recorder_phase {
	RUNS_REC_OPENING,   /* looking at the store */
	RUNS_REC_READY,     /* no run is open; the store may not even exist yet */
	RUNS_REC_RECORDING, /* the run is in the store */
	RUNS_REC_FAILED,    /* why says it; nothing more is stored */
};

struct runs_recorder_state {
	enum runs_recorder_phase phase;
	char why[240];                   /* FAILED */
	char warning[240];               /* memory file system, disk nearly full; "" none */
	int64_t run;                     /* the open run; 0: none */
	uint64_t last_commit_ns;         /* CLOCK_MONOTONIC_RAW; 0: none yet */
	uint64_t commit_ns;              /* how long the last commit took */
	uint64_t waiting_ns;             /* age of the oldest item that is not committed; 0: none */
	size_t waiting_seconds;          /* handed over and not committed yet */
	struct runs_golden_found golden; /* of the run: its output against the stored hash */
	uint64_t lost_seconds;           /* not stored: the disk was too slow, or failed */
};

/* A run of an earlier boot that was still open: the machine went down while it ran. */
struct runs_crash {
	int64_t run;
	char label[64];
	char text[480]; /* one or two sentences */
};

struct runs_recorder;

/* Starts the job, which opens the store if it exists and closes what earlier runs left open. */
int runs_recorder_create(
	const struct runs_recorder_options *o, struct runs_recorder **ret, struct why *why);

/* Readable when the state may have changed: then call poll. */
int runs_recorder_fd(const struct runs_recorder *r);
void runs_recorder_poll(struct runs_recorder *r);
void runs_recorder_state(const struct runs_recorder *r, struct runs_recorder_state *ret);

/* Known once the phase is no longer OPENING; NULL: none. They live as long as R. */
const struct runs_crash *runs_recorder_crash(const struct runs_recorder *r);

/*
 * Tickets: what a call returns can be asked for with done. 0: not yet, 1: committed, else the
 * negative errno it failed with.
 */
int runs_recorder_done(const struct runs_recorder *r, uint64_t ticket);
/* Waits for a ticket; for programs without a screen. -ETIMEDOUT and done's errors, with why. */
int runs_recorder_wait(struct runs_recorder *r, uint64_t ticket, int timeout_ms, struct why *why);

/*
 * Opens a run, making the store when there is none: machine and environment are read on the job.
 * RUN: label, backend, shape, dtype, seed, paced_ns, asked_s, start_ns; the rest is ignored.
 */
uint64_t runs_recorder_begin(struct runs_recorder *r, const struct runs_info *run);

/*
 * Says what is about to be done. A risky step starts only when the ticket is committed. STATUS:
 * the state of device and host as JSON, or NULL.
 */
uint64_t runs_recorder_intent(struct runs_recorder *r, const char *step, const char *status);

/* What the worker has told since; goes into the store with the next second. */
void runs_recorder_facts(struct runs_recorder *r, const struct stress_status *st);

/* Takes the chain over (NULL: nothing to do); up to a minute is committed in one transaction. */
void runs_recorder_seconds(struct runs_recorder *r, struct runs_second *sec);
/* The whole run's histograms so far. */
void runs_recorder_rollups(struct runs_recorder *r, const struct runs_collect *c);

/* Closes the run. REASON: one sentence or "". */
uint64_t runs_recorder_end(struct runs_recorder *r, enum runs_state state, const char *reason);

/*
 * Stores a baseline: B's backend, device, kernel, shape, dtype, threads, window_ns and hist
 * (copied); the job adds boot, machine and environment.
 */
uint64_t runs_recorder_mark(struct runs_recorder *r, const struct runs_baseline *b);

/*
 * The newest baseline for this configuration. Asks the store (once per call) and answers later:
 * loaded returns NULL until then, and when there is none.
 */
uint64_t runs_recorder_load(
	struct runs_recorder *r, const char *backend, const char *shape, const char *dtype);

struct runs_loaded {
	struct runs_baseline baseline;
	bool same_boot;
	char *machine; /* the capture record then; NULL: none kept */
	size_t machine_len;
	struct runs_env_diff *diff; /* the environment then against now */
	size_t ndiff;
};
/* Of the last load. Lives until the next poll after the next load. */
const struct runs_loaded *runs_recorder_loaded(const struct runs_recorder *r);

/*
 * Ends the job when it has committed what was posted, waiting at most TIMEOUT_MS. -ETIMEDOUT:
 * the disk hangs; the memory is left behind. NULL is allowed.
 */
int runs_recorder_destroy(struct runs_recorder *r, int timeout_ms);
