/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tune` keeps: written, read back, and not believed once it is damaged. */
#include "runs/choices.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/file.h"

static char folder[] = "/tmp/barscope-choices-XXXXXX";

static const char *path(void)
{
	static char p[64];

	snprintf(p, sizeof(p), "%s/below/choices.json", folder);
	return p;
}

static struct stress_choice own(const char *kernel, uint32_t n)
{
	struct stress_choice c = {
		.device = {"Some GPU", 90, 132, 13000},
		.build = 0x8123456789abcdefu,
		.m = 1,
		.k = 4096,
		.n = n,
		.p50_ns = 22870,
		.date = 1700000000,
	};

	snprintf(c.kernel, sizeof(c.kernel), "%s", kernel);
	return c;
}

static struct stress_library_choice library(void)
{
	return (struct stress_library_choice){
		.device = {"Some GPU", 90, 132, 13000},
		.version = 130100,
		.build_id = "00ff",
		.m = 1,
		.k = 4096,
		.n = 11008,
		.ldx = 4096,
		.ldw = 4096,
		.ldy = 11008,
		.align = 16,
		.reductions = 3,
		.workspace = 32 << 20,
		.algo = {0xffffffffffffffffu, 1, 2, 3, 4, 5, 6, 7},
		.p50_ns = 24410,
	};
}

static void write_some(void)
{
	struct runs_choices c = {0};
	const struct stress_choice first = own("gemv", 11008), second = own("bulk", 4096);
	const struct stress_library_choice l = library();
	struct why why;

	runs_choices_put(&c, &first);
	runs_choices_put(&c, &second);
	runs_choices_put_library(&c, &l);
	assert_int_equal(runs_choices_save(path(), &c, &why), 0);
	runs_choices_finish(&c);
}

static void what_is_kept_comes_back(void **state)
{
	const struct stress_library_choice l = library();
	struct runs_choices c;
	struct why note;

	(void)state;
	assert_int_equal(runs_choices_load(path(), &c, &note), 0); /* there is none yet */
	assert_int_equal(c.own_n + c.library_n, 0);
	assert_string_equal(note.text, "");
	write_some();
	assert_int_equal(runs_choices_load(path(), &c, &note), 0);
	assert_int_equal(c.own_n, 2);
	assert_int_equal(c.library_n, 1);
	assert_string_equal(c.own[0].kernel, "gemv");
	assert_true(c.own[0].build == 0x8123456789abcdefu);
	assert_true(stress_library_choice_fits(&c.library[0], &l));
	assert_memory_equal(c.library[0].algo, l.algo, sizeof(l.algo));
	/* The same key again takes the old one's place. */
	const struct stress_choice better = own("better", 11008);

	runs_choices_put(&c, &better);
	assert_int_equal(c.own_n, 2);
	assert_string_equal(c.own[0].kernel, "better");
	runs_choices_finish(&c);
}

static void no_damage_is_believed(void **state)
{
	_cleanup_free_ char *good = NULL;
	size_t len;
	struct why why;

	(void)state;
	write_some();
	assert_int_equal(file_read_all(path(), 1 << 20, &good, &len, &why), 0);
	/* A digit or a letter that became another, at every place; and every end. */
	for (size_t i = 0; i < len; i++) {
		struct runs_choices c;
		struct why note;
		const char was = good[i];

		if ((was >= '0' && was <= '8') || (was >= 'a' && was <= 'y')) {
			good[i] = (char)(was + 1);
			assert_int_equal(file_write_atomic(path(), good, len, &why), 0);
			good[i] = was;
			assert_int_equal(runs_choices_load(path(), &c, &note), -EBADMSG);
			assert_int_equal(c.own_n + c.library_n, 0);
			assert_non_null(strstr(note.text, "ignored"));
		}
		if (i % 7 == 0) {
			assert_int_equal(file_write_atomic(path(), good, i, &why), 0);
			assert_true(runs_choices_load(path(), &c, &note) < 0);
			assert_int_equal(c.own_n + c.library_n, 0);
		}
	}
}

static void foreign_files_are_not_believed(void **state)
{
	static const char *const texts[] = {"", "{}", "[]", "null", "{\"schema\": 5}",
		"{\"schema\": \"barscope.choices/2\", \"check\": \"0x0\", \"entries\": []}",
		"{\"schema\": \"barscope.choices/1\", \"check\": \"0x0\", \"entries\": []}",
		"\177ELF"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct runs_choices c;
		struct why why;

		assert_int_equal(file_write_atomic(path(), texts[i], strlen(texts[i]), &why), 0);
		assert_int_equal(runs_choices_load(path(), &c, &why), -EBADMSG);
		assert_int_equal(c.own_n, 0);
	}
}

static void only_shapes_that_are_multiplied_are_lent(void **state)
{
	struct runs_choices c = {0};
	struct stress_config config;
	struct why why;

	(void)state;
	for (uint32_t n = 1; n <= 20; n++) {
		const struct stress_choice o = own("many", n * 1024);

		runs_choices_put(&c, &o);
	}
	stress_config_init(&config);
	assert_int_equal(stress_config_shape(&config, "1x4096x5120", &why), 0);
	runs_choices_lend(&c, &config);
	assert_int_equal(config.choices, 1);
	assert_int_equal(config.choice[0].n, 5120);
	config.dtype = STRESS_F32;
	runs_choices_lend(&c, &config);
	assert_int_equal(config.choices, 0);
	/* A token's: QKV, O and gate; down has another K. */
	config.dtype = STRESS_F16;
	assert_int_equal(stress_config_shape(&config, "decode:4096x11264", &why), 0);
	runs_choices_lend(&c, &config);
	assert_int_equal(config.choices, 3);
	runs_choices_finish(&c);
}

static void the_cache_folder_is_the_users(void **state)
{
	_cleanup_free_ char *a = NULL, *b = NULL, *none = NULL;

	(void)state;
	setenv("XDG_CACHE_HOME", "/x/y", 1);
	assert_int_equal(runs_choices_path(&a), 0);
	assert_string_equal(a, "/x/y/barscope/choices.json");
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", "/h", 1);
	assert_int_equal(runs_choices_path(&b), 0);
	assert_string_equal(b, "/h/.cache/barscope/choices.json");
	unsetenv("HOME");
	assert_int_equal(runs_choices_path(&none), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_kept_comes_back),
		cmocka_unit_test(no_damage_is_believed),
		cmocka_unit_test(foreign_files_are_not_believed),
		cmocka_unit_test(only_shapes_that_are_multiplied_are_lent),
		cmocka_unit_test(the_cache_folder_is_the_users),
	};

	if (!mkdtemp(folder)) {
		return 1;
	}
	const int failed = cmocka_run_group_tests(tests, NULL, NULL);
	char below[64];

	unlink(path());
	snprintf(below, sizeof(below), "%s/below", folder);
	rmdir(below);
	rmdir(folder);
	return failed;
}
