/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How text for a person may look: decided once, by the terminal and the environment. */
#pragma once

#include <stdbool.h>

struct cmd_style {
	bool colour; /* standard output is a terminal and NO_COLOR is not set */
	bool utf8;   /* the locale says UTF-8 and --ascii was not given */
};

struct cmd_style cmd_style_detect(bool ascii);

/*
 * S in ASCII: the characters that this program uses by what they mean ("us" for microseconds),
 * any other as '?'. The caller frees it.
 */
char *cmd_ascii(const char *s);

enum cmd_colour { CMD_PLAIN, CMD_BOLD, CMD_DIM, CMD_GOOD, CMD_WARN, CMD_BAD };

/* The sequence that begins colour C, "" where there is none; CMD_PLAIN ends it. */
const char *cmd_colour(struct cmd_style style, enum cmd_colour c);

/*
 * Takes S and returns it, or, where the style has no UTF-8, in ASCII: µ, →, ± and the like are
 * spelt, what cannot be becomes '?'.
 */
char *cmd_style_plain(struct cmd_style style, char *s);
