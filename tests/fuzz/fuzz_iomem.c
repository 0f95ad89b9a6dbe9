/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/iomem: the tree has no loops, parents hold their children. */
#include "fuzz_lines.h"
#include "pcie/iomem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcie_lines l;
	char *text = fuzz_lines(data, size, &l);
	struct pcie_snapshot *s = pcie_snapshot_create("fuzz");

	for (size_t i = 0; i < l.n; i++) {
		if (pcie_iomem_is_line(l.line[i].s) != pcie_iomem_line(s, l.line[i].s)) {
			abort();
		}
	}
	pcie_iomem_finish(s, pcie_snapshot_source(s, "/proc/iomem"));
	for (size_t i = 0; i < s->niomem; i++) {
		const struct pcie_iomem *r = &s->iomem[i];
		if (r->parent >= (int)i || r->limit < r->base ||
			(r->parent >= 0 && (s->iomem[r->parent].base > r->base ||
						   s->iomem[r->parent].limit < r->limit))) {
			abort();
		}
	}
	pcie_snapshot_destroy(s);
	pcie_lines_finish(&l);
	free(text);
	return 0;
}
