/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker as the front sees it: a child process (/proc/self/exe re-executed) that
 * owns the back end, behind a shared-memory ring, a state block and a socket. It may
 * crash, hang or be killed; the front keeps what it read and can start another.
 * Nothing here blocks on the worker. Call from one thread (the front's main thread).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/why.h"
#include "stress/choice.h"
#include "stress/finding.h"
#include "stress/sample.h"

enum stress_dtype { STRESS_F16, STRESS_F32 };

/* How launches follow one another; what is not isolated belongs to a batch (STRESS_BATCH). */
enum stress_mode {
	STRESS_ISOLATED, /* each is waited for */
	STRESS_QUEUED,   /* many are submitted, then waited for */
	STRESS_GRAPH,    /* the same as one CUDA graph */
	STRESS_MODES,
};

/* "isolated", "queued", "graph"; "?" for others. */
const char *stress_mode_name(unsigned mode);

struct stress_shape {
	uint32_t m, k, n;
};

/* "1x4096x11008" (M, K, N), each 1 … 2^24, product bounded; -EINVAL with why. */
int stress_shape_parse(const char *s, struct stress_shape *ret, struct why *why);

/* What is broken on purpose, to see it noticed. */
enum stress_inject {
	STRESS_INJECT_NOTHING,
	STRESS_INJECT_OUTPUT, /* one bit of one output, once */
	STRESS_INJECT_WEIGHT, /* one bit of the weights in memory, once */
	STRESS_INJECT_DELAY,  /* every second launch waits STRESS_DELAY_NS after its submit stamp */
};

enum { STRESS_DELAY_NS = 50000 };

/* The worker's threads that launch nothing, as /proc/PID/task/TID/comm names them. */
#define STRESS_GAPS_THREAD      "gaps"
#define STRESS_TELEMETRY_THREAD "telemetry"

struct stress_config {
	char backend[16]; /* "cpu", "cuda", "script"; "" or "auto": the best there is */
	char device[24];  /* cuda: PCI address; "" the first */
	struct stress_shape shape;
	uint32_t layers; /* > 0: a token's chain; K is the model's width, N that of its MLP */
	enum stress_dtype dtype;
	enum stress_mode mode;
	uint32_t threads; /* 0: cores − 1, at least 1 */
	uint32_t copies; /* rotating weight copies; 0: by rule (≥ 5 × last-level cache, at least 2)
			  */
	uint64_t seed;
	uint64_t paced_ns;   /* 0: back to back */
	char kernel[24];     /* "" : picked at run time */
	char script[256];    /* script back end: the file */
	double script_speed; /* 1: real time; 0: as fast as possible on a virtual clock */
	bool no_ceiling;     /* leave out the interleaved read-only loops */
	bool no_telemetry;   /* read nothing of the GPU beside the launches */
	bool telemetry_test; /* readings in every other second only: what do they cost? */
	bool watch_gaps;     /* a thread on a spare core sees when cores stand still */
	uint32_t lock_mhz;   /* lock the GPU's clocks for the run (root); 0: leave them */
	uint32_t
		max_celsius; /* end the run there, or refuse it; 0: below the GPU's own threshold */
	enum stress_inject inject;
	uint32_t fill_permille; /* weights over this share of the free memory, tested first; or */
	uint64_t fill_bytes;    /* over this much; both 0: copies by rule */
	uint32_t load_percent; /* of the time, at first; 0, 100: all. Less is part of the warm-up */
	uint32_t choices;      /* what `tune` found, as far as it may be of use here */
	struct stress_choice choice[STRESS_CHOICES];
};

enum { STRESS_SHAPE_MAX = 48 };

/*
 * The shape by its name: "MxKxN", or a token's chain: "decode7b", "decode13b", "decode:KxN", each
 * with "*LAYERS" or without (as many as C has, else 32). -EINVAL with why.
 */
int stress_config_shape(struct stress_config *c, const char *s, struct why *why);
/* "1x4096x11008", "decode7b*32"; returns BUF. */
const char *stress_shape_name(const struct stress_config *c, char buf[static STRESS_SHAPE_MAX]);

void stress_config_init(struct stress_config *c); /* the defaults: auto, 1x4096x11008, f16 */

enum stress_phase {
	STRESS_STARTING,
	STRESS_WARMING,
	STRESS_RUNNING,
	STRESS_PAUSED,
	STRESS_STOPPING,
	STRESS_DONE,   /* ended by itself or by request; script at its end */
	STRESS_FAILED, /* the worker said why */
	STRESS_DIED,   /* the process ended without saying so: signal or exit status in why */
};

/* What ended a run before its time. */
enum stress_ended {
	STRESS_ENDED_WELL, /* nothing did */
	STRESS_ENDED_HOT,  /* the temperature limit */
	STRESS_ENDED_XID,  /* an error that the GPU's driver reported */
	STRESS_ENDED_LOST, /* the driver has lost the GPU */
};

/* What the worker publishes; the front reads a consistent copy. Times ns, rates bytes/s. */
struct stress_status {
	enum stress_phase phase;
	bool stalled;       /* no heartbeat or sample for a second while RUNNING */
	uint64_t silent_ns; /* since the last sign of life */
	pid_t pid;
	char why[240]; /* FAILED, DIED, or ENDED early: one sentence */
	bool no_gpu;   /* FAILED: the back end found no GPU that it can use, or no driver */
	enum stress_ended ended;
	char backend[16], device[96], kernel[32];
	uint32_t threads, copies;
	uint64_t copy_bytes;        /* one copy of the weights */
	uint64_t cache_bytes;       /* L2, or the CPU's last-level caches; 0: unknown */
	bool tuned;                 /* KERNEL is what `tune` found fastest here */
	uint64_t bytes;             /* moved by one GEMM: weights + x + y */
	uint64_t produced, dropped; /* samples */
	uint64_t events_dropped;    /* readings and gaps that found their ring full */
	double ceiling_bytes_per_s; /* 0: not measured yet */
	char ceiling_kernel[32];
	uint64_t golden_hash; /* of the first valid output; 0: none */
	uint64_t build;       /* of kernels and numbers, and */
	char isa[16];         /* what they run on: the hash is the same wherever these are */
	uint64_t mismatches;
	uint64_t weight_checks;        /* copies whose checksum was taken, */
	uint64_t weight_faults;        /* and was not theirs */
	struct stress_finding finding; /* the first one; kind 0: none */
	double max_error;   /* |y − ref| / Σ|w||x| over the checked rows; < 0: not checked */
	double error_limit; /* what rounding alone can explain; more is corruption */
	/* What device stamps may be wrong by: the largest since the warm-up; 0 on the CPU. */
	uint64_t clock_error_ns;
	char note[256];         /* what is worth knowing of the device or the kernel; "" */
	char address[24];       /* of the GPU; "" none */
	char telemetry[200];    /* why readings are missing; "" */
	uint32_t limit_celsius; /* the run ends there; 0: no limit is known */
	uint32_t locked_mhz;    /* the clocks are, or may be, locked by this run */
};

/*
 * Do the read-only loops tell a floor for a GEMM that moves BYTES_PER_S (0: not known)? Loops that
 * were slower by more than their noise measured none.
 */
static inline bool stress_tells_floor(const struct stress_status *st, double bytes_per_s)
{
	return st->ceiling_bytes_per_s > 0 && bytes_per_s <= 1.05 * st->ceiling_bytes_per_s;
}

struct stress_worker;

/* Starts the process; returns at once (phase STARTING). Errors: fork, memfd, bad config. */
int stress_worker_start(const struct stress_config *c, struct stress_worker **ret, struct why *why);

/* Readable when samples or a state change wait (an eventfd; also woken by the child's end). */
int stress_worker_fd(const struct stress_worker *w);

/* Takes in state changes and the child's end. Call on fd, and at least every 250 ms. */
void stress_worker_poll(struct stress_worker *w);
void stress_worker_status(const struct stress_worker *w, struct stress_status *ret);

/* Takes at most MAX samples out of the ring; returns how many. */
size_t stress_worker_read(struct stress_worker *w, struct stress_sample *ret, size_t max);

/* The same for what the telemetry says. */
size_t stress_worker_events(struct stress_worker *w, struct stress_event *ret, size_t max);

/* Requests; the phase tells when they were followed. */
void stress_worker_pause(struct stress_worker *w, bool pause);
void stress_worker_stop(struct stress_worker *w);
/* From now on launches take PERCENT (1 … 100) of the time. */
void stress_worker_load(struct stress_worker *w, uint32_t percent);

/*
 * Ends the process: asks, waits up to TIMEOUT_MS, then SIGKILL. Frees W. Samples not
 * read are lost. NULL is allowed.
 */
void stress_worker_destroy(struct stress_worker *w, int timeout_ms);
/* The same for N of them in one wait: all are asked first, and the time is that of all. */
void stress_worker_destroy_all(struct stress_worker *const *w, size_t n, int timeout_ms);
/* SIGKILL; waits for nothing: stress_worker_poll() sees the end. */
void stress_worker_kill(struct stress_worker *w);

/* The worker's own main, run in the re-executed process: "barscope --worker FD"; also that of
 * the other processes which use a GPU's driver ("--worker facts", "--worker unlock": gpu_facts.h).
 */
int stress_worker_main(int argc, char **argv);
