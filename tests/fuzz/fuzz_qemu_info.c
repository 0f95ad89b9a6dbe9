/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's info pci. */
#include "fuzz_lines.h"
#include "pcie/qemu_info.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_section(data, size,
		(struct fuzz_section){
			.is_start = pcie_qemu_info_is_start,
			.parse = pcie_qemu_info_parse,
			.source = "info pci",
		});
}
