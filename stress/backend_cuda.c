/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CUDA back end: isolated launches with four stamps. Submit and done are the host's; start
 * and end come from the launch itself (the first block to begin, the last to end) on the GPU's
 * global timer, which a ping-pong joins to the host's clock again and again, between launches.
 * Stamps are fetched for a group of launches at once, so that no copy stands between them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/text.h"
#include "stress/backend.h"
#include "stress/batch.h"
#include "stress/bursts.h"
#include "stress/chain.h"
#include "stress/data.h"
#include "stress/gpu.h"
#include "stress/gpu_clock.h"
#include "stress/peer.h"

enum {
	GROUP = 64,       /* launches between two fetches of stamps, */
	TOKENS = 8,       /* or tokens */
	PROBE_EVERY = 4,  /* groups */
	SMALL = 64 << 10, /* bytes of a copy probe */
	DEVICES = 16,
	TELL_MAX = 8,
};

static const uint64_t warm_ns = 1000000000;        /* clocks ramp for about a second */
static const uint64_t group_longest_ns = 20000000; /* slow launches make small groups */
static const uint64_t check_terms = (uint64_t)1 << 26;

struct stress_backend {
	struct stress_lender *lender;
	struct stress_gpu *gpu;
	struct stress_chain *chain; /* NULL: a launch is one GEMM */
	struct stress_batch *batch; /* NULL: each launch is waited for */
	struct cuda_kernel kernel;
	bool tuned;
	struct stress_gpu_check check;
	uint32_t next_copy, next_audit;
	uint32_t told_apart; /* wrong outputs; from TELL_MAX on they are only counted */
	enum stress_inject inject;
	unsigned delays;
	struct stress_chain_facts token;

	const struct gemm_cuda_read *reads[STRESS_LOOPS_MAX];
	CUfunction read_functions[STRESS_LOOPS_MAX];
	struct stress_bursts bursts;
	CUfunction empty;

	void *small; /* pinned, SMALL bytes: copies and the zero-copy read */
	CUdeviceptr small_device, small_mapped;
	struct stress_peer peer; /* without a context: there is none */
	struct stress_gpu_clock clock;
	uint64_t clock_error_ns; /* of the stamps converted last */
	uint64_t expected_ns;    /* of what one iterate waits for at a time: a launch, or a batch */
};

static int cuda_probe(struct stress_device *ret, size_t max, struct why *why)
{
	struct cuda_dev_fact fact[DEVICES];
	const int n = cuda_dev_list(NULL, fact, DEVICES, why);
	size_t usable = 0;

	for (int i = 0; i < n && usable < max; i++) {
		if (fact[i].cc < 80) {
			why_set(why, "%s at %s has compute capability %d.%d; the kernels need 8.0",
				fact[i].name, fact[i].address, fact[i].cc / 10, fact[i].cc % 10);
			continue;
		}
		ret[usable] = (struct stress_device){0};
		text_copy(ret[usable].address, sizeof(ret[usable].address), fact[i].address);
		text_copy(ret[usable].name, sizeof(ret[usable].name), fact[i].name);
		usable++;
	}
	return (int)usable;
}

static void cuda_close(struct stress_backend *b)
{
	if (!b) {
		return;
	}
	stress_batch_close(b->batch);
	if (b->gpu) {
		const struct cuda_api *api = &b->gpu->dev->api;

		stress_peer_close(b->gpu->dev, &b->peer);
		stress_gpu_clock_close(b->gpu->dev, &b->clock);
		if (b->small) {
			api->MemFreeHost(b->small);
		}
		if (b->small_device) {
			api->MemFree(b->small_device);
		}
	}
	if (b->chain) {
		stress_chain_close(b->chain);
	} else {
		stress_gpu_close(b->gpu);
	}
	free(b);
}

/* -- launches -------------------------------------------------------------------------- */

static uint32_t take_copy(struct stress_backend *b)
{
	const uint32_t copy = b->next_copy;

	b->next_copy = copy + 1 == b->gpu->copies ? 0 : copy + 1;
	return copy;
}

