/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "doctor/doctor.h"
#include "doctor/symptoms.h"
#include "pcie/scan.h"

static const char usage[] =
	"usage: barscope doctor [--symptom WORD] [--with FILE] [--build-dir DIR] [--fix-script] [--json]\n"
	"\n"
	"What an experienced person checks on a new machine, in this order: environment, driver,\n"
	"BIOS and PCIe, clocks, algorithm. Nothing is changed; every fault comes with the lines to copy.\n"
	"\n"
	"  --symptom WORD    only the checks that decide it; without a known WORD: the list\n"
	"  --with FILE       a log to search for the symptom's signs ('-': standard input)\n"
	"  --build-dir DIR   check DIR in place of $BUILD_DIR\n"
	"  --fix-script      print the commands as a script, and run none of them\n"
	"  --quick           leave out what takes more than a second\n"
	"  --ascii           no characters outside ASCII\n"
	"  --json            schema barscope.doctor/1\n"
	"\n"
	"Exit status: 0 no fault, 1 a fault, 2 something could not be seen, 3 usage.\n";

enum { LOG_MAX = 64 << 20 };

struct doctor_args {
	const char *symptom, *with, *build_dir;
	bool json, fix_script, quick, ascii;
};

static const char *mark(enum doctor_result r, bool ascii)
{
	static const char *const fancy[] = {[DOCTOR_OK] = "✓",
		[DOCTOR_NOTE] = "·",
		[DOCTOR_UNSEEN] = "?",
		[DOCTOR_FAULT] = "✗"};
	static const char *const plain[] = {[DOCTOR_OK] = "ok",
		[DOCTOR_NOTE] = "--",
		[DOCTOR_UNSEEN] = "??",
		[DOCTOR_FAULT] = "XX"};
	return ascii ? plain[r] : fancy[r];
}

static void add_indented(struct text *t, const char *indent, const char *s)
{
	while (*s) {
		const char *eol = strchrnul(s, '\n');
		text_add(t, indent);
		text_addn(t, s, (size_t)(eol - s));
		text_add(t, "\n");
		s = eol + (*eol == '\n');
	}
}

static bool selected(const struct doctor_line *l, const struct doctor_symptom *s)
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

static char *as_text(const struct doctor_report *r, const struct doctor_symptom *s, bool ascii)
{
	struct text t = {0};
	int group = -1;
	unsigned count[4] = {0};
	for (size_t i = 0; i < r->nline; i++) {
		const struct doctor_line *l = &r->line[i];
		if (!selected(l, s)) {
			continue;
		}
		if ((int)l->group != group) {
			group = (int)l->group;
			text_addf(&t, "%s%s\n", t.len ? "\n" : "", doctor_group_name(l->group));
		}
		count[l->result]++;
		text_addf(&t, "  %s %s\n", mark(l->result, ascii), l->tested);
		if (l->evidence[0]) {
			text_addf(&t, "      %s\n", l->evidence);
		}
		if (l->fix[0]) {
			add_indented(&t, "      $ ", l->fix);
		}
	}
	text_addf(&t, "\n%u fault%s, %u not seen, %u to note, %u fine\n", count[DOCTOR_FAULT],
		count[DOCTOR_FAULT] == 1 ? "" : "s", count[DOCTOR_UNSEEN], count[DOCTOR_NOTE],
		count[DOCTOR_OK]);
	if (geteuid() != 0) {
		text_add(&t,
			"Run as root it would also see config space past 64 bytes, host apertures and the "
			"kernel log.\n");
	}
	return text_steal(&t);
}

