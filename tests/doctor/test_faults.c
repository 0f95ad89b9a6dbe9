/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One planted fault at a time in a machine with nothing wrong: the right line says so, and no
 * other line of any group is blamed. Full disks, read-only and noexec file systems need mounts of
 * their own, in a namespace; where none is allowed that part is skipped and says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "doctor/line.h"
#include "doctor/place.h"
#include "plant.h"

static void a_healthy_machine_has_no_fault(void **state)
{
	(void)state;
	plant_healthy();
	struct doctor_report *r = plant_run();
	int bad = plant_judge(r, NULL, NULL);
	for (size_t i = 0; i < r->nline; i++) {
		if (r->line[i].result == DOCTOR_UNSEEN) {
			print_error("%s was not seen: %s\n", r->line[i].id, r->line[i].evidence);
			bad = 1;
		}
	}
	doctor_report_destroy(r);
	assert_int_equal(bad, 0);
}

/* -- environment --------------------------------------------------------------------- */

static void missing_blank_and_other_characters(void **state)
{
	(void)state;
	plant_healthy();
	setenv("TMPDIR", plant_at("nowhere/tmp"), 1);
	plant_only("env.tmpdir", "does not exist");

	plant_healthy();
	plant_folder("my build");
	setenv("BUILD_DIR", plant_at("my build"), 1);
	plant_only("env.build_dir", "blank");

	plant_healthy();
	plant_folder("b\xc3\xa4u");
	setenv("BUILD_DIR", plant_at("b\xc3\xa4u"), 1);
	plant_only("env.build_dir", "ASCII");

	plant_healthy();
	plant_folder("a$b");
	setenv("BUILD_DIR", plant_at("a$b"), 1);
	plant_only("env.build_dir", "shells");

	plant_healthy();
	setenv("BUILD_DIR", "relative/build", 1);
	plant_only("env.build_dir", "absolute");

	plant_healthy();
	setenv("CUDA_CACHE_PATH", "/dev/null", 1);
	plant_only("env.cuda_cache", "not a folder");
	unsetenv("BUILD_DIR");
}

static void no_home_at_all(void **state)
{
	(void)state;
	plant_healthy();
	unsetenv("HOME");
	unsetenv("XDG_DATA_HOME");
	plant_only("env.home", "is not set");
	setenv("HOME", plant_at("no home"), 1);
	unsetenv("XDG_CACHE_HOME");
	unsetenv("CUDA_CACHE_PATH");
	plant_only("env.home", "does not exist");
}

static void mounts(const char *name, const char *options, unsigned long flags)
{
	plant_folder(name);
	assert_int_equal(mount("none", plant_at(name), "tmpfs", flags, options), 0);
}

/* What is stored in a container's layer survives a reboot; it goes with the container. */
static void an_overlay_is_no_fault(void)
{
	static const char *const folders[] = {
		"volatile/low", "volatile/up", "volatile/work", "layer"};
	char options[3 * 256], low[256], up[256];

	plant_healthy();
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		plant_folder(folders[i]);
	}
	snprintf(low, sizeof(low), "%s", plant_at(folders[0]));
	snprintf(up, sizeof(up), "%s", plant_at(folders[1]));
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", low, up,
		plant_at(folders[2]));
	if (mount("none", plant_at("layer"), "overlay", 0, options) < 0) {
		return; /* a kernel without it has no such store either */
	}
	setenv("XDG_DATA_HOME", plant_at("layer"), 1);
	struct doctor_report *r = plant_run();
	assert_int_equal(plant_line(r, "env.data")->result, DOCTOR_NOTE);
	assert_non_null(strstr(plant_line(r, "env.data")->tested, "goes with the container"));
	doctor_report_destroy(r);
	umount(plant_at("layer"));
}

