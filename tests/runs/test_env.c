/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What surrounds a run is kept without what says whose machine it is, also from older stores. */
#include "runs/env.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "runs/bundle.h"
#include "runs/write.h"
#include "tests/runs/place.h"

static const char raw_cmdline[] =
	"BOOT_IMAGE=/vmlinuz root=UUID=0a1b2c3d-0000-4000-8000-1234567890ab"
	" ip=10.9.8.7 rd.lvm.lv=secretvg/root pci=realloc quiet";
static const char *const secret[] = {"0a1b2c3d", "10.9.8.7", "secretvg", "boxname", "SN4711"};

static void assert_no_secret(const char *text, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(secret); i++) {
		if (memmem(text, len, secret[i], strlen(secret[i]))) {
			fail_msg("'%s' is told", secret[i]);
		}
	}
}

static void it_is_masked_as_captures_are(void **state)
{
	const struct place *p = *state;
	char line[256];
	snprintf(line, sizeof(line), "%s\n", raw_cmdline);
	place_file(p, "proc/cmdline", line);
	place_file(p, "proc/sys/kernel/hostname", "boxname.example.org\n");
	place_file(p, "proc/sys/kernel/version", "#1 SMP boxname 2026\n");

	struct js *env = runs_env_read(p->root);
	const char *cmdline = js_get_str(env, "cmdline");
	assert_no_secret(cmdline, strlen(cmdline));
	/* What bears upon the hardware is what is compared. */
	assert_non_null(strstr(cmdline, " pci=realloc quiet"));
	assert_string_equal(js_get_str(env, "kernel_build"), "#1 SMP xxxxxxx 2026");
	assert_string_equal(js_get_str(env, "kernel"), "6.1.0-test");

	_cleanup_free_ char *once = js_text_compact(env);
	runs_env_mask(env);
	_cleanup_free_ char *twice = js_text_compact(env);
	assert_string_equal(once, twice);
	js_free(env);
}

static char *old_env(void)
{
	struct js *env = js_object();
	js_set_str(env, "kernel", "6.1.0-test");
	js_set_str(env, "cmdline", raw_cmdline);
	char *text = js_text_compact(env);
	js_free(env);
	return text;
}

/* A store with one run as a version that masked nothing has written it, and that run's ENV. */
static void write_old(const struct place *p, const char *env)
{
	struct runs_store *s = NULL;
	struct why why = {""};
	struct runs_info run = {.state = RUNS_RUNNING, .max_error = -1};
	int64_t id;
	runs_write_uid(run.uid);
	snprintf(run.label, sizeof(run.label), "old");
	assert_int_equal(runs_store_open(p->store, RUNS_STORE_CREATE, &s, &why), 0);
	assert_int_equal(runs_write_open(s, &why), 0);
	assert_int_equal(runs_write_run(s, &run, env, &id, &why), 0);
	assert_int_equal(runs_write_end(s, id, 1, RUNS_MACHINE_DOWN,
				 "last words: nvme S/N: SN4711 root=/dev/x", &why),
		0);
	assert_int_equal(runs_db_end(runs_store_db(s), 0, &why), 0);
	runs_store_close(s);
}

/* The bytes of an export of all that is in P's store, where LIST is what a reader is shown. */
static char *export_old(const struct place *p, struct runs_list *list, size_t *ret_len)
{
	struct runs_store *s = NULL;
	struct why why = {""};
	char path[160], *bytes = NULL;
	assert_int_equal(runs_store_open(p->store, RUNS_STORE_READ, &s, &why), 0);
	assert_int_equal(runs_info_list(s, NULL, "", list, &why), 0);
	assert_int_equal(list->n, 1);
	runs_store_close(s);
	snprintf(path, sizeof(path), "%s/one.barscope", p->dir);
	assert_int_equal(runs_bundle_export(p->store, list, path, &why), 0);
	assert_int_equal(file_read_all(path, 1 << 24, &bytes, ret_len, &why), 0);
	assert_true(*ret_len > 4096);
	return bytes;
}

static void old_stores_tell_nothing_either(void **state)
{
	const struct place *p = *state;
	struct runs_store *s = NULL;
	struct why why = {""};
	_cleanup_runs_ struct runs_list list = {0};
	struct js *env = NULL;
	_cleanup_free_ char *old = old_env();
	write_old(p, old);

	size_t len;
	_cleanup_free_ char *bytes = export_old(p, &list, &len);
	assert_string_equal(list.run[0].why, "last words: nvme S/N: XXXXXX root=/dev/x");
	assert_non_null(memmem(bytes, len, "pci=realloc", 11));
	assert_non_null(memmem(bytes, len, "last words: nvme S/N: XXXXXX", 28));
	assert_no_secret(bytes, len);

	assert_int_equal(runs_store_open(p->store, RUNS_STORE_READ, &s, &why), 0);
	assert_int_equal(runs_info_env(s, list.run[0].id, &env, &why), 0);
	assert_no_secret(js_get_str(env, "cmdline"), strlen(js_get_str(env, "cmdline")));
	js_free(env);
	runs_store_close(s);
}

/* What cannot be read cannot be masked, and does not travel; the rest of the run does. */
static void an_environment_that_is_none_stays_behind(void **state)
{
	const struct place *p = *state;
	static const char *const none[] = {"cmdline: nvme SN4711", "\"nvme SN4711\"", ""};
	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		char path[160];
		_cleanup_runs_ struct runs_list list = {0};
		write_old(p, none[i]);
		size_t len;
		_cleanup_free_ char *bytes = export_old(p, &list, &len);
		assert_non_null(memmem(bytes, len, "last words: nvme S/N: XXXXXX", 28));
		assert_no_secret(bytes, len);
		assert_int_equal(unlink(p->store), 0);
		snprintf(path, sizeof(path), "%s/one.barscope", p->dir);
		assert_int_equal(unlink(path), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			it_is_masked_as_captures_are, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			old_stores_tell_nothing_either, place_setup, place_teardown),
		cmocka_unit_test_setup_teardown(
			an_environment_that_is_none_stays_behind, place_setup, place_teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
