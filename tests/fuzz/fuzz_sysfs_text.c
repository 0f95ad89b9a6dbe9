/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of sysfs in a text. */
#include "fuzz_lines.h"
#include "pcie/sysfs_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcie_lines l;
	char *text = fuzz_lines(data, size, &l);
	struct pcie_snapshot *s = pcie_snapshot_create("fuzz");

	for (size_t i = 0; i < l.n; i++) {
		pcie_sysfs_text_is_start(l.line[i].s);
	}
	pcie_sysfs_text_parse(s, &l, pcie_snapshot_source(s, "sysfs"));
	pcie_snapshot_settle(s);
	pcie_snapshot_destroy(s);
	pcie_lines_finish(&l);
	free(text);
	return 0;
}
