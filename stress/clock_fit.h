/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two clocks joined: a device's, read between two readings of the host's, again and again; a
 * line through these pairs, with a bound on what it may be wrong by. A pair that knows less
 * than the line already does (the machine was interrupted between the two readings) is
 * refused, so that one bad moment does not spoil what follows. Times in ns. Pure but for its
 * own state.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { CLOCK_FIT_PAIRS = 32 };

struct clock_fit {
	struct {
		uint64_t host, device; /* the middle of the two host readings, and the device's */
		uint64_t error;        /* half of what lies between the two, rounded up */
	} pair[CLOCK_FIT_PAIRS];       /* a ring; the newest one is a point of the line */
	unsigned n, next;
	uint64_t host0, device0, error0; /* that point */
	double slope;                    /* host ns for a device ns */
	double slope_error;              /* at most, as a share */
};

/*
 * The device's clock showed DEVICE at some time from HOST_BEFORE to HOST_AFTER. False: the
 * pair is wider than the line is wrong there, and the line stays as it was.
 */
bool clock_fit_add(struct clock_fit *f, uint64_t host_before, uint64_t device, uint64_t host_after);

/* DEVICE on the host's clock; 0 before the first pair. */
uint64_t clock_fit_host(const struct clock_fit *f, uint64_t device);

/* What that conversion of DEVICE is wrong by at most; it grows with the distance in time. */
uint64_t clock_fit_error(const struct clock_fit *f, uint64_t device);
