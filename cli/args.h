/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options and arguments of commands that take no SOURCE. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/source_args.h"

/*
 * Parses ARGV (argv[0] is the command's name) by the N options: "--name", "--name VALUE" or
 * "--name=VALUE" in any order, whole names only, a value at most once, "--" ends them; a name of
 * one letter is "-n VALUE" too. The other arguments, at least LEAST and at most MOST, go to RET
 * (room for MOST; the strings are ARGV's). False: the command ends with *STATUS (--help was
 * printed, or a usage error).
 */
bool cmd_args_parse(int argc, char **argv, const struct cmd_option *options, size_t n,
	const char *help, size_t least, size_t most, const char **ret, size_t *ret_n, int *status);

/*
 * Is ARG "--NAME", alone or with "=VALUE"? getopt_long takes "--js" for "--json"; a script shall
 * not, since a new option may come. True for what does not begin with two dashes.
 */
bool cmd_args_is_whole(const char *arg, const char *name);

struct option;

enum { CMD_ARGS_PLAIN = 1 << 16 }; /* above every option's code */

/*
 * The next option of ARGV by a table of getopt_long's (CMD is for sentences, "" the screen's), held
 * to the same rules: whole names, a value at most once and never empty. GIVEN has a place for each
 * line of the table, all false before the first call, as optind is 0. RET_VALUE: NULL where there
 * is none. Returns the option's code; CMD_ARGS_PLAIN: *RET_VALUE is no option, and the caller says
 * so and ends; 0: there are no more; -1: a usage error was printed.
 */
int cmd_args_next(const char *cmd, int argc, char **argv, const struct option *options, bool *given,
	const char **ret_value);
