/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_scan MAKE-TREE: how long a scan takes by the number of devices, and beside lspci -vv on
 * the same tree of 1,000, the two in turn. It fails when the time is not linear in the devices or
 * more than half of lspci's.
 */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macros.h"
#include "pcie/scan.h"

enum { ROUNDS = 7, LSPCI_DEVICES = 1000 };

static const int sizes[] = {10, 100, 1000, 10000};

static int run(const char *fmt, ...) PRINTF(1, 2);

static int run(const char *fmt, ...)
{
	char cmd[PATH_MAX];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(cmd, sizeof(cmd), fmt, ap);
	va_end(ap);
	int r = system(cmd);
	return r >= 0 && WIFEXITED(r) ? WEXITSTATUS(r) : -1;
}

/* One scan in ns; ends the program when the answer is not the tree's. */
static double scan_once(const char *tree, int devices)
{
	const struct pcie_scan_options o = {.source = tree};
	struct pcie_snapshot *s;
	struct why why;
	uint64_t start = clock_ns();
	if (pcie_scan(&o, &s, &why) < 0) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	double ns = (double)(clock_ns() - start);
	size_t gpus = 0;
	for (size_t i = 0; i < s->ndev; i++) {
		const struct pcie_device *d = &s->dev[i];
		gpus += pcie_device_is_gpu(d) && d->rebar.have == PCIE_KNOWN && d->parent >= 0;
	}
	if (s->ndev != (size_t)devices || gpus != (size_t)(devices / 2 + 2) / 3) {
		fprintf(stderr, "%zu devices with %zu GPUs, made were %d\n", s->ndev, gpus,
			devices);
		exit(1);
	}
	pcie_snapshot_destroy(s);
	return ns;
}

int main(int argc, char **argv)
{
	char dir[PATH_MAX] = "/tmp/barscope-bench-XXXXXX";
	if (access("/dev/shm", W_OK) == 0) {
		snprintf(dir, sizeof(dir), "/dev/shm/barscope-bench-XXXXXX");
	}
	if (argc != 2 || !mkdtemp(dir)) {
		fprintf(stderr, "usage: bench_scan MAKE-TREE\n");
		return 3;
	}

	bool lspci = run("command -v lspci >/dev/null") == 0;
	double per_device[ARRAY_LEN(sizes)], ratio = 0;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		char tree[PATH_MAX + 16];
		double best = 1e18, best_lspci = 1e18;
		snprintf(tree, sizeof(tree), "%s/%d", dir, sizes[i]);
		if (run("'%s' %d '%s'", argv[1], sizes[i], tree)) {
			run("rm -rf '%s'", dir);
			return 77;
		}
		for (int n = 0; n < ROUNDS; n++) {
			double ns = scan_once(tree, sizes[i]);
			best = MIN(best, ns);
			if (lspci && sizes[i] == LSPCI_DEVICES) {
				uint64_t start = clock_ns();
				run("lspci -A linux-sysfs -O sysfs.path='%s/sys/bus/pci' -vv "
				    ">/dev/null 2>&1",
					tree);
				best_lspci = MIN(best_lspci, (double)(clock_ns() - start));
			}
		}
		per_device[i] = best / sizes[i];
		printf("%6d devices: %8.2f ms, %6.1f us a device\n", sizes[i], best / 1e6,
			per_device[i] / 1e3);
		if (lspci && sizes[i] == LSPCI_DEVICES) {
			ratio = best / best_lspci;
			printf("                 lspci -vv %.2f ms: the scan takes %.0f %% of it\n",
				best_lspci / 1e6, 100 * ratio);
		}
	}
	run("rm -rf '%s'", dir);

	/* Ten devices pay for pci.ids; from 1,000 on the price of one more must not rise. */
	double rise = per_device[3] / per_device[2];
	printf("10,000 against 1,000 devices: %.2f times the time of each\n", rise);
	return rise > 1.5 || ratio > 0.5;
}
