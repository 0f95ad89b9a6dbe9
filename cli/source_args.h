/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The arguments that every command with a SOURCE shares. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/why.h"
#include "pcie/scan.h"

#define CMD_SOURCE_HELP_WHAT                                                                           \
	"  SOURCE       nothing or 'live': this machine; a folder with sys/ and proc/, or a copy of\n" \
	"               /sys; a file or '-': a capture record, or text (lspci, dmesg, ...); else a\n"  \
	"               run's id or label in the store ('run:12', 'label:before' force it)\n"
#define CMD_SOURCE_HELP_MORE                                                                       \
	"  --wake       read sleeping devices too, which wakes them\n"                             \
	"  --store FILE  the store; else $XDG_DATA_HOME/barscope/barscope.db\n"
#define CMD_SOURCE_HELP                                                                            \
	CMD_SOURCE_HELP_WHAT                                                                       \
	"  --with FILE  a further witness of the same machine; may be repeated\n" CMD_SOURCE_HELP_MORE

/* An option of the command's own: "--NAME" sets *SET, or "--NAME VALUE" sets *VALUE; with a
 * LETTER "-L" is the same. */
struct cmd_option {
	const char *name;
	bool *set;
	const char **value;
	char letter; /* 0: none */
};

enum { CMD_SOURCES = 2 };

struct cmd_source_args {
	const char *source[CMD_SOURCES]; /* in their order; NULL: not given */
	const char **with;
	size_t nwith;
	bool wake;
	const char *store; /* --store FILE: where runs are looked up */
	bool log;          /* for the command to set: read the live kernel log too */
};

/*
 * Parses "[SOURCE]... [--with FILE]... [--wake]" and the N options of the command itself,
 * in any order, "--name=value" too, each but --with at most once. MAX: how many SOURCEs the command
 * takes (up to CMD_SOURCES); --with is for one alone, --store for any. Standard input is named
 * once. False: the command ends with *STATUS (--help was printed, or a usage error). True: finish
 * must be called; the strings are ARGV's.
 */
bool cmd_source_parse(int argc, char **argv, const struct cmd_option *options, size_t n, size_t max,
	const char *help, struct cmd_source_args *ret, int *status);
void cmd_source_finish(struct cmd_source_args *a);

/* The machine that source I names, with all witnesses; the caller destroys it. */
int cmd_source_scan(
	const struct cmd_source_args *a, size_t i, struct pcie_snapshot **ret, struct why *why);

/* "--OPTION BDF": the index of that device in S. -EINVAL, -ENOENT with a sentence. */
int cmd_find_device(const struct pcie_snapshot *s, const char *option, const char *bdf, int *ret,
	struct why *why);
/* "--gpu BDF": the same for a GPU. */
int cmd_find_gpu(const struct pcie_snapshot *s, const char *bdf, int *ret, struct why *why);
