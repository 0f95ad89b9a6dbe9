/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "cli/cmd.h"
#include "cli/source_args.h"
#include "runs/driver.h"

static const char help[] =
	"usage: barscope capture [-o FILE] [--with-log] [--wake]\n\n"
	"This machine as a text record, to send or to keep: 'barscope show FILE' reads it, and\n"
	"'umockdev-run -d FILE -- PROGRAM' shows it to other programs. It holds no serial numbers,\n"
	"UUIDs, MAC addresses or host names.\n\n"
	"  -o FILE      write there and not to standard output\n"
	"  --with-log   the kernel log too\n"
	"  --wake       read sleeping devices too, which wakes them\n"
	"  --root ROOT  another root in place of /\n";

int cmd_capture(int argc, char **argv)
{
	struct cmd_source_args a;
	bool log = false;
	const char *file = NULL, *root = "/";
	const struct cmd_option options[] = {
		{"with-log", &log, NULL},
		{"output", NULL, &file, 'o'},
		{"root", NULL, &root},
	};
	int status;

	if (!cmd_source_parse(argc, argv, options, ARRAY_LEN(options), 0, help, &a, &status)) {
		return status;
	}
	bool wake = a.wake;
	cmd_source_finish(&a);

	_cleanup_free_ char *text = NULL;
	size_t len;
	struct why why;
	if (runs_capture(root, log, wake, &text, &len, &why) < 0) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	if (!file || !strcmp(file, "-")) {
		return cmd_print(text);
	}
	if (file_write_atomic(file, text, len, &why) < 0) {
		return cmd_fail(EXIT_USAGE, "%s", why.text);
	}
	return EXIT_FINE;
}
