/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lshw: any lines; ranges are as long as BARs are. */
#include "fuzz_lines.h"
#include "pcie/lshw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_section(data, size,
		(struct fuzz_section){
			.is_start = pcie_lshw_is_start,
			.parse = pcie_lshw_parse,
			.source = "lshw",
			.ranges = true,
		});
}
