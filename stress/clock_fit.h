/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two clocks joined: a device's, read between two readings of the host's, again and again; a
 * line through the narrowest of them. Times in ns. Pure but for its own state.
 */
#pragma once

#include <stdint.h>

enum { CLOCK_FIT_PAIRS = 32 };

struct clock_fit {
	struct {
		uint64_t host, device; /* the middle of the two host readings, and the device's */
		uint64_t error;        /* half of what lies between the two */
	} pair[CLOCK_FIT_PAIRS];
	unsigned n, next;
	double slope; /* host ns for a device ns */
	uint64_t host0, device0, error;
};

/* The device's clock showed DEVICE at some time from HOST_BEFORE to HOST_AFTER. */
void clock_fit_add(struct clock_fit *f, uint64_t host_before, uint64_t device, uint64_t host_after);

/* DEVICE on the host's clock; 0 before the first pair. */
uint64_t clock_fit_host(const struct clock_fit *f, uint64_t device);

/* No conversion near the pairs is off by more. */
uint64_t clock_fit_error(const struct clock_fit *f);
