/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVML on a library that pretends to be one (tests/fakes/fakenvml.c): what is read, what is said
 * when something is missing, and that what a GPU lacks is asked for once.
 */
#include "stress/nvml.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/macros.h"
#include "stress/gpu_facts.h"
#include "stress/worker.h"

static const char address[] = "0000:41:00.0";

static struct nvml *open_fake(const char *orders)
{
	struct nvml *n = NULL;
	struct why why = {""};

	setenv("FAKE_NVML", orders, 1);
	const int r = nvml_open(NULL, address, &n, &why);

	if (r < 0) {
		fail_msg("%s: %d: %s", orders, r, why.text);
	}
	return n;
}

static int64_t get(struct nvml *n, enum nvml_reading r)
{
	int64_t v = -1;

	assert_int_equal(nvml_read(n, r, &v), 0);
	return v;
}

static void reads_everything(void **state)
{
	struct nvml *n = open_fake("celsius=61,sm=1755,reasons=0x44,vram=143771,bar1=262144");
	char text[NVML_REASONS_MAX], name[32];

	(void)state;
	nvml_name(n, name, sizeof(name));
	assert_string_equal(name, "Fake GPU");
	assert_int_equal(get(n, NVML_SM_MHZ), 1755);
	assert_int_equal(get(n, NVML_MEM_MHZ), 3201);
	assert_int_equal(get(n, NVML_CELSIUS), 61);
	assert_int_equal(get(n, NVML_MEM_CELSIUS), 67);
	assert_int_equal(get(n, NVML_SLOWDOWN_CELSIUS), 95);
	assert_int_equal(get(n, NVML_MILLIWATT), 300000);
	assert_int_equal(get(n, NVML_POWER_LIMIT_MW), 450000);
	assert_int_equal(get(n, NVML_POWER_DEFAULT_MW), 500000);
	assert_int_equal(get(n, NVML_PSTATE), 0);
	assert_int_equal(get(n, NVML_PERSISTENCE), 1);
	assert_int_equal(get(n, NVML_REPLAYS), 7);
	assert_int_equal(get(n, NVML_LINK_GEN), 4);
	assert_int_equal(get(n, NVML_LINK_WIDTH), 16);
	assert_int_equal(get(n, NVML_ECC_SOFT), 2);
	assert_int_equal(get(n, NVML_ECC_HARD), 0);
	assert_int_equal(get(n, NVML_MEMORY_BYTES), 143771 * (int64_t)MIB);
	assert_int_equal(get(n, NVML_BAR1_BYTES), 256 * (int64_t)GIB);
	assert_int_equal(get(n, NVML_SM_MAX_MHZ), 1980);
	assert_string_equal(nvml_reasons_text((uint64_t)get(n, NVML_REASONS), text),
		"power cap, heat (hardware)");
	assert_string_equal(nvml_reasons_text(0, text), "none");
	assert_string_equal(nvml_reasons_text(0x4001, text), "idle, 0x4000");
	nvml_close(n);
}

static void newer_gpus_tell_a_margin(void **state)
{
	struct nvml *n = open_fake("margin=46");
	int64_t v;

	(void)state;
	assert_int_equal(get(n, NVML_MARGIN), 46);
	assert_int_equal(get(n, NVML_SLOWDOWN_MARGIN), -2);
	assert_int_equal(nvml_read(n, NVML_SLOWDOWN_CELSIUS, &v), -EOPNOTSUPP);
	nvml_close(n);
}

static void counts_what_policies_take(void **state)
{
	struct nvml *n = open_fake("capped=50");
	uint64_t ns[NVML_POLICIES], again[NVML_POLICIES];
	unsigned known = 0;

	(void)state;
	assert_int_equal(nvml_read_policies(n, ns, &known), 0);
	assert_int_equal(known,
		1u << NVML_POLICY_POWER | 1u << NVML_POLICY_THERMAL | 1u << NVML_POLICY_SYNC_BOOST);
	usleep(2000);
	assert_int_equal(nvml_read_policies(n, again, &known), 0);
	assert_true(again[NVML_POLICY_POWER] >= ns[NVML_POLICY_POWER] + 1000000);
	assert_int_equal(again[NVML_POLICY_THERMAL], ns[NVML_POLICY_THERMAL]);
	nvml_close(n);
}

static unsigned logged(const char *path, const char *call)
{
	FILE *f = fopen(path, "re");
	char line[128];
	unsigned n = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		n += strstr(line, call) != NULL;
	}
	fclose(f);
	return n;
}

