/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of any bytes, for targets below the cleaning, and those that read a section of its own. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "pcie/lines.h"
#include "pcie/snapshot.h"

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

/* One reader of whole sections: may a line begin one, and all of them parsed. */
struct fuzz_section {
	bool (*is_start)(const char *s);
	size_t (*parse)(struct pcie_snapshot *s, const struct pcie_lines *l, pcie_src src);
	const char *source;
	bool ranges; /* what it finds are ranges as long as BARs are */
};

static inline void fuzz_check_ranges(const struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->ndev; i++) {
		for (int k = 0; k < s->dev[i].nbar; k++) {
			const struct pcie_bar *b = &s->dev[i].bar[k];
			if (!b->size || (b->size & (b->size - 1)) || b->has_base != (b->base > 0)) {
				abort();
			}
		}
	}
}

static inline int fuzz_section(const uint8_t *data, size_t size, struct fuzz_section f)
{
	struct pcie_lines l;
	char *text = fuzz_lines(data, size, &l);
	struct pcie_snapshot *s = pcie_snapshot_create("fuzz");

	for (size_t i = 0; i < l.n; i++) {
		f.is_start(l.line[i].s);
	}
	f.parse(s, &l, pcie_snapshot_source(s, f.source));
	pcie_snapshot_settle(s);
	if (f.ranges) {
		fuzz_check_ranges(s);
	}
	pcie_snapshot_destroy(s);
	pcie_lines_finish(&l);
	free(text);
	return 0;
}
