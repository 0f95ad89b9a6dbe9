/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A back end turns one launch into one sample. It lives in the worker process and is
 * called from one thread there (the engine, worker_main.c): open, then iterate again
 * and again, then close. It may crash or hang; the front survives it.
 *
 * The engine decides what is launched next (which series), when (paced or back to
 * back), numbers the samples, compares hashes with the golden one, keeps the phases and
 * talks to the front. The back end only launches and stamps.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "stress/sample.h"
#include "stress/worker.h"

/* A device that a back end could use. */
struct stress_device {
	char address[24]; /* PCI address; "" for the CPU and the script */
	char name[96];
	bool busy;      /* another process is using it, as far as can be seen */
	char note[160]; /* why it cannot be used, or what is worth knowing; "" */
};

/* What an opened back end is; constant from open to close. */
struct stress_facts {
	char device[96];  /* name for people */
	char address[24]; /* of the GPU whose readings belong to the launches; "" none */
	char kernel[32];
	char note[256]; /* why it is not the one that was hoped for, and the like; "" */
	uint32_t threads, copies;
	uint64_t copy_bytes;   /* one copy of the weights */
	uint64_t cache_bytes;  /* what may hold weights between two launches; 0: unknown */
	bool tuned;            /* KERNEL comes from the configuration's choices */
	uint64_t bytes;        /* moved by one GEMM: weights + x + y */
	unsigned series;       /* bit s: STRESS_s can be launched; STRESS_GEMM always */
	unsigned read_kernels; /* how many read-only loops STRESS_READ walks through */
	unsigned probe_every;  /* GEMMs between two launches of other series; 0: none */
	uint64_t warm_ns;      /* how long to warm up before samples count */
	uint64_t expected_ns;  /* of one launch, as far as known: longer silence is a stall */
	bool virtual_clock;    /* time is played, not passed: a full ring waits, not drops */
	double max_error;      /* |y − ref| / Σ|w||x| over the rows checked; < 0: not checked */
	double error_limit;    /* what rounding alone can explain */
	uint64_t golden_hash;  /* of a verified output, 0: the first GEMM's hash is taken */
	uint64_t build; /* of the kernels and numbers: what the hash depends on; 0: not known */
	char isa[16];   /* "sm_90", "avx2" */
};

/* One read-only loop's result so far; of all, the best is the ceiling. */
struct stress_ceiling {
	char name[32];
	double bytes_per_s; /* median over its bursts */
	uint32_t bursts;
};

/*
 * What the engine lends to a back end, valid from open to close; called from the engine's thread.
 * BEAT is a sign of life during a long open; false: the front asked to stop, and open should give
 * up with -ECANCELED. FOUND takes a wrong output or weight, told apart.
 */
struct stress_lender {
	bool (*beat)(struct stress_lender *l);
	void (*found)(struct stress_lender *l, const struct stress_finding *f);
};

struct stress_backend;

struct stress_backend_ops {
	const char *name;
	/*
	 * Fills at most MAX devices and returns how many; 0 is an answer (WHY says what is
	 * missing, e.g. "libcuda.so.1: not found"). May be slow; needs no open.
	 */
	int (*probe)(struct stress_device *ret, size_t max, struct why *why);
	int (*open)(const struct stress_config *c, struct stress_lender *lender,
		struct stress_backend **ret, struct why *why);
	void (*facts)(const struct stress_backend *b, struct stress_facts *ret);
	/*
	 * Launches SERIES and waits for it. Fills 1 to MAX (≥ 1) samples, oldest first, all
	 * fields but SEQ; FLAGS gets the series and the STRESS_HAS_* bits (and STRESS_BATCH
	 * where submit and done belong to all of them). Returns how many, 0 when there is
	 * nothing more to launch (a script's end), or negative errno and why: fatal.
	 */
	int (*iterate)(struct stress_backend *b, enum stress_series series,
		struct stress_sample *ret, size_t max, struct why *why);
	/*
	 * What the device stamps of the last iterate's samples may be wrong by, ns, at most.
	 * NULL: the device has no clock of its own.
	 */
	uint64_t (*clock_error)(const struct stress_backend *b);
	/* The I-th read-only loop's result; false past the last. NULL: no STRESS_READ. */
	bool (*ceiling)(const struct stress_backend *b, size_t i, struct stress_ceiling *ret);
	/*
	 * Takes the checksum of the next copy of the weights: 0 intact, 1 changed (and found was
	 * called), negative errno and why. NULL: there are no weights.
	 */
	int (*audit)(struct stress_backend *b, struct why *why);
	/* Breaks WHAT from the next launch on. NULL: nothing can be broken. */
	int (*inject)(struct stress_backend *b, enum stress_inject what, struct why *why);
	void (*close)(struct stress_backend *b);
};

/* Every back end built in, best first, ended by NULL: cuda, cpu, script. */
const struct stress_backend_ops *const *stress_backends(void);
const struct stress_backend_ops *stress_backend_find(const char *name);
/* NAME, or with "" and "auto" the best that finds a device. -EINVAL, -ENODEV with why. */
int stress_backend_choose(const char *name, const struct stress_backend_ops **ret, struct why *why);

extern const struct stress_backend_ops stress_backend_cuda;
extern const struct stress_backend_ops stress_backend_cpu;
extern const struct stress_backend_ops stress_backend_script;
