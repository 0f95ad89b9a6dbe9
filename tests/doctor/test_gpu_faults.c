/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One planted fault of a GPU's driver, its libraries or kernels at a time, by fake libraries: the
 * right line says so, and no other is blamed.
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

/* -- driver -------------------------------------------------------------------------- */

static void a_library_newer_than_the_driver(void **state)
{
	(void)state;
	plant_healthy();
	assert_int_equal(
		rename(plant_at("lib/libcuda.so.580.95.05"), plant_at("lib/libcuda.so.590.44.01")),
		0);
	plant_libcuda(plant_at("lib/libcuda.so.590.44.01"));
	setenv("FAKE_CUDA", "mismatch", 1);
	plant_only("driver.nvidia.match", "newer than the kernel module");
}

/* As forward compatibility does: another version, and it works. */
static void another_version_that_works_is_no_fault(void **state)
{
	(void)state;
	plant_healthy();
	plant_file("proc/driver/nvidia/version",
		"NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun 6 2023\n");
	struct doctor_report *r = plant_run();
	int bad = plant_judge(r, NULL, NULL);
	enum doctor_result said = doctor_worst(r, "driver.nvidia.match");
	doctor_report_destroy(r);
	assert_int_equal(bad, 0);
	assert_int_equal(said, DOCTOR_NOTE);
}

static void a_stub_first_in_the_path(void **state)
{
	(void)state;
	char stub[PLANT_PATH], path[2 * PLANT_PATH];
	plant_healthy();
	snprintf(stub, sizeof(stub), "%s/tests/fakes/stubs/libcuda.so.1", getenv("BARSCOPE_BUILD"));
	plant_libcuda(stub);
	const char *before = getenv("LD_LIBRARY_PATH");
	char *kept = before ? strdup(before) : NULL;
	*strrchr(stub, '/') = '\0';
	snprintf(path, sizeof(path), "%s:/usr/local/lib", stub);
	setenv("LD_LIBRARY_PATH", path, 1);
	struct doctor_report *r = plant_run();
	int bad = plant_judge(r, "driver.nvidia.libcuda", "stub");
	for (size_t i = 0; i < r->nline; i++) {
		if (strcmp(r->line[i].id, "driver.nvidia.libcuda") == 0 &&
			strcmp(r->line[i].fix, "export LD_LIBRARY_PATH=/usr/local/lib") != 0) {
			print_error("the fix is '%s'\n", r->line[i].fix);
			bad = 1;
		}
	}
	doctor_report_destroy(r);
	if (kept) {
		setenv("LD_LIBRARY_PATH", kept, 1);
	} else {
		unsetenv("LD_LIBRARY_PATH");
	}
	free(kept);
	assert_int_equal(bad, 0);
}

