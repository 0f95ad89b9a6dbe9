/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/args.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "cli/cmd.h"

enum { FIRST = 256 }; /* codes of options, above every letter */

/* Sets what option O asks for; else a usage error of CMD was printed. */
static bool set(const char *cmd, const struct cmd_option *o, const char *value, bool *given)
{
	const char *dashes = o->name[1] ? "--" : "-";

	if (!o->value) {
		*o->set = true;
		return true;
	}
	if (*given) {
		/* Which of the two was meant is not for us to say. */
		cmd_usage_error(cmd, "%s%s is given twice", dashes, o->name);
		return false;
	}
	if (!*value) {
		cmd_usage_error(cmd, "%s%s needs a value", dashes, o->name);
		return false;
	}
	*o->value = value;
	*given = true;
	return true;
}

bool cmd_args_is_whole(const char *arg, const char *name)
{
	const size_t n = strlen(name);

	return strncmp(arg, "--", 2) ||
	       (!strncmp(arg + 2, name, n) && (!arg[2 + n] || arg[2 + n] == '='));
}

/* What getopt_long needs to know; a name of one letter is a short option. */
static void describe(const struct cmd_option *options, size_t n, struct option *list, char *letters)
{
	*letters++ = '-';
	*letters++ = ':';
	*letters++ = 'h';
	for (size_t i = 0; i < n; i++) {
		bool value = options[i].value != NULL;
		*list++ = (struct option){options[i].name, value ? required_argument : no_argument,
			NULL, FIRST + (int)i};
		if (!options[i].name[1]) {
			*letters++ = options[i].name[0];
			*letters++ = ':';
			letters -= !value;
		}
	}
	*list = (struct option){"help", no_argument, NULL, 'h'};
	*letters = '\0';
}

/* Which option C stands for, or N. */
static size_t which(const struct cmd_option *options, size_t n, int c)
{
	size_t i = 0;
	while (i < n && c != FIRST + (int)i && !(options[i].name[0] == c && !options[i].name[1])) {
		i++;
	}
	return i;
}

/* Why getopt_long did not take WORD. */
static void refuse(const char *cmd, const struct option *list, const char *word)
{
	for (const struct option *o = list; o->name; o++) {
		if (o->name[1] && o->has_arg == no_argument && !strncmp(word, "--", 2) &&
			strchr(word, '=') && cmd_args_is_whole(word, o->name)) {
			cmd_usage_error(cmd, "--%s takes no value", o->name);
			return;
		}
	}
	cmd_usage_error(cmd, "'%s' is no option of it", word);
}

/*
 * What getopt_long finds next, *RET_INDEX in LIST (-1: a letter): its code, CMD_ARGS_PLAIN, 0 at
 * the end, -1: refused. LETTERS begin with "-:": no word changes its place, so that the one that
 * is looked at stands where optind is before, which in a bundle of letters has not moved.
 */
static int scan(const char *cmd, int argc, char **argv, const char *letters,
	const struct option *list, int *ret_index)
{
	const int at = MAX(optind, 1);

	*ret_index = -1;
	opterr = 0;
	const int c = getopt_long(argc, argv, letters, list, ret_index);
	if (c == -1) {
		return 0;
	}
	if (c == ':') {
		cmd_usage_error(cmd, "%s needs a value", argv[at]);
		return -1;
	}
	const int index = *ret_index;
	if (c == '?' || (index >= 0 && !cmd_args_is_whole(argv[at], list[index].name))) {
		refuse(cmd, list, argv[at]);
		return -1;
	}
	return c == 1 && index < 0 ? CMD_ARGS_PLAIN : c;
}

/* The I-th word that is no option: the first NPLAIN have been found among them. */
static const char *plain_at(char **argv, const char *const *plain, size_t nplain, size_t i)
{
	return i < nplain ? plain[i] : argv[optind + (int)(i - nplain)];
}

bool cmd_args_parse(int argc, char **argv, const struct cmd_option *options, size_t n,
	const char *help, size_t least, size_t most, const char **ret, size_t *ret_n, int *status)
{
	_cleanup_free_ struct option *list = xcalloc(n + 2, sizeof(*list));
	_cleanup_free_ char *letters = xmalloc(2 * n + 4);
	_cleanup_free_ bool *given = xcalloc(n + 1, sizeof(*given));
	_cleanup_free_ const char **plain = xcalloc((size_t)argc, sizeof(*plain));
	size_t nplain = 0;
	describe(options, n, list, letters);
	*status = EXIT_USAGE;
	optind = 0; /* a fresh scan, also of its hidden state */
	for (int c, index; (c = scan(argv[0], argc, argv, letters, list, &index)) != 0;) {
		if (c == 'h') {
			*status = cmd_print(help);
			return false;
		}
		if (c == CMD_ARGS_PLAIN) {
			plain[nplain++] = optarg;
			continue;
		}
		size_t i = c < 0 ? n : which(options, n, c);
		if (i == n || !set(argv[0], &options[i], optarg, &given[i])) {
			return false;
		}
	}
	size_t have = nplain + (size_t)(argc - optind);
	if (have < least) {
		cmd_usage_error(
			argv[0], "%s", have ? "an argument is missing" : "it needs an argument");
		return false;
	}
	if (have > most) {
		cmd_usage_error(argv[0], "'%s' is one argument too many",
			plain_at(argv, plain, nplain, most));
		return false;
	}
	for (size_t i = 0; i < have; i++) {
		ret[i] = plain_at(argv, plain, nplain, i);
	}
	*ret_n = have;
	return true;
}

int cmd_args_next(const char *cmd, int argc, char **argv, const struct option *options, bool *given,
	const char **ret_value)
{
	int index;
	const int opt = scan(cmd, argc, argv, "-:", options, &index);
	if (opt < 0) {
		return -1;
	}
	if (index < 0) { /* a word, also behind "--" */
		const char *rest = !opt && optind < argc ? argv[optind] : NULL;
		*ret_value = opt ? optarg : rest;
		return *ret_value ? CMD_ARGS_PLAIN : 0;
	}
	if (options[index].has_arg != no_argument && given[index]) {
		cmd_usage_error(cmd, "--%s is given twice", options[index].name);
		return -1;
	}
	if (options[index].has_arg == required_argument && !*optarg) {
		cmd_usage_error(cmd, "--%s needs a value", options[index].name);
		return -1;
	}
	given[index] = true;
	*ret_value = optarg;
	return opt;
}
