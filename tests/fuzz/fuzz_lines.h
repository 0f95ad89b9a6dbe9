/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of any bytes, for targets below the cleaning. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pcie/lines.h"

/* The copy that the lines point into; free it when done. */
static inline char *fuzz_lines(const uint8_t *data, size_t size, struct pcie_lines *ret)
{
	char *text = malloc(size + 1);
	if (!text) {
		abort();
	}
	memcpy(text, data, size);
	text[size] = '\0';
	*ret = (struct pcie_lines){0};
	pcie_lines_split(ret, text, size);
	return text;
}