static void what_it_lacks_is_asked_once(void **state)
{
	char path[] = "/tmp/barscope-nvml-XXXXXX";
	const int fd = mkstemp(path);
	int64_t v;
	uint64_t ns[NVML_POLICIES];
	unsigned known;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	setenv("FAKE_NVML_LOG", path, 1);
	struct nvml *n = open_fake("unsupported=GetPowerUsage,denied=GetClockInfo");

	for (int i = 0; i < 3; i++) {
		assert_int_equal(nvml_read(n, NVML_MILLIWATT, &v), -EOPNOTSUPP);
		assert_int_equal(nvml_read(n, NVML_SM_MHZ, &v), i == 0 ? -EACCES : -EOPNOTSUPP);
		assert_false(nvml_supports(n, NVML_MILLIWATT));
		assert_int_equal(get(n, NVML_CELSIUS), 40);
	}
	nvml_close(n);
	assert_int_equal(logged(path, "GetPowerUsage"), 1);
	assert_int_equal(logged(path, "GetClockInfo"), 1);
	assert_int_equal(logged(path, "GetTemperature"), 3);

	n = open_fake("unsupported=GetFieldValues");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(nvml_read_policies(n, ns, &known), -EOPNOTSUPP);
	}
	nvml_close(n);
	assert_int_equal(logged(path, "GetFieldValues"), 1);
	unsetenv("FAKE_NVML_LOG");
	unlink(path);
}

static void an_old_driver_has_other_names(void **state)
{
	char library[4096];
	struct nvml *n;
	struct why why;
	int64_t v;
	uint64_t ns[NVML_POLICIES], xid = 0;
	unsigned known;

	(void)state;
	snprintf(library, sizeof(library), "%s/tests/fakes/libnvidia-ml-old.so.1",
		getenv("BARSCOPE_BUILD"));
	setenv("FAKE_NVML", "reasons=0x20,xid=31:0", 1);
	assert_int_equal(nvml_open(library, address, &n, &why), 0);
	assert_int_equal(get(n, NVML_REASONS), NVML_REASON_SW_THERMAL);
	assert_int_equal(get(n, NVML_CELSIUS), 40);
	assert_false(nvml_supports(n, NVML_MARGIN));
	assert_int_equal(nvml_read(n, NVML_MARGIN, &v), -EOPNOTSUPP);
	assert_int_equal(nvml_read(n, NVML_MEM_CELSIUS, &v), -EOPNOTSUPP);
	assert_int_equal(nvml_read_policies(n, ns, &known), -EOPNOTSUPP);
	assert_int_equal(nvml_watch_xid(n), 0);
	assert_int_equal(nvml_await_xid(n, 100, &xid), 1);
	assert_int_equal(xid, 31);
	nvml_close(n);
}

static void expect(
	const char *library, const char *orders, const char *at, int error, const char *words)
{
	struct nvml *n;
	struct why why = {""};

	setenv("FAKE_NVML", orders, 1);
	assert_int_equal(nvml_open(library, at, &n, &why), error);
	if (!strstr(why.text, words)) {
		fail_msg("%s: '%s' lacks '%s'", orders, why.text, words);
	}
}

static void says_what_is_missing(void **state)
{
	char cuda[4096];

	(void)state;
	snprintf(cuda, sizeof(cuda), "%s/tests/fakes/libcuda.so.1", getenv("BARSCOPE_BUILD"));
	expect("libnvidia-ml.so.0", "", address, -ENOENT, "cannot be read");
	expect(cuda, "", address, -ENOSYS, "has no nvmlInit_v2: the driver is too old");
	expect(NULL, "nodriver", address, -ENODEV, "Driver Not Loaded");
	expect(NULL, "mismatch", address, -EIO, "different versions: reboot");
	expect(NULL, "", "0000:99:00.0", -ENODEV, "the GPU at 0000:99:00.0: NVML error 6");
	expect(NULL, "denied=HandleByPci", address, -EACCES, "Insufficient Permissions");
}

static void a_lost_gpu_stays_an_error(void **state)
{
	struct nvml *n = open_fake("lost=4");
	int64_t v;

	(void)state;
	assert_int_equal(nvml_read(n, NVML_CELSIUS, &v), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(nvml_read(n, NVML_CELSIUS, &v), -ENODEV);
	}
	assert_true(nvml_supports(n, NVML_CELSIUS));
	nvml_close(n);
}

static void waits_for_an_xid(void **state)
{
	struct nvml *n = open_fake("xid=79:30");
	uint64_t xid = 0;

	(void)state;
	assert_int_equal(nvml_await_xid(n, 0, &xid), -EOPNOTSUPP);
	assert_int_equal(nvml_watch_xid(n), 0);
	assert_int_equal(nvml_watch_xid(n), 0);
	assert_int_equal(nvml_await_xid(n, 1, &xid), 0);
	assert_int_equal(nvml_await_xid(n, 5000, &xid), 1);
	assert_int_equal(xid, 79);
	assert_int_equal(nvml_await_xid(n, 1, &xid), 0);
	nvml_close(n);

	n = open_fake("unsupported=RegisterEvents");
	assert_int_equal(nvml_watch_xid(n), -EOPNOTSUPP);
	nvml_close(n);
}

