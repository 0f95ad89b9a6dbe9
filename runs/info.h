/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reading the store: runs, their histograms, blocks, events, and what the machine was.
 * Blocking; one thread at a time. Errors are db.h's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/why.h"
#include "runs/collect.h"
#include "runs/hist.h"
#include "runs/store.h"

enum runs_state {
	RUNS_RUNNING,
	RUNS_DONE,         /* to its end */
	RUNS_STOPPED,      /* by the user, a signal or a full disk */
	RUNS_FAILED,       /* the worker failed, died or hung */
	RUNS_DIED,         /* barscope itself ended without closing the run */
	RUNS_MACHINE_DOWN, /* open, and from an earlier boot */
};

const char *runs_state_name(enum runs_state s); /* "running", …, "machine-down" */

/* Times UNIX ns but start_ns; rates bytes/s. */
struct runs_info {
	int64_t id;
	char uid[36]; /* the same in every store that the run was imported into */
	char label[64], program[24];
	int64_t started, ended, touched; /* ended 0: not closed; touched: last commit */
	uint64_t start_ns;               /* second 0, CLOCK_MONOTONIC_RAW */
	char boot_id[40];
	enum runs_state state;
	char why[240];
	char backend[16], device[96], kernel[32], shape[32], dtype[8];
	uint32_t threads, copies;
	uint64_t seed, paced_ns;
	uint32_t asked_s; /* 0: until stopped */
	int64_t machine;  /* 0: none kept */
	uint64_t produced, dropped, bytes;
	double ceiling; /* 0: not measured */
	char ceiling_kernel[32];
	uint64_t golden, mismatches;
	uint64_t build; /* for golden.h; these two are facts only, no columns */
	char isa[16];
	double max_error; /* < 0: not checked */
	uint64_t clock_error_ns;
	bool imported;
};

struct runs_list {
	struct runs_info *run; /* owned */
	size_t n;
};

void runs_list_finish(struct runs_list *l);

/*
 * Runs in the order of their start. LABEL NULL: all. BOOT_ID (NULL: not known) is the running
 * boot: open runs are shown as what became of them, without changing the store.
 */
int runs_info_list(struct runs_store *s, const char *label, const char *boot_id,
	struct runs_list *ret, struct why *why);

/* The runs that are not closed, shown as what became of them. */
int runs_info_open(
	struct runs_store *s, const char *boot_id, struct runs_list *ret, struct why *why);

/* The run of that number; an empty list when there is none. */
int runs_info_number(struct runs_store *s, int64_t run, const char *boot_id, struct runs_list *ret,
	struct why *why);

/*
 * What REF names: "12" or "run:12" one run, "label:NAME" or a NAME that is not a number every
 * run of that label. -ENOENT with a sentence when there is none; never an empty list. -ENOTUNIQ: a
 * bare number that is a run's, and the label of others.
 */
int runs_info_find(struct runs_store *s, const char *ref, const char *boot_id,
	struct runs_list *ret, struct why *why);

/* The capture record; the caller frees it. -ENODATA: the run has none. */
int runs_info_machine(
	struct runs_store *s, int64_t machine, char **ret, size_t *ret_len, struct why *why);
/* The environment, a JSON object of strings; the caller frees it. */
int runs_info_env(struct runs_store *s, int64_t run, struct js **ret, struct why *why);

/*
 * The whole run's histogram of one layer: 0.1 % where the run was closed, else the sum of its
 * blocks at 1 % (of layers that have none, what was stored in the last minute). RET is initialised;
 * empty when the run has no such samples.
 */
int runs_info_hist(struct runs_store *s, const struct runs_info *run, unsigned series,
	unsigned layer, struct runs_hist *ret, struct why *why);
struct runs_totals {
	uint64_t samples, warmups, dropped, missed, mismatches, perturbed;
	uint64_t events_lost; /* and episodes */
	uint32_t seconds;     /* in which samples were taken */
	uint32_t last;        /* the last second that was stored */
};
int runs_info_totals(struct runs_store *s, int64_t run, struct runs_totals *ret, struct why *why);
/* Its member LAST alone, without looking at every second; 0 when there are none. */
int runs_info_last_second(struct runs_store *s, int64_t run, uint32_t *ret, struct why *why);

/* Which (series, layer) pairs the run has: bit LAYER of element SERIES. */
int runs_info_layers(
	struct runs_store *s, int64_t run, uint32_t ret[static STRESS_SERIES], struct why *why);

/*
 * Calls FN for the block of each STEP-th second of one layer in order of time; a result other
 * than 0 ends the walk and is returned. H lives until FN returns.
 */
typedef int runs_block_fn(
	void *arg, uint32_t second, const struct runs_hist *h, const struct runs_moments *m);
int runs_info_blocks(struct runs_store *s, int64_t run, unsigned series, unsigned layer,
	uint32_t step, runs_block_fn *fn, void *arg, struct why *why);

/* Events in order of time, at most MAX; the caller frees them. */
int runs_info_events(struct runs_store *s, int64_t run, size_t max, struct runs_event **ret,
	size_t *ret_n, struct why *why);

/* Episodes in order of time, at most MAX; the caller frees them. None in a store of schema 1. */
int runs_info_episodes(struct runs_store *s, int64_t run, size_t max, struct runs_episode **ret,
	size_t *ret_n, struct why *why);

struct runs_intent {
	int64_t at; /* UNIX ns */
	char step[128];
	char status[512]; /* JSON or "" */
};
/* All intents in their order, the first MAX; the caller frees them. */
int runs_info_intents(struct runs_store *s, int64_t run, size_t max, struct runs_intent **ret,
	size_t *ret_n, struct why *why);
/* The last intent. -ENODATA: none. */
int runs_info_last_intent(
	struct runs_store *s, int64_t run, struct runs_intent *ret, struct why *why);
/* The last state of device and host that was stored, as JSON; the caller frees it. -ENODATA. */
int runs_info_last_status(struct runs_store *s, int64_t run, char **ret, struct why *why);

struct runs_baseline {
	int64_t id, marked; /* UNIX ns */
	char boot_id[40];
	int64_t machine;
	char backend[16], device[96], kernel[32], shape[32], dtype[8];
	uint32_t threads;
	uint64_t window_ns;
	struct runs_hist hist; /* host latency of the GEMM; owned */
};
void runs_baseline_finish(struct runs_baseline *b);
/*
 * The newest mark for this shape and back end (NULL: any), and the environment then as JSON,
 * which the caller frees. -ENODATA: none.
 */
int runs_info_baseline(struct runs_store *s, const char *backend, const char *shape,
	const char *dtype, struct runs_baseline *ret, char **ret_env, struct why *why);

/* Removes a run and all that belongs to it, and machines that no one needs any more. */
int runs_info_remove(struct runs_store *s, int64_t run, struct why *why);

static inline void runs_list_finishp(struct runs_list *l)
{
	runs_list_finish(l);
}
#define _cleanup_runs_ __attribute__((cleanup(runs_list_finishp)))