/* Waits by asking: the answer comes within a fraction of a µs of the end. */
static CUresult await(const struct stress_backend *b)
{
	CUresult e;

	do {
		e = b->gpu->dev->api.StreamQuery(b->gpu->dev->stream);
	} while (e == CUDA_ERROR_NOT_READY);
	return e;
}

static CUresult launch_read(
	struct stress_backend *b, unsigned loop, CUdeviceptr p, size_t bytes, CUdeviceptr stamp)
{
	const struct gemm_cuda_span span = {
		.p = p, .bytes = bytes, .out = b->gpu->sink, .stamp = stamp};

	return cuda_dev_launch_read(
		b->gpu->dev, b->reads[loop], b->read_functions[loop], &span, b->gpu->dev->stream);
}

/* What is broken on purpose between the submit stamp and the launch. */
static void break_launch(
	struct stress_backend *b, struct stress_sample *s, struct gemm_cuda_args *a)
{
	if (b->inject == STRESS_INJECT_OUTPUT) {
		a->flip = 1 + a->m * a->n / 2;
		b->inject = STRESS_INJECT_NOTHING;
	} else if (b->inject == STRESS_INJECT_DELAY && b->delays++ % 2) {
		while (clock_ns() < s->submit_ns + STRESS_DELAY_NS) {
		}
		s->flags |= STRESS_INJECTED;
	}
}

/* One launch or copy of SERIES, stamped in SLOT where it can be. */
static CUresult submit(
	struct stress_backend *b, unsigned loop, int slot, struct stress_sample *sample)
{
	struct stress_gpu *g = b->gpu;
	const struct cuda_api *api = &g->dev->api;
	const enum stress_series series = stress_series_of(sample);
	struct gemm_cuda_args a = stress_gpu_args(g, sample->copy, slot);
	const struct gemm_cuda_span nothing = {.stamp = a.stamp};

	switch (series) {
	case STRESS_READ:
		return launch_read(b, loop, a.w, g->w_bytes & ~(size_t)15, a.stamp);
	case STRESS_EMPTY:
		return cuda_dev_launch_span(g->dev, b->empty, 1, 32, 0, &nothing, g->dev->stream);
	case STRESS_H2D:
		return api->MemcpyHtoDAsync(b->small_device, b->small, SMALL, g->dev->stream);
	case STRESS_D2H:
		return api->MemcpyDtoHAsync(b->small, b->small_device, SMALL, g->dev->stream);
	case STRESS_ZERO_COPY:
		return launch_read(b, 0, b->small_mapped, SMALL, a.stamp);
	case STRESS_PEER:
		return stress_peer_copy(g->dev, &b->peer, b->small_device);
	default:
		if (b->chain) {
			return stress_chain_launch(b->chain, slot);
		}
		if (b->inject) {
			break_launch(b, sample, &a);
		}
		return cuda_dev_launch(g->dev, &b->kernel, &a, g->dev->stream);
	}
}

static void convert(struct stress_backend *b, const struct gemm_cuda_stamp *stamp,
	enum stress_series series, struct stress_sample *s)
{
	const struct gemm_cuda_times t = gemm_cuda_sum(stamp);

	if (!t.blocks) {
		return;
	}
	s->start_ns = clock_fit_host(&b->clock.fit, t.start);
	s->end_ns = clock_fit_host(&b->clock.fit, t.end);
	b->clock_error_ns = MAX(b->clock_error_ns, clock_fit_error(&b->clock.fit, t.end));
	s->flags |= STRESS_HAS_DEVICE;
	if (!b->chain) { /* a token's are those of its last GEMM */
		s->cycles = t.cycles;
		s->flags |= STRESS_HAS_CYCLES;
	}
	if (series == STRESS_GEMM) {
		s->hash = t.hash;
		s->flags |= STRESS_HAS_HASH;
	}
}

/* Says what the wrong output of a launch in SLOT comes from. */
static int tell_apart(
	struct stress_backend *b, const struct stress_sample *s, int slot, struct why *why)
{
	struct stress_finding f = {.ns = s->submit_ns, .hash = s->hash};

	if (b->told_apart++ >= TELL_MAX || b->chain) {
		return 0;
	}
	const int r =
		stress_gpu_tell_apart(b->gpu, &b->kernel, s->copy, slot, b->check.hash, &f, why);

