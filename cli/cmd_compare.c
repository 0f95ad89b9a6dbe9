/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/print_compare.h"
#include "cli/store_args.h"
#include "pcie/scan.h"

static const char help[] =
	"usage: barscope compare A B [--despite NAME,...] [--json | --csv]\n\n"
	"What two sides have in common and what differs: machine, environment, latencies, and\n"
	"whether the difference is more than boots show by themselves. A and B are runs, labels\n"
	"(all their runs, grouped by boot) or exported files.\n\n"
	"  --despite LIST  differences that were meant, by their names: cmdline,kernel\n"
	"  --json          for programs (schema barscope.compare/1)\n"
	"  --csv           a line a run, series and layer\n" CMD_STORE_HELP
	"\nExit status: 0 better, or no difference shown; 1 worse; 2 not comparable, or too few\n"
	"boots for a verdict.\n";

struct sides {
	struct runs_store *store; /* NULL: none needed, or there is none */
	const char *ref[2];
	struct runs_side side[2];
};

static int open_sides(struct sides *s, const char *store, struct why *why)
{
	char boot_id[RUNS_BOOT_ID_MAX];
	struct why no_store;
	int r = cmd_store_open(store, RUNS_STORE_READ, &s->store, boot_id, &no_store);
	if (r && r != -ENOENT && r != -ENODATA) {
		*why = no_store;
		return r;
	}
	r = 0;
	for (int i = 0; !r && i < 2; i++) {
		r = runs_side_open(s->store, s->ref[i], boot_id, &s->side[i], why);
	}
	return r;
}

static void close_sides(struct sides *s)
{
	runs_side_finish(&s->side[0]);
	runs_side_finish(&s->side[1]);
	runs_store_close(s->store);
}

/* A's last machine and B's first; NULL: it kept none, or it cannot be read. */
static struct pcie_snapshot *machine_of(const struct sides *s, int i)
{
	_cleanup_free_ char *record = NULL;
	size_t len;
	struct why why;
	struct pcie_snapshot *snapshot = NULL;
	if (runs_side_machine(s->store, s->ref[i], &s->side[i], i == 0, &record, &len, &why) ||
		pcie_scan_buffer(s->side[i].name, record, len, &snapshot, &why)) {
		return NULL;
	}
	return snapshot;
}

/* "a,b" as an array of strings inside COPY. */
static size_t split(char *copy, const char **ret, size_t max)
{
	size_t n = 0;
	for (char *save, *p = strtok_r(copy, ",", &save); p && n < max;
		p = strtok_r(NULL, ",", &save)) {
		ret[n++] = p;
	}
	return n;
}

static char *render(
	const struct runs_comparison *c, const struct cmd_machines *m, bool json, bool csv)
{
	struct text t = {0};
	if (json) {
		struct js *j = cmd_compare_json(c, m);
		char *out = js_text(j);
		js_free(j);
		return out;
	}
	if (csv) {
		cmd_compare_csv(&t, c);
	} else {
		cmd_compare_print(&t, c, m, cmd_style_detect(false));
	}
	return text_steal(&t);
}

int cmd_compare(int argc, char **argv)
{
	enum { DESPITE = 32 };
	struct sides s = {0};
	const char *store = NULL, *despite = NULL, *names[DESPITE];
	bool json = false, csv = false;
	const struct cmd_option options[] = {
		{"store", NULL, &store},
		{"despite", NULL, &despite},
		{"json", &json, NULL},
		{"csv", &csv, NULL},
	};
	size_t n;
	int status;
	if (!cmd_args_parse(
		    argc, argv, options, ARRAY_LEN(options), help, 2, 2, s.ref, &n, &status)) {
		return status;
	}
	_cleanup_free_ char *copy = xstrdup(despite ? despite : "");
	size_t ndespite = split(copy, names, DESPITE);
	struct why why;
	struct runs_comparison c = {0};
	int r = open_sides(&s, store, &why);
	if (!r) {
		r = runs_compare(&s.side[0], &s.side[1], names, ndespite, &c, &why);
	}
	if (r) {
		close_sides(&s);
		/* Nothing in common is an answer, not a failure to read. */
		return cmd_fail(r == -EINVAL ? EXIT_UNDETERMINED : EXIT_USAGE, "%s", why.text);
	}
	struct pcie_snapshot *a = machine_of(&s, 0), *b = machine_of(&s, 1);
	struct runs_machine_change *change = NULL;
	struct cmd_machines m = {.known = a && b};
	if (m.known) {
		m.n = runs_machines_differ(a, b, &change);
		m.change = change;
	}
	_cleanup_free_ char *out = render(&c, &m, json, csv);
	status = runs_verdict_status(c.verdict);
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
	free(change);
	runs_comparison_finish(&c);
	close_sides(&s);
	int printed = cmd_print(out);
	return printed ? printed : status;
}
