/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "stress/gpu_facts.h"

/* Attaching to GPUs without persistence mode takes a second or two each. */
enum { FIRST_MS = 5000, EACH_MS = 3000 };

static void take(const struct stress_gpu_facts *f, struct pcie_gpu_sizes *g)
{
	int64_t v;

	if (stress_gpu_knows(f, NVML_MEMORY_BYTES, &v) && v > 0) {
		g->memory = (uint64_t)v;
	}
	if (stress_gpu_knows(f, NVML_BAR1_BYTES, &v) && v > 0) {
		g->bar1 = (uint64_t)v;
	}
	/* Without the library there is nobody to ask; all else is worth knowing. */
	if (f->error && f->error != -ENOENT) {
		text_copy(g->note, sizeof(g->note), f->why);
	}
}

static void ask(const struct pcie_driver *d, struct pcie_gpu_sizes *gpu, size_t n)
{
	_cleanup_free_ struct stress_gpu_facts *facts = xcalloc(n, sizeof(*facts));
	_cleanup_free_ const char **address = xcalloc(n, sizeof(*address));
	_cleanup_free_ char *names = xcalloc(n, PCIE_ADDR_MAX);
	struct why why;

	(void)d;
	for (size_t i = 0; i < n; i++) {
		address[i] = pcie_addr_format(gpu[i].addr, names + i * PCIE_ADDR_MAX);
		facts[i].error = -EIO;
	}
	stress_gpu_facts(
		address, n, STRESS_GPU_SIZES, false, FIRST_MS + (int)n * EACH_MS, facts, &why);
	for (size_t i = 0; i < n; i++) {
		take(&facts[i], &gpu[i]);
	}
}

const struct pcie_driver runs_driver = {.sizes = ask};

int runs_capture(
	const char *root, bool with_log, bool wake, char **ret, size_t *ret_len, struct why *why)
{
	const bool live = !strcmp(root, "/");

	return pcie_capture_asking(
		live ? &runs_driver : NULL, root, with_log, wake, ret, ret_len, why);
}
