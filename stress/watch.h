/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine's side of the telemetry: starts it for a back end that uses a GPU, marks the samples
 * that a reading disturbed, and says when the run has to end. The engine's thread only; nothing
 * here waits, but the start with locked clocks and the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "stress/telemetry.h"

struct stress_watch {
	struct stress_telemetry *telemetry; /* NULL: none */
	struct stress_telemetry_state state;
	bool alternate, hushed; /* the self-test: a second with readings, one without */
	uint64_t began_ns, last_done_ns;
	bool paced;
};

/*
 * Starts what C asks for on the GPU at ADDRESS ("": none). EVENT as in telemetry.h. Errors only
 * where clocks are to be locked or a limit to be watched; S gets what the front must know. With
 * clocks to lock, the front must know before that they may be (s->locked_mhz): should this process
 * die, it unlocks them.
 */
int stress_watch_start(struct stress_watch *w, const struct stress_config *c, const char *address,
	void (*event)(void *data, const struct stress_event *e), void *data,
	struct stress_status *s, struct why *why);

/*
 * Waits until the clocks are locked and the limit can be watched, calling BEAT; false from that:
 * -ECANCELED. Errors with why.
 */
int stress_watch_await(struct stress_watch *w, bool (*beat)(void *data), void *data,
	struct stress_status *s, struct why *why);

/* Marks the N samples, in order, as just launched. */
void stress_watch_mark(struct stress_watch *w, struct stress_sample *sample, size_t n);

/* Every few ms. True: S has changed. */
bool stress_watch_look(struct stress_watch *w, uint64_t now_ns, struct stress_status *s);

/* Restores the clocks and ends the telemetry. False: it hangs, the process must _exit(). */
bool stress_watch_finish(struct stress_watch *w, struct stress_status *s);
