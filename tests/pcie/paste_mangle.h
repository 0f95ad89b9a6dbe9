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
	MANGLES
};

const char *mangle_name(enum mangle how);
/* IN as it arrives; OUT is empty before. */
void mangle(enum mangle how, const char *in, size_t len, struct text *out);