/* Root may read everything: somebody else looks. */
static void a_node_that_this_user_cannot_read(void **state)
{
	(void)state;
	plant_healthy();
	plant_open_to_all();
	chmod(plant_at("dev/nvidia0"), 0);
	fflush(stdout);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0)) {
			_exit(77);
		}
		struct doctor_report *r = plant_run();
		_exit(plant_judge(r, "driver.nvidia.nodes", "/dev/nvidia0 is closed"));
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77) {
		print_message("skipped: this root cannot become another user\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_node_that_is_missing(void **state)
{
	(void)state;
	plant_healthy();
	unlink(plant_at("dev/nvidiactl"));
	setenv("FAKE_CUDA", "nodevice", 1);
	plant_only("driver.nvidia.nodes", "/dev/nvidiactl is not there");
}

/* An AMD card's node has the name that sysfs tells. */
static void a_render_node(void **state)
{
	(void)state;
	plant_healthy();
	plant_record("090-rebar-full");
	plant_folder("sys/module/amdgpu");
	plant_folder("sys/bus/pci/devices/0000:01:00.0/drm/renderD129");
	plant_file("dev/dri/renderD129", "");
	plant_only(NULL, NULL);
	unlink(plant_at("dev/dri/renderD129"));
	plant_only("driver.amd.nodes", "/dev/dri/renderD129 is not there");
}

static void no_module(void **state)
{
	(void)state;
	plant_healthy();
	unlink(plant_at("sys/module/nvidia/version"));
	rmdir(plant_at("sys/module/nvidia"));
	plant_only("driver.nvidia.module", "No kernel module");
}

static void a_compiler_that_fails_or_never_ends(void **state)
{
	(void)state;
	plant_healthy();
	setenv("FAKE_CUDA", "jit=221", 1);
	plant_only("driver.nvidia.jit", "cannot compile");

	setenv("FAKE_CUDA", "jithang", 1);
	struct doctor_gpu g;
	const struct doctor_gpu_question q = {.libcuda = plant_at("lib/libcuda.so.580.95.05"),
		.shape = {1, 64, 64},
		.limit_ms = 2500};
	doctor_gpu_ask(&q, &g);
	assert_int_equal(g.error, -ETIMEDOUT);
	assert_non_null(strstr(g.why, "did not end within 2500 ms"));

	setenv("FAKE_CUDA", "crash", 1);
	doctor_gpu_ask(&q, &g);
	assert_int_equal(g.error, -EIO);
	assert_non_null(strstr(g.why, "signal 6 while loading libcuda.so.1"));
	unsetenv("FAKE_CUDA");
}

/* What NVML says of the card: one order each. */
static void what_nvml_says(void **state)
{
	static const struct {
		const char *order, *id, *words;
	} plants[] = {
		{"reasons=0x40", "clocks.gpu", "slows itself down"},
		{"celsius=90", "clocks.gpu_temperature", "hot before any load"},
		{"processes=2", "clocks.gpu_users", "Somebody else computes"},
	};
	(void)state;
	char orders[128];
	for (size_t i = 0; i < ARRAY_LEN(plants); i++) {
		plant_healthy();
		snprintf(orders, sizeof(orders), "address=0000:01:00.0,%s,processes=0",
			plants[i].order);
		setenv("FAKE_NVML", orders, 1);
		plant_only(plants[i].id, plants[i].words);
	}
	plant_healthy();
	setenv("FAKE_NVML", "nodriver", 1);
	struct doctor_report *r = plant_run();
	assert_int_equal(plant_line(r, "driver.nvidia.nvml")->result, DOCTOR_NOTE);
	doctor_report_destroy(r);
}

/* Nothing of it stays in the folder, whatever the driver put there. */
static void the_cache_is_tried_and_left_as_it_was(void **state)
{
	(void)state;
	plant_healthy();
	struct doctor_report *r = plant_run();
	assert_non_null(strstr(plant_line(r, "driver.nvidia.jit")->tested, "keeps it"));
	assert_non_null(strstr(plant_line(r, "driver.nvidia.jit")->evidence, plant_at("cuda")));
	doctor_report_destroy(r);
	assert_int_equal(rmdir(plant_at("cuda")), 0); /* empty */

	plant_healthy();
	setenv("FAKE_CUDA", "nocache", 1);
	r = plant_run();
	assert_int_equal(plant_line(r, "driver.nvidia.jit")->result, DOCTOR_NOTE);
	assert_non_null(strstr(plant_line(r, "driver.nvidia.jit")->tested, "kept nothing"));
	doctor_report_destroy(r);

	plant_healthy();
	setenv("CUDA_CACHE_DISABLE", "1", 1);
	r = plant_run();
	assert_non_null(strstr(plant_line(r, "driver.nvidia.jit")->tested, "switched off"));
	doctor_report_destroy(r);
	unsetenv("CUDA_CACHE_DISABLE");
}

/* A run that a signal ended leaves its folder; the next removes it, and none that is in use. */
static void a_left_cache_is_removed(void **state)
{
	(void)state;
	plant_healthy();
	plant_folder("cuda/.barscope-cache-aaaaaa");
	plant_folder("cuda/.barscope-cache-aaaaaa/9");
	plant_file("cuda/.barscope-cache-aaaaaa/9/compiled", "of a kernel");
	plant_folder("cuda/.barscope-cache-bbbbbb");
	plant_folder("cuda/of-the-driver");
	int other = open(plant_at("cuda/.barscope-cache-bbbbbb"), O_RDONLY | O_DIRECTORY);
	assert_true(other >= 0);
	assert_int_equal(flock(other, LOCK_EX), 0);
	struct doctor_report *r = plant_run();
	assert_non_null(strstr(plant_line(r, "driver.nvidia.jit")->tested, "keeps it"));
	doctor_report_destroy(r);
	assert_int_equal(access(plant_at("cuda/.barscope-cache-aaaaaa"), F_OK), -1);
	assert_int_equal(access(plant_at("cuda/.barscope-cache-bbbbbb"), F_OK), 0);
	assert_int_equal(access(plant_at("cuda/of-the-driver"), F_OK), 0);
	close(other);
}

/* -- algorithm ----------------------------------------------------------------------- */

static void a_shape_whose_rows_are_not_aligned(void **state)
{
	(void)state;
	struct doctor_report r = {0};
	const struct doctor_gpu g = {.step = DOCTOR_GPU_DONE, .kernel = "naive", .local_bytes = 48};
	struct doctor_options o = {.shape = {1, 4097, 11008}};
	doctor_algorithm(&o, &r, &g);
	assert_int_equal(plant_line(&r, "algorithm.alignment")->result, DOCTOR_FAULT);
	assert_non_null(strstr(plant_line(&r, "algorithm.alignment")->fix, "4104"));
	assert_int_equal(plant_line(&r, "algorithm.spills")->result, DOCTOR_FAULT);
	r.nline = 0;
	o.shape.k = 4096;
	doctor_algorithm(&o, &r, &g);
	assert_int_equal(plant_line(&r, "algorithm.alignment")->result, DOCTOR_OK);
	free(r.line);
}

static void the_gap_to_the_library_and_the_floor(void **state)
{
	static const struct {
		double own, library, read;
		enum doctor_result result;
		const char *words;
	} cases[] = {
		{22900, 24400, 21600, DOCTOR_OK, "near the floor"},
		{22900, 0, 21600, DOCTOR_OK, "near the floor"},
		{26000, 24400, 21600, DOCTOR_NOTE, "cuBLASLt is faster"},
		{29000, 30000, 21600, DOCTOR_NOTE, "far above the floor"},
	};
	(void)state;
	const struct doctor_options o = {.shape = {1, 4096, 11008}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct doctor_report r = {0};
		const struct doctor_gpu g = {.step = DOCTOR_GPU_DONE,
			.kernel = "naive",
			.own_ns = cases[i].own,
			.library_ns = cases[i].library,
			.read_ns = cases[i].read};
		doctor_algorithm(&o, &r, &g);
		assert_int_equal(plant_line(&r, "algorithm.gap")->result, cases[i].result);
		assert_non_null(strstr(plant_line(&r, "algorithm.gap")->tested, cases[i].words));
		free(r.line);
	}
}

/* Nothing left out: empty launches, the shape's kernel, and its times beside the library's. */
static void the_kernel_is_looked_at_and_timed(void **state)
{
	(void)state;
	plant_healthy();
	plant_libcuda("");
	plant_whole(true);
	struct doctor_report *r = plant_run();
	plant_whole(false);
	assert_non_null(strstr(plant_line(r, "clocks.launch")->tested, "empty launch"));
	assert_int_equal(plant_line(r, "algorithm.spills")->result, DOCTOR_OK);
	assert_non_null(
		strstr(plant_line(r, "algorithm.gap")->evidence, "reading the weights alone"));
	assert_non_null(strstr(plant_line(r, "algorithm.gap")->evidence, "cuBLASLt's best"));
	doctor_report_destroy(r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_library_newer_than_the_driver),
		cmocka_unit_test(another_version_that_works_is_no_fault),
		cmocka_unit_test(a_stub_first_in_the_path),
		cmocka_unit_test(a_node_that_this_user_cannot_read),
		cmocka_unit_test(a_node_that_is_missing),
		cmocka_unit_test(a_render_node),
		cmocka_unit_test(no_module),
		cmocka_unit_test(a_compiler_that_fails_or_never_ends),
		cmocka_unit_test(the_cache_is_tried_and_left_as_it_was),
		cmocka_unit_test(a_left_cache_is_removed),
		cmocka_unit_test(what_nvml_says),
		cmocka_unit_test(a_shape_whose_rows_are_not_aligned),
		cmocka_unit_test(the_gap_to_the_library_and_the_floor),
		cmocka_unit_test(the_kernel_is_looked_at_and_timed),
	};
	return plant_main(argc, argv, tests, ARRAY_LEN(tests));
}
