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

static int tune(struct kept *k, const char *shape, uint32_t rounds, const char *kernel)
{
	struct stress_tune_options o = {.rounds = rounds, .check_terms = UINT64_MAX};
	struct why why = {""};

	*k = (struct kept){.sink = {keep_facts, keep_row}};
	stress_config_init(&o.config);
	assert_int_equal(stress_shape_parse(shape, &o.config.shape, &why), 0);
	o.config.copies = 3;
	snprintf(o.config.kernel, sizeof(o.config.kernel), "%s", kernel);
	return stress_tune(&o, &k->sink, &why);
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
		if (r->kind == STRESS_TUNE_OWN && !r->wrong) {
			assert_true(r->same && r->error <= r->error_limit);
			assert_int_equal(r->outputs, 48);
		}
	}
}

static void fp16_sums_fail_the_check(void **state)
{
	(void)state;
	assert_int_equal(tune(&k, "16x264x512", 0, "naive_acc16"), 0);
	assert_int_equal(k.n, 1);
	assert_true(k.row[0].error > k.row[0].error_limit);
	assert_int_equal(tune(&k, "16x264x512", 0, "naive"), 0);
	assert_true(k.row[0].error <= k.row[0].error_limit);
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
		cmocka_unit_test(a_refused_module_is_a_row),
		cmocka_unit_test(without_the_library_its_rows_are_missing),
		cmocka_unit_test(an_unknown_kernel_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
