/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/style.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"

struct cmd_style cmd_style_detect(bool ascii)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	return (struct cmd_style){
		.colour = isatty(STDOUT_FILENO) && !(no_colour && *no_colour) && term &&
			  strcmp(term, "dumb"),
		.utf8 = !ascii && !strcmp(nl_langinfo(CODESET), "UTF-8"),
	};
}

const char *cmd_colour(struct cmd_style style, enum cmd_colour c)
{
	static const char *const sequence[] = {
		"\033[0m", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[31m"};
	return style.colour && (size_t)c < ARRAY_LEN(sequence) ? sequence[c] : "";
}