	if (r == 0) {
		b->lender->found(b->lender, &f);
	}
	return r;
}

static int cuda_audit(struct stress_backend *b, struct why *why)
{
	struct stress_finding f = {.ns = clock_ns(), .copy = b->next_audit};
	uint64_t sum = 0;
	int r = stress_gpu_checksum(b->gpu, b->next_audit, &sum, why);

	b->next_audit = b->next_audit + 1 == b->gpu->copies ? 0 : b->next_audit + 1;
	if (r < 0 || sum == b->gpu->weights_sum) {
		return r;
	}
	if (b->told_apart++ < TELL_MAX) {
		f.kind = STRESS_WRONG_WEIGHTS;
		r = stress_gpu_compare_weights(b->gpu, f.copy, &f, why);
		b->lender->found(b->lender, &f);
	}
	return r ? r : 1;
}

static int cuda_inject(struct stress_backend *b, enum stress_inject what, struct why *why)
{
	b->inject = what;
	return what == STRESS_INJECT_WEIGHT ? stress_gpu_flip_weight(b->gpu, why) : 0;
}

static const char *name_of(const struct stress_backend *b, enum stress_series series)
{
	return series != STRESS_GEMM ? "a probe" : b->chain ? b->token.kernel : b->kernel.of->name;
}

/* Launches N of SERIES, each waited for. Returns how many, or negative errno. */
static int launch_each(struct stress_backend *b, enum stress_series series, unsigned loop, int n,
	struct stress_sample *ret, struct why *why)
{
	for (int i = 0; i < n; i++) {
		struct stress_sample s = {.copy = take_copy(b), .flags = (uint32_t)series};

		s.submit_ns = clock_ns();
		CUresult e = submit(b, loop, i, &s);

		e = e == CUDA_SUCCESS ? await(b) : e;
		s.done_ns = clock_ns();
		if (e != CUDA_SUCCESS) {
			return cuda_fail(
				&b->gpu->dev->api, e, why, "launching %s", name_of(b, series));
		}
		ret[i] = s;
		if (s.done_ns - ret[0].submit_ns > group_longest_ns) {
			return i + 1; /* the front waits for a sign of life, and for its requests */
		}
	}
	return n;
}

/* Launches a batch, which is waited for once: submit and done are those of all of it. */
static int launch_batch(
	struct stress_backend *b, struct stress_sample *ret, size_t max, struct why *why)
{
	struct stress_sample s = {.flags = STRESS_GEMM};
	unsigned n = 0;
	uint32_t copy = 0;

	s.submit_ns = clock_ns();
	CUresult e = stress_batch_submit(b->batch, (unsigned)max, &n, &copy);

	e = e == CUDA_SUCCESS ? await(b) : e;
	s.done_ns = clock_ns();
	if (e != CUDA_SUCCESS) {
		return cuda_fail(
			&b->gpu->dev->api, e, why, "launching %s", name_of(b, STRESS_GEMM));
	}
	/* A token alone has the host's times to itself. */
	s.flags |= b->chain && n == 1 ? 0 : (uint32_t)STRESS_BATCH;
	for (unsigned i = 0; i < n; i++) {
		ret[i] = s;
		ret[i].copy = (copy + i) % b->gpu->copies;
	}
	return (int)n;
}

static int cuda_iterate(struct stress_backend *b, enum stress_series series,
	struct stress_sample *ret, size_t max, struct why *why)
{
	const size_t group = series != STRESS_GEMM ? 1u : b->chain ? (size_t)TOKENS : GROUP;
	const unsigned loop = series == STRESS_READ ? stress_bursts_choose(&b->bursts) : 0;
	const bool batch = series == STRESS_GEMM && b->batch;

	int r = stress_gpu_clock_join(b->gpu->dev, &b->clock, why);

	if (r < 0) {
		return r;
	}
	const int n = batch ? launch_batch(b, ret, max, why)
			    : launch_each(b, series, loop, (int)MIN(max, group), ret, why);

