/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CPU back end: pinned threads, each with its own rows of W. The weights lie in
 * several equal copies that are used in turn, so that the last-level cache never holds
 * the one that comes next. All copies give the same bits, so one hash is golden for all.
 *
 * The read-only loops run in the same threads over the same rows: the ceiling. Their
 * result is the xor of the weights, which is known: a weight that changed in memory is found
 * by it, and told apart from a wrong computation.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/text.h"
#include "kernels/cpu.h"
#include "stress/backend_cpu.h"
#include "stress/cpu_data.h"
#include "stress/data.h"

enum {
	COPIES_MAX = 65536,
	ROWS_TOGETHER = 32, /* of W for one thread: 64 bytes of y */
	TRIALS = 15,
	PROBE_EVERY = 8,
};

static const uint64_t huge_page = (uint64_t)2 << 20;
static const uint64_t unknown_llc = (uint64_t)64 << 20;   /* assumed where /sys does not say */
static const uint64_t spared_bytes = (uint64_t)256 << 20; /* left to the rest of the machine */
static const uint64_t warm_ns = 300000000;

/* One launch as the threads see it. */
struct task {
	struct stress_backend *b;
	struct gemm gemm;
	const struct read_kernel *read;
	char *weights;
};

static void slice(const struct stress_backend *b, unsigned index, size_t *ret_n0, size_t *ret_n1)
{
	size_t n = b->config.shape.n;
	size_t groups = (n + ROWS_TOGETHER - 1) / ROWS_TOGETHER;
	*ret_n0 = MIN(n, groups * index / b->threads * ROWS_TOGETHER);
	*ret_n1 = MIN(n, groups * (index + 1) / b->threads * ROWS_TOGETHER);
}

static size_t row_bytes(const struct stress_backend *b)
{
	return b->config.shape.k * stress_dtype_size(b->config.dtype);
}

/* -- what the threads do ----------------------------------------------------------- */

static void gemm_part(void *context, unsigned index)
{
	const struct task *t = context;
	struct gemm g = t->gemm;
	slice(t->b, index, &g.n0, &g.n1);
	if (g.n0 < g.n1) {
		t->b->kernel->run(&g);
	}
}

static void read_part(void *context, unsigned index)
{
	const struct task *t = context;
	size_t n0, n1, row = row_bytes(t->b);
	slice(t->b, index, &n0, &n1);
	t->b->partial[index * 8] = t->read->run(t->weights + n0 * row, (n1 - n0) * row);
}

/* Each thread writes its own rows first, so that they lie in its own node's memory. */
static void fill_part(void *context, unsigned index)
{
	const struct task *t = context;
	struct stress_backend *b = t->b;
	size_t n0, n1, row = row_bytes(b), k = b->config.shape.k;
	slice(b, index, &n0, &n1);
	if (t->weights != b->weights) {
		memcpy(t->weights + n0 * row, b->weights + n0 * row, (n1 - n0) * row);
		return;
	}
	/* Rows of a slice begin at a multiple of 32, hence elements at a multiple of 4. */
	stress_fill(t->weights + n0 * row, n0 * k, (n1 - n0) * k, b->config.dtype, STRESS_W,
		b->config.seed);
}

static struct task make_task(struct stress_backend *b, uint32_t copy)
{
	const struct stress_shape *s = &b->config.shape;
	char *weights = b->weights + copy * b->stride;
	return (struct task){
		.b = b,
		.weights = weights,
		.gemm =
			{
				.m = s->m,
				.n = s->n,
				.k = s->k,
				.dtype = b->config.dtype == STRESS_F16 ? GEMM_F16 : GEMM_F32,
				.x = b->x,
				.w = weights,
				.y = b->y,
				.ldx = s->k,
				.ldw = s->k,
				.ldy = s->n,
			},
	};
}

static uint32_t take_copy(struct stress_backend *b)
{
	uint32_t copy = b->next_copy;
	b->next_copy = (copy + 1) % b->copies;
	return copy;
}

