/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "kernels/cuda/table.h"

#include <string.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Made by the build from the PTX in this folder (embed.py). */
extern const char gemm_cuda_ptx_basic[], gemm_cuda_ptx_probe[], gemm_cuda_ptx_gemm80[],
	gemm_cuda_ptx_gemm90[];

static const struct gemm_cuda_ptx modules[GEMM_CUDA_MODULES] = {
	[GEMM_CUDA_BASIC] = {"basic", 80, gemm_cuda_ptx_basic},
	[GEMM_CUDA_PROBE] = {"probe", 80, gemm_cuda_ptx_probe},
	[GEMM_CUDA_GEMM80] = {"gemm80", 80, gemm_cuda_ptx_gemm80},
	[GEMM_CUDA_GEMM90] = {"gemm90", 90, gemm_cuda_ptx_gemm90},
};

const struct gemm_cuda_ptx *gemm_cuda_ptx(enum gemm_cuda_module m)
{
	return &modules[m];
}

/* FNV-1a, 64 bits. */
uint64_t gemm_cuda_build(void)
{
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < GEMM_CUDA_MODULES; i++) {
		for (const char *p = modules[i].text; *p; p++) {
			h = (h ^ (unsigned char)*p) * 0x100000001b3u;
		}
	}
	return h;
}

struct gemm_cuda_times gemm_cuda_sum(const struct gemm_cuda_stamp *s)
{
	struct gemm_cuda_times t = {
		.start = ~s->start_inv, .cycles = s->cycles, .block_ns = s->block_ns};

	for (size_t i = 0; i < GEMM_CUDA_ENDS; i++) {
		t.end = s->end[i].ns > t.end ? s->end[i].ns : t.end;
		t.hash += s->end[i].hash;
		t.blocks += s->end[i].blocks;
	}
	return t;
}

#define TILED(tm, tn, tk)                                                                          \
	{                                                                                          \
		.name = "tiled_" #tm "x" #tn "x" #tk, .family = GEMM_CUDA_TILED,                   \
		.module = GEMM_CUDA_BASIC, .m = tm, .n = tn, .k = tk, .warps = (tn) / 32           \
	}
#define F32(mt)                                                                                    \
	{                                                                                          \
		.name = "f32_m" #mt, .family = GEMM_CUDA_F32, .module = GEMM_CUDA_BASIC,           \
		.dtype = GEMM_F32, .m = mt, .n = 4, .k = 128, .warps = 8                           \
	}
#define GEMV(mt, rows, unroll, w)                                                                  \
	{                                                                                          \
		.name = "gemv_m" #mt "_r" #rows "_u" #unroll "_w" #w, .family = GEMM_CUDA_GEMV,    \
		.module = GEMM_CUDA_GEMM80, .m = mt, .n = rows, .k = 256, .warps = w,              \
		.depth = (unroll) * (rows)                                                         \
	}
#define MMA(mt, d)                                                                                 \
	{.name = "mma_m" #mt "_d" #d,                                                              \
		.family = GEMM_CUDA_MMA,                                                           \
		.module = GEMM_CUDA_GEMM80,                                                        \
		.m = mt,                                                                           \
		.n = 16,                                                                           \
		.k = 512,                                                                          \
		.warps = 8,                                                                        \
		.depth = d},                                                                       \
	{                                                                                          \
		.name = "mma_m" #mt "_d" #d "_xg", .family = GEMM_CUDA_MMA,                        \
		.module = GEMM_CUDA_GEMM80, .m = mt, .n = 16, .k = 512, .warps = 8, .depth = d,    \
		.x_global = true                                                                   \
	}
#define BULK_AS(suffix, steps, chunk, s, a, d, r)                                                  \
	{                                                                                          \
		.name = "bulk_k" #steps "_c" #chunk "_s" #s suffix,                                \
		.entry = "bulk_k" #steps "_c" #chunk "_s" #s, .family = GEMM_CUDA_BULK,            \
		.module = GEMM_CUDA_GEMM90, .m = 16, .n = 8, .k = (chunk)*480, .warps = 16,        \
		.depth = steps, .split = s, .ahead = a, .dependent = d, .x_ready = r               \
	}
