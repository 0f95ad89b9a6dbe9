/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/clock_fit.h"

#include "base/macros.h"

/* Two oscillators differ by less than this share; a steeper line would be an accident. */
static const double steepest = 1e-3;
/* And their ratio stays within this share while a line holds (warming up, NTP's steering). */
static const double wander = 1e-6;

/*
 * The line through the newest pair and that earlier one which leaves the slope least doubt:
 * both ends may be off by their errors, against each other.
 */
static void fit(struct clock_fit *f)
{
	const unsigned last = (f->next + CLOCK_FIT_PAIRS - 1) % CLOCK_FIT_PAIRS;

	f->host0 = f->pair[last].host;
	f->device0 = f->pair[last].device;
	f->error0 = f->pair[last].error;
	f->slope = 1;
	f->slope_error = steepest;
	for (unsigned i = 0; i < f->n; i++) {
		if (i == last || f->pair[i].device >= f->device0 || f->pair[i].host >= f->host0) {
			continue;
		}
		const double device = (double)(f->device0 - f->pair[i].device);
		const double s = (double)(f->host0 - f->pair[i].host) / device;
		const double doubt = (double)(f->pair[i].error + f->error0) / device + wander;

		if (doubt < f->slope_error && s > 1 - steepest && s < 1 + steepest) {
			f->slope = s;
			f->slope_error = doubt;
		}
	}
}

bool clock_fit_add(struct clock_fit *f, uint64_t host_before, uint64_t device, uint64_t host_after)
{
	const uint64_t between = host_after - host_before;
	const uint64_t error = (between + 1) / 2;

	if (f->n && error > clock_fit_error(f, device)) {
		return false;
	}
	f->pair[f->next].host = host_before + between / 2;
	f->pair[f->next].device = device;
	f->pair[f->next].error = error;
	f->next = (f->next + 1) % CLOCK_FIT_PAIRS;
	f->n = MIN(f->n + 1, (unsigned)CLOCK_FIT_PAIRS);
	fit(f);
	return true;
}

uint64_t clock_fit_host(const struct clock_fit *f, uint64_t device)
{
	if (!f->n) {
		return 0;
	}
	const double ahead = (double)(int64_t)(device - f->device0) * f->slope;

	return f->host0 + (uint64_t)(int64_t)ahead;
}

uint64_t clock_fit_error(const struct clock_fit *f, uint64_t device)
{
	const int64_t ahead = (int64_t)(device - f->device0);
	const double away = (double)(ahead < 0 ? -ahead : ahead);

	return f->error0 + (uint64_t)(away * f->slope_error);
}