void stress_cpu_gemm(struct stress_backend *b, uint32_t copy, struct stress_sample *s)
{
	struct task t = make_task(b, copy);
	s->submit_ns = clock_ns();
	if (b->inject == STRESS_INJECT_DELAY && b->delays++ % 2) {
		while (clock_ns() < s->submit_ns + STRESS_DELAY_NS) {
		}
		s->flags |= STRESS_INJECTED;
	}
	stress_pool_run(b->pool, gemm_part, &t, &s->start_ns, &s->end_ns);
	if (b->inject == STRESS_INJECT_OUTPUT) {
		((unsigned char *)b->y)[b->y_bytes / 2] ^= 4;
		b->inject = STRESS_INJECT_NOTHING;
	}
	s->done_ns = clock_ns();
}

uint64_t stress_cpu_read(struct stress_backend *b, uint32_t copy, const struct read_kernel *r,
	struct stress_sample *s)
{
	struct task t = make_task(b, copy);
	t.read = r;
	s->submit_ns = clock_ns();
	stress_pool_run(b->pool, read_part, &t, &s->start_ns, &s->end_ns);
	s->done_ns = clock_ns();
	uint64_t sum = 0;
	for (unsigned i = 0; i < b->threads; i++) {
		sum ^= b->partial[(size_t)i * 8];
	}
	return sum;
}

/* -- open: sizes and memory -------------------------------------------------------- */

static int choose_threads(struct stress_backend *b, struct why *why)
{
	uint32_t usable = b->host.cpus;
	if (b->host.quota > 0 && b->host.quota < usable) {
		usable = b->host.quota < 1 ? 1 : (uint32_t)b->host.quota;
	}
	if (b->config.threads > b->host.cpus) {
		why_set(why, "%u threads: this process may run on %u CPU%s only", b->config.threads,
			b->host.cpus, b->host.cpus == 1 ? "" : "s");
		return -EINVAL;
	}
	b->threads = b->config.threads ? b->config.threads : MAX(usable - 1, 1u);
	return 0;
}

/* Why no kernel of this build is called NAME. */
static void name_no_kernel(const char *name, enum gemm_dtype dtype, struct why *why)
{
	static const struct {
		const char *name, *cpu;
	} each[] = {{"avx2", "x86-64"}, {"avx512", "x86-64"}, {"neon", "64-bit ARM"}};
	const size_t len = strcspn(name, "-");
	for (size_t i = 0; i < ARRAY_LEN(each); i++) {
		if (strlen(each[i].name) == len && !strncmp(name, each[i].name, len) &&
			!gemm_find(each[i].name, dtype)) { /* not built for this one */
			why_set(why, "kernel '%s' is for %s processors, which this one is not",
				name, each[i].cpu);
			return;
		}
	}
	why_set(why, "there is no kernel '%s' for this type", name);
}

static int choose_kernel(struct stress_backend *b, struct why *why)
{
	enum gemm_dtype dtype = b->config.dtype == STRESS_F16 ? GEMM_F16 : GEMM_F32;
	unsigned flags = cpu_flags();
	if (!*b->config.kernel) {
		b->kernel = gemm_pick(flags, dtype);
		return 0;
	}
	b->kernel = gemm_find(b->config.kernel, dtype);
	if (!b->kernel) {
		name_no_kernel(b->config.kernel, dtype, why);
		return -EINVAL;
	}
	if ((b->kernel->needs & flags) != b->kernel->needs) {
		why_set(why, "kernel '%s' needs %s, which this CPU does not have", b->kernel->name,
			cpu_flag_name(b->kernel->needs));
		return -EINVAL;
	}
	return 0;
}

static void choose_reads(struct stress_backend *b)
{
	unsigned flags = cpu_flags(), n = 0;
	for (const struct read_kernel *r = read_kernels(); r->name; r++) {
		if ((r->needs & flags) == r->needs && n < STRESS_LOOPS_MAX) {
			b->reads[n++] = r;
		}
	}
	stress_bursts_init(&b->bursts, n);
}

static size_t round_up(size_t v, size_t to)
{
	return (v + to - 1) / to * to;
}