static void locks_clocks_and_releases_them(void **state)
{
	char path[] = "/tmp/barscope-nvml-XXXXXX";
	const int fd = mkstemp(path);
	struct why why;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	setenv("FAKE_NVML_CLOCKS", path, 1);
	struct nvml *n = open_fake("");

	assert_int_equal(nvml_lock_clocks(n, 1200, &why), 0);
	assert_int_equal(get(n, NVML_SM_MHZ), 1200);
	assert_int_equal(nvml_lock_clocks(n, 0, &why), 0);
	assert_int_equal(get(n, NVML_SM_MHZ), 1980);
	nvml_close(n);

	n = open_fake("denied=SetGpuLockedClocks");
	assert_int_equal(nvml_lock_clocks(n, 1200, &why), -EACCES);
	assert_non_null(strstr(why.text, "it needs root"));
	nvml_close(n);
	unsetenv("FAKE_NVML_CLOCKS");
	unlink(path);
}

static void lists_processes(void **state)
{
	struct nvml_process p[4];
	struct nvml *n = open_fake("processes=2");

	(void)state;
	assert_int_equal(nvml_processes(n, false, p, ARRAY_LEN(p)), 2);
	assert_int_equal(p[1].pid, 1001);
	assert_int_equal(p[1].bytes, 513 * (int64_t)MIB);
	assert_int_equal(nvml_processes(n, true, p, ARRAY_LEN(p)), 0);
	nvml_close(n);

	n = open_fake("processes=9");
	assert_int_equal(nvml_processes(n, false, p, ARRAY_LEN(p)), 9);
	assert_int_equal(p[0].pid, 0);
	nvml_close(n);
}

/* -- by a process of its own ----------------------------------------------------------- */

static void another_process_asks(void **state)
{
	const char *const both[] = {"0000:99:00.0", address};
	struct stress_gpu_facts f[2];
	struct why why = {""};
	int64_t v = 0;

	(void)state;
	setenv("FAKE_NVML", "vram=143771,bar1=262144,processes=3", 1);
	assert_int_equal(stress_gpu_facts(both, 2, STRESS_GPU_ALL, true, 20000, f, &why), 0);
	assert_int_equal(f[0].error, -ENODEV);
	assert_non_null(strstr(f[0].why, "0000:99:00.0"));
	assert_false(stress_gpu_knows(&f[0], NVML_MEMORY_BYTES, &v));
	assert_string_equal(f[1].name, "Fake GPU");
	assert_true(stress_gpu_knows(&f[1], NVML_MEMORY_BYTES, &v));
	assert_int_equal(v, 143771 * (int64_t)MIB);
	assert_true(stress_gpu_knows(&f[1], NVML_PERSISTENCE, &v));
	assert_false(stress_gpu_knows(&f[1], NVML_MARGIN, &v));
	assert_int_equal(f[1].processes, 3);
	assert_int_equal(f[1].process[2].pid, 1002);

	assert_int_equal(stress_gpu_facts(&both[1], 1, STRESS_GPU_SIZES, false, 20000, f, &why), 0);
	assert_int_equal(f[0].known, STRESS_GPU_SIZES);
	assert_int_equal(f[0].processes, -1);
}

static void a_driver_that_hangs_is_given_up(void **state)
{
	const char *const both[] = {address, address};
	struct stress_gpu_facts f[2];
	struct why why = {""};
	const uint64_t began = clock_ns();

	(void)state;
	setenv("FAKE_NVML", "hang=GetBAR1", 1);
	assert_int_equal(
		stress_gpu_facts(both, 2, STRESS_GPU_SIZES, false, 300, f, &why), -ETIMEDOUT);
	assert_true(clock_ns() - began >= 300000000);
	assert_non_null(strstr(why.text, "has not answered for the GPU at 0000:41:00.0"));
	assert_int_equal(f[1].error, -ETIMEDOUT);

	setenv("FAKE_NVML", "nodriver", 1);
	assert_int_equal(
		stress_gpu_facts(both, 1, STRESS_GPU_SIZES, false, 20000, f, &why), -ENODEV);
	assert_non_null(strstr(why.text, "Driver Not Loaded"));
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--worker")) {
		return stress_worker_main(argc, argv);
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_everything),
		cmocka_unit_test(newer_gpus_tell_a_margin),
		cmocka_unit_test(counts_what_policies_take),
		cmocka_unit_test(what_it_lacks_is_asked_once),
		cmocka_unit_test(an_old_driver_has_other_names),
		cmocka_unit_test(says_what_is_missing),
		cmocka_unit_test(a_lost_gpu_stays_an_error),
		cmocka_unit_test(waits_for_an_xid),
		cmocka_unit_test(locks_clocks_and_releases_them),
		cmocka_unit_test(lists_processes),
		cmocka_unit_test(another_process_asks),
		cmocka_unit_test(a_driver_that_hangs_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
