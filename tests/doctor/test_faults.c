/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One planted fault at a time: the right line says so, and no other line of the environment
 * is blamed. Full disks and noexec need a mount of their own, so those parts run as root in a
 * private mount namespace and are skipped elsewhere.
 */
#include "doctor/doctor.h"

#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "doctor/line.h"
#include "doctor/place.h"

static char top[] = "/tmp/barscope-doctor-XXXXXX";
static bool can_mount;

static const char *at(const char *name)
{
	static char buf[8][256];
	static unsigned next;
	char *s = buf[next++ % 8];
	snprintf(s, 256, "%s/%s", top, name);
	return s;
}

static void make(const char *name)
{
	assert_int_equal(file_make_dirs(at(name)), 0);
}

/* A home, cache and temporary folder with nothing wrong but what the test plants. */
static void healthy(void)
{
	static const char *const folders[][2] = {{"HOME", "home"}, {"TMPDIR", "tmp"},
		{"BUILD_DIR", "build"}, {"XDG_CACHE_HOME", "cache"}, {"XDG_DATA_HOME", "data"},
		{"CUDA_CACHE_PATH", "cuda"}};
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		make(folders[i][1]);
		setenv(folders[i][0], at(folders[i][1]), 1);
	}
}

static struct doctor_report *run(void)
{
	struct doctor_report *r = calloc(1, sizeof(*r));
	doctor_environment(&(struct doctor_options){0}, r);
	return r;
}

/* Where this test runs in a container or on tmpfs, its data folder is volatile in truth. */
static bool is_volatile_here(const char *id)
{
	struct doctor_place p;
	doctor_place_try(top, false, 0, 0, &p);
	return strcmp(id, "env.data") == 0 && (p.faults & PLACE_VOLATILE);
}

/* The line ID is a fault that says WORDS, and no other line is a fault. */
static void only(const char *id, const char *words)
{
	struct doctor_report *r = run();
	bool found = false;
	for (size_t i = 0; i < r->nline; i++) {
		const struct doctor_line *l = &r->line[i];
		if (l->result != DOCTOR_FAULT ||
			(strcmp(l->id, id) != 0 && is_volatile_here(l->id))) {
			continue;
		}
		if (strcmp(l->id, id) != 0) {
			fail_msg("%s is blamed too: %s (%s)", l->id, l->tested, l->evidence);
		}
		found = true;
		if (!strstr(l->tested, words)) {
			fail_msg("'%s' does not say '%s'", l->tested, words);
		}
		assert_true(strlen(l->fix) > 0);
	}
	if (!found) {
		fail_msg("%s: no fault found", id);
	}
	doctor_report_destroy(r);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(top)) {
		return -1;
	}
	can_mount = geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	char cmd[300];
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", top);
	return system(cmd);
}

static void a_healthy_place_has_no_fault(void **state)
{
	(void)state;
	healthy();
	struct doctor_report *r = run();
	for (size_t i = 0; i < r->nline; i++) {
		/* A container's overlay under the data folder is a true fault there. */
		if (r->line[i].result == DOCTOR_FAULT && strcmp(r->line[i].id, "env.data") != 0) {
			fail_msg("%s: %s (%s)", r->line[i].id, r->line[i].tested,
				r->line[i].evidence);
		}
	}
	doctor_report_destroy(r);
}

static void missing_blank_and_other_characters(void **state)
{
	(void)state;
	healthy();
	setenv("TMPDIR", at("nowhere/tmp"), 1);
	only("env.tmpdir", "does not exist");

	healthy();
	make("my build");
	setenv("BUILD_DIR", at("my build"), 1);
	only("env.build_dir", "blank");

	healthy();
	make("b\xc3\xa4u");
	setenv("BUILD_DIR", at("b\xc3\xa4u"), 1);
	only("env.build_dir", "ASCII");

	healthy();
	make("a$b");
	setenv("BUILD_DIR", at("a$b"), 1);
	only("env.build_dir", "shells");

	healthy();
	setenv("BUILD_DIR", "relative/build", 1);
	only("env.build_dir", "absolute");

	healthy();
	setenv("CUDA_CACHE_PATH", "/dev/null", 1);
	only("env.cuda_cache", "not a folder");
	unsetenv("BUILD_DIR");
}

static void no_home_at_all(void **state)
{
	(void)state;
	healthy();
	unsetenv("HOME");
	only("env.home", "is not set");
}

static void mounts(const char *name, const char *options, unsigned long flags)
{
	make(name);
	assert_int_equal(mount("none", at(name), "tmpfs", flags, options), 0);
}

static void what_a_mount_can_do(void **state)
{
	(void)state;
	if (!can_mount) {
		skip();
	}
	healthy();
	mounts("ro", "size=1m", MS_RDONLY);
	setenv("HOME", at("ro"), 1);
	only("env.home", "read-only");

	healthy();
	mounts("full", "size=64k", 0);
	setenv("BUILD_DIR", at("full"), 1);
	only("env.build_dir", "too little space");

	healthy();
	mounts("inodes", "size=2g,nr_inodes=10", 0);
	setenv("BUILD_DIR", at("inodes"), 1);
	only("env.build_dir", "too few inodes");

	healthy();
	mounts("noexec", "size=2g", MS_NOEXEC);
	setenv("CUDA_CACHE_PATH", at("noexec"), 1);
	only("env.cuda_cache", "noexec");

	healthy();
	mounts("volatile", "size=2g", 0);
	setenv("XDG_DATA_HOME", at("volatile"), 1);
	only("env.data", "survive a reboot");

	static const char *const all[] = {"ro", "full", "inodes", "noexec", "volatile"};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		umount(at(all[i]));
	}
}

static void a_probe_leaves_nothing_behind(void **state)
{
	(void)state;
	make("clean");
	struct doctor_place p;
	doctor_place_try(at("clean"), true, 0, 0, &p);
	assert_int_equal(p.error, 0);
	assert_int_equal(p.faults & ~(unsigned)PLACE_VOLATILE, 0);
	assert_int_equal(rmdir(at("clean")), 0);
}

static void words_for_a_shell(void **state)
{
	(void)state;
	static const char *const pairs[][2] = {
		{"/home/x", "/home/x"}, {"a b", "'a b'"}, {"it's", "'it'\\''s'"}, {"", "''"}};
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		char *w = doctor_shell_word(pairs[i][0]);
		assert_string_equal(w, pairs[i][1]);
		free(w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_healthy_place_has_no_fault),
		cmocka_unit_test(missing_blank_and_other_characters),
		cmocka_unit_test(no_home_at_all),
		cmocka_unit_test(what_a_mount_can_do),
		cmocka_unit_test(a_probe_leaves_nothing_behind),
		cmocka_unit_test(words_for_a_shell),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
