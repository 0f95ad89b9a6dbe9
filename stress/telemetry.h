/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker's telemetry: a thread of its own reads the GPU's clocks, limits, temperatures, errors
 * and link through NVML and sysfs, one call after the other, each timed. The engine never waits
 * for it: a library that hangs costs the readings and nothing else.
 *
 * A reading may hold the driver's locks and so delay a launch. The thread writes down when each
 * call began and ended (struct stress_calls), and the engine marks the samples that overlap one.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "stress/sample.h"
#include "stress/worker.h"

/* The last calls; one writer, readers without locks. */
enum { STRESS_CALLS = 64 };
struct stress_calls {
	_Atomic uint64_t begun; /* how many calls have begun */
	struct {
		_Atomic uint64_t from_ns, to_ns; /* to: UINT64_MAX while it lasts */
	} call[STRESS_CALLS];
};

void stress_calls_begin(struct stress_calls *c, uint64_t now_ns);
void stress_calls_end(struct stress_calls *c, uint64_t now_ns);

struct stress_span {
	uint64_t from_ns, to_ns;
};
/* Calls that lasted until SINCE_NS or later, latest first; at most MAX. Returns how many. */
size_t stress_calls_since(
	const struct stress_calls *c, uint64_t since_ns, struct stress_span *ret, size_t max);
/* Does [FROM, TO] touch one of the N spans? */
bool stress_spans_touch(const struct stress_span *s, size_t n, uint64_t from_ns, uint64_t to_ns);

struct stress_telemetry_options {
	char address[24];    /* the GPU's PCI address */
	const char *library; /* NULL: the usual */
	const char *root;    /* "": where /sys is; of tests */
	uint32_t lock_mhz;   /* 0: clocks stay as they are */
	uint32_t
		max_celsius; /* refused where it cannot be watched; 0: by the GPU's own threshold */
	/* Called on the telemetry's thread only; must not block. */
	void (*event)(void *data, const struct stress_event *e);
	void *data;
};

struct stress_telemetry;

int stress_telemetry_start(
	const struct stress_telemetry_options *o, struct stress_telemetry **ret, struct why *why);

/*
 * Restores the clocks and ends the thread; waits at most TIMEOUT_MS. -ETIMEDOUT: a call hangs.
 * The thread is left behind with what it uses, and the process has to end with _exit(). -EIO: the
 * clocks could not be restored. NULL is allowed.
 */
int stress_telemetry_finish(struct stress_telemetry *t, int timeout_ms);

/* No readings until it is called again with false; the watch for Xid goes on. */
void stress_telemetry_hush(struct stress_telemetry *t, bool hush);

const struct stress_calls *stress_telemetry_calls(const struct stress_telemetry *t);

enum stress_telemetry_phase {
	STRESS_TELEMETRY_OPENING, /* loading NVML, locking the clocks */
	STRESS_TELEMETRY_READING,
	STRESS_TELEMETRY_WITHOUT, /* NVML is not there: sysfs alone is read */
	STRESS_TELEMETRY_REFUSED, /* clocks were to be locked, or a limit to be watched: not here */
	STRESS_TELEMETRY_HALT,    /* an Xid came or the GPU is too hot: the run must end */
};

/* What the engine has to know. From WITHOUT on, *RET_WHY holds a sentence. */
struct stress_telemetry_state {
	enum stress_telemetry_phase phase;
	enum stress_ended ended; /* HALT */
	uint32_t limit_celsius;  /* 0: no limit is known */
	bool locked;             /* the clocks are locked now */
	char why[200];
};
/* Cheap while nothing changed; true when RET was written. One thread. */
bool stress_telemetry_state(struct stress_telemetry *t, struct stress_telemetry_state *ret);

/* "the GPU has fallen off the bus"; "" for numbers without a name. */
const char *stress_xid_name(uint64_t xid);
