/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every kernel against the reference: odd shapes, strides, unaligned heads, canaries
 * around y, memory that ends where W and x end, the same bits for every split of N.
 * "check_gemm [SEED]"; the seed is printed, so a failure can be repeated. A kernel that
 * this CPU cannot run is named as skipped, and if only the reference is left the whole
 * test is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/text.h"
#include "kernels/cpu.h"
#include "kernels/gemm.h"
#include "kernels/gemm_ref.h"
#include "kernels/half.h"

enum { CANARY = 0xa5, CANARY_BYTES = 256 };

static unsigned failures;
static uint64_t state;

static uint64_t next_random(void)
{
	state += 0x9e3779b97f4a7c15u; /* splitmix64 */
	uint64_t z = state;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static size_t element(enum gemm_dtype dtype)
{
	return dtype == GEMM_F16 ? 2 : 4;
}

/* -- memory that ends at a page that cannot be read --------------------------------- */

struct fenced {
	char *map;
	size_t map_bytes;
	char *p; /* BYTES of them, the last one just before the fence */
};

static struct fenced fence(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t body = (bytes + page - 1) / page * page;
	struct fenced f = {.map_bytes = body + 2 * page};
	f.map = mmap(NULL, f.map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (f.map == MAP_FAILED || mprotect(f.map + page + body, page, PROT_NONE) < 0 ||
		mprotect(f.map, page, PROT_NONE) < 0) {
		perror("mmap");
		exit(1);
	}
	f.p = f.map + page + body - bytes;
	return f;
}

static void unfence(struct fenced *f)
{
	munmap(f->map, f->map_bytes);
}

/* -- values --------------------------------------------------------------------------- */

enum values { UNIFORM, WIDE, SPECIAL, VALUES };

static float value(enum values kind)
{
	uint64_t r = next_random();
	float f = (float)((double)(r >> 11) * 0x1p-52 - 1); /* -1 … 1 */
	switch (kind) {
	case WIDE: /* many orders of magnitude, subnormal FP16 numbers among them */
		return ldexpf(f, (int)(r % 20) - 17);
	case SPECIAL:
		switch (r % 16) {
		case 0:
			return 0;
		case 1:
			return -0.0f;
		case 2:
			return 0x1p-24f; /* the smallest FP16 number */
		default:
			return f;
		}
	default:
		return f;
	}
}

static void put(void *p, size_t i, enum gemm_dtype dtype, float f)
{
	if (dtype == GEMM_F16) {
		uint16_t h = gemm_half_from_float(f);
		memcpy((char *)p + 2 * i, &h, 2);
	} else {
		memcpy((char *)p + 4 * i, &f, 4);
	}
}

static double get(const void *p, size_t i, enum gemm_dtype dtype)
{
	if (dtype == GEMM_F16) {
		uint16_t h;
		memcpy(&h, (const char *)p + 2 * i, 2);
		return (double)gemm_half_to_float(h);
	}
	float f;
	memcpy(&f, (const char *)p + 4 * i, 4);
	return (double)f;
}

/* Fills ROWS × K of a matrix; what stands between the rows is poison: NaN. */
static void fill(void *p, size_t rows, size_t k, size_t ld, enum gemm_dtype dtype, enum values kind)
{
	size_t n = rows ? (rows - 1) * ld + k : 0;
	memset(p, 0xff, n * element(dtype));
	for (size_t r = 0; r < rows; r++) {
		for (size_t i = 0; i < k; i++) {
			put(p, r * ld + i, dtype, value(kind));
		}
	}
}

/* -- one case --------------------------------------------------------------------------- */

struct test_case {
	size_t m, k, n, ldx, ldw, ldy;
	enum values values;
};

struct operands {
	struct fenced x, w, y;
	struct gemm g;
	size_t y_bytes;
};

static void make(struct operands *o, const struct test_case *t, enum gemm_dtype dtype)
{
	size_t e = element(dtype);
	o->y_bytes = ((t->m - 1) * t->ldy + t->n) * e;
	o->x = fence(((t->m - 1) * t->ldx + t->k) * e);
	o->w = fence(((t->n - 1) * t->ldw + t->k) * e);
	o->y = fence(o->y_bytes + 2 * CANARY_BYTES);
	fill(o->x.p, t->m, t->k, t->ldx, dtype, t->values);
	fill(o->w.p, t->n, t->k, t->ldw, dtype, t->values);
	memset(o->y.p, CANARY, o->y_bytes + 2 * CANARY_BYTES);
	o->g = (struct gemm){
		.m = t->m,
		.n = t->n,
		.k = t->k,
		.n1 = t->n,
		.dtype = dtype,
		.x = o->x.p,
		.w = o->w.p,
		.y = o->y.p + CANARY_BYTES,
		.ldx = t->ldx,
		.ldw = t->ldw,
		.ldy = t->ldy,
	};
}

static void unmake(struct operands *o)
{
	unfence(&o->x);
	unfence(&o->w);
	unfence(&o->y);
}

static void complain(const struct gemm_kernel *k, const struct test_case *t, const char *what)
{
	printf("FAIL %s %s %zux%zux%zu ld %zu/%zu/%zu values %d: %s\n", k->name,
		k->dtype == GEMM_F16 ? "f16" : "f32", t->m, t->k, t->n, t->ldx, t->ldw, t->ldy,
		t->values, what);
	failures++;
}

static bool all_canary(const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if ((unsigned char)p[i] != CANARY) {
			return false;
		}
	}
	return true;
}

/* Nothing but the rows' elements from column N0 to N1 was written. */
static bool only_these_written(const struct operands *o, size_t n0, size_t n1)
{
	const struct gemm *g = &o->g;
	size_t e = element(g->dtype);
	const char *y = g->y;
	if (!all_canary(o->y.p, CANARY_BYTES) || !all_canary(y + o->y_bytes, CANARY_BYTES)) {
		return false;
	}
	for (size_t m = 0; m < g->m; m++) {
		const char *row = y + m * g->ldy * e;
		size_t width = (m + 1 < g->m ? g->ldy : g->n) * e;
		if (!all_canary(row, n0 * e) || !all_canary(row + n1 * e, width - n1 * e)) {
			return false;
		}
	}
	return true;
}

static void check_values(
	const struct gemm_kernel *k, const struct test_case *t, const struct operands *o)
{
	for (size_t m = 0; m < t->m; m++) {
		for (size_t n = 0; n < t->n; n++) {
			const struct gemm_ref_sum ref = gemm_ref_sum(&o->g, m, n);
			double y = get(o->g.y, m * t->ldy + n, k->dtype);
			/* NaN fails, too */
			if (!(gemm_error(&ref, y, k->dtype) <=
				    gemm_error_bound(&ref, t->k, k->dtype))) {
				char what[120];
				snprintf(what, sizeof(what), "y[%zu][%zu] is %.9g, not %.9g", m, n,
					y, ref.sum);
				complain(k, t, what);
				return;
			}
		}
	}
}

static void check_case(const struct gemm_kernel *k, const struct test_case *t)
{
	struct operands o;
	make(&o, t, k->dtype);
	k->run(&o.g);
	if (!only_these_written(&o, 0, t->n)) {
		complain(k, t, "wrote outside of y");
	}
	check_values(k, t, &o);

	/* Any split of N gives the same bits, and touches its own columns only. */
	char *whole = malloc(o.y_bytes);
	memcpy(whole, o.g.y, o.y_bytes);
	for (int i = 0; i < 3; i++) {
		size_t cut = next_random() % (t->n + 1);
		memset(o.y.p, CANARY, o.y_bytes + 2 * CANARY_BYTES);
		o.g.n0 = 0;
		o.g.n1 = cut;
		k->run(&o.g);
		if (!only_these_written(&o, 0, cut)) {
			complain(k, t, "a part wrote outside of its columns");
		}
		o.g.n0 = cut;
		o.g.n1 = t->n;
		k->run(&o.g);
		if (memcmp(whole, o.g.y, o.y_bytes)) {
			complain(k, t, "another split of N gives other bits");
		}
	}
	free(whole);
	unmake(&o);
}

/* -- the cases -------------------------------------------------------------------------- */

static const struct test_case fixed[] = {
	{1, 1, 1, 1, 1, 1, UNIFORM},
	{1, 4096, 32, 4096, 4096, 32, UNIFORM},
	{1, 11008, 9, 11008, 11008, 9, UNIFORM},
	{16, 512, 40, 512, 512, 40, UNIFORM},
	{17, 100, 13, 100, 100, 13, UNIFORM},       /* more than one block of x */
	{33, 1030, 5, 1031, 1033, 7, UNIFORM},      /* odd strides: heads on odd addresses */
	{1, 40000, 6, 40000, 40001, 6, UNIFORM},    /* K in chunks */
	{5, 7000, 1100, 7000, 7000, 1100, UNIFORM}, /* chunks and panels */
	{2, 4095, 1027, 4095, 4097, 1027, WIDE},
	{3, 129, 30, 140, 131, 33, SPECIAL},
};

static void check_kernel(const struct gemm_kernel *k)
{
	bool slow = !k->needs; /* the reference is checked against itself: less of it will do */
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
		const struct test_case *t = &fixed[i];
		if (!slow || t->m * t->k * t->n < 1000000) {
			check_case(k, t);
		}
	}
	/* Every length of the tail, every number of rows that streams can leave over. */
	for (size_t len = 1; len <= 70; len++) {
		struct test_case t = {
			1 + len % 4, len, 1 + len % 11, len, len, 1 + len % 11, UNIFORM};
		check_case(k, &t);
	}
	for (int i = 0; i < (slow ? 20 : 150); i++) {
		struct test_case t = {
			.m = 1 + next_random() % 18,
			.k = 1 + next_random() % 600,
			.n = 1 + next_random() % 90,
			.values = (enum values)(next_random() % VALUES),
		};
		t.ldx = t.k + next_random() % 9;
		t.ldw = t.k + next_random() % 9;
		t.ldy = t.n + next_random() % 9;
		check_case(k, &t);
	}
}