#define BULK(steps, chunk, s)                                                                      \
	BULK_AS("", steps, chunk, s, false, false, false),                                         \
		BULK_AS("_a", steps, chunk, s, true, false, false),                                \
		BULK_AS("_d", steps, chunk, s, false, true, false),                                \
		BULK_AS("_ad", steps, chunk, s, true, true, false),                                \
		BULK_AS("_r", steps, chunk, s, false, true, true)
#define PAIR_AS(suffix, w, steps, chunk, s, l, f, r)                                               \
	{                                                                                          \
		.name = "pair_k" #steps "_c" #chunk "_s" #s suffix,                                \
		.entry = "pair_k" #steps "_c" #chunk "_s" #s, .family = GEMM_CUDA_BULK,            \
		.module = GEMM_CUDA_GEMM90, .m = 16, .n = 8, .k = (chunk)*32 * (w),                \
		.warps = w + 1, .depth = steps, .split = s, .ahead = true, .dependent = true,      \
		.x_ready = r, .pair = true, .late = l, .fetch = f                                  \
	}
#define PAIR(w, steps, chunk, s, f)                                                                \
	PAIR_AS("_d70", w, steps, chunk, s, 70, f, false),                                         \
		PAIR_AS("_r70", w, steps, chunk, s, 70, f, true),                                  \
		PAIR_AS("_r100", w, steps, chunk, s, 100, f, true)

static const struct gemm_cuda_kernel kernels[] = {
	{.name = "naive",
		.family = GEMM_CUDA_NAIVE,
		.module = GEMM_CUDA_BASIC,
		.m = 1,
		.n = 128,
		.warps = 4},
	{.name = "naive_acc16",
		.family = GEMM_CUDA_NAIVE,
		.module = GEMM_CUDA_BASIC,
		.wrong = true,
		.m = 1,
		.n = 128,
		.warps = 4},
	TILED(1, 64, 16),
	TILED(1, 128, 16),
	TILED(4, 64, 16),
	TILED(8, 128, 16),
	TILED(16, 128, 16),
	TILED(1, 128, 64),
	TILED(8, 128, 64),
	F32(1),
	F32(2),
	F32(4),
	F32(8),
	GEMV(1, 2, 2, 8),
	GEMV(1, 1, 4, 8),
	GEMV(1, 1, 8, 4),
	GEMV(1, 2, 4, 8),
	GEMV(1, 4, 2, 4),
	GEMV(2, 2, 1, 8),
	GEMV(2, 1, 4, 8),
	GEMV(2, 2, 4, 4),
	GEMV(2, 4, 2, 4),
	MMA(8, 4),
	MMA(8, 6),
	MMA(16, 4),
	BULK(5, 5, 1),
	BULK(9, 3, 1),
	BULK(9, 5, 1),
	BULK(5, 5, 2),
	BULK(9, 5, 2),
	BULK(12, 4, 2),
	BULK(6, 3, 4),
	BULK(9, 5, 4),
	BULK(12, 6, 4),
	PAIR(7, 10, 5, 2, 0),
	PAIR(8, 6, 6, 8, 1),
	{.name = NULL},
};

const struct gemm_cuda_kernel *gemm_cuda_kernels(void)
{
	return kernels;
}

const struct gemm_cuda_kernel *gemm_cuda_find(const char *name)
{
	for (const struct gemm_cuda_kernel *k = kernels; k->name; k++) {
		if (!strcmp(k->name, name)) {
			return k;
		}
	}
	return NULL;
}

const char *gemm_cuda_entry(const struct gemm_cuda_kernel *k)
{
	return k->entry ? k->entry : k->name;
}

static uint32_t up(uint32_t v, uint32_t to)
{
	return (v + to - 1) / to * to;
}

