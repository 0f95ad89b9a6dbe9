/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Full load in steps: supplies and coolers meet a quarter of the time first, and when the machine
 * goes down, the store says at which step.
 */
#include <stdio.h>

#include "base/macros.h"
#include "cli/stress.h"
#include "runs/session.h"

static const uint32_t levels[] = {25, 50, 75, 100};
static const uint64_t step_ns = 500000000;

uint32_t cmd_ramp_first(void)
{
	return levels[0];
}

void cmd_ramp_turn(struct cmd_ramp *r, struct stress_worker *w, struct runs_session *s,
	const struct runs_recorder *rec, const struct stress_config *c, uint64_t now)
{
	if (r->level + 1 >= ARRAY_LEN(levels)) {
		return;
	}
	if (!r->since_ns) {
		r->since_ns = now;
	}
	if (now - r->since_ns < step_ns) {
		return;
	}
	const uint32_t next = levels[r->level + 1];
	if (s && !r->ticket) {
		char step[128];
		snprintf(step, sizeof(step), "load %u %%: %s %ux%ux%u %s", next,
			*c->backend ? c->backend : "auto", c->shape.m, c->shape.k, c->shape.n,
			runs_dtype_name(c->dtype));
		r->ticket = runs_session_intent(s, step);
	}
	if (!s || runs_recorder_done(rec, r->ticket) == 1) {
		stress_worker_load(w, next);
		r->level++;
		r->since_ns = now;
		r->ticket = 0;
	}
}
