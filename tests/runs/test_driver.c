/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVIDIA's driver as a witness of the live machine, on a library that pretends to be NVML and a
 * folder that pretends to be /sys: what it adds, what a capture keeps of it, and that neither a
 * sleeping GPU nor one of another driver is asked.
 */
#include "runs/driver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/macros.h"
#include "stress/worker.h"

static char root[] = "/tmp/barscope-driver-XXXXXX";
static char log_path[64];

static void put(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/sys/devices/pci0000:00/0000:41:00.0/%s", root, name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void make_folder(const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_int_equal(file_make_dirs(path), 0);
}

static void make_link(const char *target, const char *name)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/sys/%s", root, name);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

/* One GPU of NVIDIA's with a VRAM BAR of 256 GiB, bound to DRIVER. */
static void make_machine(const char *driver, const char *status)
{
	char target[64];

	make_folder("sys/devices/pci0000:00/0000:41:00.0/power");
	make_folder("sys/bus/pci/devices");
	make_folder("proc");
	make_link("../../../devices/pci0000:00/0000:41:00.0", "bus/pci/devices/0000:41:00.0");
	snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
	make_link(target, "devices/pci0000:00/0000:41:00.0/driver");
	put("vendor", "0x10de\n");
	put("device", "0x2335\n");
	put("class", "0x030200\n");
	put("power/runtime_status", status);
	put("resource", "0x0000104002000000 0x0000104002ffffff 0x000000000014220c\n"
			"0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
			"0x0000100000000000 0x0000103fffffffff 0x000000000014220c\n"
			"0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
			"0x0000104000000000 0x0000104001ffffff 0x000000000014220c\n"
			"0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
			"0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
}

static struct pcie_snapshot *scan(void)
{
	const struct pcie_scan_options o = {.sysfs = root, .driver = &runs_driver};
	struct pcie_snapshot *s = NULL;
	struct why why = {""};

	if (pcie_scan(&o, &s, &why) < 0) {
		fail_msg("%s", why.text);
	}
	assert_int_equal(s->ndev, 1);
	return s;
}

static bool was_asked(void)
{
	return access(log_path, F_OK) == 0;
}

static int set_up(void **state)
{
	(void)state;
	setenv("FAKE_NVML", "vram=143771,bar1=262144", 1);
	setenv("FAKE_NVML_LOG", log_path, 1);
	unlink(log_path);
	make_machine("nvidia", "active\n");
	return 0;
}

static bool noted(const struct pcie_snapshot *s, const char *words)
{
	for (size_t i = 0; i < s->nnote; i++) {
		if (strstr(s->note[i].text, words)) {
			return true;
		}
	}
	return false;
}

static void tells_what_sysfs_does_not(void **state)
{
	struct pcie_snapshot *s = scan();
	const struct pcie_vram *v = &s->dev[0].vram;

	(void)state;
	assert_int_equal(v->have, PCIE_KNOWN);
	assert_true(v->bytes == 143771 * MIB);
	assert_true(v->bar1 == 256 * GIB);
	assert_string_equal(s->source[v->src], "NVML");
	assert_false(noted(s, "BAR1"));
	pcie_snapshot_destroy(s);
}

static void a_capture_keeps_it(void **state)
{
	_cleanup_free_ char *record = NULL;
	struct pcie_snapshot *s = scan(), *again = NULL;
	struct why why = {""};
	size_t len;
	char where[160];

	(void)state;
	assert_int_equal(
		pcie_capture_asking(&runs_driver, root, false, false, &record, &len, &why), 0);
	assert_non_null(strstr(record, "A: nvml_memory_total=150754820096\n"));
	assert_non_null(strstr(record, "A: nvml_bar1_total=274877906944\n"));
	assert_int_equal(pcie_scan_buffer("it", record, len, &again, &why), 0);
	assert_true(again->dev[0].vram.bytes == 143771 * MIB);
	assert_string_equal(again->source[again->dev[0].vram.src], "NVML");
	if (!pcie_snapshot_equal(s, again, where, sizeof(where))) {
		fail_msg("they differ: %s", where);
	}
	pcie_snapshot_destroy(s);
	pcie_snapshot_destroy(again);
}

static void two_sizes_of_a_bar_are_said(void **state)
{
	(void)state;
	setenv("FAKE_NVML", "vram=143771,bar1=256", 1);
	struct pcie_snapshot *s = scan();

	assert_true(noted(s, "NVML gives BAR1 as 256 MiB, the BAR itself is 256 GiB"));
	pcie_snapshot_destroy(s);
}

static void whom_it_does_not_ask(void **state)
{
	(void)state;
	make_machine("nvidia", "suspended\n");
	struct pcie_snapshot *s = scan();

	assert_false(was_asked());
	assert_int_equal(s->dev[0].vram.have, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);

	make_machine("vfio-pci", "active\n");
	s = scan();
	assert_false(was_asked());
	pcie_snapshot_destroy(s);

	make_machine("nvidia", "active\n");
	put("class", "0x068000\n"); /* a switch */
	s = scan();
	assert_false(was_asked());
	pcie_snapshot_destroy(s);

	put("class", "0x030200\n");
	s = scan();
	assert_true(was_asked());
	pcie_snapshot_destroy(s);
}

static void a_driver_that_does_not_answer_is_noted(void **state)
{
	const uint64_t began = clock_ns();

	(void)state;
	setenv("FAKE_NVML", "hang=GetMemoryInfo", 1);
	struct pcie_snapshot *s = scan();

	assert_true(clock_ns() - began < 60000000000);
	assert_int_equal(s->dev[0].vram.have, PCIE_UNKNOWN);
	assert_true(noted(s, "NVML has not answered for the GPU at 0000:41:00.0"));
	pcie_snapshot_destroy(s);

	setenv("FAKE_NVML", "mismatch", 1);
	s = scan();
	assert_true(noted(s, "different versions: reboot"));
	pcie_snapshot_destroy(s);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--worker")) {
		return stress_worker_main(argc, argv);
	}
	if (!mkdtemp(root)) {
		return 1;
	}
	snprintf(log_path, sizeof(log_path), "%s/calls", root);
#define RUN(name) cmocka_unit_test_setup(name, set_up)
	const struct CMUnitTest tests[] = {
		RUN(tells_what_sysfs_does_not),
		RUN(a_capture_keeps_it),
		RUN(two_sizes_of_a_bar_are_said),
		RUN(whom_it_does_not_ask),
		RUN(a_driver_that_does_not_answer_is_noted),
	};
	const int r = cmocka_run_group_tests(tests, NULL, NULL);
	char command[96];

	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return r ? r : system(command);
}
