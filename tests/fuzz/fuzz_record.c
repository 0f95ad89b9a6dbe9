/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Capture records, and by them every attribute and host file: what comes out is a settled tree
 * whose indices hold.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "pcie/path.h"
#include "pcie/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct pcie_snapshot *s)
{
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		int path[PCIE_PATH_MAX];
		if (d->parent >= (int)s->ndev || d->physfn >= (int)s->ndev ||
			pcie_snapshot_find(s, d->addr) != (int)i ||
			pcie_device_vram_bar(d) >= d->nbar || d->noption > PCIE_OPTIONS ||
			pcie_path(s, (int)i, path) < 0 || pcie_slot_device(s, (int)i) < 0) {
			abort();
		}
	}
	for (size_t i = 0; i < s->niomem; i++) {
		if (s->iomem[i].parent >= (int)i) {
			abort();
		}
	}
	for (size_t i = 0; i < s->nnote; i++) {
		if (s->note[i].dev >= (int)s->ndev || !memchr(s->note[i].text, 0, 200)) {
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pcie_feed *f = xmalloc(sizeof(*f));
	struct why why;
	pcie_feed_init(f, "fuzz");
	if (pcie_record_read("fuzz", (const char *)data, size, &f->sink, &f->complete, &why) < 0) {
		pcie_feed_abort(f);
		free(f);
		return 0;
	}
	char *log;
	size_t len;
	struct pcie_snapshot *s = pcie_feed_finish(f, &log, &len);
	check(s);
	pcie_snapshot_destroy(s);
	free(log);
	free(f);
	return 0;
}
