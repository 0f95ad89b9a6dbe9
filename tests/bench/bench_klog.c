/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_klog CORPUS [MB]: the log reader on the corpus' logs, strung together until they are
 * MB (default 40) large. The goal is 200 MB/s a core, in CPU time; the best of five rounds counts.
 * What was read is checked. Exits 1 below the goal.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/text.h"
#include "pcie/klog.h"

enum { GOAL_MB_PER_S = 200, ROUNDS = 5 };

static double cpu_seconds(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* All input.log below CORPUS, once. */
static void gather(const char *corpus, struct text *out)
{
	struct dirent **list;
	int n = scandir(corpus, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char path[4096], *data;
		size_t len;
		snprintf(path, sizeof(path), "%s/%s/input.log", corpus, list[i]->d_name);
		if (file_read_all(path, 1 << 20, &data, &len, NULL) == 0) {
			text_addn(out, data, len);
			free(data);
		}
		free(list[i]);
	}
	if (n >= 0) {
		free(list);
	}
}

int main(int argc, char **argv)
{
	struct text once = {0}, all = {0};
	if (argc < 2) {
		fprintf(stderr, "usage: bench_klog CORPUS [MB]\n");
		return 3;
	}
	gather(argv[1], &once);
	size_t want = (size_t)(argc > 2 ? strtoul(argv[2], NULL, 10) : 40) * 1000000;
	if (once.len == 0) {
		fprintf(stderr, "no input.log below %s\n", argv[1]);
		return 3;
	}
	while (all.len < want) {
		text_addn(&all, once.s, once.len);
	}
	double best = 0;
	int said = 0;
	for (int round = 0; round < ROUNDS; round++) {
		struct text copy = {0};
		text_addn(&copy, all.s, all.len); /* splitting writes into it */
		double start = cpu_seconds();
		struct pcie_lines lines = {0};
		pcie_lines_split(&lines, copy.s, copy.len);
		struct pcie_snapshot *s = pcie_snapshot_create("bench");
		said = pcie_klog_parse(&lines, s, pcie_snapshot_source(s, "log"));
		double rate = (double)all.len / 1e6 / (cpu_seconds() - start);
		best = rate > best ? rate : best;
		if (s->ndev == 0 || s->nhistory == 0 || s->boots < 2) {
			fprintf(stderr, "the log was not understood\n");
			return 1;
		}
		pcie_snapshot_destroy(s);
		pcie_lines_finish(&lines);
		text_finish(&copy);
	}
	printf("log reader: %.0f MB/s of %.0f MB, %d lines that say something (goal %d MB/s)\n",
		best, (double)all.len / 1e6, said, GOAL_MB_PER_S);
	text_finish(&once);
	text_finish(&all);
	return best >= GOAL_MB_PER_S ? 0 : 1;
}
