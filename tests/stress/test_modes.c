/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queued launches, graphs, a token's chain and peer copies, on libraries that compute on the CPU
 * (tests/fakes): which copies are used, what belongs to a batch, what is stamped.
 */
#include "stress/backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"

enum { MAX = 256 };

static bool go_on(struct stress_lender *l)
{
	(void)l;
	return true;
}

static struct stress_lender lender = {.beat = go_on};
static const struct stress_backend_ops *const ops = &stress_backend_cuda;

static struct stress_config config(
	const char *orders, const char *shape, enum stress_mode mode, uint32_t copies)
{
	struct stress_config c;
	struct why why;

	setenv("FAKE_CUDA", orders, 1);
	stress_config_init(&c);
	c.mode = mode;
	c.copies = copies;
	assert_int_equal(stress_config_shape(&c, shape, &why), 0);
	return c;
}

static struct stress_backend *opened(const struct stress_config *c)
{
	struct stress_backend *b;
	struct why why = {""};

	if (ops->open(c, &lender, &b, &why) < 0) {
		fail_msg("%s", why.text);
	}
	return b;
}

static int iterate(struct stress_backend *b, enum stress_series series, struct stress_sample *s)
{
	struct why why = {""};
	const int n = ops->iterate(b, series, s, MAX, &why);

	if (n <= 0) {
		fail_msg("%s", why.text);
	}
	return n;
}

/* Every copy as often as any other, one after the other; one batch, stamps of their own. */
static void check_batch(enum stress_mode mode, uint32_t copies)
{
	const struct stress_config c = config("", "2x64x40", mode, copies);
	struct stress_backend *b = opened(&c);
	struct stress_sample s[MAX];
	struct stress_facts f;
	unsigned used[1024] = {0}, all = 0;

	ops->facts(b, &f);
	assert_int_equal(f.copies, copies);
	assert_int_equal(f.copy_bytes, 64 * 40 * 2);
	assert_int_equal(f.cache_bytes, 1 << 20);
	/* Whole rounds over all copies. */
	while (all == 0 || all % copies != 0) {
		const int n = iterate(b, STRESS_GEMM, s);

		assert_true(all < 65536);
		for (int i = 0; i < n; i++) {
			assert_int_equal(s[i].copy, (s[0].copy + (unsigned)i) % copies);
			assert_true(s[i].flags & STRESS_BATCH);
			assert_true(s[i].flags & STRESS_HAS_DEVICE);
			assert_int_equal(s[i].submit_ns, s[0].submit_ns);
			assert_int_equal(s[i].done_ns, s[0].done_ns);
			assert_int_equal(s[i].hash, f.golden_hash);
			assert_true(i == 0 || s[i].start_ns >= s[i - 1].end_ns);
			used[s[i].copy]++;
			all++;
		}
	}
	for (uint32_t i = 1; i < copies; i++) {
		assert_int_equal(used[i], used[0]);
	}
	ops->close(b);
}

static void a_queue_rotates_through_all_copies(void **state)
{
	(void)state;
	check_batch(STRESS_QUEUED, 3);
	check_batch(STRESS_QUEUED, 100);
}

static void graphs_hold_all_copies_as_often(void **state)
{
	(void)state;
	check_batch(STRESS_GRAPH, 1);
	check_batch(STRESS_GRAPH, 7);
	check_batch(STRESS_GRAPH, 256);
	check_batch(STRESS_GRAPH, 257); /* two graphs, no small one */
}

static void a_token_is_one_sample(void **state)
{
	/* 32 wide, 48 in its MLP: QKV 32 × 96, O 32 × 32, gate and up 32 × 48, down 48 × 32. */
	const uint64_t elements = 32 * 96 + 32 * 32 + 2 * 32 * 48 + 48 * 32;
	const uint64_t xy = 32 + 96 + 32 + 32 + 2 * (32 + 48) + 48 + 32;
	static const enum stress_mode modes[] = {STRESS_ISOLATED, STRESS_QUEUED, STRESS_GRAPH};
	uint64_t hash = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		const struct stress_config c = config("", "decode:32x48*3", modes[i], 6);
		struct stress_backend *b = opened(&c);
		struct stress_sample s[MAX];
		struct stress_facts f;

		ops->facts(b, &f);
		assert_int_equal(f.copies, 6);
		assert_int_equal(f.copy_bytes, elements * 2);
		assert_int_equal(f.bytes, 3 * (elements + xy) * 2);
		assert_true(f.max_error <= f.error_limit);
		/* The order of a token's launches is the same in all modes, so is its hash. */
		hash = hash ? hash : f.golden_hash;
		assert_int_equal(f.golden_hash, hash);
		for (unsigned turn = 0; turn < 4; turn++) {
			const int n = iterate(b, STRESS_GEMM, s);

			for (int k = 0; k < n; k++) {
				assert_int_equal(s[k].hash, f.golden_hash);
				assert_true(s[k].flags & STRESS_HAS_DEVICE);
				assert_false(s[k].flags & STRESS_HAS_CYCLES);
				assert_true(s[k].end_ns > s[k].start_ns);
				assert_int_equal((s[k].flags & STRESS_BATCH) != 0,
					modes[i] == STRESS_QUEUED);
			}
		}
		ops->close(b);
	}
}

