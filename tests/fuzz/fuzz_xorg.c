/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs of the X server: any lines; ranges are as long as BARs are. */
#include "fuzz_lines.h"
#include "pcie/xorg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return fuzz_section(data, size,
		(struct fuzz_section){
			.is_start = pcie_xorg_is_line,
			.parse = pcie_xorg_parse,
			.source = "xorg",
			.ranges = true,
		});
}
