/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/chart.h"
#include "cli/layout.h"
#include "cli/print_runs.h"
#include "cli/study.h"

void cmd_study_next(struct text *t, const struct cmd_study *s)
{
	runs_study_say_next(&s->study, &s->boots, t);
}

static void add_source(struct text *t, const struct runs_noise *n)
{
	switch (n->from) {
	case RUNS_NOISE_STUDY:
		text_addf(t, "measured in %zu boots filed so far", n->boots);
		break;
	case RUNS_NOISE_STORE:
		text_addf(t, "measured in %zu boots of this machine", n->boots);
		break;
	default:
		if (*n->why) {
			text_addf(t, "assumed: %s", n->why);
			break;
		}
		text_addf(t, "assumed: neither this study nor the store has %d boots of one state",
			RUNS_NOISE_BOOTS);
	}
}

void cmd_study_power(struct text *t, const struct cmd_study *s)
{
	const uint32_t boots = s->study.boots;
	double half = runs_boots_detectable(boots, s->noise.log_sd, 0.5);
	double most = runs_boots_detectable(boots, s->noise.log_sd, 0.8);
	if (isinf(half)) {
		text_addf(t, "%u boot%s a side can carry no verdict: a description only.\n", boots,
			boots == 1 ? "" : "s");
		return;
	}
	struct text line = {0};
	text_addf(&line, "%u + %u boots whose spreads differ by a factor of %.2f by themselves (",
		boots, boots, exp(s->noise.log_sd));
	add_source(&line, &s->noise);
	text_addf(&line, ") find a spread ratio of %.2f half of the time, of %.2f in four of five.",
		half, most);
	cmd_wrapped(t, 0, 2, line.s);
	text_finish(&line);
}

static struct js *power_json(const struct cmd_study *s)
{
	static const char *const from[] = {
		[RUNS_NOISE_ASSUMED] = "assumed",
		[RUNS_NOISE_STUDY] = "study",
		[RUNS_NOISE_STORE] = "store",
	};
	struct js *j = js_object();
	js_set_str(j, "from", from[s->noise.from]);
	js_set_int(j, "boots", (int64_t)s->noise.boots);
	js_set_real(j, "log_sd", s->noise.log_sd);
	if (*s->noise.why) {
		js_set_str(j, "why", s->noise.why);
	}
	double half = runs_boots_detectable(s->study.boots, s->noise.log_sd, 0.5);
	if (!isinf(half)) {
		js_set_real(j, "ratio_half", half);
		js_set_real(j, "ratio_most",
			runs_boots_detectable(s->study.boots, s->noise.log_sd, 0.8));
	}
	return j;
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
	cmd_study_power(t, s);
	for (size_t i = 0; i < s->boots.n; i++) {
		const struct runs_study_boot *b = &s->boots.boot[i];
		text_addf(t, "  %2zu  %c  %-8.8s  %s  %-13s %zu runs%s%s%s%s\n", i + 1, b->side,
			b->boot_id, cmd_when(b->at, when), runs_outcome_name(b->outcome), b->nrun,
			*b->value ? ", " : "", *b->value ? b->value : "", *b->why ? ": " : "",
			b->why);
	}
	cmd_study_next(t, s);
}

static void add_paragraph(struct text *t, const char *s)
{
	if (*s) {
		text_add(t, "<p>");
		cmd_html_text(t, s);
		text_add(t, "</p>\n");
	}
}

void cmd_study_html(struct text *t, const struct cmd_study *s, const char *starts)
{
	char when[CMD_WHEN_MAX];
	struct text line = {0};
	text_add(t, "<section class=\"study\">\n<p><b>");
	cmd_html_text(t, s->study.change);
	text_add(t, "</b>: A without it, B with it; each boot is filed by ");
	cmd_html_text(t, *s->study.fact ? s->study.fact : "hand");
	text_add(t, ".</p>\n<div class=\"scroll\"><table><tr><th></th><th></th><th>fact</th>"
		    "<th>outcome</th><th class=\"r\">runs</th><th>filed</th><th>boot</th></tr>\n");
	for (size_t i = 0; i < s->boots.n; i++) {
		const struct runs_study_boot *b = &s->boots.boot[i];
		text_addf(t, "<tr><td class=\"r\">%zu</td><td class=\"t%c\">%c</td><td>", i + 1,
			b->side | 0x20, b->side);
		cmd_html_text(t, b->value);
		text_add(t, "</td><td class=\"t\">");
		cmd_html_textf(
			t, "%s%s%s", runs_outcome_name(b->outcome), *b->why ? ": " : "", b->why);
		text_addf(t, "</td><td class=\"r\">%zu</td><td>%s</td><td>", b->nrun,
			cmd_when(b->at, when));
		cmd_html_textf(t, "%.8s", b->boot_id);
		text_add(t, "</td></tr>\n");
	}
	text_add(t, "</table></div>\n");
	cmd_study_power(&line, s);
	add_paragraph(t, line.s);
	text_finish(&line);
	add_paragraph(t, starts);
	text_add(t, "</section>\n");
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
	js_set(j, "noise", power_json(s));
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
