/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/layout.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the N bytes at S. */
static int columns(const char *s, size_t n)
{
	int sum = 0;
	while (n > 0) {
		uint32_t ch;
		size_t used = text_utf8_decode(s, n, &ch);
		sum += text_width(ch);
		s += used;
		n -= used;
	}
	return sum;
}

void cmd_wrapped(struct text *out, int indent, int hang, const char *s)
{
	int at = indent;
	bool first = true;
	text_addf(out, "%*s", indent, "");
	for (const char *w = s; *w;) {
		size_t blanks = strspn(w, " ");
		size_t n = strcspn(w + blanks, " ");
		int width = columns(w + blanks, n);
		if (!first && at + (int)blanks + width > CMD_WIDTH) {
			text_addf(out, "\n%*s", hang, "");
			at = hang;
		} else {
			text_addn(out, w, blanks);
			at += (int)blanks;
		}
		text_addn(out, w + blanks, n);
		at += width;
		first = false;
		w += blanks + n;
	}
	while (out->len && out->s[out->len - 1] == ' ') {
		out->s[--out->len] = '\0';
	}
	text_add(out, "\n");
}

void cmd_labelled(struct text *out, int indent, int width, const char *label, const char *text)
{
	struct text line = {0};
	text_addf(&line, "%-*s%s", width, label, text);
	cmd_wrapped(out, indent, indent + width, line.s);
	text_finish(&line);
}

void cmd_cell(struct text *out, const char *s, int width)
{
	const int have = columns(s, strlen(s)), all = abs(width);
	const int pad = have < all ? all - have : 0;
	text_addf(out, "%*s%s%*s", width < 0 ? pad : 0, "", s, width < 0 ? 0 : pad, "");
}

void cmd_append(char *buf, size_t size, const char *fmt, ...)
{
	size_t n = strlen(buf);
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(buf + n, size - n, fmt, ap);
	va_end(ap);
}
