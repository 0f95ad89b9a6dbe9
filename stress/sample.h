/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One launch, measured. 64 bytes, written by the worker, read by the front;
 * bare numbers. Host times are CLOCK_MONOTONIC_RAW ns; device times are already
 * on that clock (the worker joins the clocks and keeps the error in its state).
 */
#pragma once

#include <stdint.h>

/* What was launched: bits 0–7 of FLAGS. */
enum stress_series {
	STRESS_GEMM = 0,
	STRESS_READ,  /* the read-only ceiling: a negative control */
	STRESS_EMPTY, /* empty launch to completion */
	STRESS_H2D,   /* small copies and bandwidth: see BYTES in the state's series table */
	STRESS_D2H,
	STRESS_ZERO_COPY,
	STRESS_PEER,
	STRESS_SERIES,
};

/* Which stamps and values are valid, and what the worker knows: bits 8 and up. */
enum {
	STRESS_HAS_DEVICE = 1 << 8, /* start_ns, end_ns */
	STRESS_HAS_CYCLES = 1 << 9,
	STRESS_HAS_HASH = 1 << 10,
	STRESS_BATCH = 1 << 11,     /* submit/done belong to a batch (graph, queued) */
	STRESS_PACED = 1 << 12,     /* submit is the intended start */
	STRESS_MISSED = 1 << 13,    /* paced: the deadline had passed before the launch */
	STRESS_WARMUP = 1 << 14,    /* not part of any statistic */
	STRESS_MISMATCH = 1 << 15,  /* the output's hash differs from the golden one */
	STRESS_PERTURBED = 1 << 16, /* overlaps a telemetry reading */
	STRESS_HUSHED = 1 << 17,    /* launched while the telemetry was told to be silent */
	STRESS_INJECTED = 1 << 18,  /* delayed on purpose, see stress_inject */
	STRESS_RESUMED = 1 << 19,   /* what came before it was the worker's own work: no gap */
};

struct stress_sample {
	uint64_t seq;
	uint64_t submit_ns, done_ns;
	uint64_t start_ns, end_ns;
	uint64_t cycles; /* SM cycles of block 0 */
	uint32_t copy;   /* which weight copy */
	uint32_t flags;  /* series | STRESS_* */
	uint64_t hash;
};

_Static_assert(sizeof(struct stress_sample) == 64, "a sample is one cache line");

static inline enum stress_series stress_series_of(const struct stress_sample *s)
{
	return (enum stress_series)(s->flags & 0xff);
}

/* Layers: launch + device + notify = host. Valid only with STRESS_HAS_DEVICE, but host. */
static inline uint64_t stress_host_ns(const struct stress_sample *s)
{
	return s->done_ns - s->submit_ns;
}

/* What the telemetry says beside the samples: a reading of the device, a fault. */
enum stress_event_kind {
	STRESS_EVENT_CLOCK_SM,    /* value: MHz */
	STRESS_EVENT_CLOCK_MEM,   /* MHz */
	STRESS_EVENT_TEMPERATURE, /* millidegrees Celsius */
	STRESS_EVENT_POWER,       /* mW */
	STRESS_EVENT_THROTTLE,    /* NVML's reason mask */
	STRESS_EVENT_PSTATE,
	STRESS_EVENT_XID,
	STRESS_EVENT_ECC,       /* new errors; text: which counter */
	STRESS_EVENT_LINK,      /* generation << 8 | width */
	STRESS_EVENT_READING,   /* a call that told nothing new; text: which */
	STRESS_EVENT_THROTTLED, /* ns that a policy took since the last reading; text: which */
	STRESS_EVENT_REPLAY,    /* new PCIe replays */
	STRESS_EVENT_AER,       /* new errors that the kernel counts; text: which */
	STRESS_EVENT_MEM_TEMPERATURE, /* millidegrees Celsius */
	STRESS_EVENT_MARGIN,          /* millidegrees to the temperature limit */
	STRESS_EVENT_GAP,             /* ns from NS on that a spare core stood still */
	STRESS_EVENT_KINDS,
};

/* "note", "clock-sm", …; "?" for others. */
const char *stress_event_name(unsigned kind);

/*
 * 64 bytes, from the worker through a ring beside the samples'. TEXT names the call, unless the
 * kind says otherwise.
 */
struct stress_event {
	uint64_t ns;      /* CLOCK_MONOTONIC_RAW when the reading began */
	uint64_t took_ns; /* how long it took: readings perturb */
	uint32_t kind;
	uint32_t since_us; /* the reading before was that long before NS; 0: not known */
	int64_t value;
	char text[32]; /* NUL-terminated */
};

_Static_assert(sizeof(struct stress_event) == 64, "an event is one cache line");
