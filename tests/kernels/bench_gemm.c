/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every kernel and every read-only loop that this CPU can run, interleaved over rotating
 * copies of the weights in one thread: a ratio within one run is worth something even on
 * a machine with neighbours. "bench_gemm [--hot] [MxKxN [ROUNDS]]"; --hot: one copy of a
 * shape that fits into the cache tells what the arithmetic alone costs.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/macros.h"
#include "kernels/cpu.h"
#include "kernels/gemm.h"
#include "kernels/half.h"

enum { RUNNERS_MAX = 32, ROUNDS_MAX = 1001 };

struct runner {
	const struct gemm_kernel *gemm;
	const struct read_kernel *read;
	uint64_t ns[ROUNDS_MAX];
};

struct bench {
	size_t m, k, n, copies;
	enum gemm_dtype dtype;
	size_t bytes; /* of one copy */
	char *weights;
	void *x, *y;
	volatile uint64_t sink; /* so that no read is left out */
};

static size_t element(enum gemm_dtype dtype)
{
	return dtype == GEMM_F16 ? 2 : 4;
}

static void *big(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	madvise(p, bytes, MADV_HUGEPAGE);
	return p;
}

static void fill(void *p, size_t n, enum gemm_dtype dtype)
{
	uint64_t z = 1;
	for (size_t i = 0; i < n; i++) {
		z = z * 6364136223846793005u + 1442695040888963407u;
		float f = (float)((double)(z >> 11) * 0x1p-52 - 1);
		if (dtype == GEMM_F16) {
			((uint16_t *)p)[i] = gemm_half_from_float(f);
		} else {
			((float *)p)[i] = f;
		}
	}
}

static void prepare(struct bench *b)
{
	b->bytes = b->k * b->n * element(b->dtype);
	b->weights = big(b->bytes * b->copies);
	b->x = big(b->m * b->k * element(b->dtype));
	b->y = big(b->m * b->n * element(b->dtype));
	fill(b->x, b->m * b->k, b->dtype);
	fill(b->weights, b->k * b->n, b->dtype);
	for (size_t i = 1; i < b->copies; i++) {
		memcpy(b->weights + i * b->bytes, b->weights, b->bytes);
	}
}

static void run(struct bench *b, const struct runner *r, size_t copy)
{
	char *w = b->weights + copy * b->bytes;
	if (r->read) {
		b->sink ^= r->read->run(w, b->bytes);
		return;
	}
	struct gemm g = {
		.m = b->m,
		.n = b->n,
		.k = b->k,
		.n1 = b->n,
		.dtype = b->dtype,
		.x = b->x,
		.w = w,
		.y = b->y,
		.ldx = b->k,
		.ldw = b->k,
		.ldy = b->n,
	};
	r->gemm->run(&g);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void report(const struct bench *b, struct runner *runner, size_t n, size_t rounds)
{
	uint64_t ceiling = UINT64_MAX;
	for (size_t i = 0; i < n; i++) {
		qsort(runner[i].ns, rounds, sizeof(uint64_t), by_value);
		if (runner[i].read) {
			ceiling = MIN(ceiling, runner[i].ns[rounds / 2]);
		}
	}
	printf("%zux%zux%zu %s, %zu copies of %.1f MB, 1 thread, %zu rounds, medians\n", b->m, b->k,
		b->n, b->dtype == GEMM_F16 ? "f16" : "f32", b->copies, (double)b->bytes / 1e6,
		rounds);
	for (size_t i = 0; i < n; i++) {
		uint64_t p50 = runner[i].ns[rounds / 2];
		printf("  %-4s %-22s %9.3f ms %7.1f GB/s  share of the best read %.3f\n",
			runner[i].read ? "read" : "gemm",
			runner[i].read ? runner[i].read->name : runner[i].gemm->name,
			(double)p50 / 1e6, (double)b->bytes / (double)p50,
			(double)ceiling / (double)p50);
	}
}

static size_t choose(struct runner *runner, enum gemm_dtype dtype)
{
	unsigned flags = cpu_flags();
	size_t n = 0;
	for (const struct read_kernel *r = read_kernels(); r->name; r++) {
		if ((r->needs & flags) == r->needs && n < RUNNERS_MAX) {
			runner[n++].read = r;
		}
	}
	for (const struct gemm_kernel *g = gemm_kernels(); g->name; g++) {
		/* The reference takes a hundred times as long: it is no competitor. */
		if (g->dtype == dtype && g->needs && (g->needs & flags) == g->needs &&
			n < RUNNERS_MAX) {
			runner[n++].gemm = g;
		}
	}
	return n;
}

int main(int argc, char **argv)
{
	struct bench b = {.m = 1, .k = 4096, .n = 11008, .copies = 3, .dtype = GEMM_F16};
	size_t rounds = 15;
	int at = 1;
	for (; at < argc && argv[at][0] == '-'; at++) {
		if (!strcmp(argv[at], "--hot")) {
			b.copies = 1;
		} else if (!strcmp(argv[at], "--f32")) {
			b.dtype = GEMM_F32;
		}
	}
	if (at < argc && sscanf(argv[at], "%zux%zux%zu", &b.m, &b.k, &b.n) != 3) {
		fprintf(stderr, "usage: bench_gemm [--hot] [--f32] [MxKxN [ROUNDS]]\n");
		return 3;
	}
	if (at + 1 < argc) {
		rounds = MIN(strtoul(argv[at + 1], NULL, 10), ROUNDS_MAX);
	}
	cpu_set_t all, one;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all) == 0) {
		for (int i = 0; i < CPU_SETSIZE; i++) {
			if (CPU_ISSET(i, &all)) {
				CPU_ZERO(&one);
				CPU_SET(i, &one); /* the last one */
			}
		}
		sched_setaffinity(0, sizeof(one), &one);
	}
	prepare(&b);
	static struct runner runner[RUNNERS_MAX];
	size_t n = choose(runner, b.dtype), copy = 0;
	for (size_t round = 0; round < rounds; round++) {
		for (size_t i = 0; i < n; i++) {
			uint64_t began = clock_ns();
			run(&b, &runner[i], copy);
			runner[i].ns[round] = clock_ns() - began;
			copy = (copy + 1) % b.copies;
		}
	}
	report(&b, runner, n, rounds);
	return 0;
}
