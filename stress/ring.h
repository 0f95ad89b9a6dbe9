/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A single-producer single-consumer ring of 64-byte slots in shared memory. C11
 * acquire/release and nothing else: neither side ever waits for the other. A full ring
 * drops the newest slot and counts it.
 *
 * The two sides may be two processes. Each keeps its own index privately and only
 * publishes it, so a broken peer can spoil data but never send this side out of bounds.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STRESS_SLOT = 64 };

/* The shared part; zeroed memory is an empty ring. */
struct stress_ring_ends {
	_Alignas(64) _Atomic uint64_t head; /* slots ever pushed; the producer's */
	_Atomic uint64_t dropped;           /* the producer's */
	_Alignas(64) _Atomic uint64_t tail; /* slots ever taken; the consumer's */
};

/* One side's view. */
struct stress_ring {
	struct stress_ring_ends *ends;
	unsigned char *slots;
	uint64_t capacity; /* a power of two */
	uint64_t own;      /* this side's index */
};

/* SLOTS is CAPACITY × 64 bytes; CAPACITY a power of two. Both sides call it before any use. */
void stress_ring_init(
	struct stress_ring *r, struct stress_ring_ends *ends, void *slots, uint64_t capacity);

/* Producer. False: full, dropped and counted. */
bool stress_ring_push(struct stress_ring *r, const void *slot);
/* Producer: room for one more? */
bool stress_ring_has_room(const struct stress_ring *r);

/* Consumer: takes at most MAX slots, oldest first; returns how many. */
size_t stress_ring_pop(struct stress_ring *r, void *ret, size_t max);
uint64_t stress_ring_dropped(const struct stress_ring *r);
