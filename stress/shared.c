/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/shared.h"

#include <string.h>

void stress_state_write(struct stress_state *state, const struct stress_status *s)
{
	uint64_t word[STRESS_STATE_WORDS] = {0};
	memcpy(word, s, sizeof(*s));
	uint64_t version = atomic_load_explicit(&state->version, memory_order_relaxed);
	atomic_store_explicit(&state->version, version + 1, memory_order_relaxed);
	for (size_t i = 0; i < STRESS_STATE_WORDS; i++) {
		atomic_store_explicit(&state->word[i], word[i], memory_order_release);
	}
	atomic_store_explicit(&state->version, version + 2, memory_order_release);
}

bool stress_state_read(const struct stress_state *state, struct stress_status *ret)
{
	for (int attempt = 0; attempt < 64; attempt++) {
		uint64_t word[STRESS_STATE_WORDS];
		uint64_t before = atomic_load_explicit(&state->version, memory_order_acquire);
		if (before & 1) {
			continue;
		}
		for (size_t i = 0; i < STRESS_STATE_WORDS; i++) {
			word[i] = atomic_load_explicit(&state->word[i], memory_order_acquire);
		}
		if (atomic_load_explicit(&state->version, memory_order_relaxed) == before) {
			memcpy(ret, word, sizeof(*ret));
			return true;
		}
	}
	return false;
}
