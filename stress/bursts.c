/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/bursts.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/sort.h"

enum {
	FIRST_ROUNDS = 3, /* of all loops, before the best are preferred */
	ROUND_EVERY = 8,  /* after that, one burst of so many still goes round */
};

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

uint64_t stress_median(uint64_t *v, uint32_t n)
{
	sort_array(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

void stress_bursts_init(struct stress_bursts *b, unsigned loops)
{
	*b = (struct stress_bursts){.loops = loops};
}

uint64_t stress_bursts_median(const struct stress_bursts *b, unsigned loop)
{
	uint64_t ns[STRESS_BURSTS_KEPT];
	uint32_t n = MIN(b->loop[loop].n, (uint32_t)STRESS_BURSTS_KEPT);
	memcpy(ns, b->loop[loop].ns, n * sizeof(*ns));
	return n ? stress_median(ns, n) : UINT64_MAX;
}

static unsigned next_of_round(struct stress_bursts *b)
{
	unsigned loop = b->next_round;
	b->next_round = (loop + 1) % b->loops;
	return loop;
}

unsigned stress_bursts_choose(struct stress_bursts *b)
{
	uint32_t turn = b->turns++;
	if (turn < FIRST_ROUNDS * b->loops || turn % ROUND_EVERY == 0) {
		return next_of_round(b);
	}
	unsigned best = 0, second = 0;
	uint64_t best_ns = UINT64_MAX, second_ns = UINT64_MAX;
	for (unsigned i = 0; i < b->loops; i++) {
		uint64_t ns = stress_bursts_median(b, i);
		if (ns < best_ns) {
			second = best;
			second_ns = best_ns;
			best = i;
			best_ns = ns;
		} else if (ns < second_ns) {
			second = i;
			second_ns = ns;
		}
	}
	return turn & 1 && second_ns != UINT64_MAX ? second : best;
}

void stress_bursts_add(struct stress_bursts *b, unsigned loop, uint64_t ns)
{
	b->loop[loop].ns[b->loop[loop].n++ % STRESS_BURSTS_KEPT] = ns;
}