/* The last test: in a user namespace nothing of one's own is closed to one any more. */
static void what_a_mount_can_do(void **state)
{
	(void)state;
	if (!plant_can_mount()) {
		print_message("skipped: neither root nor user namespaces: no mounts\n");
		skip();
	}
	plant_healthy();
	mounts("ro", "size=1m", MS_RDONLY);
	setenv("HOME", plant_at("ro"), 1);
	plant_only("env.home", "read-only");

	/* And with all defaults below it: one cause, one fault. */
	unsetenv("XDG_CACHE_HOME");
	unsetenv("XDG_DATA_HOME");
	unsetenv("CUDA_CACHE_PATH");
	plant_only("env.home", "read-only");

	plant_healthy();
	mounts("full", "size=64k", 0);
	setenv("BUILD_DIR", plant_at("full"), 1);
	plant_only("env.build_dir", "too little space");

	plant_healthy();
	mounts("inodes", "size=2g,nr_inodes=10", 0);
	setenv("BUILD_DIR", plant_at("inodes"), 1);
	plant_only("env.build_dir", "too few inodes");

	plant_healthy();
	mounts("noexec", "size=2g", MS_NOEXEC);
	setenv("CUDA_CACHE_PATH", plant_at("noexec"), 1);
	plant_only("env.cuda_cache", "noexec");

	plant_healthy();
	mounts("volatile", "size=2g", 0);
	setenv("XDG_DATA_HOME", plant_at("volatile"), 1);
	plant_only("env.data", "survive a reboot");

	an_overlay_is_no_fault();

	static const char *const all[] = {"ro", "full", "inodes", "noexec", "volatile"};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		umount(plant_at(all[i]));
	}
}

/* -- PCIe, clocks -------------------------------------------------------------------- */

static void rebar_off(void **state)
{
	(void)state;
	plant_healthy();
	plant_record("111-driver-option");
	plant_only("pcie.rebar", "rebar: off");
}

static void a_governor_that_saves_power(void **state)
{
	(void)state;
	plant_healthy();
	plant_file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	plant_only("clocks.governor", "powersave");
	plant_healthy();
}

/* A real neighbour: a process that keeps the first core that would be timed. */
static void a_load_on_the_timed_core(void **state)
{
	(void)state;
	plant_healthy();
	cpu_set_t allowed, one;
	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	int cpu = 0;
	while (!CPU_ISSET(cpu, &allowed)) {
		cpu++;
	}
	/* Not a child of this process, whose own children are no neighbours. */
	int fd[2];
	pid_t pid = 0;
	assert_int_equal(pipe(fd), 0);
	pid_t between = fork();
	assert_true(between >= 0);
	if (between == 0) {
		pid = fork();
		if (pid != 0) {
			_exit(write(fd[1], &pid, sizeof(pid)) != sizeof(pid));
		}
		alarm(30); /* whatever becomes of the test */
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
		for (volatile unsigned i = 0;; i++) {
		}
	}
	waitpid(between, NULL, 0);
	assert_int_equal(read(fd[0], &pid, sizeof(pid)), sizeof(pid));
	assert_true(pid > 0);
	close(fd[0]);
	close(fd[1]);
	unlink(plant_at("proc/stat"));
	int planted = symlink("/proc/stat", plant_at("proc/stat"));
	plant_watch(300);
	struct doctor_report *r = plant_run();
	plant_watch(1);
	kill(pid, SIGKILL);
	int bad = plant_judge(r, "clocks.neighbours", "in use by somebody else");
	doctor_report_destroy(r);
	assert_int_equal(planted, 0);
	assert_int_equal(bad, 0);
}

/* -- the parts ----------------------------------------------------------------------- */

static void a_probe_leaves_nothing_behind(void **state)
{
	(void)state;
	plant_folder("clean");
	struct doctor_place p;
	doctor_place_try(plant_at("clean"), true, 0, 0, &p);
	assert_int_equal(p.error, 0);
	assert_int_equal(p.faults & ~(unsigned)(PLACE_VOLATILE | PLACE_LAYER), 0);
	assert_int_equal(rmdir(plant_at("clean")), 0);
}

static void no_escape_reaches_a_terminal(void **state)
{
	(void)state;
	struct doctor_report r = {0};
	struct doctor_line *l =
		doctor_add(&r, DOCTOR_CLOCKS, DOCTOR_NOTE, "x", "%s", "a\033]0;b\007c");
	doctor_evidence(l, "%s", "\x1b[31mred\n");
	assert_string_equal(l->tested, "a?]0;b?c");
	assert_string_equal(l->evidence, "?[31mred?");
	free(r.line);
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_healthy_machine_has_no_fault),
		cmocka_unit_test(missing_blank_and_other_characters),
		cmocka_unit_test(no_home_at_all),
		cmocka_unit_test(rebar_off),
		cmocka_unit_test(a_governor_that_saves_power),
		cmocka_unit_test(a_load_on_the_timed_core),
		cmocka_unit_test(a_probe_leaves_nothing_behind),
		cmocka_unit_test(no_escape_reaches_a_terminal),
		cmocka_unit_test(words_for_a_shell),
		cmocka_unit_test(what_a_mount_can_do),
	};
	return plant_main(argc, argv, tests, ARRAY_LEN(tests));
}
