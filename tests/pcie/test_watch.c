/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run by umockdev-wrapper: a device of a mocked bus comes, changes and goes. */
#include "pcie/watch.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <umockdev.h>

/* GLib has its own. */
#undef MIN
#undef MAX

#include "pcie/scan.h"

/* Waits for the watch to say something, for as long as a busy machine may take. */
static bool wait_change(struct pcie_watch *w)
{
	struct pollfd p = {.fd = pcie_watch_fd(w), .events = POLLIN};
	return poll(&p, 1, 60000) > 0 && pcie_watch_drain(w);
}

/* Nothing comes, for as long as a busy machine may need for it. */
static bool stays_quiet(struct pcie_watch *w)
{
	struct pollfd p = {.fd = pcie_watch_fd(w), .events = POLLIN};
	return poll(&p, 1, 1000) <= 0 || !pcie_watch_drain(w);
}

static size_t count(void)
{
	const struct pcie_scan_options o = {0};
	struct pcie_snapshot *s;
	struct why why;
	if (pcie_scan(&o, &s, &why) < 0) {
		return 0;
	}
	size_t n = s->ndev;
	pcie_snapshot_destroy(s);
	return n;
}

static void devices_come_and_go(void **state)
{
	(void)state;
	UMockdevTestbed *t = umockdev_testbed_new();
	struct pcie_watch *w;
	assert_int_equal(pcie_watch_open(&w), 0);
	assert_false(pcie_watch_drain(w)); /* never blocks */

	gchar *bridge = umockdev_testbed_add_device(t, "pci", "pci0000:00/0000:00:01.0", NULL,
		"vendor", "0x8086", "device", "0x460d", "class", "0x060400", NULL, NULL);
	assert_true(wait_change(w));
	assert_int_equal(count(), 1);
	gchar *gpu = umockdev_testbed_add_device(t, "pci", "0000:01:00.0", bridge, "vendor",
		"0x10de", "device", "0x2684", "class", "0x030000", NULL, NULL);
	assert_true(wait_change(w));
	assert_int_equal(count(), 2);

	/* Another bus is no news. */
	g_free(umockdev_testbed_add_device(t, "usb", "usb1", NULL, "idVendor", "1234", NULL, NULL));
	assert_true(stays_quiet(w));

	umockdev_testbed_uevent(t, gpu, "change");
	assert_true(wait_change(w));
	umockdev_testbed_uevent(t, gpu, "remove");
	umockdev_testbed_remove_device(t, gpu);
	assert_true(wait_change(w));
	assert_int_equal(count(), 1);
	assert_false(pcie_watch_drain(w));

	pcie_watch_close(w);
	pcie_watch_close(NULL);
	g_free(bridge);
	g_free(gpu);
	g_object_unref(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(devices_come_and_go)};
	const char *preload = getenv("LD_PRELOAD");
	if (!preload || !strstr(preload, "umockdev")) {
		print_message("it needs umockdev-wrapper around it\n");
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
