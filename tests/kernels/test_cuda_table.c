/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPU kernels' table and plans, as far as they can be judged without a GPU: every name is
 * an entry of its module, every plan fits the device, and every row of W has exactly one owner.
 */
#include "kernels/cuda/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/hash.h"

static const struct gemm_cuda_device devices[] = {
	{80, 108, 166912}, /* A100 */
	{86, 82, 101376},  /* RTX 3090 */
	{89, 128, 101376}, /* RTX 4090 */
	{90, 132, 232448}, /* H200 */
	{90, 114, 232448}, /* H100 PCIe */
	{90, 4, 232448},   /* fewer multiprocessors than a cluster of eight has blocks */
};

static const struct {
	uint32_t m, k, n;
} shapes[] = {
	{1, 4096, 11008},
	{1, 11008, 4096},
	{2, 4096, 4096},
	{3, 64, 17},
	{4, 4104, 1003},
	{8, 8192, 28672},
	{16, 28672, 8192},
	{16, 4096, 12288},
	{16, 14336, 4096},
	{16, 4096, 41000}, /* sums of so many rows leave a pair's ring three stages */
	{16, 2304, 151936},
	{5, 13, 7},
	{16, 2080, 1},
};

static void assert_entry(enum gemm_cuda_module m, const char *name)
{
	const struct gemm_cuda_ptx *ptx = gemm_cuda_ptx(m);
	char entry[96];

	snprintf(entry, sizeof(entry), ".entry %s(", name);
	if (!strstr(ptx->text, entry)) {
		fail_msg("%s has no kernel %s", ptx->name, name);
	}
}

static void every_name_is_an_entry_of_its_module(void **state)
{
	static const char *const probes[] = {
		"checksum", "empty", "pattern_check", "pattern_fill", "ping"};

	(void)state;
	for (const struct gemm_cuda_kernel *k = gemm_cuda_kernels(); k->name; k++) {
		assert_entry(k->module, gemm_cuda_entry(k));
		assert_ptr_equal(gemm_cuda_find(k->name), k);
	}
	for (const struct gemm_cuda_read *r = gemm_cuda_reads(); r->name; r++) {
		assert_entry(r->module, r->entry);
	}
	for (size_t i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
		assert_entry(GEMM_CUDA_PROBE, probes[i]);
	}
	assert_null(gemm_cuda_find("nosuch"));
}

static void modules_ask_for_the_lowest_version_and_target(void **state)
{
	(void)state;
	for (enum gemm_cuda_module m = 0; m < GEMM_CUDA_MODULES; m++) {
		const struct gemm_cuda_ptx *ptx = gemm_cuda_ptx(m);

		assert_non_null(
			strstr(ptx->text, ptx->cc == 90 ? ".target sm_90" : ".target sm_80"));
		assert_non_null(strstr(ptx->text, ptx->cc == 90 ? ".version 8.1" : ".version 7.4"));
		assert_non_null(strstr(ptx->text, "with clang 14."));
		/* Local memory would be a spill: none of the kernels has any. */
		assert_null(strstr(ptx->text, "__local_depot"));
	}
}

/* What gemm90.cu lays out in shared memory, and the stages that a block has. */
static void check_bulk(const struct gemm_cuda_kernel *c, const struct gemm_cuda_plan *p)
{
	const uint32_t warps = c->warps - 1u, pitch = (c->k * 2u + 127) / 128 * 128 + 64;
	const uint32_t own = (p->tiles + p->cluster - 1) / p->cluster * 512;
	const uint32_t head = 384 + 2 * warps * 132 * 4 + (p->cluster > 1 ? p->cluster * own : 0);
	const uint32_t chunks = (c->depth * warps * 32 + c->k - 1) / c->k;

	assert_int_equal(p->shared, (head + 127) / 128 * 128 + p->stages * pitch * 8);
	assert_true(p->launch_at <= p->tiles * chunks);
	assert_true(p->stages >= 3 && p->stages <= 15);
	assert_true(p->window >= 2 && p->window <= p->stages);
	assert_true(p->ahead >= p->window && p->ahead <= p->stages);
	assert_int_equal(p->grid_x % p->cluster, 0);
}

/* Which block's stretch holds row N, by the formulas of mma.h and gemm90.cu. */
static void count_rows(const struct gemm_cuda_plan *p, uint32_t groups, uint32_t n)
{
	uint64_t total = 0;

	for (uint32_t g = 0; g < groups; g++) {
		const uint32_t rows = p->rows + (g < p->rest);

		total += rows;
		if (p->tiles) {
			uint32_t in_tiles = 0;

			for (uint32_t t = 0; t < p->tiles; t++) {
				const uint32_t more = p->tile_more + (g < p->rest);
				const uint32_t have = p->tile_rows + (t < more);

				assert_true(have <= 8);
				in_tiles += have;
			}
			assert_int_equal(in_tiles, rows);
		}
	}
	assert_int_equal(total, n);
}

