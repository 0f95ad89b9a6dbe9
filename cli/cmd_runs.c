/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/print_runs.h"
#include "cli/store_args.h"
#include "runs/bundle.h"
#include "runs/study.h"

static const char help[] =
	"usage: barscope runs list [--label LABEL] [--json]\n"
	"       barscope runs show RUN [--json]\n"
	"       barscope runs export RUN|LABEL... -o FILE\n"
	"       barscope runs import FILE\n"
	"       barscope runs rm RUN|LABEL...\n\n"
	"The store of recorded runs. RUN is a number, or run:NUMBER; LABEL is a label, label:LABEL,\n"
	"or study:NAME.\n\n"
	"  --label LABEL the runs of one label\n"
	"  --json        for programs (schemas barscope.runs/1, barscope.run/1)\n"
	"  -o FILE       the bundle to write: one file, see barscope-runs(5)\n" CMD_STORE_HELP;

enum { ARGS = 64 };

struct options {
	const char *store, *label, *out;
	bool json;
	const char *arg[ARGS];
	size_t narg;
};

/* All runs that the arguments name, each once. */
static int find_all(struct runs_store *s, const char *boot_id, const struct options *o,
	struct runs_list *ret, struct why *why)
{
	struct runs_list all = {0};
	int r = 0;
	for (size_t i = 0; !r && i < o->narg; i++) {
		_cleanup_runs_ struct runs_list l = {0};
		r = strncmp(o->arg[i], "study:", 6) ? runs_info_find(s, o->arg[i], boot_id, &l, why)
						    : runs_study_find(s, o->arg[i], &l, why);
		for (size_t k = 0; !r && k < l.n; k++) {
			size_t j = 0;
			while (j < all.n && all.run[j].id != l.run[k].id) {
				j++;
			}
			if (j == all.n) {
				all.run = xreallocarray(all.run, all.n + 1, sizeof(*all.run));
				all.run[all.n++] = l.run[k];
			}
		}
	}
	if (r) {
		runs_list_finish(&all);
		return r;
	}
	*ret = all;
	return 0;
}

static int list(const struct options *o)
{
	struct why why;
	char boot_id[RUNS_BOOT_ID_MAX];
	_cleanup_store_ struct runs_store *s = NULL;
	_cleanup_runs_ struct runs_list l = {0};
	int r = cmd_store_open(o->store, RUNS_STORE_READ, &s, boot_id, &why);
	if (!r) {
		r = runs_info_list(s, o->label, boot_id, &l, &why);
	}
	/* A file without anything in it is a store without runs. */
	r = r == -ENODATA ? 0 : r;
	_cleanup_free_ char *out = NULL;
	if (!r && !l.n && !o->json) {
		fprintf(stderr,
			o->label ? "no run has the label '%s'\n" : "there are no runs yet\n",
			o->label);
		return EXIT_FINE;
	}
	if (!r && o->json) {
		struct js *j = NULL;
		r = cmd_runs_json(s, &l, &j, &why);
		out = j ? js_text(j) : NULL;
		js_free(j);
	} else if (!r) {
		struct text t = {0};
		struct cmd_style style = cmd_style_detect(false);
		r = cmd_runs_table(&t, s, &l, style, &why);
		out = cmd_style_plain(style, text_steal(&t));
	}
	return r ? cmd_fail(EXIT_USAGE, "%s", why.text) : cmd_print(out);
}

static int show(const struct options *o)
{
	struct why why;
	char boot_id[RUNS_BOOT_ID_MAX];
	_cleanup_store_ struct runs_store *s = NULL;
	_cleanup_runs_ struct runs_list l = {0};
	int r = cmd_store_open(o->store, RUNS_STORE_READ, &s, boot_id, &why);
	if (!r) {
		r = runs_info_find(s, o->arg[0], boot_id, &l, &why);
	}
	if (!r && l.n > 1 && o->json) {
		return cmd_fail(
			EXIT_USAGE, "'%s' names %zu runs; name one by its number", o->arg[0], l.n);
	}
	struct text t = {0};
	struct cmd_style style = cmd_style_detect(false);
	style.utf8 = style.utf8 || o->json;
	for (size_t i = 0; !r && i < l.n; i++) {
		if (o->json) {
			struct js *j = NULL;
			r = cmd_run_json(s, &l.run[i], &j, &why);
			if (!r) {
				_cleanup_free_ char *json = js_text(j);
				text_add(&t, json);
				js_free(j);
			}
		} else {
			text_add(&t, i ? "\n" : "");
			r = cmd_run_print(&t, s, &l.run[i], style, &why);
		}
	}
	_cleanup_free_ char *out = cmd_style_plain(style, text_steal(&t));
	return r ? cmd_fail(EXIT_USAGE, "%s", why.text) : cmd_print(out);
}

