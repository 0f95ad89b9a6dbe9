/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What happens to a text on its way into a forum post, a mail or a bug report. */
#pragma once

#include <stdint.h>

#include "base/text.h"

enum mangle {
	MANGLE_NONE,
	MANGLE_CRLF,
	MANGLE_QUOTE,
	MANGLE_QUOTE_TWICE,
	MANGLE_NBSP,
	MANGLE_SPACES, /* tabs become eight spaces */
	MANGLE_NARROW, /* tabs become two */
	MANGLE_FLAT,   /* indentation is gone */
	MANGLE_HTML,   /* "<" escaped, lines end in <br> */
	MANGLE_COLOUR,
	MANGLE_WRAP_72, /* between words */
	MANGLE_WRAP_80,
	MANGLE_CUT_72, /* anywhere */
	MANGLE_CUT_80,
	MANGLE_MAIL,      /* wrapped at 72, then quoted */
	MANGLE_PRINTABLE, /* quoted-printable */
	MANGLE_NUMBERED,
	MANGLE_PROMPT,
	MANGLE_INDENT, /* a block of code: four spaces before each line */
	MANGLE_DOUBLE, /* an empty line behind each */
	MANGLE_BAR,    /* quoted with "| " */
	MANGLE_TIGHT,  /* quoted with ">" alone */
	MANGLE_ADDED,  /* the lines of a diff: "+" */
	MANGLE_BULLET,
	MANGLE_FLOWED,  /* RFC 3676: lines broken at 72 keep the space at their end */
	MANGLE_HANG_72, /* wrapped by an editor, the rest as far in as the line was */
	MANGLE_UTF16,
	MANGLE_TABS_QP,  /* quoted-printable, tabs as =09, the last blank as =20 */
	MANGLE_ENTITIES, /* tabs as &#9;, "<" as &#60; */
	MANGLE_TRAILING, /* blanks at line ends, as terminals copy them */
	MANGLE_CODE,     /* between [code] and [/code], no line end behind the first */
	MANGLE_FENCE,
	MANGLE_NO_TABS,   /* tabs are gone, not replaced */
	MANGLE_PARAGRAPH, /* line ends are gone but for empty lines: Markdown without a fence */
	MANGLE_FOLD_30,   /* fold -w 30: anywhere, in the middle of words */
	MANGLE_FOLD_50,
	MANGLE_NARROW_40, /* between words, in the column of a telephone */
	MANGLES
};

const char *mangle_name(enum mangle how);
/* IN as it arrives; OUT is empty before. */
void mangle(enum mangle how, const char *in, size_t len, struct text *out);
