/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/terminal.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <term.h>

enum { NOT_FOUND = -1 }; /* setupterm: the database; 0: the entry */

/* Loads TERM's entry; the caller lets cur_term go. */
static int load(struct why *why)
{
	const char *term = getenv("TERM");
	int err = 0;
	if (!term || !*term) {
		why_set(why, "TERM is not set, so the terminal's abilities are not known");
		return -ENODEV;
	}
	/* With an address for the error it returns; without, it would end the program. */
	if (setupterm(term, STDOUT_FILENO, &err) == 0) {
		return 0;
	}
	if (err == NOT_FOUND) {
		why_set(why, "the terminfo database was not found");
	} else {
		why_set(why, "TERM is '%.60s', which terminfo does not know", term);
	}
	return -ENODEV;
}

static bool able_to(const char *what)
{
	const char *cap = tigetstr(what);
	return cap && cap != (char *)-1;
}

int tui_terminal_colours(void)
{
	const char *term = getenv("TERM");
	struct why why;
	if (load(&why) < 0) {
		return term && *term ? -ENODEV : 0;
	}
	int n = tigetnum("colors");
	del_curterm(cur_term);
	return n > 0 ? n : 0;
}

int tui_terminal_check(struct why *why)
{
	int r = load(why);
	if (r < 0) {
		return r;
	}
	bool able = able_to("cup") && able_to("clear");
	del_curterm(cur_term);
	if (!able) {
		why_set(why, "a terminal of type '%.60s' cannot move its cursor", getenv("TERM"));
		return -ENODEV;
	}
	return 0;
}
