/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speed of the text door: the corpus's pasted machines one after another, until
 * the text has 8, 16, 32 and 60 MB. The snapshot of each size must say of every
 * device what that of one copy says; time must grow as the text does. Beside it
 * stands what counting the lines of the same bytes costs in the same round: on a
 * busy machine the ratio of the two is what can be compared.
 *
 * Usage: bench_paste FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "base/text.h"
#include "pcie/witness.h"

enum { INPUT_MAX = 1 << 20, ROUNDS = 5 };

static void add_file(struct text *t, const char *path)
{
	char *data;
	size_t len;
	struct why why;
	if (file_read_all(path, INPUT_MAX, &data, &len, &why) < 0) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	text_addn(t, data, len);
	text_add(t, "\n");
	free(data);
}

/* The facts that do not depend on how often they were said. */
static bool same_facts(const struct pcie_snapshot *a, const struct pcie_snapshot *b)
{
	if (a->ndev != b->ndev || a->ndev == 0) {
		return false;
	}
	for (size_t i = 0; i < a->ndev; i++) {
		const struct pcie_device *x = &a->dev[i], *y = &b->dev[i];
		if (x->vendor != y->vendor || x->device != y->device || x->nbar != y->nbar ||
			x->rebar.count != y->rebar.count || x->class_code != y->class_code) {
			return false;
		}
		for (int k = 0; k < x->nbar; k++) {
			if (x->bar[k].base != y->bar[k].base || x->bar[k].size != y->bar[k].size) {
				return false;
			}
		}
	}
	return true;
}

/* CPU time: other programs on the machine do not count. */
static uint64_t cpu_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct pcie_snapshot *scan(const struct text *t, uint64_t *ret_ns)
{
	struct pcie_snapshot *s;
	struct why why;
	uint64_t start = cpu_ns();
	if (pcie_text_scan("benchmark", t->s, t->len, &s, &why) < 0) {
		fprintf(stderr, "%s\n", why.text);
		exit(1);
	}
	*ret_ns = cpu_ns() - start;
	return s;
}

/* What "wc -l" does. */
static uint64_t count_lines(const struct text *t, size_t *ret_n)
{
	const char *p = t->s, *end = t->s + t->len;
	uint64_t start = cpu_ns();
	*ret_n = 0;
	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		++*ret_n;
		p++;
	}
	return cpu_ns() - start;
}

int main(int argc, char **argv)
{
	static const size_t size[] = {8, 16, 32, 60};
	struct text once = {0}, twice = {0};
	uint64_t ns;

	for (int i = 1; i < argc; i++) {
		add_file(&once, argv[i]);
	}
	if (once.len == 0) {
		fprintf(stderr, "usage: bench_paste FILE...\n");
		return 3;
	}
	/* the second copy meets the first one's devices, as all further ones do */
	text_addn(&twice, once.s, once.len);
	text_addn(&twice, once.s, once.len);
	struct pcie_snapshot *expected = scan(&twice, &ns);

	int status = 0;
	for (size_t i = 0; i < ARRAY_LEN(size); i++) {
		struct text t = {0};
		while (t.len + once.len <= size[i] << 20) {
			text_addn(&t, once.s, once.len);
		}
		uint64_t best = UINT64_MAX, counted = UINT64_MAX;
		size_t lines = 0;
		for (int round = 0; round < ROUNDS; round++) {
			struct pcie_snapshot *s = scan(&t, &ns);
			best = MIN(best, ns);
			ns = count_lines(&t, &lines);
			counted = MIN(counted, ns);
			if (!same_facts(s, expected)) {
				fprintf(stderr, "%zu MB: the snapshot differs\n", size[i]);
				status = 1;
			}
			pcie_snapshot_destroy(s);
		}
		printf("%3zu MB: %6.1f ms, %6.1f MB/s; %zu lines counted: %6.1f ms, ratio %.1f\n",
			size[i], (double)best / 1e6, (double)t.len / ((double)best / 1e9) / 1e6,
			lines, (double)counted / 1e6, (double)best / (double)counted);
		text_finish(&t);
	}
	pcie_snapshot_destroy(expected);
	text_finish(&once);
	text_finish(&twice);
	return status;
}
