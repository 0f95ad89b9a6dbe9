/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU back end's inside, shared by backend_cpu.c and cpu_fault.c. One thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/gemm.h"
#include "stress/backend.h"
#include "stress/bursts.h"
#include "stress/host.h"
#include "stress/pool.h"

struct stress_backend {
	struct stress_lender *lender;
	struct stress_host host;
	struct stress_config config;
	struct stress_pool *pool;
	const struct gemm_kernel *kernel;
	int pin_errno;

	uint32_t threads, copies;
	size_t weight_bytes; /* of one copy, as the GEMM reads them */
	size_t stride;       /* between two copies */
	char *map;
	size_t map_bytes;
	char *weights; /* COPIES of them */
	void *x, *y;
	size_t x_bytes, y_bytes;

	uint32_t next_copy, next_audit;
	uint32_t told_apart; /* what was wrong; from TELL_MAX on it is only counted */
	enum stress_inject inject;
	unsigned delays;
	void *golden_y; /* the verified output */
	const struct read_kernel *reads[STRESS_LOOPS_MAX];
	struct stress_bursts bursts; /* one loop for each of READS */

	uint64_t golden_hash;
	uint64_t golden_xor;           /* of one copy's weights, in the threads' slices */
	double max_error, error_limit; /* of the output that exceeds its bound most */
	uint64_t expected_ns;
	uint64_t *partial; /* a read-only loop's results, one a thread, a cache line apart */
};

/* One launch over COPY, stamped in S; y and its hash are the caller's to look at. */
void stress_cpu_gemm(struct stress_backend *b, uint32_t copy, struct stress_sample *s);
/* The same for a read-only loop; returns the xor of the copy's weights. */
uint64_t stress_cpu_read(struct stress_backend *b, uint32_t copy, const struct read_kernel *r,
	struct stress_sample *s);

/*
 * FP64 for as many elements of y, evenly spread, as are worth the time: the error of the one that
 * exceeds its bound most, and that bound, both as a share of Σ|x||w|, into B.
 */
void stress_cpu_check(struct stress_backend *b, const struct gemm *g);

/* The checksum of F's copy is wrong: says where, through found. */
void stress_cpu_tell_weights(struct stress_backend *b, struct stress_finding *f);
/* The output that lies in y is wrong: says what it comes from. */
void stress_cpu_tell_apart(struct stress_backend *b, const struct stress_sample *s);

/*
 * Writes a pattern that every address gives itself to the memory of all copies, then reads it back;
 * twice, with other bits. -EIO and why with the addresses when something does not come back.
 */
int stress_cpu_memory_test(struct stress_backend *b, struct why *why);

/* Members of stress_backend_ops. */
int stress_cpu_audit(struct stress_backend *b, struct why *why);
int stress_cpu_inject(struct stress_backend *b, enum stress_inject what, struct why *why);
