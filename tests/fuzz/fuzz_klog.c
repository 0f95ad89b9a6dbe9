/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel logs: the reader, the classifier and the explainer, and what must hold of them. */
#include "fuzz_lines.h"
#include "pcie/klog.h"
#include "pcie/log_explain.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
	if (!holds) {
		abort();
	}
}

static void check_histories(const struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->nhistory; i++) {
		const struct pcie_history *h = &s->history[i];
		must(h->dev >= -1 && h->dev < (int)s->ndev);
		must(h->nline > 0 && h->nline <= 32);
		for (uint32_t l = 0; l < h->nline; l++) {
			must(h->line[l] < s->nline && (l == 0 || h->line[l] > h->line[l - 1]));
		}
		must(!h->has_base || (h->final == PCIE_FINAL_ASSIGNED && h->base));
	}
	for (size_t i = 0; i < s->nstatement; i++) {
		must(s->statement[i].line < s->nline && s->statement[i].dev < (int)s->ndev);
	}
}

static void check_bars(const struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		must(d->nbar <= PCIE_BARS && d->noption <= PCIE_OPTIONS);
		for (int b = 0; b < d->nbar; b++) {
			must(d->bar[b].has_base == (d->bar[b].assigned == PCIE_YES));
			must(!d->bar[b].has_size || d->bar[b].size);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcie_lines l;
	char *text = fuzz_lines(data, size, &l);
	for (size_t i = 0; i < l.n; i++) {
		pcie_klog_is_line(l.line[i].s, l.line[i].len);
	}
	struct pcie_snapshot *s = pcie_snapshot_create("fuzz");
	pcie_klog_parse(&l, s, pcie_snapshot_source(s, "log"));
	pcie_snapshot_settle(s);
	check_histories(s);
	check_bars(s);

	struct pcie_log_item *item;
	size_t n = pcie_log_explain(s, &item);
	for (size_t i = 0; i < n; i++) {
		must(item[i].nline > 0 && item[i].final[0]);
	}
	free(item);
	pcie_snapshot_destroy(s);
	pcie_lines_finish(&l);
	free(text);
	return 0;
}
