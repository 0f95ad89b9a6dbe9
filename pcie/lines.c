/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"

void pcie_lines_push(struct pcie_lines *l, const char *s, size_t len, uint32_t number)
{
	if (l->n == l->cap) {
		l->line = xgrow(l->line, l->n, &l->cap, sizeof(*l->line));
	}
	l->line[l->n++] = (struct pcie_line){
		.s = s,
		.len = len,
		.number = number,
		.width = (uint16_t)MIN(len, UINT16_MAX),
	};
}

void pcie_lines_split(struct pcie_lines *l, char *text, size_t len)
{
	char *end = text + len;
	l->cut = len > 0 && end[-1] != '\n';
	uint32_t number = 0;

	for (char *s = text; s < end;) {
		char *nl = memchr(s, '\n', (size_t)(end - s));
		char *stop = nl ? nl : end;
		for (char *z = s; (z = memchr(z, '\0', (size_t)(stop - z))); z++) {
			*z = '?';
		}
		char *next = nl ? nl + 1 : end;
		while (stop > s && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r')) {
			stop--;
		}
		for (char *cr = s; (cr = memchr(cr, '\r', (size_t)(stop - cr))); cr++) {
			*cr = ' ';
		}
		*stop = '\0';
		pcie_lines_push(l, s, (size_t)(stop - s), ++number);
		s = next;
	}
}

void pcie_lines_finish(struct pcie_lines *l)
{
	free(l->line);
	*l = (struct pcie_lines){0};
}
