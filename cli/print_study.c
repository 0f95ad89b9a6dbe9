/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/print_runs.h"
#include "cli/study.h"

void cmd_study_next(struct text *t, const struct cmd_study *s)
{
	runs_study_say_next(&s->study, &s->boots, t);
}

/* ln of the mean band of each measured boot is in the runs; here only what the plan promises. */
static void print_power(struct text *t, const struct runs_study *s)
{
	double half = runs_boots_detectable(s->boots, 0.2, 0.5);
	double most = runs_boots_detectable(s->boots, 0.2, 0.8);
	if (isinf(half)) {
		text_addf(
			t, "%u boots a side can carry no verdict: a description only.\n", s->boots);
	} else {
		text_addf(t,
			"%u + %u boots whose spreads differ by 20 %% by themselves find a spread ratio "
			"of %.1f half of the time, of %.1f in four of five.\n",
			s->boots, s->boots, half, most);
	}
}

void cmd_study_print(struct text *t, const struct cmd_study *s, struct cmd_style style)
{
	char when[CMD_WHEN_MAX];
	const struct runs_study *st = &s->study;
	text_addf(t, "%s%s%s  %s  since %s\n", cmd_colour(style, CMD_BOLD), st->name,
		cmd_colour(style, CMD_PLAIN), st->change, cmd_when(st->created, when));
	text_addf(t, "A without it, B with it; ");
	if (*st->fact) {
		text_addf(t, "each boot is filed by %s\n", st->fact);
	} else {
		text_add(t, "each boot is filed by hand (--side)\n");
	}
	print_power(t, st);
	for (size_t i = 0; i < s->boots.n; i++) {
		const struct runs_study_boot *b = &s->boots.boot[i];
		text_addf(t, "  %2zu  %c  %-8.8s  %s  %-13s %zu runs%s%s%s%s\n", i + 1, b->side,
			b->boot_id, cmd_when(b->at, when), runs_outcome_name(b->outcome), b->nrun,
			*b->value ? ", " : "", *b->value ? b->value : "", *b->why ? ": " : "",
			b->why);
	}
	cmd_study_next(t, s);
}

struct js *cmd_study_json(const struct cmd_study *s)
{
	struct js *j = js_object(), *boots = js_array();
	js_set_str(j, "schema", "barscope.study/1");
	js_set_str(j, "name", s->study.name);
	js_set_str(j, "change", s->study.change);
	if (*s->study.fact) {
		js_set_str(j, "fact", s->study.fact);
	}
	js_set_int(j, "boots_a_side", s->study.boots);
	for (size_t i = 0; i < s->boots.n; i++) {
		const struct runs_study_boot *b = &s->boots.boot[i];
		struct js *o = js_object();
		char side[2] = {b->side, '\0'};
		js_set_str(o, "boot", b->boot_id);
		js_set_int(o, "at", b->at);
		js_set_str(o, "side", side);
		js_set_str(o, "outcome", runs_outcome_name(b->outcome));
		js_set_int(o, "runs", (int64_t)b->nrun);
		if (*b->value) {
			js_set_str(o, "value", b->value);
		}
		if (*b->why) {
			js_set_str(o, "why", b->why);
		}
		js_push(boots, o);
	}
	js_set(j, "boots", boots);
	char next[2] = {runs_study_next(&s->study, &s->boots), '\0'};
	if (*next) {
		js_set_str(j, "next", next);
	} else {
		js_set_null(j, "next");
	}
	return j;
}