static int choose_sizes(struct stress_backend *b, struct why *why)
{
	const struct stress_shape *s = &b->config.shape;
	size_t e = stress_dtype_size(b->config.dtype);
	b->weight_bytes = (size_t)s->n * s->k * e;
	b->x_bytes = (size_t)s->m * s->k * e;
	b->y_bytes = (size_t)s->m * s->n * e;
	/* Large copies begin on a huge page each, small ones on a cache line. */
	b->stride = round_up(b->weight_bytes, b->weight_bytes >= huge_page ? huge_page : 64);

	uint64_t llc = b->host.llc_bytes ? b->host.llc_bytes : unknown_llc;
	uint64_t copies = b->config.copies;
	if (!copies) {
		copies = (5 * llc + b->weight_bytes - 1) / b->weight_bytes;
		copies = MIN(MAX(copies, 2u), (uint64_t)COPIES_MAX);
	}
	const bool fill = b->config.fill_bytes || b->config.fill_permille;
	if (fill) {
		const uint64_t left = MAX(b->host.available_bytes, spared_bytes) - spared_bytes;
		const uint64_t part = (uint64_t)((double)b->host.available_bytes *
						 b->config.fill_permille / 1000);
		if (b->config.fill_bytes > left) {
			char n[TEXT_SIZE_MAX], h[TEXT_SIZE_MAX];
			why_set(why,
				"%s of memory cannot be filled: %s are free, of which %d MiB stay "
				"untouched",
				text_size(b->config.fill_bytes, n),
				text_size(b->host.available_bytes, h), (int)(spared_bytes >> 20));
			return -ENOMEM;
		}
		copies = MIN(b->config.fill_bytes ? b->config.fill_bytes : part, left) / b->stride;
		copies = MIN(MAX(copies, 1u), (uint64_t)COPIES_MAX);
	}
	if (copies > COPIES_MAX) {
		why_set(why, "%u copies of the weights: at most %d", b->config.copies, COPIES_MAX);
		return -EINVAL;
	}
	b->copies = (uint32_t)copies;

	uint64_t need = copies * b->stride + round_up(b->x_bytes, 64) + round_up(b->y_bytes, 64) +
			huge_page;
	uint64_t have = b->host.available_bytes;
	if (need > SIZE_MAX / 2 || (have && (need > have || have - need < spared_bytes))) {
		char n[TEXT_SIZE_MAX], h[TEXT_SIZE_MAX];
		why_set(why,
			"shape %ux%ux%u with %u copies of the weights needs %s of memory; "
			"%s are free, of which %d MiB stay untouched",
			s->m, s->k, s->n, b->copies, text_size(need, n), text_size(have, h),
			(int)(spared_bytes >> 20));
		return -ENOMEM;
	}
	b->map_bytes = need;
	return 0;
}

static int map_memory(struct stress_backend *b, struct why *why)
{
	void *p = mmap(
		NULL, b->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		char n[TEXT_SIZE_MAX];
		why_set(why, "%s of memory cannot be had: %s", text_size(b->map_bytes, n),
			strerror(errno));
		return -ENOMEM;
	}
	b->map = p;
	madvise(p, b->map_bytes,
		MADV_HUGEPAGE); /* fewer page walks; ignored where there are none */
	madvise(p, b->map_bytes, MADV_DONTDUMP);
	b->weights = (char *)round_up((size_t)b->map, huge_page);
	b->x = b->weights + b->copies * b->stride;
	b->y = (char *)b->x + round_up(b->x_bytes, 64);
	return 0;
}

static int fill_memory(struct stress_backend *b)
{
	const struct stress_shape *s = &b->config.shape;
	uint64_t start, end;
	stress_fill(b->x, 0, (size_t)s->m * s->k, b->config.dtype, STRESS_X, b->config.seed);
	memset(b->y, 0, b->y_bytes);
	for (uint32_t copy = 0; copy < b->copies; copy++) {
		struct task t = make_task(b, copy);
		stress_pool_run(b->pool, fill_part, &t, &start, &end);
		if (!b->lender->beat(b->lender)) {
			return -ECANCELED;
		}
	}
	return 0;
}

/* -- open: verify, choose by trial -------------------------------------------------- */

