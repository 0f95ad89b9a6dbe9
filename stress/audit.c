/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/audit.h"

#include <errno.h>

#include "base/clock.h"
#include "base/macros.h"

static const uint64_t all_ns = 8000000000u;          /* for the checksums of all copies, */
static const unsigned share = 10;                    /* in at most a tenth of the time */
static const uint64_t inject_after_ns = 1000000000u; /* of running */

void stress_audit_init(struct stress_audit *a, const struct stress_backend_ops *ops,
	struct stress_backend *b, uint32_t copies, enum stress_inject inject)
{
	*a = (struct stress_audit){
		.ops = ops,
		.backend = b,
		.inject = inject,
		.every_ns = all_ns / MAX(copies, 1u),
	};
}

static int take_checksum(
	struct stress_audit *a, uint64_t now, struct stress_status *s, struct why *why)
{
	if (!a->ops->audit || now < a->due_ns) {
		return 0;
	}
	const int r = a->ops->audit(a->backend, why);
	const uint64_t took = clock_ns() - now;

	a->due_ns = now + MAX(a->every_ns, took * share);
	s->weight_checks++;
	s->weight_faults += r > 0;
	return r;
}

static int break_something(
	struct stress_audit *a, uint64_t now, const struct stress_status *s, struct why *why)
{
	if (!a->inject || s->phase != STRESS_RUNNING) {
		return 0;
	}
	if (!a->inject_ns) {
		a->inject_ns = now + inject_after_ns;
	}
	if (now < a->inject_ns) {
		return 0;
	}
	const enum stress_inject what = a->inject;

	a->inject = STRESS_INJECT_NOTHING;
	if (!a->ops->inject) {
		why_set(why, "the %s back end has nothing that can be broken on purpose",
			a->ops->name);
		return -EOPNOTSUPP;
	}
	return a->ops->inject(a->backend, what, why);
}

int stress_audit_turn(
	struct stress_audit *a, uint64_t now, struct stress_status *s, struct why *why)
{
	const int broken = break_something(a, now, s, why);

	return broken < 0 ? broken : take_checksum(a, now, s, why);
}
