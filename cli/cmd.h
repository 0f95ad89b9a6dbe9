/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subcommands. Each parses its own arguments and returns the exit status. */
#pragma once

#include <stdbool.h>

#include "base/why.h"

/* Exit statuses (barscope(1)): 1 beats 2 beats 0. */
enum {
	EXIT_FINE = 0,
	EXIT_FINDING = 1,
	EXIT_UNDETERMINED = 2,
	EXIT_USAGE = 3, /* also: unreadable input, store error */
	EXIT_NO_GPU = 4,
};

struct cmd {
	const char *name;
	const char *args;                  /* "[SOURCE] [--json]" */
	const char *summary;               /* one line for --help */
	int (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

int cmd_check(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_stress(int argc, char **argv);
int cmd_tune(int argc, char **argv);
int cmd_verify(int argc, char **argv);
int cmd_runs(int argc, char **argv);
int cmd_compare(int argc, char **argv);
/* The screen: what runs without a command, and its options for --help. */
int cmd_study(int argc, char **argv);
int cmd_tui(int argc, char **argv);
extern const char cmd_tui_options[];

/* "barscope COMMAND: sentence" ("" : the screen) on stderr, and a pointer to --help; returns
 * EXIT_USAGE. */
int cmd_usage_error(const char *cmd, const char *fmt, ...) PRINTF(2, 3);
/* "barscope: sentence" on stderr; returns STATUS. */
int cmd_fail(int status, const char *fmt, ...) PRINTF(2, 3);
/* Writes S to stdout and flushes; EXIT_FINE, or EXIT_USAGE with a sentence (full disk, closed
 * pipe). */
int cmd_print(const char *s);
