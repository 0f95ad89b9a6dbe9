/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a study found: who started, and the two sides against each other. */
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "cli/cmd.h"
#include "cli/sides.h"
#include "cli/store_args.h"
#include "cli/study.h"

/*
 * Boots that did not start, in words. Returns the status they alone decide: 1 when B starts less
 * often beyond chance, 2 when that is not shown, 0 when all started.
 */
static int starts(const struct cmd_study *s, struct text *t)
{
	size_t failed[2];
	double p = runs_study_starts(&s->boots, failed);
	size_t n[2] = {runs_study_count(&s->boots, 'A'), runs_study_count(&s->boots, 'B')};
	if (!failed[0] && !failed[1]) {
		return EXIT_FINE;
	}
	for (int k = 0; k < 2; k++) {
		text_addf(t, "%c did not start in %zu of %zu boots%s", "AB"[k], failed[k], n[k],
			k ? "" : "; ");
	}
	text_addf(t, " (p = %.2g)\n", p);
	if (p > 0.05) {
		return EXIT_UNDETERMINED;
	}
	return failed[1] * n[0] > failed[0] * n[1] ? EXIT_FINDING : EXIT_FINE;
}

/* Is there a run on both sides? */
static int both_sides(struct runs_store *st, const struct cmd_study *s, bool *ret, struct why *why)
{
	_cleanup_runs_ struct runs_list a = {0}, b = {0};
	int r = runs_study_runs(st, s->study.id, 'A', &a, why);
	if (!r) {
		r = runs_study_runs(st, s->study.id, 'B', &b, why);
	}
	*ret = !r && a.n && b.n;
	return r;
}

/* Why there is no comparison yet, with what each side has. */
static void say_missing(const struct cmd_study *s, const char *html)
{
	size_t n[2] = {0};
	for (size_t i = 0; i < s->boots.n; i++) {
		const struct runs_study_boot *b = &s->boots.boot[i];
		n[b->side == 'B'] += b->outcome == RUNS_MEASURED;
	}
	fprintf(stderr,
		"There is no measured boot on %s yet, so there is nothing to compare: A has %zu of "
		"%u measured boots, B %zu of %u.\n",
		n[0]   ? "B"
		: n[1] ? "A"
		       : "A or B",
		n[0], s->study.boots, n[1], s->study.boots);
	if (html) {
		fprintf(stderr, "%s is not written.\n", html);
	}
}

/* Statuses of the same report: 1 beats 2 beats 0; 3 ends it. */
static int worse_of(int a, int b)
{
	static const int rank[] = {0, 2, 1, 3};
	if (a > EXIT_USAGE || b > EXIT_USAGE) {
		return a > b ? a : b;
	}
	return rank[a] > rank[b] ? a : b;
}

int cmd_study_report(const struct cmd_study_options *o)
{
	_cleanup_store_ struct runs_store *st = NULL;
	struct cmd_study s = {0};
	char boot_id[RUNS_BOOT_ID_MAX], a[80], b[80];
	struct why why;
	bool both = false;
	int r = cmd_store_open(o->store, RUNS_STORE_READ, &st, boot_id, &why);
	if (!r) {
		r = cmd_study_load(st, o->arg[0], &s, &why);
	}
	if (!r) {
		r = both_sides(st, &s, &both, &why);
	}
	if (r) {
		cmd_study_finish(&s);
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	struct text t = {0};
	struct text failed = {0}, section = {0};
	cmd_study_print(&t, &s, cmd_style_detect(false));
	int started = starts(&s, &failed);
	_cleanup_free_ char *failures = text_steal(&failed);
	text_addf(&t, "%s\n", failures);
	_cleanup_free_ char *head = text_steal(&t);
	cmd_study_html(&section, &s, failures);
	_cleanup_free_ char *page = text_steal(&section);
	int result;
	if (both) {
		/* A fact of the environment is what was changed: it does not stand in the way. */
		struct text despite = {0};
		const char *env = strncmp(s.study.fact, "env.", 4) ? "" : s.study.fact + 4;
		text_addf(&despite, "%.*s", (int)strcspn(env, "="), env);
		text_addf(&despite, ",%s", o->despite ? o->despite : "");
		struct js *j = cmd_study_json(&s);
		_cleanup_free_ char *study = js_text(j);
		js_free(j);
		struct cmd_compare_options c = {
			.despite = despite.s,
			.json = o->json,
			.csv = o->csv,
			.html = o->html,
			.head = head,
			.page = page,
			.study = study,
		};
		snprintf(a, sizeof(a), "study:%s/A", s.study.name);
		snprintf(b, sizeof(b), "study:%s/B", s.study.name);
		result = cmd_compare_sides(st, boot_id, a, b, &c);
		text_finish(&despite);
	} else if (o->json) {
		struct js *j = cmd_study_json(&s);
		_cleanup_free_ char *out = js_text(j);
		js_free(j);
		result = worse_of(cmd_print(out), EXIT_UNDETERMINED);
		say_missing(&s, o->html);
	} else {
		result = o->csv ? EXIT_FINE : cmd_print(head);
		say_missing(&s, o->html);
		result = worse_of(result, EXIT_UNDETERMINED);
	}
	cmd_study_finish(&s);
	/* A side that never starts has nothing to compare: the starts decide alone. */
	return started && !both ? (started == EXIT_FINDING ? started : result)
				: worse_of(result, started);
}
