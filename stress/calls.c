/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/telemetry.h"

void stress_calls_begin(struct stress_calls *c, uint64_t now_ns)
{
	const uint64_t n = atomic_load_explicit(&c->begun, memory_order_relaxed);

	atomic_store_explicit(&c->call[n % STRESS_CALLS].to_ns, UINT64_MAX, memory_order_relaxed);
	atomic_store_explicit(&c->call[n % STRESS_CALLS].from_ns, now_ns, memory_order_relaxed);
	atomic_store_explicit(&c->begun, n + 1, memory_order_release);
}

void stress_calls_end(struct stress_calls *c, uint64_t now_ns)
{
	const uint64_t n = atomic_load_explicit(&c->begun, memory_order_relaxed);

	atomic_store_explicit(&c->call[(n - 1) % STRESS_CALLS].to_ns, now_ns, memory_order_release);
}

size_t stress_calls_since(
	const struct stress_calls *c, uint64_t since_ns, struct stress_span *ret, size_t max)
{
	const uint64_t begun = atomic_load_explicit(&c->begun, memory_order_acquire);
	size_t n = 0;

	/* The oldest slot may be taken for the next call meanwhile: it is left out. */
	for (uint64_t i = begun; i > 0 && begun - i < STRESS_CALLS - 1 && n < max; i--) {
		const size_t at = (i - 1) % STRESS_CALLS;
		const uint64_t to = atomic_load_explicit(&c->call[at].to_ns, memory_order_acquire);

		if (to < since_ns) {
			break;
		}
		ret[n].from_ns = atomic_load_explicit(&c->call[at].from_ns, memory_order_relaxed);
		ret[n++].to_ns = to;
	}
	return n;
}

bool stress_spans_touch(const struct stress_span *s, size_t n, uint64_t from_ns, uint64_t to_ns)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i].from_ns <= to_ns && s[i].to_ns >= from_ns) {
			return true;
		}
	}
	return false;
}
