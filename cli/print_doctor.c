/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/macros.h"
#include "base/text.h"
#include "cli/doctor.h"
#include "cli/layout.h"

bool cmd_doctor_selected(const struct doctor_line *l, const struct doctor_symptom *s)
{
	if (!s) {
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(s->checks) && s->checks[i]; i++) {
		if (strncmp(l->id, s->checks[i], strlen(s->checks[i])) == 0) {
			return true;
		}
	}
	return false;
}

static const char *mark(enum doctor_result r, struct cmd_style style)
{
	static const char *const fancy[] = {"✓ ", "· ", "? ", "✗ "};
	static const char *const plain[] = {"ok", "--", "??", "!!"};
	return style.utf8 ? fancy[r] : plain[r];
}

static enum cmd_colour colour_of(enum doctor_result r)
{
	static const enum cmd_colour c[] = {CMD_GOOD, CMD_PLAIN, CMD_WARN, CMD_BAD};
	return c[r];
}

/* TEXT behind the mark, wrapped; the mark alone has the colour. */
static void add_marked(struct text *t, enum doctor_result r, struct cmd_style style, const char *s)
{
	enum { INDENT = 2, HANG = 5 };
	struct text body = {0};
	cmd_wrapped(&body, HANG, HANG, s);
	text_addf(t, "%*s%s%s%s %s", INDENT, "", cmd_colour(style, colour_of(r)), mark(r, style),
		cmd_colour(style, CMD_PLAIN), body.s + HANG);
	text_finish(&body);
}

/* A line that a shell takes is never wrapped; a remark has no prompt. */
static void add_fix(struct text *t, const char *fix)
{
	while (*fix) {
		const char *eol = strchrnul(fix, '\n');
		text_addf(t, "     %s%.*s\n", *fix == '#' ? "" : "$ ", (int)(eol - fix), fix);
		fix = eol + (*eol == '\n');
	}
}

/* "0000:01:00.0 rebar: full" of what is fine with one GPU: its verdicts share a line. */
static bool joins(const struct doctor_line *a, const struct doctor_line *b)
{
	size_t n = strcspn(a->tested, " ");
	return a->group == DOCTOR_PCIE && b->group == DOCTOR_PCIE && a->result == DOCTOR_OK &&
	       b->result == DOCTOR_OK && a->tested[n] && !strncmp(a->tested, b->tested, n + 1);
}

static size_t add_verdicts(
	struct text *t, const struct cmd_doctor_page *p, size_t i, struct cmd_style style)
{
	const struct doctor_line *first = &p->report->line[i];
	struct text s = {0};
	size_t n = i;
	text_add(&s, first->tested);
	while (n + 1 < p->report->nline && joins(first, &p->report->line[n + 1])) {
		n++;
		text_addf(&s, ", %s", p->report->line[n].tested + strcspn(first->tested, " ") + 1);
	}
	add_marked(t, DOCTOR_OK, style, s.s);
	text_finish(&s);
	return n;
}

static void add_line(struct text *t, const struct doctor_line *l, struct cmd_style style)
{
	if (l->result == DOCTOR_OK) {
		struct text s = {0};
		text_addf(&s, "%s%s%s", l->tested, *l->evidence ? ": " : "", l->evidence);
		add_marked(t, l->result, style, s.s);
		text_finish(&s);
		return;
	}
	add_marked(t, l->result, style, l->tested);
	if (*l->evidence) {
		cmd_wrapped(t, 5, 5, l->evidence);
	}
	add_fix(t, l->fix);
}

static void add_summary(struct text *t, const unsigned *count, bool root, struct cmd_style style)
{
	const char *colour = cmd_colour(style, count[DOCTOR_FAULT]    ? CMD_BAD
					       : count[DOCTOR_UNSEEN] ? CMD_WARN
								      : CMD_GOOD);
	text_addf(t, "\n%s", colour);
	if (count[DOCTOR_FAULT]) {
		text_addf(
			t, "%u fault%s", count[DOCTOR_FAULT], count[DOCTOR_FAULT] == 1 ? "" : "s");
	} else {
		text_add(t, "No fault");
	}
	text_add(t, cmd_colour(style, CMD_PLAIN));
	if (count[DOCTOR_UNSEEN]) {
		text_addf(t, ", %u not seen", count[DOCTOR_UNSEEN]);
	}
	if (count[DOCTOR_NOTE]) {
		text_addf(t, ", %u to note", count[DOCTOR_NOTE]);
	}
	text_addf(t, ", %u fine.\n", count[DOCTOR_OK]);
	if (root) {
		text_add(t, "As root it would also see config space past 64 bytes, the host's\n"
			    "apertures and the kernel log: sudo barscope doctor\n");
	}
}