/* Infinities and NaN come out where they went in, and nowhere else. */
static void check_not_finite(const struct gemm_kernel *k)
{
	struct test_case t = {2, 77, 9, 77, 77, 9, UNIFORM};
	struct operands o;
	make(&o, &t, k->dtype);
	put(o.w.p, 3 * 77 + 76, k->dtype, INFINITY);
	put(o.w.p, 5 * 77 + 10, k->dtype, NAN);
	k->run(&o.g);
	for (size_t m = 0; m < t.m; m++) {
		for (size_t n = 0; n < t.n; n++) {
			double y = get(o.g.y, m * t.ldy + n, k->dtype);
			if (n == 3 ? !isinf(y) : n == 5 ? !isnan(y) : !isfinite(y)) {
				complain(k, &t, "infinity or NaN in the wrong place");
			}
		}
	}
	unmake(&o);
}

/* -- read-only loops -------------------------------------------------------------------- */

static void check_read(const struct read_kernel *r)
{
	for (int i = 0; i < 200; i++) {
		size_t bytes = i < 100 ? (size_t)i : next_random() % 20000;
		struct fenced f = fence(bytes ? bytes : 1);
		uint64_t expected = 0;
		for (size_t k = 0; k < bytes; k++) {
			f.p[k] = (char)next_random();
			expected ^= (uint64_t)(unsigned char)f.p[k] << k % 8 * 8;
		}
		if (r->run(f.p, bytes) != expected) {
			/* Streams start at multiples of the step, so words keep their place. */
			printf("FAIL read %s: %zu bytes\n", r->name, bytes);
			failures++;
			return;
		}
		unfence(&f);
	}
}

