/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moments in which a core stood still: a thread that does nothing but read the clock sees them as
 * jumps between two readings. When the kernel gave the core to no other task meanwhile, firmware
 * (an SMI), the hypervisor or a long interrupt had it. Firmware stops all cores at once, so what
 * one core sees holds for the timed ones.
 *
 * The thread has idle priority and stays off the cores that launches are pinned to, but it keeps a
 * core awake: opt-in. One owner, the engine's thread, besides the thread itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "stress/host.h"
#include "stress/ring.h"
#include "stress/sample.h"

enum { STRESS_GAP_NS = 100000 }; /* shorter jumps are ordinary interrupts, and exits of a guest */

/* The look at the clock, without the thread; pure. */
struct stress_gap_look {
	uint64_t last_ns, checked_ns;
	uint64_t switches;             /* as they were counted last */
	uint64_t (*count)(void *data); /* how often the core went to another task so far */
	void *data;
};

/* At NOW_NS. True: the core stood still from look->last_ns, which RET tells (STRESS_EVENT_GAP). */
bool stress_gap_step(struct stress_gap_look *look, uint64_t now_ns, struct stress_event *ret);

struct stress_gaps;

/*
 * Starts the thread. HOST: as it was before this process was pinned; THREADS: the CPU back end's,
 * which launch on the last of HOST's CPUs, or 0 where one thread launches that is not pinned (the
 * watcher's idle priority lets it pass); INTO: where the events go, the thread is its producer.
 * -EBUSY: no core is left. Errors with why.
 */
int stress_gaps_start(const struct stress_host *host, uint32_t threads, struct stress_ring *into,
	struct stress_gaps **ret, struct why *why);

/* Ends the thread. NULL is allowed. */
void stress_gaps_finish(struct stress_gaps *g);
