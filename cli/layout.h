/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text for a person within 80 columns. Pure. */
#pragma once

#include <stddef.h>

#include "base/text.h"

enum { CMD_WIDTH = 80 };

/*
 * Adds S wrapped at blanks, and a newline: its first line begins behind INDENT blanks, the others
 * behind HANG. Blanks in the middle of a line stay as they are.
 */
void cmd_wrapped(struct text *out, int indent, int hang, const char *s);

/* The same for LABEL in a column of WIDTH and TEXT hanging behind it. */
void cmd_labelled(struct text *out, int indent, int width, const char *label, const char *text);

/* S in a column of |WIDTH|, on its left; on its right where WIDTH is negative. Never cut. */
void cmd_cell(struct text *out, const char *s, int width);

/* Like snprintf() at the end of the string in BUF; what does not fit is cut. */
void cmd_append(char *buf, size_t size, const char *fmt, ...) PRINTF(3, 4);