/* -- main --------------------------------------------------------------------------------- */

static void seed_from(int argc, char **argv)
{
	state = (uint64_t)time(NULL) * 1000003u ^ (uint64_t)getpid();
	if (argc > 1 && text_parse_u64(argv[1], 10, &state) < 0) {
		fprintf(stderr, "usage: check_gemm [SEED]\n");
		exit(3);
	}
	printf("seed %llu\n", (unsigned long long)state);
}

int main(int argc, char **argv)
{
	seed_from(argc, argv);
	unsigned flags = cpu_flags(), skipped = 0, checked = 0;
	for (const struct gemm_kernel *k = gemm_kernels(); k->name; k++) {
		const char *dtype = k->dtype == GEMM_F16 ? "f16" : "f32";
		if ((k->needs & flags) != k->needs) {
			printf("SKIP %s %s: this CPU has no %s\n", k->name, dtype,
				cpu_flag_name(k->needs));
			skipped++;
			continue;
		}
		unsigned before = failures;
		check_kernel(k);
		check_not_finite(k);
		checked += k->needs != 0;
		printf("%s gemm %s %s\n", failures == before ? "ok" : "BAD", k->name, dtype);
	}
	for (const struct read_kernel *r = read_kernels(); r->name; r++) {
		if ((r->needs & flags) != r->needs) {
			printf("SKIP read %s: this CPU has no %s\n", r->name,
				cpu_flag_name(r->needs));
			skipped++;
			continue;
		}
		unsigned before = failures;
		check_read(r);
		printf("%s read %s\n", failures == before ? "ok" : "BAD", r->name);
	}
	printf("%u failures, %u skipped\n", failures, skipped);
	if (failures) {
		return 1;
	}
	if (!checked) {
		printf("no kernel but the reference can run on this CPU\n");
		return 77;
	}
	return 0;
}