/* As mma_ring of gemm80.cu lays out its shared memory. */
static bool plan_mma(const struct gemm_cuda_kernel *k, const struct gemm_cuda_device *d, uint32_t m,
	uint32_t n, uint32_t kk, uint32_t blocks_per_sm, struct gemm_cuda_plan *ret)
{
	const uint32_t sums = 2u * k->warps * (k->m / 8u) * 640u;
	const uint64_t x = k->x_global ? 0 : (uint64_t)up(kk, 32) / 32 * m * 64;
	const uint64_t shared = sums + (uint64_t)k->warps * k->depth * 2048 + x;

	if (shared > d->shared) {
		return false;
	}
	ret->shared = (uint32_t)shared;
	ret->grid_x = d->sms * (blocks_per_sm ? blocks_per_sm : 1);
	ret->rows = n / ret->grid_x;
	ret->rest = n % ret->grid_x;
	return true;
}

/* As mma_bulk of gemm90.cu does. */
static bool plan_bulk(const struct gemm_cuda_kernel *k, const struct gemm_cuda_device *d,
	uint32_t m, uint32_t n, uint32_t kk, uint32_t clusters, struct gemm_cuda_plan *ret)
{
	enum { MAX_STAGES = 15, MIN_STAGES = 3, OUTS = 128, RESERVED = 1024 };
	const uint32_t warps = k->warps - 1u, group = warps * 32;
	const uint32_t groups = clusters ? clusters : d->sms / k->split;
	/* Of what an SM has, the driver takes some for each block. */
	const uint32_t room = k->pair ? (d->shared + RESERVED) / 2 - RESERVED : d->shared;
	const uint32_t slice = (kk / 32 + k->split - 1u) / k->split * 32;
	const uint32_t chunks = (k->depth * group + k->k - 1) / k->k;
	const uint32_t stage = (up(k->k * 2u, 128) + 64) * 8;

	if (groups == 0 || m > k->m || kk % 32 || slice > k->depth * group ||
		kk <= slice * (k->split - 1u) ||
		kk - slice * (k->split - 1u) <= (chunks - 1) * k->k) {
		return false;
	}
	const uint32_t rows = n / groups, rest = n % groups;

	ret->tiles = (rows + (rest > 0) + 7) / 8;
	uint32_t used = 384 + 2 * warps * (OUTS + 4) * 4;

	if (k->split > 1) {
		used += k->split * ((ret->tiles + k->split - 1) / k->split * OUTS * 4);
	}
	used = up(used, 128);
	if (used + MIN_STAGES * stage > room) {
		return false;
	}
	uint32_t stages = (room - used) / stage;

	ret->stages = stages < MAX_STAGES ? stages : MAX_STAGES;
	ret->shared = used + ret->stages * stage;
	/* 72 KiB on their way suffice; more only make the last ones wait for one another. */
	const uint32_t window = (72 * 1024 + stage / 2) / stage;

	ret->window = window < ret->stages ? window : ret->stages;
	ret->ahead = k->ahead && ret->stages > ret->window ? ret->stages : ret->window;
	const uint32_t total = ret->tiles * chunks, late = k->late * 1024u / stage;

	ret->fetch = k->fetch;
	ret->launch_at = k->pair && late < total ? total - late : 0;
	ret->rows = rows;
	ret->rest = rest;
	ret->tile_rows = rows / ret->tiles;
	ret->tile_more = rows % ret->tiles;
	ret->cluster = k->split;
	ret->grid_x = groups * k->split;
	return true;
}

bool gemm_cuda_plan(const struct gemm_cuda_kernel *k, const struct gemm_cuda_device *d, uint32_t m,
	uint32_t n, uint32_t kk, bool vec, uint32_t blocks_per_sm, uint32_t clusters,
	struct gemm_cuda_plan *ret)
{
	struct gemm_cuda_plan p = {.grid_y = 1, .threads = k->warps * 32u, .cluster = 1};

	if (d->cc < modules[k->module].cc) {
		return false;
	}
	switch (k->family) {
	case GEMM_CUDA_NAIVE:
	case GEMM_CUDA_TILED:
		p.grid_x = (n + k->n - 1) / k->n;
		p.grid_y = (m + k->m - 1) / k->m;
		break;
	case GEMM_CUDA_F32:
		p.grid_x = (n + k->n * k->warps - 1u) / (k->n * k->warps);
		p.grid_y = (m + k->m - 1) / k->m;
		break;
	case GEMM_CUDA_GEMV:
		if (!vec || m != k->m) {
			return false;
		}
		p.grid_x = (n + k->n * k->warps - 1u) / (k->n * k->warps);
		break;
	case GEMM_CUDA_MMA:
		if (!vec || m > k->m || !plan_mma(k, d, m, n, kk, blocks_per_sm, &p)) {
			return false;
		}
		break;
	case GEMM_CUDA_BULK:
		if (!vec || !plan_bulk(k, d, m, n, kk, clusters, &p)) {
			return false;
		}
		break;
	}
	*ret = p;
	return true;
}

