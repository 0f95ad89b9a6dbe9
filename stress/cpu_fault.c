/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What comes out wrong on the CPU, what changes in memory, and what is broken on purpose. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/macros.h"
#include "kernels/gemm_ref.h"
#include "kernels/hash.h"
#include "stress/backend_cpu.h"
#include "stress/data.h"

enum { REPEATS = 3, TELL_MAX = 8 };

static const uint64_t check_terms = (uint64_t)1 << 24; /* products in FP64 */

void stress_cpu_check(struct stress_backend *b, const struct gemm *g)
{
	const uint64_t all = (uint64_t)g->m * g->n;
	const uint64_t checked = MIN(MAX(check_terms / g->k, 16u), all);
	double worst = -1;
	for (uint64_t i = 0; i < checked; i++) {
		const uint64_t at = all / checked * i + all % checked * i / checked;
		const size_t m = (size_t)(at / g->n), n = (size_t)(at % g->n);
		const struct gemm_ref_sum ref = gemm_ref_sum(g, m, n);
		const double bound = gemm_error_bound(&ref, g->k, g->dtype);
		const double error = gemm_error(&ref, gemm_ref_element(g, m, n), g->dtype);
		const double unit = ref.magnitude > 0 ? ref.magnitude : 1;
		const double share = error == error ? error / bound : INFINITY;
		if (share > worst) {
			worst = share;
			b->max_error = error == error ? error / unit : 1;
			b->error_limit = bound / unit;
		}
	}
}

/* Where a copy, or x, differs from the numbers that the seed gives. */
static void compare_memory(
	const struct stress_backend *b, enum stress_matrix matrix, struct stress_finding *f)
{
	const size_t e = stress_dtype_size(b->config.dtype);
	const char *p = matrix == STRESS_X ? b->x : b->weights + f->copy * b->stride;
	const size_t all = (matrix == STRESS_X ? b->x_bytes : b->weight_bytes) / e;
	uint64_t was[1024];
	const size_t part = sizeof(was) / e;
	for (size_t at = 0; at < all; at += part) {
		const size_t n = MIN(part, all - at);
		stress_fill(was, at, n, b->config.dtype, matrix, b->config.seed);
		stress_finding_words(f, p + at * e, was, n * e, at * e, (uint64_t)(uintptr_t)p);
	}
}

static void tell(struct stress_backend *b, const struct stress_finding *f)
{
	if (b->told_apart++ < TELL_MAX) {
		b->lender->found(b->lender, f);
	}
}

void stress_cpu_tell_weights(struct stress_backend *b, struct stress_finding *f)
{
	f->kind = STRESS_WRONG_WEIGHTS;
	compare_memory(b, STRESS_W, f);
	tell(b, f);
}

void stress_cpu_tell_apart(struct stress_backend *b, const struct stress_sample *s)
{
	struct stress_finding f = {.ns = s->submit_ns, .copy = s->copy, .hash = s->hash};
	struct stress_sample again = {0};
	if (b->told_apart >= TELL_MAX) {
		return;
	}
	if (b->golden_y) {
		stress_finding_outputs(&f, b->y, b->golden_y,
			b->y_bytes / stress_dtype_size(b->config.dtype), b->config.shape.n,
			stress_dtype_size(b->config.dtype));
	}
	if (stress_cpu_read(b, f.copy, b->reads[0], &again) != b->golden_xor) {
		stress_cpu_tell_weights(b, &f);
		return;
	}
	compare_memory(b, STRESS_X, &f);
	for (; f.repeated < REPEATS; f.repeated++) {
		stress_cpu_gemm(b, f.copy, &again);
		f.repeated_wrong += stress_hash(b->y, b->y_bytes) != b->golden_hash;
	}
	f.kind = f.words            ? STRESS_WRONG_X
		 : f.repeated_wrong ? STRESS_WRONG_REPEATED
				    : STRESS_WRONG_TRANSIENT;
	tell(b, &f);
}

