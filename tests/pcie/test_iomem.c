/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "pcie/iomem.h"
#include "pcie/lines.h"

static struct pcie_snapshot *parsed(const char *text, size_t *ret_n, const char *bridge)
{
	static char buf[4096];
	struct pcie_lines l = {0};
	struct pcie_snapshot *s = pcie_snapshot_create("test");
	struct pcie_addr a;

	if (bridge) { /* a bridge to bus 01 */
		assert_int_equal(pcie_addr_parse(bridge, &a), 0);
		struct pcie_device *d = pcie_snapshot_add(s, a);
		d->is_bridge = true;
		d->secondary = 1;
	}
	strcpy(buf, text);
	pcie_lines_split(&l, buf, strlen(buf));
	*ret_n = 0;
	for (size_t i = 0; i < l.n; i++) {
		bool is = pcie_iomem_is_line(l.line[i].s);
		assert_int_equal(pcie_iomem_line(s, l.line[i].s), is);
		*ret_n += is;
	}
	pcie_iomem_finish(s, pcie_snapshot_source(s, "/proc/iomem"));
	pcie_lines_finish(&l);
	return s;
}

static void a_tree_by_ranges(void **state)
{
	(void)state;
	size_t n;
	struct pcie_snapshot *s = parsed("00000000-00000fff : Reserved\n"
					 "4000000000-7fffffffff : PCI Bus 0000:00\n"
					 "4000000000-44007fffff : PCI Bus 0000:01\n" /* no indent */
					 "     4000000000-400fffffff : 0000:01:00.0    <<<< GPU\n"
					 "    4400000000-44007fffff : 0000:01:00.1\n"
					 "nothing\n"
					 "0000-0cf7 : PCI Bus 0000:00\n"
					 "8000000000-7000000000 : backwards\n"
					 "8000000000-80ffffffff : PCI Bus 10000:e0\n",
		&n, NULL);

	assert_int_equal(n, 6);
	assert_int_equal(s->have_iomem, PCIE_KNOWN);
	assert_int_equal(s->niomem, 6);
	assert_int_equal(s->iomem[0].parent, -1);
	assert_int_equal(s->iomem[2].parent, 1);
	assert_int_equal(s->iomem[3].parent, 2);
	assert_string_equal(s->iomem[3].name, "0000:01:00.0");
	assert_int_equal(s->iomem[4].parent, 2);
	assert_int_equal(s->iomem[5].parent, -1);
	assert_int_equal(s->naperture, 2);
	assert_string_equal(s->aperture[0].root, "pci0000:00");
	assert_true(s->aperture[0].base == 0x4000000000 && s->aperture[0].limit == 0x7fffffffff);
	assert_string_equal(s->aperture[1].root, "pci10000:e0");
	pcie_snapshot_destroy(s);
}

static void zeros_are_denied(void **state)
{
	(void)state;
	size_t n;
	struct pcie_snapshot *s = parsed("00000000-00000000 : Reserved\n"
					 "  00000000-00000000 : PCI Bus 0000:00\n",
		&n, NULL);
	assert_int_equal(n, 2);
	assert_int_equal(s->have_iomem, PCIE_DENIED);
	assert_int_equal(s->niomem, 0);
	assert_int_equal(s->naperture, 0);
	pcie_snapshot_destroy(s);
}

static void a_bus_behind_a_bridge_is_no_root(void **state)
{
	(void)state;
	static const char text[] = "600000000-603ffffff : pcie@7d500000\n"
				   "  600000000-6000fffff : PCI Bus 0000:01\n";
	size_t n;
	struct pcie_snapshot *s = parsed(text, &n, "0000:00:00.0");
	assert_int_equal(s->naperture, 1);
	assert_true(s->aperture[0].limit == 0x603ffffff);
	assert_string_equal(s->aperture[0].root, "");
	pcie_snapshot_destroy(s);

	s = parsed("600000000-6000fffff : PCI Bus 0000:01\n", &n, "0000:00:00.0");
	assert_int_equal(s->naperture, 0);
	pcie_snapshot_destroy(s);
}

static void nothing_is_nothing(void **state)
{
	(void)state;
	size_t n;
	struct pcie_snapshot *s = parsed("00:02.0 VGA compatible controller: x\n\n", &n, NULL);
	assert_int_equal(n, 0);
	assert_int_equal(s->have_iomem, PCIE_UNKNOWN);
	pcie_snapshot_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_tree_by_ranges),
		cmocka_unit_test(zeros_are_denied),
		cmocka_unit_test(a_bus_behind_a_bridge_is_no_root),
		cmocka_unit_test(nothing_is_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
