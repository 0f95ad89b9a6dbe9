/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvidia-smi and /proc/driver/nvidia, with and without a device that is known already. */
#include "fuzz_lines.h"
#include "pcie/smi.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcie_lines l;
	char *text = fuzz_lines(data, size, &l);
	struct pcie_snapshot *s = pcie_snapshot_create("fuzz");

	for (size_t i = 0; i < l.n; i++) {
		pcie_smi_is_start(l.line[i].s);
	}
	if (size % 2) {
		struct pcie_addr a = {.bus = 1, .known = true};
		struct pcie_device *d = pcie_snapshot_add(s, a);
		d->have_class = d->have_ids = PCIE_KNOWN;
		d->class_code = 0x030000;
		d->vendor = 0x10de;
		struct pcie_bar *b = pcie_device_bar(d, PCIE_BAR_NORMAL, 1);
		*b = (struct pcie_bar){.have = PCIE_KNOWN,
			.index = 1,
			.is64 = true,
			.prefetchable = true,
			.has_size = true,
			.size = 1 << 28};
	}
	pcie_smi_parse(s, &l, pcie_snapshot_source(s, "nvidia-smi"));
	pcie_snapshot_settle(s);
	pcie_snapshot_destroy(s);
	pcie_lines_finish(&l);
	free(text);
	return 0;
}
