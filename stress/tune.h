/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How fast each way to multiply is on a GPU: own kernels, cuBLASLt's candidates and the read-only
 * loops, in CUDA graphs, over rotating weights, interleaved round by round; and how right each
 * is. Blocking, minutes at most; run it in a process of its own, since a GPU fault is for good.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "stress/worker.h"

enum stress_tune_kind {
	STRESS_TUNE_OWN,
	STRESS_TUNE_LIBRARY, /* cuBLASLt, in the order of its own guess */
	STRESS_TUNE_READ,
};

/* What else a kernel is checked for. */
enum stress_tune_check {
	STRESS_TUNE_RELU, /* bias and ReLU in the epilogue */
	STRESS_TUNE_GELU,
	STRESS_TUNE_POSITIVE, /* the same numbers without signs: what sums lose shows */
	STRESS_TUNE_CHECKS,
};

struct stress_tune_error {
	bool checked, same;
	uint64_t outputs, over; /* compared, and beyond what rounding explains */
	double error, error_limit, error_absolute, error_relative;
};

/* Plain data: a process may hand it to another as bytes. */
struct stress_tune_row {
	enum stress_tune_kind kind;
	char name[40];
	bool measured;    /* false: REFUSED says why there are no times */
	bool wrong;       /* made to fail the check (FP16 accumulation) */
	uint64_t bytes;   /* of weights that it reads; 0: as the facts say */
	char view[24];    /* MISALIGNED: how the rows lie; "": where they were allocated */
	bool fused;       /* with bias and ReLU in the epilogue */
	bool stamped;     /* with stamps and hash, as stress launches it */
	bool cached;      /* LIBRARY: the algorithm is an earlier search's */
	uint64_t algo[8]; /* LIBRARY: cublasLtMatmulAlgo_t */
	bool dependent;   /* each launch begins while the one before ends */
	bool x_ready;     /* and takes x at once, complete before the one before began */
	uint32_t rounds;
	double p99_ns;       /* 0: too few rounds to name it */
	double p50_ns, band; /* of a launch within a graph; (p95 − p5) / 2 / p50 */
	/* |y − ref| / Σ|w||x| of the output that exceeds its bound most; < 0: not checked */
	double error, error_limit;
	double error_absolute, error_relative; /* the largest */
	uint64_t over;                         /* outputs beyond their bound */
	struct stress_tune_error more[STRESS_TUNE_CHECKS];
	uint64_t hash, outputs; /* 0: none; compared with FP64 */
	bool same;              /* all copies of the weights gave the same bits */
	int registers, local_bytes, blocks_per_sm;
	uint32_t grid, threads, cluster, shared, stages;
	char refused[120];
};

struct stress_tune_facts {
	char device[96], library[128]; /* "" : no cuBLASLt, LIBRARY_WHY says why */
	char library_why[160];
	uint64_t library_version;
	char cache_note[160];                     /* why what was cached is not used; "" */
	struct stress_choice key;                 /* what a choice made here would hold for */
	struct stress_library_choice library_key; /* the same, where there is a LIBRARY */
	uint32_t threads;                         /* of the CPU; 0: a GPU */
	uint32_t copies, launches;                /* launches: in one graph */
	uint64_t bytes, weight_bytes, l2;
	int driver, cc;
	uint32_t sms;
};

struct stress_tune_options {
	struct stress_config config; /* shape, dtype, device, copies, seed; kernel: only this one */
	const char *library;         /* cuBLASLt; NULL: the usual names */
	uint32_t rounds;             /* 0: only check, do not time */
	uint64_t check_terms;        /* products in FP64 for each kernel */
	bool thorough;               /* epilogues and numbers without signs, too */
	bool no_library;
	bool cpu;        /* stress_tune_cpu */
	bool brief;      /* one round, no epilogues, the library unchecked: for a glance */
	bool misaligned; /* rows at other places instead of a search */
	const struct stress_library_choice *cached; /* earlier searches' */
	size_t cached_n;
};

struct stress_tune_sink {
	void (*facts)(struct stress_tune_sink *s, const struct stress_tune_facts *f); /* first */
	void (*row)(struct stress_tune_sink *s, const struct stress_tune_row *r);
	/* NULL allowed: an own kernel's M × N outputs, as they were checked. */
	void (*output)(struct stress_tune_sink *s, const char *kernel, const void *y, size_t bytes);
};

/* On the CPU: config.threads of it. -EINVAL, -ENOMEM with a sentence. */
int stress_tune_cpu(
	const struct stress_tune_options *o, struct stress_tune_sink *sink, struct why *why);

/* Errors as stress_gpu_open. */
int stress_tune(
	const struct stress_tune_options *o, struct stress_tune_sink *sink, struct why *why);