/*
 * Lower is tried first. Measured on an H200 (docs/BENCHMARKS.md): blocks in a cluster pay once
 * x no longer comes along cheaply, or when a block has few rows.
 */
static uint32_t rank_of(const struct gemm_cuda_kernel *k, const struct gemm_cuda_device *d,
	uint32_t m, uint32_t n, uint32_t kk)
{
	const uint32_t enough_x = 64 * 1024, few_rows = 70;
	uint32_t want = 1;

	switch (k->family) {
	case GEMM_CUDA_BULK:
		while (want < 4 && ((uint64_t)m * kk * 2 / want > enough_x ||
					   (uint64_t)n * want / d->sms < few_rows)) {
			want *= 2;
		}
		/* The wished split, then more, then less; the tightest for K; the larger stage. */
		return (k->split >= want ? k->split - want : 8u + want - k->split) * 16 + k->depth -
		       k->k / 2400u;
	case GEMM_CUDA_GEMV:
		return 300 + k->n;
	case GEMM_CUDA_MMA:
		return 320 + (k->m >= m ? k->m : 64u) + k->x_global * 40u + (k->depth > 4);
	case GEMM_CUDA_F32:
		return 500 + (k->m >= m ? k->m : 64u - k->m);
	case GEMM_CUDA_TILED:
		return 600 + (k->m >= m ? k->m : 64u - k->m) + (k->k < 64) * 100u;
	case GEMM_CUDA_NAIVE:
		break;
	}
	return 900;
}

size_t gemm_cuda_rank(const struct gemm_cuda_device *d, enum gemm_dtype dtype, uint32_t m,
	uint32_t n, uint32_t k, bool vec, const struct gemm_cuda_kernel **ret, size_t max)
{
	uint32_t rank[ARRAY_LEN(kernels)];
	struct gemm_cuda_plan plan;
	size_t count = 0;

	for (const struct gemm_cuda_kernel *c = kernels; c->name; c++) {
		if (c->dtype != dtype || c->wrong || c->ahead || c->dependent ||
			!gemm_cuda_plan(c, d, m, n, k, vec, 1, 0, &plan)) {
			continue;
		}
		const uint32_t r = rank_of(c, d, m, n, k);
		size_t at = count < max ? count++ : max;

		for (; at > 0 && rank[at - 1] > r; at--) {
			if (at < max) {
				rank[at] = rank[at - 1];
				ret[at] = ret[at - 1];
			}
		}
		if (at < max) {
			rank[at] = r;
			ret[at] = c;
		}
	}
	return count;
}

static const struct gemm_cuda_read reads[] = {
	{"read_u4_t256", "read_u4_t256", GEMM_CUDA_PROBE, 256, 8, 0, false},
	{"read_u8_t256", "read_u8_t256", GEMM_CUDA_PROBE, 256, 4, 0, false},
	{"read_p8192_w4", "read_p8192_w4", GEMM_CUDA_GEMM90, 128, 1, 1024 + 131072, false},
	{"read_p16384_w4", "read_p16384_w4", GEMM_CUDA_GEMM90, 128, 1, 1024 + 131072, false},
	{"read_p16384_w4_d", "read_p16384_w4", GEMM_CUDA_GEMM90, 128, 1, 1024 + 131072, true},
	{"read_pair_p16384_w2_d", "read_pair_p16384_w2", GEMM_CUDA_GEMM90, 64, 1, 1024 + 98304,
		true},
	{NULL, NULL, GEMM_CUDA_PROBE, 0, 0, 0, false},
};

const struct gemm_cuda_read *gemm_cuda_reads(void)
{
	return reads;
}