static int export(const struct options *o)
{
	struct why why;
	char boot_id[RUNS_BOOT_ID_MAX];
	if (!o->out) {
		return cmd_usage_error("runs", "export needs -o FILE");
	}
	if (!strcmp(o->out, "-")) {
		return cmd_usage_error("runs",
			"export: a bundle is a database in a file, not a stream: name a FILE");
	}
	_cleanup_store_ struct runs_store *s = NULL;
	_cleanup_runs_ struct runs_list l = {0};
	int r = cmd_store_open(o->store, RUNS_STORE_READ, &s, boot_id, &why);
	if (!r) {
		r = find_all(s, boot_id, o, &l, &why);
	}
	if (!r) {
		r = runs_bundle_export(runs_db_path(runs_store_db(s)), &l, o->out, &why);
	}
	if (r) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	fprintf(stderr, "%zu run%s written to %s\n", l.n, l.n == 1 ? "" : "s", o->out);
	return EXIT_FINE;
}

static int import(const struct options *o)
{
	struct why why;
	struct runs_imported n;
	_cleanup_free_ char *path = NULL;
	int r = runs_store_path(o->store, &path, &why);
	if (!r) {
		r = runs_bundle_import(o->arg[0], path, &n, &why);
	}
	if (r) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	fprintf(stderr, "%zu run%s added", n.added, n.added == 1 ? "" : "s");
	if (n.known) {
		fprintf(stderr, ", %zu already there", n.known);
	}
	fputc('\n', stderr);
	return EXIT_FINE;
}

static int rm(const struct options *o)
{
	struct why why;
	char boot_id[RUNS_BOOT_ID_MAX];
	_cleanup_store_ struct runs_store *s = NULL;
	_cleanup_runs_ struct runs_list l = {0};
	int r = cmd_store_open(o->store, RUNS_STORE_WRITE, &s, boot_id, &why);
	if (!r) {
		r = find_all(s, boot_id, o, &l, &why);
	}
	for (size_t i = 0; !r && i < l.n; i++) {
		if (l.run[i].state == RUNS_RUNNING) {
			return cmd_fail(
				EXIT_USAGE, "run %lld is still running", (long long)l.run[i].id);
		}
	}
	for (size_t i = 0; !r && i < l.n; i++) {
		r = runs_info_remove(s, l.run[i].id, &why);
		if (!r) {
			fprintf(stderr, "run %lld (%s) removed\n", (long long)l.run[i].id,
				l.run[i].label);
		}
	}
	return r ? cmd_fail(EXIT_USAGE, "%s", why.text) : EXIT_FINE;
}

static const struct {
	const char *name;
	size_t least, most; /* arguments */
	int (*run)(const struct options *o);
} verbs[] = {
	{"list", 0, 0, list},
	{"show", 1, 1, show},
	{"export", 1, ARGS, export},
	{"import", 1, 1, import},
	{"rm", 1, ARGS, rm},
};

int cmd_runs(int argc, char **argv)
{
	struct options o = {0};
	const struct cmd_option options[] = {
		{"store", NULL, &o.store},
		{"label", NULL, &o.label},
		{"json", &o.json, NULL},
		{"o", NULL, &o.out},
	};
	int status;
	if (argc < 2 || !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		return argc < 2 ? cmd_usage_error("runs", "say list, show, export, import or rm")
				: cmd_print(help);
	}
	for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
		if (strcmp(argv[1], verbs[i].name) != 0) {
			continue;
		}
		argv[1] = argv[0]; /* errors speak of the command */
		if (!cmd_args_parse(argc - 1, argv + 1, options, ARRAY_LEN(options), help,
			    verbs[i].least, verbs[i].most, o.arg, &o.narg, &status)) {
			return status;
		}
		return verbs[i].run(&o);
	}
	return cmd_usage_error("runs", "'%s' is none of list, show, export, import, rm", argv[1]);
}
