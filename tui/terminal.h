/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the terminfo database knows of the terminal named by TERM. Each call loads the entry and
 * lets it go: not while a screen is open. Main thread.
 */
#pragma once

#include "base/why.h"

/* How many colours; 0: none, or TERM is not set; -ENODEV: terminfo does not know TERM. */
int tui_terminal_colours(void);

/* Can a screen be drawn there? -ENODEV with why: TERM unset or unknown, or it cannot move its
 * cursor. */
int tui_terminal_check(struct why *why);
