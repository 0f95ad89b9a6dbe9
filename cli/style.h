/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How text for a person may look, and how many colours the screen has: decided here and nowhere
 * else, by the terminal and the environment.
 */
#pragma once

#include <stdbool.h>

#include "tui/theme.h"

/* What decides about colours: environment variables are NULL where they are not set. */
struct cmd_terminal {
	bool is_one;           /* standard output is a terminal */
	int colours;           /* tui_terminal_colours(): that terminfo knows of */
	const char *no_color;  /* NO_COLOR: anything but "" forbids them everywhere */
	const char *force;     /* CLICOLOR_FORCE: anything but "" and 0 asks for them in text,
				  wherever it goes */
	const char *colorterm; /* COLORTERM: set by terminals that terminfo may not know */
};

/* As it is here and now. */
struct cmd_terminal cmd_terminal_here(void);

/* May text carry colours? Pure. */
bool cmd_colours_in_text(const struct cmd_terminal *t);
/*
 * The colours of the screen: only those that terminfo has the sequences for, since ncurses makes
 * them of it. Pure.
 */
enum tui_colours cmd_colours_of_screen(const struct cmd_terminal *t);

struct cmd_style {
	bool colour; /* cmd_colours_in_text() */
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
 * Takes S and returns it, or, where the style has no UTF-8, what cmd_ascii makes of it. For a whole
 * text at its end: "±" becomes two columns.
 */
char *cmd_style_plain(struct cmd_style style, char *s);
