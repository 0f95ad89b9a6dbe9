/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/cleanup.h"
#include "cli/cmd.h"
#include "cli/machine.h"
#include "cli/source_args.h"

static const char help[] =
	"usage: barscope show [SOURCE] [--with FILE]... [--json] [--all] [--wake] [--ascii]\n\n"
	"Devices, BARs, Resizable BAR, windows, link and apertures of a machine.\n\n" CMD_SOURCE_HELP
	"  --json       for programs (schema barscope.machine/1)\n"
	"  --all        every device, not only GPUs\n"
	"  --ascii      plain characters only\n";

int cmd_show(int argc, char **argv)
{
	struct cmd_source_args a;
	bool json = false, all = false, ascii = false;
	const struct cmd_option options[] = {
		{"json", &json, NULL},
		{"all", &all, NULL},
		{"ascii", &ascii, NULL},
	};
	int status;
	if (!cmd_source_parse(argc, argv, options, ARRAY_LEN(options), 1, help, &a, &status)) {
		return status;
	}
	struct pcie_snapshot *s;
	struct why why;
	int r = cmd_source_scan(&a, 0, &s, &why);
	cmd_source_finish(&a);
	if (r < 0) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}

	_cleanup_free_ char *out = NULL;
	if (json) {
		struct js *j = cmd_machine_json(s);
		out = js_text(j);
		js_free(j);
	} else {
		struct text t = {0};
		cmd_machine_print(&t, s, all, cmd_style_detect(ascii));
		out = text_steal(&t);
	}
	pcie_snapshot_destroy(s);
	return cmd_print(out);
}
