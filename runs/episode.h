/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Episodes: launches that took far longer than those around them, neighbours joined. Found as
 * the samples come, in constant memory. The threshold follows the run: median + 8 MAD of the last
 * half second to a second (200 to 400 launches at least), so that neither drift nor a slow mode
 * that lasts makes episodes.
 *
 * The first split needs no events, only the layers: which of them holds the excess, and
 * whether the device's cycles grew with its time. Pure; one owner.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runs/hist.h"
#include "stress/sample.h"

/* Numbers stand in stores: new ones go to the end. */
enum runs_part {
	RUNS_PART_HOST = 0, /* host latency only is known */
	RUNS_PART_LAUNCH,   /* before the device started */
	RUNS_PART_CLOCK,    /* device: more time for the same cycles */
	RUNS_PART_MEMORY,   /* device: more cycles: memory, or a contender */
	RUNS_PART_DEVICE,   /* device, cycles not known */
	RUNS_PART_NOTIFY,   /* after the device had ended */
	RUNS_PART_BETWEEN,  /* between two launches */
	RUNS_PARTS,
};
const char *runs_part_name(unsigned part); /* "launch path", "clock low", … */

struct runs_episode {
	uint64_t from_ns, to_ns; /* from the first launch's submit to the last one's done */
	uint64_t worst_ns;       /* the slowest launch, or the longest gap */
	uint64_t excess_ns;      /* above the median, all launches together */
	uint32_t n, perturbed;   /* launches; how many overlap a reading of the device */
	uint8_t part;            /* enum runs_part */
};

struct runs_episodes;

struct runs_episodes *runs_episodes_create(void);
void runs_episodes_destroy(struct runs_episodes *e);

/* GEMM samples in their order; others and warm-ups are ignored. */
void runs_episodes_add(struct runs_episodes *e, const struct stress_sample *s, size_t n);

/*
 * Episodes that have ended by NOW_NS (UINT64_MAX: end all), oldest first, at most MAX; returns
 * how many.
 */
size_t runs_episodes_take(
	struct runs_episodes *e, uint64_t now_ns, struct runs_episode *ret, size_t max);

/* Found in all, also those that nobody took in time (the last 1024 wait). */
uint64_t runs_episodes_count(const struct runs_episodes *e);
