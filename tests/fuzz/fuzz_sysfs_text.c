/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of sysfs in a text. */
#include "fuzz_lines.h"
#include "pcie/sysfs_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_section(data, size,
		(struct fuzz_section){
			.is_start = pcie_sysfs_text_is_start,
			.parse = pcie_sysfs_text_parse,
			.source = "sysfs",
		});
}
