/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much boots differ by themselves: which boots count, the least that is said, damage. */
#include "runs/floor.h"

#include <math.h>

#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text.h"
#include "runs/study.h"
#include "runs/write.h"
#include "tests/runs/place.h"

static const struct runs_info like = {.backend = "cpu", .shape = "1x8x8", .dtype = "f16"};

/* A finished run whose latencies reach from 1 ms to WIDTH (a share) above it, evenly. */
static int64_t add_run(struct runs_store *s, const char *label, const char *boot, double width)
{
	struct runs_info run = like;
	struct runs_hist h;
	struct why why;
	int64_t id = 0;
	run.state = RUNS_RUNNING;
	run.started = run.touched = 1700000000000000000;
	run.max_error = -1;
	text_copy(run.label, sizeof(run.label), label);
	text_copy(run.boot_id, sizeof(run.boot_id), boot);
	runs_write_uid(run.uid);
	runs_hist_init(&h, RUNS_HIST_TENTH_PCT);
	for (int i = 0; i < 1000; i++) {
		runs_hist_add(&h, (uint64_t)(1e6 * (1 + width * i / 1000)));
	}
	_cleanup_free_ uint8_t *packed = NULL;
	size_t len = runs_hist_pack(&h, &packed);
	assert_int_equal(runs_write_open(s, &why), 0);
	int r = runs_write_run(s, &run, "{}", &id, &why);
	if (!r) {
		r = runs_write_rollup(s, id, STRESS_GEMM, RUNS_HOST, packed, len, &why);
	}
	if (!r) {
		r = runs_write_end(s, id, run.started + 1, RUNS_DONE, "", &why);
	}
	assert_int_equal(runs_db_end(runs_store_db(s), r, &why), 0);
	runs_hist_finish(&h);
	return id;
}

static struct runs_noise noise_of(struct runs_store *s)
{
	struct runs_noise n;
	runs_floor_study(s, 1, &like, &n); /* a study without a boot */
	return n;
}

static struct runs_store *open_new(const struct place *p)
{
	struct runs_store *s;
	struct why why;
	assert_int_equal(runs_store_open(p->store, RUNS_STORE_CREATE, &s, &why), 0);
	return s;
}

/* Boots of labels that have several, each once; a label with one says nothing. */
static void boots_that_say_something(void **state)
{
	_cleanup_store_ struct runs_store *s = open_new(*state);
	struct runs_floor f;
	struct why why;
	assert_int_equal(runs_floor_load(s, &like, &f, &why), 0);
	assert_int_equal(f.runs, 0);
	assert_int_equal(noise_of(s).from, RUNS_NOISE_ASSUMED);
	assert_string_equal(noise_of(s).why, "");
	static const struct {
		const char *label, *boot;
		double width;
	} run[] = {
		{"a", "1", 0.10}, {"a", "1", 0.11}, {"a", "2", 0.12}, {"a", "3", 0.09},
		{"b", "2", 0.20}, {"b", "3", 0.22}, /* the same boots under another label */
		{"c", "4", 0.90}, {"d", "5", 0.01}, {"d", "5", 0.02}, /* one boot each */
	};
	for (size_t i = 0; i < ARRAY_LEN(run); i++) {
		add_run(s, run[i].label, run[i].boot, run[i].width);
	}
	assert_int_equal(runs_floor_load(s, &like, &f, &why), 0);
	assert_int_equal(f.runs, ARRAY_LEN(run));
	assert_int_equal(f.boots, 3);
	assert_int_equal(f.most, 3);
	struct runs_noise n = noise_of(s);
	assert_int_equal(n.from, RUNS_NOISE_STORE);
	assert_int_equal(n.boots, 3);
	/*
	 * Bands are 0.45 W / (1 + W / 2): ln of 0.0448 (two runs), 0.0509, 0.0388 and of 0.0818,
	 * 0.0892 around their means, sqrt(0.0412 / 3).
	 */
	assert_true(fabs(n.log_sd - 0.117) < 0.003);
	assert_true(n.log_sd > 5 * f.resolution);
}

/* Boots that are equal to the bucket are not known to be equal. */
static void no_noise_is_not_claimed(void **state)
{
	_cleanup_store_ struct runs_store *s = open_new(*state);
	for (int i = 0; i < 4; i++) {
		char boot[8];
		snprintf(boot, sizeof(boot), "%d", i);
		add_run(s, "same", boot, 0.1);
	}
	struct runs_noise n = noise_of(s);
	assert_int_equal(n.from, RUNS_NOISE_STORE);
	/* Its band is 4.3 %: a bucket of 0.098 % is a 44th of it. */
	assert_true(n.log_sd > 0.003 && n.log_sd < 0.007);
}

/* A run that has nothing to do with the study is damaged: that is said, and no error. */
static void damage_is_no_error_of_the_study(void **state)
{
	_cleanup_store_ struct runs_store *s = open_new(*state);
	struct runs_floor f;
	struct why why;
	int64_t id = 0;
	for (int i = 0; i < 4; i++) {
		char boot[8];
		snprintf(boot, sizeof(boot), "%d", i);
		id = add_run(s, "other", boot, 0.1);
	}
	assert_int_equal(noise_of(s).from, RUNS_NOISE_STORE);
	assert_int_equal(runs_db_run(runs_store_db(s), &why,
				 "UPDATE rollups SET hist = x'ff' WHERE run = ?", "i", id),
		0);
	assert_int_not_equal(runs_floor_load(s, &like, &f, &why), 0);
	struct runs_noise n = noise_of(s);
	assert_int_equal(n.from, RUNS_NOISE_ASSUMED);
	assert_int_equal(n.boots, 0);
	assert_true(n.log_sd > 0.19 && n.log_sd < 0.21);
	assert_non_null(strstr(n.why, "damaged histogram"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			boots_that_say_something, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			no_noise_is_not_claimed, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			damage_is_no_error_of_the_study, place_setup, place_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