static void every_plan_fits_and_covers_the_rows(void **state)
{
	(void)state;
	for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
		for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
			const uint32_t m = shapes[s].m, n = shapes[s].n, k = shapes[s].k;

			for (const struct gemm_cuda_kernel *c = gemm_cuda_kernels(); c->name; c++) {
				struct gemm_cuda_plan p;

				if (!gemm_cuda_plan(
					    c, &devices[d], m, n, k, k % 8 == 0, 1, 0, &p)) {
					continue;
				}
				assert_true(devices[d].cc >= gemm_cuda_ptx(c->module)->cc);
				assert_true(p.shared <= devices[d].shared);
				assert_in_range(p.threads, 32, 1024);
				assert_true(p.grid_x > 0 && p.grid_y > 0);
				/* Two blocks of a pair, with what the driver keeps of each. */
				assert_true(!c->pair ||
					    2 * (p.shared + 1024) <= devices[d].shared + 1024);
				assert_true(!c->pair || c->dependent);
				assert_true(c->dependent || !c->x_ready);
				if (c->family == GEMM_CUDA_BULK) {
					check_bulk(c, &p);
					count_rows(&p, p.grid_x / p.cluster, n);
				} else if (c->family == GEMM_CUDA_MMA) {
					count_rows(&p, p.grid_x, n);
				} else if (c->family == GEMM_CUDA_TILED) {
					assert_true(p.grid_x * c->n >= n && p.grid_y * c->m >= m);
				} else {
					assert_true(
						(uint64_t)p.grid_x * p.threads / 32 * c->n >= n);
				}
			}
		}
	}
}

static void something_suits_every_shape(void **state)
{
	(void)state;
	for (size_t d = 0; d < sizeof(devices) / sizeof(devices[0]); d++) {
		for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++) {
			const struct gemm_cuda_kernel *r[64];
			const uint32_t m = shapes[s].m, n = shapes[s].n, k = shapes[s].k;

			for (int f32 = 0; f32 < 2; f32++) {
				const enum gemm_dtype type = f32 ? GEMM_F32 : GEMM_F16;
				size_t c = gemm_cuda_rank(
					&devices[d], type, m, n, k, k % 8 == 0, r, 64);

				assert_true(c >= 1);
				for (size_t i = 0; i < c; i++) {
					assert_false(r[i]->wrong || r[i]->ahead || r[i]->dependent);
					assert_int_equal(r[i]->dtype, type);
				}
				/* A short list is the head of the long one. */
				const struct gemm_cuda_kernel *two[2];

				assert_int_equal(gemm_cuda_rank(&devices[d], type, m, n, k,
							 k % 8 == 0, two, 2),
					c < 2 ? c : 2);
				assert_ptr_equal(two[0], r[0]);
			}
		}
	}
}

static void the_best_generation_comes_first(void **state)
{
	const struct gemm_cuda_kernel *r[4];

	(void)state;
	gemm_cuda_rank(&devices[3], GEMM_F16, 1, 11008, 4096, true, r, 4);
	assert_int_equal(r[0]->family, GEMM_CUDA_BULK);
	gemm_cuda_rank(&devices[0], GEMM_F16, 1, 11008, 4096, true, r, 4);
	assert_int_equal(r[0]->family, GEMM_CUDA_GEMV);
	gemm_cuda_rank(&devices[0], GEMM_F16, 8, 11008, 4096, true, r, 4);
	assert_int_equal(r[0]->family, GEMM_CUDA_MMA);
	/* Rows that do not lie at multiples of 16 bytes: the slower path, not a crash. */
	gemm_cuda_rank(&devices[3], GEMM_F16, 8, 11008, 4096, false, r, 4);
	assert_int_equal(r[0]->family, GEMM_CUDA_TILED);
}

/* Wherever a block left its end: the latest counts, hashes add up and may wrap. */
static void the_ends_of_a_launch_are_put_together(void **state)
{
	struct gemm_cuda_stamp s = {.start_inv = ~UINT64_C(1000), .cycles = 7, .block_ns = 5};
	struct gemm_cuda_times t = gemm_cuda_sum(&s);

	(void)state;
	assert_true(t.blocks == 0 && t.end == 0 && t.hash == 0);
	for (size_t i = 0; i < GEMM_CUDA_ENDS; i++) {
		s.end[i] = (struct gemm_cuda_end){
			.ns = 2000 + (i * 5) % GEMM_CUDA_ENDS, .hash = UINT64_MAX, .blocks = i + 1};
	}
	t = gemm_cuda_sum(&s);
	assert_int_equal(t.start, 1000);
	assert_int_equal(t.end, 2000 + GEMM_CUDA_ENDS - 1);
	assert_true(t.hash == (uint64_t)-GEMM_CUDA_ENDS);
	assert_int_equal(t.blocks, GEMM_CUDA_ENDS * (GEMM_CUDA_ENDS + 1) / 2);
	assert_true(t.cycles == 7 && t.block_ns == 5);
	/* The GPU finds each place by its number times 32 bytes. */
	assert_int_equal(sizeof(struct gemm_cuda_end), 32);
	assert_int_equal(offsetof(struct gemm_cuda_stamp, end) % 32, 0);
}

static void the_hash_depends_on_place_and_bits(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 16; bit++) {
		assert_true(
			gemm_hash_element(5, 0x3c00) != gemm_hash_element(5, 0x3c00 ^ 1u << bit));
	}
	/* Two outputs that change places change the sum. */
	assert_true(gemm_hash_element(1, 7) + gemm_hash_element(2, 9) !=
		    gemm_hash_element(1, 9) + gemm_hash_element(2, 7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_is_an_entry_of_its_module),
		cmocka_unit_test(modules_ask_for_the_lowest_version_and_target),
		cmocka_unit_test(every_plan_fits_and_covers_the_rows),
		cmocka_unit_test(something_suits_every_shape),
		cmocka_unit_test(the_best_generation_comes_first),
		cmocka_unit_test(the_ends_of_a_launch_are_put_together),
		cmocka_unit_test(the_hash_depends_on_place_and_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
