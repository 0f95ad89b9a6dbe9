/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/clock_fit.h"

#include "base/macros.h"

/* Two oscillators differ by less than this share; a steeper line would be an accident. */
static const double steepest = 1e-3;
/* A line over less time than this says more about the pairs' errors than about the clocks. */
static const uint64_t shortest_ns = 500000000;

static void fit(struct clock_fit *f)
{
	unsigned first = f->n < CLOCK_FIT_PAIRS ? 0 : f->next;
	unsigned last = (f->next + CLOCK_FIT_PAIRS - 1) % CLOCK_FIT_PAIRS;
	const uint64_t device = f->pair[last].device - f->pair[first].device;
	const uint64_t host = f->pair[last].host - f->pair[first].host;

	f->slope = 1;
	if (device >= shortest_ns && host >= shortest_ns) {
		const double s = (double)host / (double)device;

		f->slope = MIN(MAX(s, 1 - steepest), 1 + steepest);
	}
	f->host0 = f->pair[last].host;
	f->device0 = f->pair[last].device;
	f->error = f->pair[last].error;
	if (f->slope != 1) {
		f->error += f->pair[first].error;
	}
}

void clock_fit_add(struct clock_fit *f, uint64_t host_before, uint64_t device, uint64_t host_after)
{
	const uint64_t between = host_after - host_before;

	f->pair[f->next].host = host_before + between / 2;
	f->pair[f->next].device = device;
	f->pair[f->next].error = (between + 1) / 2;
	f->next = (f->next + 1) % CLOCK_FIT_PAIRS;
	f->n = MIN(f->n + 1, (unsigned)CLOCK_FIT_PAIRS);
	fit(f);
}

uint64_t clock_fit_host(const struct clock_fit *f, uint64_t device)
{
	if (!f->n) {
		return 0;
	}
	const double ahead = (double)(int64_t)(device - f->device0) * f->slope;

	return f->host0 + (uint64_t)(int64_t)ahead;
}

uint64_t clock_fit_error(const struct clock_fit *f)
{
	return f->error;
}
