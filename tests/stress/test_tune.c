/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tuning and verifying on libraries that multiply on the CPU (tests/fakes). */
#include "stress/tune.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"

struct kept {
	struct stress_tune_sink sink; /* first */
	struct stress_tune_facts facts;
	struct stress_tune_row row[96];
	size_t n;
};

static void keep_facts(struct stress_tune_sink *s, const struct stress_tune_facts *f)
{
	((struct kept *)s)->facts = *f;
}

static void keep_row(struct stress_tune_sink *s, const struct stress_tune_row *r)
{
	struct kept *k = (struct kept *)s;

	assert_true(k->n < ARRAY_LEN(k->row));
	k->row[k->n++] = *r;
}

static const struct stress_library_choice *cached;

static int tune_or_check(
	struct kept *k, const char *shape, uint32_t rounds, bool thorough, const char *kernel)
{
	struct stress_tune_options o = {
		.rounds = rounds, .check_terms = UINT64_MAX, .thorough = thorough};
	struct why why = {""};

	*k = (struct kept){.sink = {keep_facts, keep_row}};
	stress_config_init(&o.config);
	assert_int_equal(stress_shape_parse(shape, &o.config.shape, &why), 0);
	o.config.copies = 3;
	o.cached = cached;
	o.cached_n = cached ? 1 : 0;
	snprintf(o.config.kernel, sizeof(o.config.kernel), "%s", kernel);
	return stress_tune(&o, &k->sink, &why);
}

static int tune(struct kept *k, const char *shape, uint32_t rounds, const char *kernel)
{
	return tune_or_check(k, shape, rounds, false, kernel);
}

static int check(struct kept *k, const char *shape, const char *kernel)
{
	return tune_or_check(k, shape, 0, true, kernel);
}

static const struct stress_tune_row *find(const struct kept *k, const char *name)
{
	for (size_t i = 0; i < k->n; i++) {
		if (!strcmp(k->row[i].name, name)) {
			return &k->row[i];
		}
	}
	return NULL;
}

static struct kept k;

static void times_own_kernels_library_and_reads(void **state)
{
	(void)state;
	setenv("FAKE_CUDA", "", 1);
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	assert_string_equal(k.facts.device, "Fake GPU at 0000:41:00.0");
	assert_int_equal(k.facts.copies, 3);
	assert_int_equal(k.facts.launches % 3, 0); /* every copy as often as the others */
	assert_true(k.facts.launches >= 20);
	assert_int_equal(k.facts.library_version, 130100);
	assert_non_null(find(&k, "naive"));
	assert_non_null(find(&k, "bulk_k5_c5_s1"));
	assert_non_null(find(&k, "cublaslt #2"));
	assert_non_null(find(&k, "read_u8_t256"));
	for (size_t i = 0; i < k.n; i++) {
		const struct stress_tune_row *r = &k.row[i];

		assert_true(r->measured && r->rounds == 3 && r->p50_ns > 0);
		const bool bulk = !strncmp(r->name, "bulk", 4) || !strncmp(r->name, "pair", 4) ||
				  !strncmp(r->name, "read_p", 6);

		assert_int_equal(
			r->x_ready, bulk && r->kind == STRESS_TUNE_OWN && strstr(r->name, "_r"));
		assert_int_equal(r->dependent,
			r->x_ready || (bulk && (strstr(r->name, "_d") || strstr(r->name, "_ad"))));
		if (r->kind == STRESS_TUNE_OWN && !r->wrong) {
			assert_true(r->same && r->error <= r->error_limit);
			assert_int_equal(r->outputs, 48);
		}
	}
}

/* Whatever K is: the bound grows as the sums do. */
static void fp16_sums_fail_the_check(void **state)
{
	static const char *const shapes[] = {"16x264x512", "2x8192x40", "1x14336x40"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++) {
		assert_int_equal(check(&k, shapes[i], "naive_acc16"), 0);
		assert_int_equal(k.n, 1);
		const struct stress_tune_row *r = &k.row[0];

		assert_true(r->over > 0 && r->error > r->error_limit);
		/* Without signs nearly all outputs are off; from some thousand terms on grossly. */
		assert_true(r->more[STRESS_TUNE_POSITIVE].over * 10 > r->outputs * 7);
		assert_true(i == 0 || r->more[STRESS_TUNE_POSITIVE].error_relative > 1e-2);

		assert_int_equal(check(&k, shapes[i], "naive"), 0);
		assert_true(k.row[0].over == 0 && k.row[0].error <= k.row[0].error_limit);
		for (size_t what = 0; what < STRESS_TUNE_CHECKS; what++) {
			const struct stress_tune_error *e = &k.row[0].more[what];

			assert_true(e->checked && e->same && e->over == 0);
			assert_true(e->error <= e->error_limit);
			assert_int_equal(e->outputs, k.row[0].outputs);
		}
	}
}

static void an_activation_left_out_is_wrong(void **state)
{
	(void)state;
	setenv("FAKE_CUDA", "noact", 1);
	assert_int_equal(check(&k, "2x64x24", "naive"), 0);
	assert_int_equal(k.row[0].over, 0);
	assert_true(k.row[0].more[STRESS_TUNE_RELU].over > 0);
	assert_true(k.row[0].more[STRESS_TUNE_GELU].over > 0);
	assert_int_equal(k.row[0].more[STRESS_TUNE_POSITIVE].over, 0);
	setenv("FAKE_CUDA", "", 1);
}

