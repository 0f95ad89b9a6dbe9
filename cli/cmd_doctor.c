/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/doctor.h"
#include "cli/store_args.h"
#include "pcie/scan.h"
#include "runs/driver.h"

static const char usage[] =
	"usage: barscope doctor [--symptom WORD [--with FILE]] [--build-dir DIR] [--shape MxKxN]\n"
	"                       [--quick] [--fix-script | --json] [--ascii]\n\n"
	"What an experienced person checks on a new machine, in this order: environment, driver,\n"
	"BIOS and PCIe, clocks, algorithm. Nothing is changed; every fault comes with the lines to\n"
	"copy.\n\n"
	"  --symptom WORD   only the checks that decide it; 'list' tells the words\n"
	"  --with FILE      a log to search for the symptom's signs ('-': standard input)\n"
	"  --build-dir DIR  check DIR in place of $BUILD_DIR\n"
	"  --shape MxKxN    whose kernel and alignment are judged, default 1x4096x11008\n"
	"  --quick          leave out what takes more than a second\n"
	"  --fix-script     print the commands as a script, and run none of them\n"
	"  --json           for programs (schema barscope.doctor/1)\n"
	"  --ascii          plain characters only\n\n"
	"Exit status: 0 no fault, 1 a fault, 2 something could not be seen, 3 usage.\n";

enum { LOG_MAX = 64 << 20 };

struct doctor_args {
	const char *symptom, *with, *build_dir, *shape;
	bool json, fix_script, quick, ascii;
};

static int exit_status(const struct doctor_report *r, const struct doctor_symptom *s)
{
	enum doctor_result worst = DOCTOR_OK;
	bool any = false;
	for (size_t i = 0; i < r->nline; i++) {
		if (cmd_doctor_selected(&r->line[i], s)) {
			worst = MAX(worst, r->line[i].result);
			any = true;
		}
	}
	/* Where nothing could be checked, nothing was found to be fine. */
	return worst == DOCTOR_FAULT            ? EXIT_FINDING
	       : worst == DOCTOR_UNSEEN || !any ? EXIT_UNDETERMINED
						: EXIT_FINE;
}

static char *symptom_list(void)
{
	struct text t = {0};
	for (const struct doctor_symptom *s = doctor_symptoms(); s->word; s++) {
		text_addf(&t, "  %-24s %s\n", s->word, s->seen);
	}
	return text_steal(&t);
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

/* False: the command ends with *STATUS. */
static bool parse(int argc, char **argv, struct doctor_args *a, struct stress_shape *shape,
	const struct doctor_symptom **ret, int *status)
{
	const struct cmd_option options[] = {
		{"symptom", NULL, &a->symptom, 0},
		{"with", NULL, &a->with, 0},
		{"build-dir", NULL, &a->build_dir, 0},
		{"shape", NULL, &a->shape, 0},
		{"fix-script", &a->fix_script, NULL, 0},
		{"quick", &a->quick, NULL, 0},
		{"ascii", &a->ascii, NULL, 0},
		{"json", &a->json, NULL, 0},
	};
	const char *none[1];
	size_t nnone;
	struct why why;
	if (!cmd_args_parse(
		    argc, argv, options, ARRAY_LEN(options), usage, 0, 0, none, &nnone, status)) {
		return false;
	}
	*status = EXIT_USAGE;
	if (a->json && a->fix_script) {
		cmd_usage_error(
			argv[0], "--fix-script and --json are two forms of one output: take one");
		return false;
	}
	if (a->with && !a->symptom) {
		cmd_usage_error(argv[0], "--with goes with --symptom");
		return false;
	}
	if (a->shape && stress_shape_parse(a->shape, shape, &why) < 0) {
		cmd_usage_error(argv[0], "%s", why.text);
		return false;
	}
	if (a->symptom && !(*ret = doctor_symptom_find(a->symptom))) {
		_cleanup_free_ char *list = symptom_list();
		if (!strcmp(a->symptom, "list")) {
			*status = cmd_print(list);
		} else {
			fprintf(stderr,
				"barscope doctor: no symptom '%.80s', or several; there are:\n%s",
				a->symptom, list);
		}
		return false;
	}
	return true;
}

int cmd_doctor(int argc, char **argv)
{
	struct doctor_args a = {0};
	struct stress_shape shape = {0};
	const struct doctor_symptom *s = NULL;
	int status;
	if (!parse(argc, argv, &a, &shape, &s, &status)) {
		return status;
	}
	_cleanup_free_ char *sign = NULL;
	if (a.with && (status = find_sign(s, a.with, &sign)) != EXIT_FINE) {
		return status;
	}

	/* Not seen is no error: the report says so. */
	struct pcie_snapshot *machine = NULL;
	struct why why;
	const char *root = cmd_root();
	pcie_scan(&(struct pcie_scan_options){.source = root ? root : "live",
			  .log = true,
			  .driver = root ? NULL : &runs_driver},
		&machine, &why);
	struct doctor_report *r = NULL;
	const struct doctor_options o = {
		.root = root,
		.build_dir = a.build_dir,
		.shape = shape,
		.machine = machine,
		.quick = a.quick,
	};
	/* Seconds where a driver has to start its cards. */
	bool tell = isatty(STDERR_FILENO);
	fputs(tell ? "Looking at this machine ...\r" : "", stderr);
	doctor_run(&o, &r);
	fputs(tell ? "\033[K" : "", stderr);
	pcie_snapshot_destroy(machine);

	const struct cmd_doctor_page page = {.report = r, .symptom = s, .sign = sign};
	_cleanup_free_ char *out = a.fix_script ? cmd_doctor_script(&page)
				   : a.json     ? cmd_doctor_json(&page)
						: cmd_doctor_text(&page, cmd_style_detect(a.ascii));
	status = cmd_print(out);
	if (status == EXIT_FINE) {
		status = exit_status(r, s);
	}
	doctor_report_destroy(r);
	return status;
}
