/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lspci of every age, below the cleaning. */
#include "fuzz_lines.h"
#include "pcie/lspci.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcie_lines l;
	char *text = fuzz_lines(data, size, &l);
	struct pcie_snapshot *s = pcie_snapshot_create("fuzz");
	struct pcie_lspci *p = pcie_lspci_create(s);

	for (size_t i = 0; i < l.n;) {
		size_t n = l.line[i].len ? pcie_lspci_take(p, &l, i) : 0;
		if (i + n > l.n) {
			abort();
		}
		if (l.line[i].len == 0) {
			pcie_lspci_blank(p);
		}
		i += n ? n : 1;
	}
	pcie_lspci_end(p, size % 2);
	pcie_lspci_destroy(p);
	pcie_snapshot_settle(s);
	for (size_t i = 0; i < s->ndev; i++) {
		if (s->dev[i].nbar > PCIE_BARS || s->dev[i].rebar.count > PCIE_REBAR_ENTRIES) {
			abort();
		}
	}
	pcie_snapshot_destroy(s);
	pcie_lines_finish(&l);
	free(text);
	return 0;
}