static void a_refused_module_is_a_row(void **state)
{
	(void)state;
	setenv("FAKE_CUDA", "ptx222=90", 1);
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	const struct stress_tune_row *r = find(&k, "bulk_k5_c5_s1");

	assert_non_null(r);
	assert_false(r->measured);
	assert_non_null(strstr(r->refused, "older than these kernels"));
	assert_true(find(&k, "mma_m8_d4")->measured);
}

static void epilogues_and_stamps_are_timed_too(void **state)
{
	unsigned own = 0, library = 0, stamped = 0, stamps_alone = 0;

	(void)state;
	setenv("FAKE_CUDA", "", 1);
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	for (size_t i = 0; i < k.n; i++) {
		const struct stress_tune_row *r = &k.row[i];

		own += r->fused && r->kind == STRESS_TUNE_OWN;
		library += r->fused && r->kind == STRESS_TUNE_LIBRARY;
		stamped += r->stamped && r->kind == STRESS_TUNE_OWN;
		stamps_alone += r->stamped && r->kind == STRESS_TUNE_READ && r->measured;
		assert_true(!r->fused || (r->error >= 0 && r->over == 0 && r->same));
	}
	assert_true(own >= 1 && library == 2);
	/* With stamps and hash, and without a hash. */
	assert_int_equal(stamped, 1);
	assert_int_equal(stamps_alone, 1);
	/* The library's epilogue is checked like everything else. */
	setenv("FAKE_CUBLASLT", "wrong", 1);
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	assert_true(find(&k, "cublaslt fused #1")->over > 0);
	assert_int_equal(find(&k, "cublaslt #1")->over, 0);
	unsetenv("FAKE_CUBLASLT");
}

static void an_earlier_algorithm_is_tried_again(void **state)
{
	struct stress_library_choice c;

	(void)state;
	setenv("FAKE_CUDA", "", 1);
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	c = k.facts.library_key;
	assert_int_equal(strlen(c.build_id), 40);
	assert_int_equal(c.version, 130100);
	/* One that the heuristic does not offer. */
	c.algo[0] = 3;
	cached = &c;
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	const struct stress_tune_row *r = find(&k, "cublaslt cached");

	assert_non_null(r);
	assert_true(r->cached && r->measured && r->over == 0 && r->algo[0] == 3);
	/* One that it does offer is marked there. */
	c.algo[0] = 2;
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	assert_null(find(&k, "cublaslt cached"));
	assert_true(find(&k, "cublaslt #2")->cached);
	/* Another library, driver or shape: a miss. */
	c.algo[0] = 3;
	c.build_id[0] ^= 1;
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	assert_null(find(&k, "cublaslt cached"));
	c = k.facts.library_key;
	c.algo[0] = 3;
	c.device.driver++;
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	assert_null(find(&k, "cublaslt cached"));
	/* The library refuses it: a note. */
	c = k.facts.library_key;
	c.algo[0] = 9;
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	assert_null(find(&k, "cublaslt cached"));
	assert_non_null(strstr(k.facts.cache_note, "does not take"));
	cached = NULL;
}

static void without_dependent_launch_the_others_are_timed(void **state)
{
	(void)state;
	setenv("FAKE_CUDA", "nodependent", 1);
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	assert_string_equal(find(&k, "bulk_k5_c5_s1_d")->refused, "cannot be captured in a graph");
	assert_string_equal(find(&k, "read_p16384_w4_d")->refused, "cannot be captured in a graph");
	assert_true(find(&k, "bulk_k5_c5_s1_a")->measured);
	setenv("FAKE_CUDA", "missing=cuLaunchKernelEx", 1);
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	assert_null(find(&k, "bulk_k5_c5_s1_d"));
	assert_true(find(&k, "bulk_k5_c5_s1_a")->measured);
}

static void without_the_library_its_rows_are_missing(void **state)
{
	(void)state;
	setenv("FAKE_CUDA", "", 1);
	setenv("FAKE_CUBLASLT", "none", 1);
	assert_int_equal(tune(&k, "2x64x24", 3, ""), 0);
	assert_null(find(&k, "cublaslt #1"));
	assert_non_null(strstr(k.facts.library_why, "knows no algorithm"));
	unsetenv("FAKE_CUBLASLT");
}

static void an_unknown_kernel_is_an_error(void **state)
{
	(void)state;
	assert_int_equal(tune(&k, "2x64x24", 3, "nosuch"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_own_kernels_library_and_reads),
		cmocka_unit_test(fp16_sums_fail_the_check),
		cmocka_unit_test(an_activation_left_out_is_wrong),
		cmocka_unit_test(a_refused_module_is_a_row),
		cmocka_unit_test(epilogues_and_stamps_are_timed_too),
		cmocka_unit_test(an_earlier_algorithm_is_tried_again),
		cmocka_unit_test(without_dependent_launch_the_others_are_timed),
		cmocka_unit_test(without_the_library_its_rows_are_missing),
		cmocka_unit_test(an_unknown_kernel_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