	if (n < 0) {
		return n;
	}
	r = stress_gpu_take_stamps(b->gpu, 0, n, why);
	if (r < 0) {
		return r;
	}
	b->clock_error_ns = 0;
	if (!batch) {
		ret[0].flags |= STRESS_RESUMED; /* behind the stamps of a group, or a probe */
	}
	for (int i = 0; i < n; i++) {
		convert(b, &b->gpu->host_stamps[i], series, &ret[i]);
	}
	for (int i = 0; i < n && series == STRESS_GEMM; i++) {
		const int told = ret[i].hash != b->check.hash ? tell_apart(b, &ret[i], i, why) : 0;

		if (told < 0) {
			return told;
		}
	}
	if (series == STRESS_READ && (ret[0].flags & STRESS_HAS_DEVICE)) {
		stress_bursts_add(&b->bursts, loop, ret[0].end_ns - ret[0].start_ns);
	}
	return n;
}

/* -- open ---------------------------------------------------------------------------- */

/* The read-only loops that this device has. A refused module leaves its own out. */
static int find_functions(struct stress_backend *b, struct why *why)
{
	struct cuda_dev *d = b->gpu->dev;
	unsigned n = 0;
	int r = cuda_dev_function(d, GEMM_CUDA_PROBE, "empty", &b->empty, why);

	for (const struct gemm_cuda_read *k = gemm_cuda_reads(); r == 0 && k->name; k++) {
		struct why refused;

		/* A dependent one, where layers are timed, is its other self again. */
		if (k->dependent || n == STRESS_LOOPS_MAX ||
			cuda_dev_read(d, k, &b->read_functions[n], &refused) < 0) {
			continue;
		}
		b->reads[n++] = k;
	}
	if (r == 0) {
		stress_bursts_init(&b->bursts, MAX(n, 1u));
	}
	return r;
}

static int check_kernel(struct stress_backend *b, struct why *why)
{
	int r;

	if (b->chain) {
		r = stress_chain_check(b->chain, check_terms / 4, b->lender, &b->token, why);
		b->check = b->token.check;
		b->tuned = b->token.tuned;
	} else {
		r = stress_gpu_check(
			b->gpu, &b->kernel, GEMM_CUDA_ACT_NONE, false, check_terms, &b->check, why);
	}
	if (r == 0 && (!b->check.same || !(b->check.error <= b->check.limit))) {
		why_set(why,
			"%s computes wrong: |y - ref| / sum |w||x| is %.2g where rounding explains "
			"%.2g, at output %u, %u%s",
			b->chain ? b->token.kernel : b->kernel.of->name, b->check.error,
			b->check.limit, b->check.worst_m, b->check.worst_n,
			b->check.same ? "" : "; copies of the same weights give other outputs");
		return -EIO;
	}
	return r;
}

/* The GEMM, or the token's: opened, with their kernels. */
static int open_work(struct stress_backend *b, const struct stress_config *c, struct why *why)
{
	if (c->layers) {
		const int r = stress_chain_open(c, b->lender, &b->chain, why);

		b->gpu = r == 0 ? stress_chain_gpu(b->chain) : NULL;
		return r;
	}
	const int r = stress_gpu_open(c, b->lender, &b->gpu, why);

	return r ? r : stress_gpu_kernel(b->gpu, c->kernel, &b->kernel, &b->tuned, why);
}

/* One launch, or batch, before the clock of the run: how long a silence is no stall. */
static int time_work(struct stress_backend *b, struct why *why)
{
	struct stress_sample s[STRESS_GPU_SLOTS];
	const int n = b->batch ? launch_batch(b, s, ARRAY_LEN(s), why)
			       : launch_each(b, STRESS_GEMM, 0, 1, s, why);

	if (n < 0) {
		return n;
	}
	b->expected_ns = s[0].done_ns - s[0].submit_ns;
	return stress_gpu_take_stamps(b->gpu, 0, n, why); /* nobody's: cleared */
}

static int cuda_open(const struct stress_config *c, struct stress_lender *lender,
	struct stress_backend **ret, struct why *why)
{
	struct stress_backend *b = xcalloc(1, sizeof(*b));
	struct why no_peer;

	b->lender = lender;
	int r = open_work(b, c, why);