static void a_small_model_still_leaves_the_cache(void **state)
{
	const struct stress_config c = config("", "decode:32x48*3", STRESS_GRAPH, 0);
	struct stress_backend *b = opened(&c);
	struct stress_facts f;

	(void)state;
	ops->facts(b, &f);
	assert_true(f.copies * f.copy_bytes >= 5 * f.cache_bytes);
	assert_int_equal(f.copies % 3, 0); /* whole tokens */
	ops->close(b);
}

static void shapes_have_names(void **state)
{
	static const char *const bad[] = {"decode", "decode7", "decode7b*", "decode7b*0",
		"decode7b*9999", "decode7b*3x", "decode:", "decode:4096", "decode:4096x",
		"decode:0x5", "decode:16777216x16777216", "decode:4096x11008x3", "4096x11008"};
	struct stress_config c;
	char name[STRESS_SHAPE_MAX];
	struct why why;

	(void)state;
	stress_config_init(&c);
	assert_int_equal(stress_config_shape(&c, "decode7b", &why), 0);
	assert_int_equal(c.layers, 32);
	assert_string_equal(stress_shape_name(&c, name), "decode7b*32");
	assert_int_equal(stress_config_shape(&c, "decode:5120x13824*2", &why), 0);
	assert_string_equal(stress_shape_name(&c, name), "decode13b*2");
	assert_int_equal(stress_config_shape(&c, "decode:64x96*5", &why), 0);
	assert_string_equal(stress_shape_name(&c, name), "decode:64x96*5");
	/* A name leads to the same again. */
	assert_int_equal(stress_config_shape(&c, name, &why), 0);
	assert_int_equal(c.layers, 5);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct stress_config before = c;

		if (stress_config_shape(&c, bad[i], &why) == 0) {
			fail_msg("%s was taken", bad[i]);
		}
		assert_memory_equal(&c, &before, sizeof(c));
	}
	assert_int_equal(stress_config_shape(&c, "1x2x3", &why), 0);
	assert_int_equal(c.layers, 0);
	assert_string_equal(stress_shape_name(&c, name), "1x2x3");
}

static bool has_peer(const char *orders)
{
	const struct stress_config c = config(orders, "2x64x40", STRESS_ISOLATED, 2);
	struct stress_backend *b = opened(&c);
	struct stress_sample s[MAX];
	struct stress_facts f;

	ops->facts(b, &f);
	const bool peer = f.series >> STRESS_PEER & 1;

	if (peer) {
		assert_int_equal(iterate(b, STRESS_PEER, s), 1);
		assert_true(s[0].done_ns >= s[0].submit_ns);
	}
	ops->close(b);
	return peer;
}

static void two_gpus_copy_between_them(void **state)
{
	(void)state;
	assert_false(has_peer(""));
	assert_true(has_peer("devices=2"));
	assert_false(has_peer("devices=2,nopeer"));
}

/* The front takes no silence for a stall that is as long as what is waited for. */
static void how_long_a_wait_is_becomes_known(void **state)
{
	static const enum stress_mode modes[] = {STRESS_ISOLATED, STRESS_QUEUED, STRESS_GRAPH};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
		const struct stress_config c = config("slow=300", "1x32x8", modes[i], 3);
		struct stress_backend *b = opened(&c);
		struct stress_sample s[MAX];
		struct stress_facts f;
		const unsigned launches =
			modes[i] == STRESS_ISOLATED ? 1 : (unsigned)iterate(b, STRESS_GEMM, s);

		ops->facts(b, &f);
		assert_true(f.expected_ns >= launches * (uint64_t)300000);
		ops->close(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes_have_names),
		cmocka_unit_test(a_queue_rotates_through_all_copies),
		cmocka_unit_test(graphs_hold_all_copies_as_often),
		cmocka_unit_test(a_token_is_one_sample),
		cmocka_unit_test(a_small_model_still_leaves_the_cache),
		cmocka_unit_test(two_gpus_copy_between_them),
		cmocka_unit_test(how_long_a_wait_is_becomes_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
