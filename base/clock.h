/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The clock of every sample: CLOCK_MONOTONIC_RAW, in ns. Any thread. */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}
