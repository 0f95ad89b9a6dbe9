/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/gpu_clock.h"

#include <errno.h>

#include "base/clock.h"
#include "base/macros.h"

enum { PINGS = 16, MAILBOX = 64 };

/* Between two joinings of the clocks, which drift by some µs a second. */
static const uint64_t soonest_ns = 20000000, latest_ns = 1000000000;
static const uint64_t answer_ns = 1000000000; /* longest wait for one */

static int join(struct cuda_dev *d, struct stress_gpu_clock *c, struct why *why)
{
	const struct gemm_cuda_span span = {.p = c->mailbox_device, .bytes = PINGS};
	uint64_t best = UINT64_MAX, before = 0, device = 0;

	c->mailbox[0] = c->mailbox[1] = c->mailbox[2] = 0;
	CUresult e = cuda_dev_launch_span(d, c->ping, 1, 1, 0, &span, d->stream);

	for (uint64_t i = 1; e == CUDA_SUCCESS && i <= PINGS; i++) {
		const uint64_t asked = clock_ns();
		uint64_t now = asked;

		__atomic_store_n(&c->mailbox[0], i, __ATOMIC_RELEASE);
		while (__atomic_load_n(&c->mailbox[1], __ATOMIC_ACQUIRE) != i &&
			now - asked < answer_ns) {
			now = clock_ns();
		}
		now = clock_ns();
		if (now - asked < best && c->mailbox[1] == i) {
			best = now - asked;
			before = asked;
			device = c->mailbox[2];
		}
	}
	if (e == CUDA_SUCCESS) {
		e = d->api.StreamSynchronize(d->stream);
	}
	if (e != CUDA_SUCCESS) {
		return cuda_fail(&d->api, e, why, "asking for the GPU's clock");
	}
	if (best == UINT64_MAX) {
		why_set(why, "the GPU does not answer through pinned memory");
		return -EIO;
	}
	clock_fit_add(&c->fit, before, device, before + best);
	/* The next one when the line may be wrong by twice as much as at its newest point. */
	const double doubled = (double)c->fit.error0 / c->fit.slope_error;

	c->join_at_ns =
		clock_ns() + (uint64_t)MIN(MAX(doubled, (double)soonest_ns), (double)latest_ns);
	return 0;
}

int stress_gpu_clock_open(struct cuda_dev *d, struct stress_gpu_clock *ret, struct why *why)
{
	void *p = NULL;
	int r = cuda_dev_function(d, GEMM_CUDA_PROBE, "ping", &ret->ping, why);

	r = r ? r : cuda_dev_pin(d, MAILBOX, &p, &ret->mailbox_device, why);
	ret->mailbox = p;
	return r ? r : join(d, ret, why);
}

void stress_gpu_clock_close(struct cuda_dev *d, struct stress_gpu_clock *c)
{
	if (c->mailbox) {
		d->api.MemFreeHost((void *)c->mailbox);
	}
}

int stress_gpu_clock_join(struct cuda_dev *d, struct stress_gpu_clock *c, struct why *why)
{
	return clock_ns() >= c->join_at_ns ? join(d, c, why) : 0;
}