	r = r ? r : find_functions(b, why);
	r = r ? r : cuda_dev_pin(b->gpu->dev, SMALL, &b->small, &b->small_mapped, why);
	if (r == 0) {
		CUresult e = b->gpu->dev->api.MemAlloc(&b->small_device, SMALL);

		r = e == CUDA_SUCCESS
			    ? 0
			    : cuda_fail(&b->gpu->dev->api, e, why, "allocating the probes' memory");
	}
	if (r == 0 && !lender->beat(lender)) {
		r = -ECANCELED;
	}
	if (r == 0) {
		/* Without another GPU its copies are left out. */
		stress_peer_open(b->gpu->dev, SMALL, &b->peer, &no_peer);
	}
	r = r ? r : check_kernel(b, why);
	r = r ? r : stress_gpu_checksum_prepare(b->gpu, lender, why);
	if (r == 0 && c->mode != STRESS_ISOLATED) {
		r = stress_batch_open(b->gpu, &b->kernel, b->chain, c->mode, &b->batch, why);
	}
	r = r ? r : stress_gpu_clock_open(b->gpu->dev, &b->clock, why);
	r = r ? r : time_work(b, why);
	if (r < 0) {
		cuda_close(b);
		return r;
	}
	*ret = b;
	return 0;
}

static void cuda_facts(const struct stress_backend *b, struct stress_facts *ret)
{
	const struct stress_gpu *g = b->gpu;

	*ret = (struct stress_facts){
		.copies = b->chain ? b->token.sets : g->copies,
		.copy_bytes = b->chain ? b->token.set_bytes : g->w_bytes,
		.cache_bytes = g->dev->l2,
		.tuned = b->tuned,
		.bytes = b->chain ? b->token.bytes : g->w_bytes + g->x_bytes + g->y_bytes,
		.series = 1u << STRESS_GEMM | 1u << STRESS_EMPTY | 1u << STRESS_H2D |
			  1u << STRESS_D2H | 1u << STRESS_ZERO_COPY,
		.read_kernels = b->reads[0] ? b->bursts.loops : 0,
		.probe_every = PROBE_EVERY,
		.warm_ns = warm_ns,
		.expected_ns = b->expected_ns,
		.max_error = b->check.error,
		.error_limit = b->check.limit,
		.golden_hash = b->check.hash,
		.build = gemm_cuda_build() + STRESS_DATA_VERSION,
	};
	snprintf(ret->isa, sizeof(ret->isa), "sm_%d", g->dev->limits.cc);
	ret->series |= b->reads[0] ? 1u << STRESS_READ : 0;
	ret->series |= b->peer.context ? 1u << STRESS_PEER : 0;
	text_copy(
		ret->kernel, sizeof(ret->kernel), b->chain ? b->token.kernel : b->kernel.of->name);
	snprintf(ret->device, sizeof(ret->device), "%.64s at %s", g->dev->name, g->dev->address);
	text_copy(ret->address, sizeof(ret->address), g->dev->address);
	text_copy(ret->note, sizeof(ret->note), g->dev->jit_note);
}

/* -- the rest of the contract --------------------------------------------------------- */

static uint64_t cuda_clock_error(const struct stress_backend *b)
{
	return b->clock_error_ns;
}

static bool cuda_ceiling(const struct stress_backend *b, size_t i, struct stress_ceiling *ret)
{
	if (!b->reads[0] || i >= b->bursts.loops) {
		return false;
	}
	const uint64_t ns = stress_bursts_median(&b->bursts, (unsigned)i);

	*ret = (struct stress_ceiling){
		.bytes_per_s =
			ns != UINT64_MAX && ns > 0 ? (double)b->gpu->w_bytes * 1e9 / (double)ns : 0,
		.bursts = b->bursts.loop[i].n,
	};
	text_copy(ret->name, sizeof(ret->name), b->reads[i]->name);
	return true;
}

const struct stress_backend_ops stress_backend_cuda = {
	.name = "cuda",
	.probe = cuda_probe,
	.open = cuda_open,
	.facts = cuda_facts,
	.iterate = cuda_iterate,
	.clock_error = cuda_clock_error,
	.ceiling = cuda_ceiling,
	.audit = cuda_audit,
	.inject = cuda_inject,
	.close = cuda_close,
};
