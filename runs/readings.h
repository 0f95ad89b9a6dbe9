/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last reading of each kind that the worker's telemetry gave: what a crash report tells of
 * the last moment. Pure; one owner.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "runs/collect.h"
#include "stress/nvml.h"
#include "stress/sample.h"

struct runs_readings {
	bool has[STRESS_EVENT_KINDS];
	int64_t value[STRESS_EVENT_KINDS]; /* the last one; of counted errors all that came */
	int64_t least[STRESS_EVENT_KINDS], most[STRESS_EVENT_KINDS];
	int64_t stored_mhz; /* the SM clock that was stored last; 0: none */
	uint64_t reasons;   /* all that ever held the clocks back: NVML's mask */
	uint64_t throttled_ns[NVML_POLICIES];
	/* What the readings cost. */
	uint64_t calls, took_ns, slowest_ns, first_ns, last_ns;
	char slowest[32];
	bool fresh; /* something changed since runs_readings_json */
};

/*
 * Takes E in. True: it belongs into the store as an event of its own, which RET is then: from the
 * reading before to the one that found it. Readings of temperature and power do not, nor do those
 * that say the same as before: the state of each second holds them.
 */
bool runs_readings_take(
	struct runs_readings *r, const struct stress_event *e, struct runs_event *ret);

/* {"temperature_c":83,"power_w":448.1,…}; NULL: nothing was ever read. The caller frees it. */
char *runs_readings_json(struct runs_readings *r);
