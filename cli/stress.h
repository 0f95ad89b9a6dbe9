/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "barscope stress": options, the loop of a run without a screen, and what is said of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/style.h"
#include "runs/collect.h"
#include "runs/golden.h"
#include "runs/hist.h"
#include "runs/readings.h"
#include "stress/worker.h"

struct cmd_stress_options {
	struct stress_config config;
	uint64_t duration_ns; /* 0: until the script's end, or a signal */
	uint64_t samples;     /* GEMM samples; 0: no limit */
	const char *record;   /* label; NULL: not stored */
	const char *store;    /* NULL: the usual one */
	const char *cuda_for; /* the option for which cuda was chosen; NULL: it was named, or not */
	bool keep;            /* record every sample too */
	bool unlock_clocks;   /* no run: unlock what one has left locked */
	bool sweep;           /* shape after shape */
	const char *shapes;   /* of the sweep, with commas; NULL: those of decoding */
	bool ramp;            /* full load in steps */
	bool json, ascii;
};

/* False: the command ends with *STATUS (--help was printed, or a usage error). */
bool cmd_stress_parse(int argc, char **argv, struct cmd_stress_options *ret, int *status);

/* Layers with and without the delay that --inject-fault delay puts before every second launch. */
enum cmd_stress_delayed { CMD_DELAY_LAUNCH, CMD_DELAY_DEVICE, CMD_DELAY_NOTIFY, CMD_DELAYS };

struct cmd_stress_delay {
	struct runs_hist h[2][CMD_DELAYS]; /* as they are; delayed. 0.1 %; device clock's ns */
};

/*
 * "--device all": every GPU at once, then each alone, DURATION_NS each way; prints. Returns the
 * exit status.
 */
int cmd_stress_all(const struct cmd_stress_options *o);

/* What a run was, in the end. */
struct cmd_stress_result {
	struct stress_status status; /* the worker's last words */
	const struct runs_collect *collect;
	const struct cmd_stress_delay *delay; /* NULL: nothing was delayed */
	uint64_t from_ns, to_ns;              /* the samples' time, by their own clock */
	int signal;                           /* that ended it; 0: none */
	bool unanswered;                      /* the worker was silent when the time was over */
	char trouble[280];                    /* a sentence for stderr; "": none */
	int64_t run;                          /* in the store; 0: not recorded */
	int64_t recorded_until;          /* UNIX ns: the store failed then; 0: all of it is there */
	struct runs_golden_found golden; /* the output against the stored hash */
	const struct runs_readings *readings; /* of the GPU; never NULL */
	uint64_t perturbed;                   /* GEMM samples that overlap one */
	uint64_t missed; /* paced: those that began more than a period after their time */
	/* Of the self-test: host latencies in seconds with readings and without; else empty. */
	const struct runs_hist *with, *without;
};

struct cmd_stress_loop;
struct cmd_stress_summary;
struct runs_session;
struct runs_recorder;

/* How far the load has been raised. */
struct cmd_ramp {
	unsigned level;
	uint64_t since_ns; /* when the level began; 0: not yet */
	uint64_t ticket;   /* of the next level's record; 0: none */
};

/* The load to begin with, percent. */
uint32_t cmd_ramp_first(void);

/*
 * Raises W's load by a step when the one before has had its time and the new one is committed to
 * the store (S and REC NULL: nothing is recorded). Never waits. Call while the worker warms up.
 */
void cmd_ramp_turn(struct cmd_ramp *r, struct stress_worker *w, struct runs_session *s,
	const struct runs_recorder *rec, const struct stress_config *c, uint64_t now);

/*
 * Runs the stress; progress goes to stderr when that is a terminal. 0, or EXIT_USAGE after a
 * sentence: then RET is untouched. The loop owns what RET points to.
 */
int cmd_stress_loop(const struct cmd_stress_options *o, struct cmd_stress_loop **ret_loop,
	struct cmd_stress_result *ret);
void cmd_stress_loop_finish(struct cmd_stress_loop *l); /* NULL is allowed */

/* A run's exit status. */
int cmd_stress_status(const struct cmd_stress_result *r, const struct cmd_stress_summary *s);

/* "stress --sweep": prints as it goes; the exit status. */
int cmd_sweep(const struct cmd_stress_options *o);

/* One layer of the GEMM samples. ns; 0 where N is 0. */
struct cmd_stress_layer {
	uint64_t n, min, p5, p50, p95, p99, p999, max;
	bool has_p99, has_p999; /* enough samples to name them */
	double band;            /* NaN: unknown, or too few samples for its 5 % */
};

/* The numbers that are shown, from one result. Pure. */
struct cmd_stress_summary {
	struct cmd_stress_layer layer[RUNS_LAYERS];
	uint64_t samples;                   /* GEMM samples that count */
	uint64_t missing_p99, missing_p999; /* samples needed, when there are too few; else 0 */
	double seconds;
	bool is_ceiling;    /* the read-only loops were not slower than the GEMM itself */
	double bytes_per_s; /* by the device's median, the host's without one; 0: unknown */
	double ceiling;     /* the loops' rate; 0: not measured */
	double share;       /* of the ceiling; 0: unknown, or it is none */
	uint64_t floor_ns;  /* BYTES at the ceiling; 0: likewise */
	uint64_t period_ns; /* batches: from one launch to the next; 0: isolated */
	bool corrupt;
	bool delayed; /* the medians' differences are known: */
	double delay_ns[CMD_DELAYS];
};

/* Of the weights: "cold" (the rotation is five times the cache), "hot" (one copy, or all
 * fit into it), else "mixed". */
const char *cmd_stress_temperature(const struct stress_status *st);

void cmd_stress_summarise(const struct cmd_stress_result *r, struct cmd_stress_summary *ret);
void cmd_stress_print(struct text *out, const struct cmd_stress_options *o,
	const struct cmd_stress_result *r, const struct cmd_stress_summary *s,
	struct cmd_style style);
/* What the GPU's readings told, and what they cost. Nothing when there were none. */
void cmd_stress_print_readings(
	struct text *out, const struct cmd_stress_result *r, struct cmd_style style);
void cmd_stress_json_readings(struct js *j, const struct cmd_stress_result *r);

/* Schema barscope.stress/1; the caller frees it. */
struct js *cmd_stress_json(const struct cmd_stress_options *o, const struct cmd_stress_result *r,
	const struct cmd_stress_summary *s);

/* Locked clocks: written down in the store before they are. NULL: no clocks are to be locked. */
struct cmd_stress_clocks;
int cmd_stress_clocks_begin(
	const struct cmd_stress_options *o, struct cmd_stress_clocks **ret, struct why *why);
/*
 * The worker has ended. STILL: it may have left them locked, so another process unlocks them.
 * Frees C (NULL allowed); false: they stay locked, and *WHY says so.
 */
bool cmd_stress_clocks_end(struct cmd_stress_clocks *c, bool still, struct why *why);
/* Says on stderr which GPUs a killed run has left with locked clocks. */
void cmd_stress_clocks_warn(const struct cmd_stress_options *o);
/* "--unlock-clocks": unlocks them; the exit status. */
int cmd_stress_clocks_unlock(const struct cmd_stress_options *o);
