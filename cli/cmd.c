/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/cmd.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int cmd_usage_error(const char *cmd, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *blank = *cmd ? " " : "";
	fprintf(stderr, "barscope%s%s: ", blank, cmd);
	vfprintf(stderr, fmt, ap);
	fprintf(stderr, "\nTry 'barscope%s%s --help'.\n", blank, cmd);
	va_end(ap);
	return EXIT_USAGE;
}

int cmd_fail(int status, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	fputs("barscope: ", stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	return status;
}

int cmd_print(const char *s)
{
	if (fputs(s, stdout) == EOF || fflush(stdout) == EOF) {
		return cmd_fail(EXIT_USAGE, "standard output: %s", strerror(errno));
	}
	return EXIT_FINE;
}
