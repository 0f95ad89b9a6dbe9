/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What NVML says about GPUs, asked once by a process of its own (/proc/self/exe re-executed,
 * "--worker facts …") that is ended when it does not answer in time: a lost GPU hangs the
 * driver's calls. Blocking up to the limit given; any thread. Attaching to a sleeping GPU wakes
 * it: the caller leaves such a one out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/why.h"
#include "stress/nvml.h"

enum { STRESS_GPU_PROCESSES = 8 };

/* Sets of readings: bits 1 << enum nvml_reading. */
#define STRESS_GPU_SIZES (1u << NVML_MEMORY_BYTES | 1u << NVML_BAR1_BYTES)
#define STRESS_GPU_ALL   ((1u << NVML_READINGS) - 1)

struct stress_gpu_facts {
	int error; /* 0, or the negative errno of a GPU that could not be asked; WHY says it */
	char why[240];
	char name[96];
	unsigned known; /* bit r: value[r] is there */
	int64_t value[NVML_READINGS];
	int processes; /* with a context on it; negative: not asked or not told */
	struct {
		pid_t pid;
		uint64_t bytes;
		bool graphics;
	} process[STRESS_GPU_PROCESSES]; /* the first of them */
};

/* *RET is written when R was read. */
static inline bool stress_gpu_knows(
	const struct stress_gpu_facts *f, enum nvml_reading r, int64_t *ret)
{
	const bool known = f->error == 0 && f->known >> r & 1;

	if (known) {
		*ret = f->value[r];
	}
	return known;
}

/*
 * Asks for the READINGS (and with PROCESSES for those) of the N GPUs at ADDRESS. Fills all of
 * RET; those without an answer have an error. Returns 0 when at least one was asked, else
 * -ETIMEDOUT, -ENOENT (no library), -ENODEV, … with a sentence.
 */
int stress_gpu_facts(const char *const *address, size_t n, unsigned readings, bool processes,
	int timeout_ms, struct stress_gpu_facts *ret, struct why *why);

/*
 * Unlocks the clocks of the GPU at ADDRESS, by a process of its own too: after a worker that
 * locked them has died. Errors with a sentence, -ETIMEDOUT among them.
 */
int stress_gpu_unlock(const char *address, int timeout_ms, struct why *why);

/*
 * The processes that do it: "barscope --worker facts READINGS PROCESSES ADDRESS…" and
 * "barscope --worker unlock ADDRESS".
 */
int stress_gpu_facts_main(int argc, char **argv);
int stress_gpu_unlock_main(int argc, char **argv);
