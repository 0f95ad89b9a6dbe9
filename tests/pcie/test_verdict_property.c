/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Taking one fact away may weaken a verdict or make it unknown. It must never turn it
 * into another answer that claims to be proven.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machines.h"
#include "pcie/verdict.h"

enum { RANDOM_MACHINES = 10000 };

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
		assert_int_equal(before->ngpu, after->ngpu);
		for (size_t i = 0; i < after->ngpu; i++) {
			if (same_kind(&before->gpu[i], &after->gpu[i])) {
				compare_gpu(&before->gpu[i], &after->gpu[i], what, fact);
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
	unsigned long proven = 0;
	removed = compared = 0;
	for (uint64_t seed = 1; seed <= RANDOM_MACHINES; seed++) {
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
	printf("%d machines, %lu facts removed, %lu answers compared, %lu proven before\n",
		RANDOM_MACHINES, removed, compared, proven);
	/* The property is empty unless machines are judged with certainty at all. */
	assert_true(proven > RANDOM_MACHINES);
	assert_true(removed > 10 * RANDOM_MACHINES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_machines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