/*
 * Kernels of the same instruction set read W in one stream or in several; which is faster
 * depends on the core's prefetchers, so a short interleaved trial decides. All of them give
 * the same bits. Runs of different kernels cannot be compared, so the choice must not follow
 * the neighbours' noise: each is judged by its shortest launch, and the first one stays unless
 * another is clearly faster.
 */
static int choose_by_trial(struct stress_backend *b)
{
	enum { RIVALS = 4 };
	const struct gemm_kernel *rival[RIVALS], *first = b->kernel;
	uint64_t shortest[RIVALS];
	size_t n = 0, best = 0;
	for (const struct gemm_kernel *k = gemm_kernels(); k->name && n < RIVALS; k++) {
		if (k->dtype == first->dtype && k->needs == first->needs) {
			shortest[n] = UINT64_MAX;
			best = k == first ? n : best;
			rival[n++] = k;
		}
	}
	if (n < 2 || *b->config.kernel) {
		return 0;
	}
	for (size_t trial = 0; trial < TRIALS; trial++) {
		for (size_t i = 0; i < n; i++) {
			struct stress_sample s;
			b->kernel = rival[i];
			stress_cpu_gemm(b, take_copy(b), &s);
			shortest[i] = MIN(shortest[i], s.end_ns - s.start_ns);
			if (!b->lender->beat(b->lender)) {
				return -ECANCELED;
			}
		}
	}
	uint64_t limit = shortest[best] - shortest[best] / 8;
	b->kernel = first;
	for (size_t i = 0; i < n; i++) {
		if (shortest[i] < limit) {
			limit = shortest[i];
			b->kernel = rival[i];
		}
	}
	return 0;
}

static void verify(struct stress_backend *b)
{
	struct stress_sample s;
	stress_cpu_gemm(b, 0, &s);
	b->expected_ns = s.done_ns - s.submit_ns;
	struct task t = make_task(b, 0);
	stress_cpu_check(b, &t.gemm);
	b->golden_hash = stress_hash(b->y, b->y_bytes);
	b->golden_y = malloc(b->y_bytes);
	if (b->golden_y) {
		memcpy(b->golden_y, b->y, b->y_bytes);
	}
	b->golden_xor = stress_cpu_read(b, 0, b->reads[0], &s);
}

static void cpu_close(struct stress_backend *b)
{
	if (!b) {
		return;
	}
	stress_pool_destroy(b->pool);
	if (b->map) {
		munmap(b->map, b->map_bytes);
	}
	free(b->golden_y);
	free(b->partial);
	free(b);
}

static int prepare(struct stress_backend *b, struct why *why)
{
	int r = choose_threads(b, why);
	r = r ? r : choose_kernel(b, why);
	r = r ? r : choose_sizes(b, why);
	if (r) {
		return r;
	}
	choose_reads(b);
	b->partial = xcalloc((size_t)b->threads * 8, sizeof(*b->partial));
	/* The last CPUs: the first one is where most machines handle their interrupts. */
	const uint16_t *cpu = b->host.cpu + (b->host.cpus - b->threads);
	r = stress_pool_create(b->threads, cpu, &b->pool, &b->pin_errno, why);
	r = r ? r : map_memory(b, why);
	if (!r && (b->config.fill_bytes || b->config.fill_permille)) {
		r = stress_cpu_memory_test(b, why);
	}
	r = r ? r : fill_memory(b);
	r = r ? r : choose_by_trial(b);
	if (!r) {
		verify(b);
	}
	return r;
}

static int cpu_open(const struct stress_config *c, struct stress_lender *lender,
	struct stress_backend **ret, struct why *why)
{
	struct stress_backend *b = xcalloc(1, sizeof(*b));
	b->lender = lender;
	b->config = *c;
	if (c->mode != STRESS_ISOLATED) {
		why_set(why, "--mode %s is for cuda: a CPU has no queue of launches",
			stress_mode_name(c->mode));
		free(b);
		return -EINVAL;
	}
	if (c->layers) {
		why_set(why,
			"a token's chain of GEMMs is for cuda: give one GEMM, such as --shape 1x%ux%u",
			c->shape.k, c->shape.n);
		free(b);
		return -EINVAL;
	}
	stress_host_read("", &b->host);
	int r = prepare(b, why);
	if (r < 0) {
		cpu_close(b);
		return r;
	}
	*ret = b;
	return 0;
}

