/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A GPU's global timer on the host's clock: a kernel of one thread answers through pinned memory
 * with the time that it reads, again and again, and the narrowest question counts. Times in ns.
 * One thread: its device's.
 */
#pragma once

#include "stress/clock_fit.h"
#include "stress/cuda_dev.h"

struct stress_gpu_clock {
	struct clock_fit fit;
	CUfunction ping;
	volatile uint64_t *mailbox; /* pinned: request, answer, device clock (probe.cu, ping) */
	CUdeviceptr mailbox_device;
	uint64_t join_at_ns; /* they are to be joined again from then on */
};

/* Readies it and joins the clocks once. Errors as cuda_fail; close what was opened in any case. */
int stress_gpu_clock_open(struct cuda_dev *d, struct stress_gpu_clock *ret, struct why *why);
void stress_gpu_clock_close(struct cuda_dev *d, struct stress_gpu_clock *c); /* empty: allowed */

/* Joins them again when that is due; waits, some 100 µs. Not while launches are on their way. */
int stress_gpu_clock_join(struct cuda_dev *d, struct stress_gpu_clock *c, struct why *why);
