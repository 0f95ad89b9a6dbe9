/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/args.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
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

/* Why getopt_long did not take ARG. */
static void refuse(const char *cmd, const struct cmd_option *options, size_t n, const char *arg)
{
	for (size_t i = 0; i < n; i++) {
		if (options[i].name[1] && strchr(arg, '=') && !options[i].value &&
			cmd_args_is_whole(arg, options[i].name)) {
			cmd_usage_error(cmd, "--%s takes no value", options[i].name);
			return;
		}
	}
	cmd_usage_error(cmd, "'%s' is no option of it", arg);
}

/* What getopt_long needs to know; a name of one letter is a short option. */
static void describe(const struct cmd_option *options, size_t n, struct option *list, char *letters)
{
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

bool cmd_args_parse(int argc, char **argv, const struct cmd_option *options, size_t n,
	const char *help, size_t least, size_t most, const char **ret, size_t *ret_n, int *status)
{
	_cleanup_free_ struct option *list = xcalloc(n + 2, sizeof(*list));
	_cleanup_free_ char *letters = xmalloc(2 * n + 3);
	_cleanup_free_ bool *given = xcalloc(n + 1, sizeof(*given));
	describe(options, n, list, letters);
	*status = EXIT_USAGE;
	opterr = 0;
	optind = 0; /* a fresh scan, also of its hidden state */
	int c;
	while ((c = getopt_long(argc, argv, letters, list, NULL)) != -1) {
		const char *arg = argv[optind - 1];
		if (c == 'h') {
			*status = cmd_print(help);
			return false;
		}
		if (c == ':') {
			cmd_usage_error(argv[0], "%s needs a value", arg);
			return false;
		}
		size_t i = which(options, n, c);
		/* Of "--size 32G" ARG is the value. */
		const char *word = optarg && arg == optarg ? argv[optind - 2] : arg;
		if (i == n || (c >= FIRST && !cmd_args_is_whole(word, options[i].name))) {
			refuse(argv[0], options, n, word);
			return false;
		}
		if (!set(argv[0], &options[i], optarg, &given[i])) {
			return false;
		}
	}
	size_t have = (size_t)(argc - optind);
	if (have < least) {
		cmd_usage_error(
			argv[0], "%s", have ? "an argument is missing" : "it needs an argument");
		return false;
	}
	if (have > most) {
		cmd_usage_error(argv[0], "'%s' is one argument too many", argv[optind + (int)most]);
		return false;
	}
	for (size_t i = 0; i < have; i++) {
		ret[i] = argv[optind + (int)i];
	}
	*ret_n = have;
	return true;
}

/* Why getopt_long did not take WORD; -1. */
static int refuse_word(const char *cmd, const struct option *options, const char *word)
{
	for (const struct option *o = options; o->name; o++) {
		if (o->has_arg == no_argument && strchr(word, '=') &&
			cmd_args_is_whole(word, o->name) && !strncmp(word, "--", 2)) {
			cmd_usage_error(cmd, "--%s takes no value", o->name);
			return -1;
		}
	}
	cmd_usage_error(cmd, "'%s' is not an option", word);
	return -1;
}

int cmd_args_next(const char *cmd, int argc, char **argv, const struct option *options, bool *given,
	const char **ret_value)
{
	int index = 0;
	opterr = 0;
	const int opt = getopt_long(argc, argv, ":", options, &index);
	if (opt == -1) {
		return 0;
	}
	const bool taken = opt != '?' && opt != ':';
	const char *word = argv[optind - 1];
	/* Of "--seconds 5" WORD is the value. */
	word = taken && optarg && optarg == word ? argv[optind - 2] : word;
	if (opt == ':') {
		cmd_usage_error(cmd, "%s needs a value", word);
		return -1;
	}
	if (!taken || !cmd_args_is_whole(word, options[index].name)) {
		return refuse_word(cmd, options, word);
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
