/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/ring.h"

#include <string.h>

void stress_ring_init(
	struct stress_ring *r, struct stress_ring_ends *ends, void *slots, uint64_t capacity)
{
	*r = (struct stress_ring){.ends = ends, .slots = slots, .capacity = capacity};
}

static unsigned char *slot_at(const struct stress_ring *r, uint64_t index)
{
	return r->slots + (index & (r->capacity - 1)) * STRESS_SLOT;
}

bool stress_ring_has_room(const struct stress_ring *r)
{
	uint64_t tail = atomic_load_explicit(&r->ends->tail, memory_order_acquire);
	return r->own - tail < r->capacity;
}

bool stress_ring_push(struct stress_ring *r, const void *slot)
{
	if (!stress_ring_has_room(r)) {
		uint64_t n = atomic_load_explicit(&r->ends->dropped, memory_order_relaxed);
		atomic_store_explicit(&r->ends->dropped, n + 1, memory_order_relaxed);
		return false;
	}
	memcpy(slot_at(r, r->own), slot, STRESS_SLOT);
	atomic_store_explicit(&r->ends->head, ++r->own, memory_order_release);
	return true;
}

size_t stress_ring_pop(struct stress_ring *r, void *ret, size_t max)
{
	uint64_t head = atomic_load_explicit(&r->ends->head, memory_order_acquire);
	uint64_t n = head - r->own;
	if (n > r->capacity) { /* no honest producer is that far ahead */
		return 0;
	}
	if (n > max) {
		n = max;
	}
	unsigned char *to = ret;
	for (uint64_t i = 0; i < n; i++) {
		memcpy(to + i * STRESS_SLOT, slot_at(r, r->own + i), STRESS_SLOT);
	}
	r->own += n;
	atomic_store_explicit(&r->ends->tail, r->own, memory_order_release);
	return n;
}

uint64_t stress_ring_dropped(const struct stress_ring *r)
{
	return atomic_load_explicit(&r->ends->dropped, memory_order_relaxed);
}
