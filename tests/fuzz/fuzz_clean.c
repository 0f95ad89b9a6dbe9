/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cleaning: any bytes become lines that keep what lines.h promises. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pcie/clean.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcie_clean c;
	if (pcie_clean_text((const char *)data, size, &c) < 0) {
		return 0;
	}
	for (size_t i = 0; i < c.lines.n; i++) {
		const struct pcie_line *l = &c.lines.line[i];
		if (strlen(l->s) != l->len || l->len > PCIE_CLEAN_LINE_MAX ||
			strpbrk(l->s, "\r\n") || (i && l->number < l[-1].number)) {
			abort();
		}
		char last = l->len ? l->s[l->len - 1] : 'x';
		if (last == ' ' || last == '\t') {
			abort();
		}
	}
	pcie_clean_finish(&c);
	return 0;
}
