/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cleaning: any bytes become lines that keep what lines.h promises. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pcie/clean.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcie_cleaner *c;
	size_t taken = 0;
	uint32_t number = 0;

	if (pcie_cleaner_open((const char *)data, size, &c) < 0) {
		return 0;
	}
	while (pcie_cleaner_next(c, taken)) {
		for (size_t i = 0; i < c->lines.n; i++) {
			const struct pcie_line *l = &c->lines.line[i];
			if (strlen(l->s) != l->len || l->len > PCIE_CLEAN_LINE_MAX ||
				strpbrk(l->s, "\r\n") || l->number < number) {
				abort();
			}
			char last = l->len ? l->s[l->len - 1] : 'x';
			if (last == ' ' || last == '\t') {
				abort();
			}
		}
		taken = size % 2 ? c->lines.n : c->lines.n - c->lines.n / 3;
		number = taken ? c->lines.line[taken - 1].number : number;
	}
	pcie_cleaner_close(c);
	return 0;
}