static char *as_json(
	const struct doctor_report *r, const struct doctor_symptom *s, const char *sign)
{
	struct js *root = js_object(), *lines = js_array();
	js_set_str(root, "schema", "barscope.doctor/1");
	if (s) {
		js_set_str(root, "symptom", s->word);
		js_set_str(root, "usual_cause", s->usual);
		if (sign) {
			js_set_str(root, "sign", sign);
		}
	}
	for (size_t i = 0; i < r->nline; i++) {
		const struct doctor_line *l = &r->line[i];
		if (!selected(l, s)) {
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
		js_push(lines, j);
	}
	js_set(root, "lines", lines);
	char *text = js_text(root);
	js_free(root);
	return text;
}

static char *as_script(const struct doctor_report *r, const struct doctor_symptom *s)
{
	struct text t = {0};
	text_add(&t,
		"#!/bin/sh\n# What 'barscope doctor' proposes. Read it before you run it.\nset -eu\n");
	for (size_t i = 0; i < r->nline; i++) {
		const struct doctor_line *l = &r->line[i];
		if (selected(l, s) && l->result == DOCTOR_FAULT && l->fix[0]) {
			text_addf(&t, "\n# %s\n%s\n", l->tested, l->fix);
		}
	}
	return text_steal(&t);
}

static int exit_status(const struct doctor_report *r, const struct doctor_symptom *s)
{
	enum doctor_result worst = DOCTOR_OK;
	for (size_t i = 0; i < r->nline; i++) {
		if (selected(&r->line[i], s)) {
			worst = MAX(worst, r->line[i].result);
		}
	}
	return worst == DOCTOR_FAULT    ? EXIT_FINDING
	       : worst == DOCTOR_UNSEEN ? EXIT_UNDETERMINED
					: EXIT_FINE;
}

static int list_symptoms(const char *word)
{
	fprintf(stderr, "barscope doctor: no symptom '%s'; known are:\n", word);
	for (const struct doctor_symptom *s = doctor_symptoms(); s->word; s++) {
		fprintf(stderr, "  %-24s %s\n", s->word, s->seen);
	}
	return EXIT_USAGE;
}

/* The first sign in the log at PATH as "line N: text", or NULL; the caller frees it. */
static int find_sign(const struct doctor_symptom *s, const char *path, char **ret)
{
	_cleanup_free_ char *log = NULL;
	size_t len, n, number;
	struct why why;
	if (file_read_all(path, LOG_MAX, &log, &len, &why) < 0) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	const char *line = doctor_symptom_sign(s, log, len, &n, &number);
	if (line) {
		struct text t = {0};
		text_addf(&t, "line %zu: %.*s", number, (int)MIN(n, 160), line);
		*ret = text_steal(&t);
	}
	return EXIT_FINE;
}

/* The exit status, or -1 to go on. */
static int parse(int argc, char **argv, struct doctor_args *a)
{
	static const struct option options[] = {
		{"symptom", required_argument, NULL, 's'},
		{"with", required_argument, NULL, 'w'},
		{"build-dir", required_argument, NULL, 'b'},
		{"fix-script", no_argument, NULL, 'f'},
		{"quick", no_argument, NULL, 'q'},
		{"ascii", no_argument, NULL, 'a'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	opterr = 0;
	for (int c; (c = getopt_long(argc, argv, ":", options, NULL)) != -1;) {
		switch (c) {
		case 's':
			a->symptom = optarg;
			break;
		case 'w':
			a->with = optarg;
			break;
		case 'b':
			a->build_dir = optarg;
			break;
		case 'f':
			a->fix_script = true;
			break;
		case 'q':
			a->quick = true;
			break;
		case 'a':
			a->ascii = true;
			break;
		case 'j':
			a->json = true;
			break;
		case 'h':
			return cmd_print(usage);
		case ':':
			return cmd_usage_error(argv[0], "%s needs a value", argv[optind - 1]);
		default:
			return cmd_usage_error(argv[0], "unknown option '%s'", argv[optind - 1]);
		}
	}
	if (optind < argc) {
		return cmd_usage_error(argv[0], "unexpected argument '%s'", argv[optind]);
	}
	if (a->with && !a->symptom) {
		return cmd_usage_error(argv[0], "--with goes with --symptom");
	}
	return -1;
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor_args a = {0};
	int status = parse(argc, argv, &a);
	if (status >= 0) {
		return status;
	}
	const struct doctor_symptom *s = a.symptom ? doctor_symptom_find(a.symptom) : NULL;
	if (a.symptom && !s) {
		return list_symptoms(a.symptom);
	}
	_cleanup_free_ char *sign = NULL;
	if (a.with && (status = find_sign(s, a.with, &sign)) != EXIT_FINE) {
		return status;
	}

	struct pcie_snapshot *machine = NULL;
	struct why why;
	pcie_scan(&(struct pcie_scan_options){.source = "live"}, &machine, &why);
	struct doctor_report *r = NULL;
	doctor_run(
		&(struct doctor_options){
			.build_dir = a.build_dir, .machine = machine, .quick = a.quick},
		&r);
	pcie_snapshot_destroy(machine);

	_cleanup_free_ char *out = a.fix_script ? as_script(r, s)
				   : a.json     ? as_json(r, s, sign)
						: as_text(r, s, a.ascii);
	if (s && !a.json && !a.fix_script) {
		printf("%s\n  %s\n%s%s%s\n", s->seen, s->usual,
			sign ? "  The log has its sign, " : "", sign ? sign : "", sign ? "\n" : "");
	}
	status = cmd_print(out);
	if (status == EXIT_FINE) {
		status = exit_status(r, s);
	}
	doctor_report_destroy(r);
	return status;
}
