/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole text door, and the merge of what two texts say. */
#include <stdint.h>
#include <stdlib.h>

#include "pcie/witness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		if (d->parent >= (int)s->ndev || d->nbar > PCIE_BARS ||
			d->rebar.count > PCIE_REBAR_ENTRIES) {
			abort();
		}
		for (int k = 0; k < d->nbar; k++) {
			if (d->bar[k].src >= s->nsource || d->bar[k].reg.src >= s->nsource) {
				abort();
			}
		}
	}
	for (size_t i = 0; i < s->nhistory; i++) {
		for (uint32_t k = 0; k < s->history[i].nline; k++) {
			if (s->history[i].line[k] >= s->nline) {
				abort();
			}
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcie_snapshot *a, *b;
	const char *text = (const char *)data;

	if (pcie_text_scan("fuzz", text, size, &a, NULL) < 0) {
		return 0;
	}
	check(a);
	/* its second half once more, as a witness of its own */
	if (pcie_text_scan("half", text + size / 2, size - size / 2, &b, NULL) == 0) {
		pcie_merge(a, b);
		check(a);
		pcie_snapshot_destroy(b);
	}
	pcie_snapshot_destroy(a);
	return 0;
}