/* -- the rest of the contract --------------------------------------------------------- */

static int cpu_probe(struct stress_device *ret, size_t max, struct why *why)
{
	(void)why;
	struct stress_host host;
	stress_host_read("", &host);
	if (max > 0) {
		*ret = (struct stress_device){0};
		text_copy(ret->name, sizeof(ret->name), *host.model ? host.model : "CPU");
	}
	return 1;
}

static void cpu_facts(const struct stress_backend *b, struct stress_facts *ret)
{
	*ret = (struct stress_facts){
		.threads = b->threads,
		.copies = b->copies,
		.copy_bytes = b->weight_bytes,
		.cache_bytes = b->host.llc_bytes,
		.bytes = b->weight_bytes + b->x_bytes + b->y_bytes,
		.series = 1u << STRESS_GEMM | 1u << STRESS_READ,
		.read_kernels = b->bursts.loops,
		.probe_every = PROBE_EVERY,
		.warm_ns = warm_ns,
		.expected_ns = b->expected_ns,
		.max_error = b->max_error,
		.error_limit = b->error_limit,
		.golden_hash = b->golden_hash,
		.build = gemm_cpu_build() + STRESS_DATA_VERSION,
	};
	const char *isa = cpu_flag_name(b->kernel->needs);
	text_copy(ret->isa, sizeof(ret->isa), isa ? isa : "any");
	text_copy(ret->kernel, sizeof(ret->kernel), b->kernel->name);
	text_copy(ret->device, sizeof(ret->device), *b->host.model ? b->host.model : "CPU");
	if (b->pin_errno) {
		snprintf(ret->note, sizeof(ret->note),
			"the threads cannot be pinned and may be moved between cores: %s",
			strerror(b->pin_errno));
	}
}

static int cpu_iterate(struct stress_backend *b, enum stress_series series,
	struct stress_sample *ret, size_t max, struct why *why)
{
	(void)max;
	(void)why;
	struct stress_sample s = {
		.copy = take_copy(b),
		.flags = (uint32_t)series | STRESS_HAS_DEVICE | STRESS_HAS_HASH,
	};
	if (series == STRESS_READ) {
		unsigned loop = stress_bursts_choose(&b->bursts);
		s.hash = stress_cpu_read(b, s.copy, b->reads[loop], &s);
		if (s.hash != b->golden_xor) {
			struct stress_finding f = {.ns = s.submit_ns, .copy = s.copy};
			s.flags |= STRESS_MISMATCH;
			stress_cpu_tell_weights(b, &f);
		}
		stress_bursts_add(&b->bursts, loop, s.end_ns - s.start_ns);
	} else {
		stress_cpu_gemm(b, s.copy, &s);
		s.hash = stress_hash(b->y, b->y_bytes);
		if (s.hash != b->golden_hash) {
			stress_cpu_tell_apart(b, &s);
		}
	}
	*ret = s;
	return 1;
}

static bool cpu_ceiling(const struct stress_backend *b, size_t i, struct stress_ceiling *ret)
{
	if (i >= b->bursts.loops) {
		return false;
	}
	uint64_t ns = stress_bursts_median(&b->bursts, (unsigned)i);
	*ret = (struct stress_ceiling){
		.bytes_per_s = ns != UINT64_MAX ? (double)b->weight_bytes * 1e9 / (double)ns : 0,
		.bursts = b->bursts.loop[i].n,
	};
	text_copy(ret->name, sizeof(ret->name), b->reads[i]->name);
	return true;
}

void *stress_cpu_weights(struct stress_backend *b, uint32_t copy, size_t *ret_bytes)
{
	*ret_bytes = b->weight_bytes;
	return b->weights + copy * b->stride;
}

const struct stress_backend_ops stress_backend_cpu = {
	.name = "cpu",
	.probe = cpu_probe,
	.open = cpu_open,
	.facts = cpu_facts,
	.iterate = cpu_iterate,
	.ceiling = cpu_ceiling,
	.audit = stress_cpu_audit,
	.inject = stress_cpu_inject,
	.close = cpu_close,
};
