/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plant.h"

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
#include "doctor/gpu.h"
#include "doctor/place.h"
#include "pcie/scan.h"

static char top[64];
static unsigned watch_ms = 1;
static bool quick = true;
static char libcuda[PLANT_PATH];
static struct pcie_snapshot *machine;

const char *plant_at(const char *name)
{
	static char buf[8][PLANT_PATH];
	static unsigned next;
	char *s = buf[next++ % 8];
	snprintf(s, PLANT_PATH, "%s/%s", top, name);
	return s;
}

void plant_folder(const char *name)
{
	assert_int_equal(file_make_dirs(plant_at(name)), 0);
}

void plant_file(const char *name, const char *text)
{
	char dir[PLANT_PATH];
	snprintf(dir, sizeof(dir), "%s", name);
	char *slash = strrchr(dir, '/');
	if (slash) {
		*slash = '\0';
		plant_folder(dir);
	}
	unlink(plant_at(name));
	FILE *f = fopen(plant_at(name), "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

bool plant_begin(void)
{
	snprintf(top, sizeof(top), "/tmp/barscope-doctor-XXXXXX");
	return mkdtemp(top) && chmod(top, 0755) == 0;
}

int plant_end(void)
{
	char cmd[128];
	pcie_snapshot_destroy(machine);
	machine = NULL;
	snprintf(cmd, sizeof(cmd), "rm -rf '%s'", top);
	return system(cmd);
}

static int set_up(void **state)
{
	(void)state;
	return plant_begin() ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return plant_end();
}

bool plant_is_child(int argc, char **argv, int *ret)
{
	if (argc > 1 && !strcmp(argv[1], "--worker")) {
		*ret = stress_worker_main(argc, argv);
		return true;
	}
	if (argc > 1 && !strcmp(argv[1], "--doctor-gpu")) {
		*ret = doctor_gpu_main(argc, argv);
		return true;
	}
	return false;
}

int plant_main(int argc, char **argv, const struct CMUnitTest *tests, size_t n)
{
	int r;
	if (plant_is_child(argc, argv, &r)) {
		return r;
	}
	return _cmocka_run_group_tests("tests", tests, n, set_up, tear_down);
}

void plant_open_to_all(void)
{
	char cmd[128];
	snprintf(cmd, sizeof(cmd), "chmod -Rf a+rwX '%s'", top);
	int rc = system(cmd); /* what another test mounted read-only stays as it is */
	(void)rc;
}

void plant_record(const char *corpus)
{
	char record[PLANT_PATH], smi[PLANT_PATH];
	const char *source = getenv("BARSCOPE_SOURCE");
	struct why why = {""};
	assert_non_null(source);
	snprintf(record, sizeof(record), "%s/tests/corpus/%s/machine.rec", source, corpus);
	snprintf(smi, sizeof(smi), "%s/tests/corpus/%s/nvidia-smi.log", source, corpus);
	const char *with[] = {smi};
	const struct pcie_scan_options o = {
		.source = record, .with = with, .nwith = access(smi, R_OK) == 0};
	pcie_snapshot_destroy(machine);
	machine = NULL;
	if (pcie_scan(&o, &machine, &why) < 0) {
		fail_msg("%s", why.text);
	}
}

void plant_libcuda(const char *path)
{
	snprintf(libcuda, sizeof(libcuda), "%s", path);
}

void plant_healthy(void)
{
	static const char *const folders[][2] = {{"HOME", "home"}, {"TMPDIR", "tmp"},
		{"BUILD_DIR", "build"}, {"XDG_CACHE_HOME", "cache"}, {"XDG_DATA_HOME", "data"},
		{"CUDA_CACHE_PATH", "cuda"}};
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		plant_folder(folders[i][1]);
		setenv(folders[i][0], plant_at(folders[i][1]), 1);
	}
	unsetenv("CUDA_VISIBLE_DEVICES");
	unsetenv("CUDA_CACHE_DISABLE");
	unsetenv("FAKE_CUDA");
	setenv("FAKE_NVML", "address=0000:01:00.0,processes=0", 1);

	plant_file("proc/version", "Linux version 6.1.0\n");
	/* Two looks at it are the same: nobody uses a core. */
	plant_file(
		"proc/stat", "cpu0 100 0 100 1000 0 0 0 0 0 0\ncpu1 100 0 100 1000 0 0 0 0 0 0\n");
	plant_file("proc/driver/nvidia/version",
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 2025\n");
	plant_file("proc/driver/nvidia/gpus/0000:01:00.0/information",
		"Model: \t\t NVIDIA A100-PCIE-40GB\nDevice Minor: \t 0\n");
	plant_file("sys/module/nvidia/version", "580.95.05\n");
	plant_file("dev/nvidia0", "");
	plant_file("dev/nvidiactl", "");
	plant_file("dev/nvidia-uvm", "");
	plant_file("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
	plant_file("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
	plant_record("117-fixed-large");

	/* The library's name tells its version, as the driver's does. */
	char from[PLANT_PATH], cmd[3 * PLANT_PATH];
	const char *build = getenv("BARSCOPE_BUILD");
	assert_non_null(build);
	snprintf(from, sizeof(from), "%s/tests/fakes/libcuda.so.1", build);
	plant_folder("lib");
	plant_libcuda(plant_at("lib/libcuda.so.580.95.05"));
	snprintf(cmd, sizeof(cmd), "cp '%s' '%s'", from, libcuda);
	assert_int_equal(system(cmd), 0);
}

void plant_watch(unsigned ms)
{
	watch_ms = ms;
}

void plant_whole(bool whole)
{
	quick = !whole;
}

struct doctor_report *plant_run(void)
{
	struct doctor_report *r = NULL;
	const struct doctor_options o = {
		.root = top,
		.libcuda = *libcuda ? libcuda : NULL,
		.machine = machine,
		.quick = quick,
		.watch_ms = watch_ms,
		.shape = {2, 64, 64}, /* the fake multiplies on the CPU */
	};
	assert_int_equal(doctor_run(&o, &r), 0);
	return r;
}

bool plant_true_anyway(const char *id)
{
	struct doctor_place p;
	doctor_place_try(top, false, 0, 0, &p);
	return strcmp(id, "env.data") == 0 && (p.faults & PLACE_VOLATILE);
}

int plant_judge(const struct doctor_report *r, const char *id, const char *words)
{
	int bad = 0;
	bool found = false;
	for (size_t i = 0; i < r->nline; i++) {
		const struct doctor_line *l = &r->line[i];
		bool right = id && strcmp(l->id, id) == 0;
		if (l->result != DOCTOR_FAULT || (!right && plant_true_anyway(l->id))) {
			continue;
		}
		if (!right) {
			print_error("%s is blamed: %s (%s)\n", l->id, l->tested, l->evidence);
			bad = 1;
			continue;
		}
		found = true;
		if (!strstr(l->tested, words) || !l->fix[0]) {
			print_error("'%s' does not say '%s', or has no fix\n", l->tested, words);
			bad = 1;
		}
	}
	if (id && !found) {
		print_error("%s: no fault found\n", id);
		bad = 1;
	}
	return bad;
}

void plant_only(const char *id, const char *words)
{
	struct doctor_report *r = plant_run();
	int bad = plant_judge(r, id, words);
	doctor_report_destroy(r);
	assert_int_equal(bad, 0);
}

static bool write_to(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	if (fd >= 0) {
		close(fd);
	}
	return ok;
}

bool plant_can_mount(void)
{
	char map[64];
	unsigned uid = geteuid(), gid = getegid();
	if (uid != 0) {
		/* The user stays itself in there, so that files are no more open to it than before.
		 */
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) {
			return false;
		}
		write_to("/proc/self/setgroups", "deny");
		snprintf(map, sizeof(map), "%u %u 1", uid, uid);
		if (!write_to("/proc/self/uid_map", map)) {
			return false;
		}
		snprintf(map, sizeof(map), "%u %u 1", gid, gid);
		write_to("/proc/self/gid_map", map);
	} else if (unshare(CLONE_NEWNS) < 0) {
		return false;
	}
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

const struct doctor_line *plant_line(const struct doctor_report *r, const char *id)
{
	for (size_t i = 0; i < r->nline; i++) {
		if (strcmp(r->line[i].id, id) == 0) {
			return &r->line[i];
		}
	}
	fail_msg("no line %s", id);
	return NULL;
}