char *cmd_doctor_text(const struct cmd_doctor_page *p, struct cmd_style style)
{
	struct text t = {0};
	int group = -1;
	unsigned count[4] = {0};
	bool root = false;
	if (p->symptom) {
		cmd_wrapped(&t, 0, 0, p->symptom->seen);
		cmd_wrapped(&t, 2, 2, p->symptom->usual);
	}
	if (p->sign) {
		text_addf(&t, "  The log has its sign, %s\n", p->sign);
	}
	for (size_t i = 0; i < p->report->nline; i++) {
		const struct doctor_line *l = &p->report->line[i];
		if (!cmd_doctor_selected(l, p->symptom)) {
			continue;
		}
		if ((int)l->group != group) {
			group = (int)l->group;
			text_addf(&t, "%s%s%s%s\n", t.len ? "\n" : "", cmd_colour(style, CMD_BOLD),
				doctor_group_name(l->group), cmd_colour(style, CMD_PLAIN));
		}
		root = root || l->root_would_tell;
		if (i + 1 < p->report->nline && joins(l, l + 1)) {
			size_t last = add_verdicts(&t, p, i, style);
			count[DOCTOR_OK] += (unsigned)(last - i + 1);
			i = last;
			continue;
		}
		count[l->result]++;
		add_line(&t, l, style);
	}
	if (group < 0) {
		text_add(
			&t, "\nNone of the checks that decide it applies here: there is no GPU.\n");
	} else {
		add_summary(&t, count, root, style);
	}
	char *s = text_steal(&t);
	if (!style.utf8) {
		char *ascii = cmd_ascii(s);
		free(s);
		s = ascii;
	}
	return s;
}

char *cmd_doctor_json(const struct cmd_doctor_page *p)
{
	struct js *root = js_object(), *lines = js_array();
	js_set_str(root, "schema", "barscope.doctor/1");
	if (p->symptom) {
		js_set_str(root, "symptom", p->symptom->word);
		js_set_str(root, "usual_cause", p->symptom->usual);
	}
	if (p->sign) {
		js_set_str(root, "sign", p->sign);
	}
	for (size_t i = 0; i < p->report->nline; i++) {
		const struct doctor_line *l = &p->report->line[i];
		if (!cmd_doctor_selected(l, p->symptom)) {
			continue;
		}
		struct js *j = js_object();
		js_set_str(j, "id", l->id);
		js_set_str(j, "group", doctor_group_name(l->group));
		js_set_str(j, "result", doctor_result_name(l->result));
		js_set_str(j, "tested", l->tested);
		js_set_str(j, "evidence", l->evidence);
		if (l->fix[0]) {
			js_set_str(j, "fix", l->fix);
		}
		if (l->root_would_tell) {
			js_set_bool(j, "root_would_tell", true);
		}
		js_push(lines, j);
	}
	js_set(root, "lines", lines);
	char *text = js_text(root);
	js_free(root);
	return text;
}

char *cmd_doctor_script(const struct cmd_doctor_page *p)
{
	struct text t = {0};
	unsigned n = 0;
	text_add(&t,
		"#!/bin/sh\n# What 'barscope doctor' proposes. Read it before you run it; "
		"'export' lines\n# only last when they are sourced (. ./FILE) or put into your "
		"profile.\n");
	for (size_t i = 0; i < p->report->nline; i++) {
		const struct doctor_line *l = &p->report->line[i];
		if (cmd_doctor_selected(l, p->symptom) && l->result == DOCTOR_FAULT && l->fix[0]) {
			text_addf(&t, "\n# %s\n%s\n", l->tested, l->fix);
			n++;
		}
	}
	if (n == 0) {
		text_add(&t, "\n# No fault: nothing to do.\n");
	}
	return text_steal(&t);
}
