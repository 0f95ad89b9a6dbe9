/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "base/cleanup.h"
#include "cli/cmd.h"
#include "cli/diff.h"
#include "cli/source_args.h"

static const char help[] =
	"usage: barscope diff A [B] [--json] [--wake] [--ascii]\n\n"
	"What changed between two machines, all devices; without B, since A on this machine.\n"
	"Devices are matched by their place in the tree and what they are, not by bus number.\n\n"
	"  A, B         each a SOURCE:\n" CMD_SOURCE_HELP_WHAT CMD_SOURCE_HELP_MORE
	"  --json       for programs (schema barscope.diff/1)\n"
	"  --ascii      plain characters only\n\n"
	"Lines with - are for the worse, with + for the better. Exit status: 0 nothing is worse,\n"
	"1 something is, 2 no device is on both sides, 3 usage or unreadable input.\n";

static int print_diff(const struct pcie_snapshot *a, const struct pcie_snapshot *b,
	const struct pcie_diff *d, bool json, bool ascii)
{
	_cleanup_free_ char *out = NULL;
	if (json) {
		struct js *j = cmd_diff_json(a, b, d);
		out = js_text(j);
		js_free(j);
	} else {
		struct text t = {0};
		cmd_diff_print(&t, a, b, d, cmd_style_detect(ascii));
		out = text_steal(&t);
	}
	return cmd_print(out);
}

int cmd_diff(int argc, char **argv)
{
	struct cmd_source_args src;
	bool json = false, ascii = false;
	const struct cmd_option options[] = {
		{"json", &json, NULL},
		{"ascii", &ascii, NULL},
	};
	int status;
	if (!cmd_source_parse(argc, argv, options, ARRAY_LEN(options), 2, help, &src, &status)) {
		return status;
	}
	if (!src.source[0]) {
		cmd_source_finish(&src);
		return cmd_usage_error(argv[0], "name the machine to compare with");
	}
	struct pcie_snapshot *a = NULL, *b = NULL;
	struct why why;
	src.log = true;
	int rc = cmd_source_scan(&src, 0, &a, &why);
	rc = rc < 0 ? rc : cmd_source_scan(&src, 1, &b, &why);
	cmd_source_finish(&src);
	if (rc < 0) {
		status = cmd_fail(EXIT_USAGE, "%s", why.text);
	} else {
		struct pcie_diff *d = pcie_diff_create(a, b);
		status = print_diff(a, b, d, json, ascii);
		if (status == EXIT_FINE && !d->matched) {
			fprintf(stderr,
				"no device is on both sides, so nothing is better or worse: "
				"these may be two machines\n");
		}
		if (status == EXIT_FINE) {
			status = !d->matched             ? EXIT_UNDETERMINED
				 : pcie_diff_is_worse(d) ? EXIT_FINDING
							 : EXIT_FINE;
		}
		pcie_diff_destroy(d);
	}
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
	return status;
}
