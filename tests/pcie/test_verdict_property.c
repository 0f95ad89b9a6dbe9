/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking one fact away may weaken a verdict or make it unknown. It must never turn it
 * into another answer that claims to be proven.
 */
#include <dirent.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"
#include "pcie/scan.h"
#include "pcie/verdict.h"

/* Seeds of the random machines: all by default, or as the arguments say (two halves run at once).
 */
static unsigned long first_seed = 1, last_seed = 10000;
static unsigned long removed, compared;

static bool open_answer(const char *answer)
{
	return !strcmp(answer, "unknown");
}

/* A device's kind is its identity: without the ids of an integrated GPU the question changes. */
static bool same_kind(const struct pcie_gpu *a, const struct pcie_gpu *b)
{
	return a->kind == b->kind;
}

static void compare_gpu(const struct pcie_gpu *before, const struct pcie_gpu *after,
	const char *what, const char *fact)
{
	for (size_t i = 0; i < after->nverdict; i++) {
		const struct pcie_verdict *v = &after->verdict[i];
		const struct pcie_verdict *old = pcie_gpu_find(before, v->rule->id);
		if (!old || open_answer(old->answer) || open_answer(v->answer)) {
			continue;
		}
		compared++;
		if (strcmp(old->answer, v->answer) && v->confidence == PCIE_PROVEN) {
			fail_msg("%s: without %s, %s turns from %s (%s) to %s (proven): %s", what,
				fact, v->rule->id, old->answer,
				pcie_confidence_name(old->confidence), v->answer, v->headline);
		}
	}
}

static void check_machine(const struct pcie_snapshot *s, const char *what)
{
	struct pcie_verdicts *before = pcie_verdicts_create(s);

	for (size_t n = 0;; n++) {
		struct pcie_snapshot *less = machine_copy(s);
		const char *fact = machine_forget(less, n);
		if (!fact) {
			pcie_snapshot_destroy(less);
			break;
		}
		removed++;
		struct pcie_verdicts *after = pcie_verdicts_create(less);
		/* What a text shows to be a GPU by its BARs alone may be none without them. */
		assert_true(after->ngpu <= before->ngpu);
		for (size_t i = 0, k = 0; i < after->ngpu; i++) {
			while (k < before->ngpu && before->gpu[k].dev != after->gpu[i].dev) {
				k++;
			}
			assert_true(k < before->ngpu);
			if (same_kind(&before->gpu[k], &after->gpu[i])) {
				compare_gpu(&before->gpu[k], &after->gpu[i], what, fact);
			}
		}
		pcie_verdicts_destroy(after);
		pcie_snapshot_destroy(less);
	}
	pcie_verdicts_destroy(before);
}

static void random_machines(void **state)
{
	(void)state;
	unsigned long proven = 0, machines = last_seed - first_seed + 1;
	removed = compared = 0;
	for (uint64_t seed = first_seed; seed <= last_seed; seed++) {
		char what[32];
		snprintf(what, sizeof(what), "random machine %lu", (unsigned long)seed);
		struct pcie_snapshot *s = machine_random(seed);
		struct pcie_verdicts *v = pcie_verdicts_create(s);
		for (size_t g = 0; g < v->ngpu; g++) {
			for (size_t i = 0; i < v->gpu[g].nverdict; i++) {
				proven += v->gpu[g].verdict[i].confidence == PCIE_PROVEN;
			}
		}
		pcie_verdicts_destroy(v);
		check_machine(s, what);
		pcie_snapshot_destroy(s);
	}
	printf("%lu machines, %lu facts removed, %lu answers compared, %lu proven before\n",
		machines, removed, compared, proven);
	/* The property is empty unless machines are judged with certainty at all. */
	assert_true(proven > machines);
	assert_true(removed > 10 * machines);
}

/* The inputs of a folder's machines: NNN-name/machine, machine.rec or input.*. */
static unsigned check_folder(const char *folder)
{
	struct dirent **list;
	unsigned machines = 0;
	int n = scandir(folder, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		char pattern[1024];
		glob_t found;
		snprintf(pattern, sizeof(pattern), "%s/%s/{machine,machine.rec,input.*}", folder,
			list[i]->d_name);
		bool numbered = list[i]->d_name[0] >= '0' && list[i]->d_name[0] <= '9';
		if (numbered && !glob(pattern, GLOB_BRACE, NULL, &found)) {
			struct pcie_scan_options o = {.source = found.gl_pathv[0]};
			struct pcie_snapshot *s;
			struct why why;
			if (pcie_scan(&o, &s, &why) < 0) {
				fail_msg("%s: %s", found.gl_pathv[0], why.text);
			}
			check_machine(s, list[i]->d_name);
			pcie_snapshot_destroy(s);
			globfree(&found);
			machines++;
		}
		free(list[i]);
	}
	if (n > 0) {
		free(list);
	}
	return machines;
}

static void corpus_machines(void **state)
{
	(void)state;
	const char *source = getenv("BARSCOPE_SOURCE"), *cases = getenv("BARSCOPE_CASES");
	char folder[512];
	removed = compared = 0;
	snprintf(folder, sizeof(folder), "%s/tests/corpus", source ? source : ".");
	unsigned n = check_folder(folder);
	assert_true(n >= 5);
	snprintf(folder, sizeof(folder), "%s/../shared/cases", source ? source : ".");
	unsigned more = check_folder(cases ? cases : folder);
	printf("%u corpus machines and %u real cases, %lu facts removed, %lu answers compared\n", n,
		more, removed, compared);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_machines),
		cmocka_unit_test(corpus_machines),
	};
	const struct CMUnitTest random[] = {
		cmocka_unit_test(random_machines),
	};
	if (argc == 3) {
		first_seed = strtoul(argv[1], NULL, 10);
		last_seed = strtoul(argv[2], NULL, 10);
		if (first_seed > 1) {
			return cmocka_run_group_tests(random, NULL, NULL);
		}
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
