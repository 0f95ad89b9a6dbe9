/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caches, memory and control groups of machines that are not this one. */
#include "stress/host.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/macros.h"

static char root[] = "/tmp/barscope-host-XXXXXX";

static void put(const char *path, const char *text)
{
	char full[512], dir[512];
	snprintf(full, sizeof(full), "%s%s", root, path);
	snprintf(dir, sizeof(dir), "%s", full);
	*strrchr(dir, '/') = '\0';
	assert_int_equal(file_make_dirs(dir), 0);
	FILE *f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void put_cache(unsigned cpu, unsigned index, const char *type, const char *level,
	const char *size, const char *shared)
{
	const char *const names[] = {"type", "level", "size", "shared_cpu_list"};
	const char *const values[] = {type, level, size, shared};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char path[256], text[64];
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index%u/%s", cpu,
			index, names[i]);
		snprintf(text, sizeof(text), "%s\n", values[i]);
		put(path, text);
	}
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	(void)state;
	char command[128];
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command);
}

static void nothing_known(void **state)
{
	(void)state;
	struct stress_host h;
	stress_host_read(root, &h);
	assert_true(h.cpus >= 1); /* from the scheduler, not from a file */
	assert_int_equal(h.llc_bytes, 0);
	assert_int_equal(h.available_bytes, 0);
	assert_true(h.quota == 0);
	assert_string_equal(h.model, "");
}

/* The CPUs are this machine's own, so the tree describes each of them. */
static void last_level_caches_count_once(void **state)
{
	(void)state;
	struct stress_host h;
	stress_host_read("", &h);
	for (uint32_t i = 0; i < h.cpus; i++) {
		put_cache(h.cpu[i], 0, "Data", "1", "32K", "0");
		put_cache(h.cpu[i], 1, "Instruction", "1", "32K", "0");
		put_cache(h.cpu[i], 2, "Unified", "2", "512K", "0");
		put_cache(h.cpu[i], 3, "Unified", "3", "16384K", "0-63"); /* one for all */
	}
	stress_host_read(root, &h);
	assert_int_equal(h.llc_bytes, 16 * MIB);
	if (h.cpus > 1) {
		put_cache(h.cpu[h.cpus - 1], 3, "Unified", "3", "96M", "64-127");
		stress_host_read(root, &h);
		assert_int_equal(h.llc_bytes, 112 * MIB);
	}
}

static void the_tightest_limit_holds(void **state)
{
	(void)state;
	struct stress_host h;
	put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some CPU @ 3 GHz\nflags\t: fpu\n");
	put("/proc/meminfo", "MemTotal:       32000000 kB\nMemFree: 1 kB\n"
			     "MemAvailable:   16000000 kB\n");
	stress_host_read(root, &h);
	assert_string_equal(h.model, "Some CPU @ 3 GHz");
	assert_int_equal(h.available_bytes, (uint64_t)16000000 * 1024);

	/* A control group, version 2: the limit stands one level up. */
	put("/proc/self/cgroup", "0::/box/inner\n");
	put("/sys/fs/cgroup/box/memory.max", "4294967296\n");
	put("/sys/fs/cgroup/box/memory.current", "1073741824\n");
	put("/sys/fs/cgroup/box/memory.stat", "anon 1\ninactive_file 536870912\n");
	put("/sys/fs/cgroup/box/cpu.max", "250000 100000\n");
	put("/sys/fs/cgroup/box/inner/memory.max", "max\n");
	put("/sys/fs/cgroup/box/inner/memory.current", "1\n");
	put("/sys/fs/cgroup/box/inner/cpu.max", "max 100000\n");
	stress_host_read(root, &h);
	assert_int_equal(h.available_bytes, 4 * GIB - GIB / 2);
	assert_true(h.quota == 2.5);

	/* Full is not unknown. */
	put("/sys/fs/cgroup/box/memory.current", "99999999999\n");
	stress_host_read(root, &h);
	assert_int_equal(h.available_bytes, 1);

	/* Version 1. */
	put("/proc/self/cgroup", "5:cpu:/elsewhere\n4:memory:/jail\n");
	put("/sys/fs/cgroup/memory/jail/memory.limit_in_bytes", "2147483648\n");
	put("/sys/fs/cgroup/memory/jail/memory.usage_in_bytes", "1073741824\n");
	stress_host_read(root, &h);
	assert_int_equal(h.available_bytes, GIB);
	assert_true(h.quota == 0);
}

static void damaged_files_are_survived(void **state)
{
	(void)state;
	struct stress_host h;
	static const char *const junk[] = {"", "\n", ":", "::", "0:", "0::", "max", "\xff\xfe",
		"0::/", "1:memory:", "0::/../../../..", "MemAvailable:", "model name"};
	for (size_t i = 0; i < ARRAY_LEN(junk); i++) {
		put("/proc/self/cgroup", junk[i]);
		put("/proc/meminfo", junk[i]);
		put("/proc/cpuinfo", junk[i]);
		put("/sys/fs/cgroup/cpu.max", junk[i]);
		stress_host_read("", &h);
		uint16_t cpu = h.cpu[0];
		put_cache(cpu, 3, "Unified", junk[i], junk[i], junk[i]);
		stress_host_read(root, &h);
		assert_true(h.cpus >= 1);
	}
}

static void put_open(long pid, int fd, const char *target)
{
	char name[64], path[512];
	snprintf(name, sizeof(name), "/proc/%ld/fd/none", pid);
	put(name, ""); /* makes the folder */
	snprintf(path, sizeof(path), "%s/proc/%ld/fd/%d", root, pid, fd);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

/* Who has a GPU's file open; the driver's daemons and the control device do not count. */
static void users_of_a_device(void **state)
{
	(void)state;
	struct stress_host_openers o;
	stress_host_openers(root, "/dev/nvidia", &o);
	assert_int_equal(o.n, 0);
	put_open(4242, 3, "/dev/nvidiactl");
	put("/proc/4242/comm", "looker\n");
	put_open(4243, 0, "/dev/nvidia0");
	put("/proc/4243/comm", "nvidia-persiste\n");
	put("/proc/self-like/comm", "no number\n");
	stress_host_openers(root, "/dev/nvidia", &o);
	assert_int_equal(o.n, 0);
	put_open(4242, 4, "/dev/nvidia1");
	stress_host_openers(root, "/dev/nvidia", &o);
	assert_int_equal(o.n, 1);
	assert_int_equal(o.pid, 4242);
	assert_string_equal(o.name, "looker");
	/* A path of any length, and nothing at all. */
	put_open(4242, 5,
		"/a/very/long/path/that/leads/nowhere/at/all/but/is/a/link/like/any/other");
	stress_host_openers("/nonexistent", "/dev/nvidia", &o);
	assert_int_equal(o.n, 0);
	assert_int_equal(o.invisible, 1);
}

static void the_live_machine(void **state)
{
	(void)state;
	struct stress_host h;
	stress_host_read("", &h);
	assert_true(h.cpus >= 1 && h.cpus <= STRESS_CPUS_MAX);
	for (uint32_t i = 1; i < h.cpus; i++) {
		assert_true(h.cpu[i] > h.cpu[i - 1]);
	}
	assert_true(h.available_bytes > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(last_level_caches_count_once),
		cmocka_unit_test(the_tightest_limit_holds),
		cmocka_unit_test(damaged_files_are_survived),
		cmocka_unit_test(users_of_a_device),
		cmocka_unit_test(the_live_machine),
	};
	return cmocka_run_group_tests(tests, make_root, remove_root);
}
