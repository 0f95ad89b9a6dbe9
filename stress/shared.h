/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What front and worker share: the memfd's layout and the messages on the socket. Both
 * are the same executable, so the layout needs no version. The front trusts nothing in
 * it: strings are ended, enums checked, indices its own.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "stress/ring.h"
#include "stress/sample.h"
#include "stress/worker.h"

enum {
	STRESS_RING_SAMPLES = 1 << 16, /* 4 MiB: 1.3 s of 20 µs launches */
	STRESS_RING_EVENTS = 1 << 12,
	STRESS_RING_GAPS = 1 << 10,
	STRESS_PATIENCE_MS = 700, /* silence of less than this is never a stall */
	STRESS_STATE_WORDS = (sizeof(struct stress_status) + 7) / 8,
};

/*
 * The worker's status under a sequence lock: odd while it is written. Every word is an
 * atomic, stored with release and loaded with acquire, so no fence is needed: a reader
 * that saw one new word also sees the odd version.
 */
struct stress_state {
	_Alignas(64) _Atomic uint64_t version;
	_Atomic uint64_t word[STRESS_STATE_WORDS];
};

struct stress_shared {
	struct stress_ring_ends samples, readings, gaps; /* a producer each */
	_Alignas(64) _Atomic uint64_t beat_ns;           /* the worker's last sign of life */
	_Atomic uint64_t patience_ns; /* as long as launches take, silence up to this is no stall */
	_Atomic uint64_t produced;
	struct stress_state state;
	_Alignas(64) unsigned char sample_slots[(size_t)STRESS_RING_SAMPLES * STRESS_SLOT];
	_Alignas(64) unsigned char reading_slots[(size_t)STRESS_RING_EVENTS * STRESS_SLOT];
	_Alignas(64) unsigned char gap_slots[(size_t)STRESS_RING_GAPS * STRESS_SLOT];
};

/* Writer: one thread. */
void stress_state_write(struct stress_state *state, const struct stress_status *s);
/* False when no consistent copy was to be had: the writer died or sleeps in the middle. */
bool stress_state_read(const struct stress_state *state, struct stress_status *ret);

enum stress_request {
	STRESS_CONFIG = 1, /* the first message; carries the memfd and the eventfd */
	STRESS_PAUSE,
	STRESS_RESUME,
	STRESS_STOP,
	STRESS_LOAD,
};

/* One packet on the SOCK_SEQPACKET pair, front to worker. */
struct stress_message {
	uint32_t request;
	uint32_t value;              /* STRESS_LOAD: percent */
	struct stress_config config; /* STRESS_CONFIG only */
};

/* The worker's first message on SOCK: its configuration, the shared memory and the eventfd. */
int stress_shared_receive(
	int sock, struct stress_config *ret, struct stress_shared **ret_shared, int *ret_wake);
