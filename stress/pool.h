/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU back end's threads: pinned, started together, waited for together. The caller
 * is thread 0 and works, too, so one thread needs no other and no barrier. A waiting
 * thread spins for a bounded time and then sleeps in the kernel.
 */
#pragma once

#include <stdint.h>

#include "base/why.h"

struct stress_pool;

/* Thread INDEX's part of the work. */
typedef void stress_pool_work(void *context, unsigned index);

/*
 * N ≥ 1 threads, thread i on CPU cpu[i]. The caller is pinned as well. What cannot be
 * pinned runs where it may, and *RET_PIN_ERRNO says why (0: all are pinned).
 */
int stress_pool_create(unsigned n, const uint16_t *cpu, struct stress_pool **ret,
	int *ret_pin_errno, struct why *why);

/*
 * Runs WORK on all threads and returns when all are through. The first one's start and the
 * last one's end, both inside the threads, on the host clock.
 */
void stress_pool_run(struct stress_pool *p, stress_pool_work *work, void *context,
	uint64_t *ret_start_ns, uint64_t *ret_end_ns);

void stress_pool_destroy(struct stress_pool *p); /* NULL is allowed */
