/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which read-only loop runs next, and how fast each was: the ceiling is the best loop's
 * median. Every loop has a few bursts; after that most go to the two best, since the
 * largest of many medians of few values would be an accident. Pure but for its own state.
 */
#pragma once

#include <stdint.h>

enum { STRESS_LOOPS_MAX = 16, STRESS_BURSTS_KEPT = 63 };

struct stress_bursts {
	unsigned loops, next_round; /* next_round: the loop whose turn it is in the round */
	uint32_t turns;             /* bursts ever, of all loops */
	struct {
		uint32_t n;                      /* bursts ever */
		uint64_t ns[STRESS_BURSTS_KEPT]; /* the latest */
	} loop[STRESS_LOOPS_MAX];
};

/* LOOPS: 1 … STRESS_LOOPS_MAX. */
void stress_bursts_init(struct stress_bursts *b, unsigned loops);

/* The loop to run now. Each call is one turn. */
unsigned stress_bursts_choose(struct stress_bursts *b);
void stress_bursts_add(struct stress_bursts *b, unsigned loop, uint64_t ns);

/* Of the kept bursts; UINT64_MAX when there are none. */
uint64_t stress_bursts_median(const struct stress_bursts *b, unsigned loop);

/* The median of N ≥ 1 values, which are reordered; the upper one of an even number. */
uint64_t stress_median(uint64_t *v, uint32_t n);
