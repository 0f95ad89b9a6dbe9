/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Logs of the X server: any lines; ranges are as long as BARs are. */
#include "fuzz_lines.h"
#include "pcie/xorg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcie_lines l;
	char *text = fuzz_lines(data, size, &l);
	struct pcie_snapshot *s = pcie_snapshot_create("fuzz");

	for (size_t i = 0; i < l.n; i++) {
		pcie_xorg_is_line(l.line[i].s);
	}
	pcie_xorg_parse(s, &l, pcie_snapshot_source(s, "xorg"));
	pcie_snapshot_settle(s);
	for (size_t i = 0; i < s->ndev; i++) {
		for (int k = 0; k < s->dev[i].nbar; k++) {
			const struct pcie_bar *b = &s->dev[i].bar[k];
			if (!b->size || (b->size & (b->size - 1)) || b->has_base != (b->base > 0)) {
				abort();
			}
		}
	}
	pcie_snapshot_destroy(s);
	pcie_lines_finish(&l);
	free(text);
	return 0;
}
