/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>

#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/sides.h"
#include "cli/store_args.h"

static const char help[] =
	"usage: barscope compare A B [--despite NAME,...] [--html FILE] [--json | --csv]\n\n"
	"What two sides have in common and what differs: machine, environment, latencies, and\n"
	"whether the difference is more than boots show by themselves. A and B are runs, labels\n"
	"(all their runs, grouped by boot), studies (study:NAME, study:NAME/A) or exported files.\n\n"
	"  --despite LIST  differences that were meant, by their names: cmdline,kernel\n"
	"  --html FILE     a page of its own too: pictures, tables, the machines' BARs\n"
	"  --json          for programs (schema barscope.compare/1)\n"
	"  --csv           a line a run, series and layer\n" CMD_STORE_HELP
	"\nExit status: 0 better, or no difference shown; 1 worse; 2 not comparable, or too few\n"
	"boots for a verdict.\n";

int cmd_compare(int argc, char **argv)
{
	struct cmd_compare_options o = {0};
	const char *given = NULL, *ref[2];
	const struct cmd_option options[] = {
		{"store", NULL, &given},
		{"despite", NULL, &o.despite},
		{"html", NULL, &o.html},
		{"json", &o.json, NULL},
		{"csv", &o.csv, NULL},
	};
	size_t n;
	int status;
	if (!cmd_args_parse(
		    argc, argv, options, ARRAY_LEN(options), help, 2, 2, ref, &n, &status)) {
		return status;
	}
	/* Two files need no store. */
	_cleanup_store_ struct runs_store *store = NULL;
	char boot_id[RUNS_BOOT_ID_MAX];
	struct why why;
	int r = cmd_store_open(given, RUNS_STORE_READ, &store, boot_id, &why);
	if (r && r != -ENOENT && r != -ENODATA) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	return cmd_compare_sides(store, boot_id, ref[0], ref[1], &o);
}
