/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engine does for the truth of the output beside launching: the weights' checksums, each
 * copy's every eight seconds, and the fault that was asked for. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "stress/backend.h"
#include "stress/worker.h"

struct stress_audit {
	const struct stress_backend_ops *ops;
	struct stress_backend *backend;
	enum stress_inject inject;
	uint64_t every_ns;  /* between two copies */
	uint64_t due_ns;    /* the next one */
	uint64_t inject_ns; /* when something breaks; 0: never (again) */
};

void stress_audit_init(struct stress_audit *a, const struct stress_backend_ops *ops,
	struct stress_backend *b, uint32_t copies, enum stress_inject inject);

/*
 * Between two launches, at most one copy a call, so that a launch waits for little. S gets the
 * counts. 1: something was found, 0, or negative errno and why: fatal.
 */
int stress_audit_turn(
	struct stress_audit *a, uint64_t now, struct stress_status *s, struct why *why);
