/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Masking: the length stays, and so do line ends. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pcie/mask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	size_t kept;
	char *masked = pcie_mask_text(text, size, size % 2 ? "somehost.org" : NULL, &kept);

	if (kept != size || masked[size] != '\0') {
		abort();
	}
	for (size_t i = 0; i < size; i++) {
		if ((text[i] == '\n') != (masked[i] == '\n')) {
			abort();
		}
	}
	free(masked);
	return 0;
}