int stress_cpu_audit(struct stress_backend *b, struct why *why)
{
	struct stress_finding f = {.ns = clock_ns(), .copy = b->next_audit};
	struct stress_sample s = {0};
	(void)why;
	b->next_audit = (b->next_audit + 1) % b->copies;
	if (stress_cpu_read(b, f.copy, b->reads[0], &s) == b->golden_xor) {
		return 0;
	}
	stress_cpu_tell_weights(b, &f);
	return 1;
}

int stress_cpu_inject(struct stress_backend *b, enum stress_inject what, struct why *why)
{
	(void)why;
	b->inject = what;
	if (what == STRESS_INJECT_WEIGHT) {
		const uint64_t chosen = gemm_hash_element(b->config.seed & 0xffffffff, 77);
		char *copy = b->weights + chosen % b->copies * b->stride;
		copy[chosen / 64 % b->weight_bytes] ^= (char)(1 << (chosen >> 32) % 8);
	}
	return 0;
}

/* -- the memory that the copies take ------------------------------------------------------- */

struct pattern {
	struct stress_backend *b;
	uint64_t seed;
	uint32_t copy;
	bool check;
};

/* What a thread finds: in its line of b->partial. */
struct broken {
	uint64_t words, first, last;
};

static void pattern_part(void *context, unsigned index)
{
	const struct pattern *t = context;
	struct stress_backend *b = t->b;
	const size_t words = b->stride / 8;
	struct broken *out = (struct broken *)&b->partial[(size_t)index * 8];
	uint64_t *p = (uint64_t *)(void *)(b->weights + t->copy * b->stride);
	for (size_t i = words * index / b->threads; i < words * (index + 1) / b->threads; i++) {
		const uint64_t want = gemm_pattern((uintptr_t)&p[i], t->seed);
		if (!t->check) {
			p[i] = want;
		} else if (*(volatile uint64_t *)&p[i] != want) {
			out->first = out->words++ ? out->first : (uintptr_t)&p[i];
			out->last = (uintptr_t)&p[i];
		}
	}
}

/* All copies written, or all read; what is broken adds up in ALL. */
static int pattern_pass(struct stress_backend *b, uint64_t seed, bool check, struct broken *all)
{
	uint64_t start, end;
	for (uint32_t copy = 0; copy < b->copies; copy++) {
		struct pattern t = {.b = b, .seed = seed, .copy = copy, .check = check};
		memset(b->partial, 0, (size_t)b->threads * 8 * sizeof(*b->partial));
		stress_pool_run(b->pool, pattern_part, &t, &start, &end);
		for (unsigned i = 0; check && i < b->threads; i++) {
			const struct broken *one = (struct broken *)&b->partial[(size_t)i * 8];
			if (one->words) {
				all->first = all->words ? all->first : one->first;
				all->last = one->last;
				all->words += one->words;
			}
		}
		if (!b->lender->beat(b->lender)) {
			return -ECANCELED;
		}
	}
	return 0;
}

int stress_cpu_memory_test(struct stress_backend *b, struct why *why)
{
	struct broken all = {0};
	uint64_t seed = b->config.seed;
	int r = 0;
	for (unsigned i = 0; !r && !all.words && i < 2; i++) {
		seed = i ? ~b->config.seed : b->config.seed;
		r = pattern_pass(b, seed, false, &all);
		r = r ? r : pattern_pass(b, seed, true, &all);
	}
	if (r || !all.words) {
		return r;
	}
	const uint64_t offset = all.first - (uintptr_t)b->weights;
	const uint64_t want = gemm_pattern(all.first, seed);
	struct stress_finding f = {
		.kind = STRESS_WRONG_MEMORY,
		.ns = clock_ns(),
		.copy = (uint32_t)(offset / b->stride),
		.words = all.words,
		.offset = offset % b->stride,
		.address = all.first,
		.word_is = (uint32_t) * (uint64_t *)(void *)(b->weights + offset),
		.word_was = (uint32_t)want,
	};
	b->lender->found(b->lender, &f);
	why_set(why,
		"memory does not keep what is written: %llu words of 8 bytes from address 0x%llx to "
		"0x%llx, the first in copy %u of %u",
		(unsigned long long)all.words, (unsigned long long)all.first,
		(unsigned long long)all.last, f.copy, b->copies);
	return -EIO;
}
