/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "paste_mangle.h"

#include <stdbool.h>
#include <string.h>

#include "base/macros.h"

const char *mangle_name(enum mangle how)
{
	static const char *const name[] = {"none", "crlf", "quote", "quote-twice", "nbsp", "spaces",
		"narrow", "flat", "html", "colour", "wrap-72", "wrap-80", "cut-72", "cut-80",
		"mail", "printable", "numbered", "prompt", "indent", "double", "bar", "tight",
		"added", "bullet", "flowed", "hang-72", "utf-16", "tabs-qp", "entities", "trailing",
		"code", "fence", "no-tabs", "paragraph", "fold-30", "fold-50", "narrow-40"};
	return name[how];
}

/* Between words: a line of at most WIDTH, what remains goes to column 0. */
static void wrap(struct text *out, const char *s, size_t n, size_t width)
{
	while (n > width) {
		size_t at = width;
		while (at > 0 && s[at] != ' ') {
			at--;
		}
		if (at == 0 || strspn(s, " \t") >= at) {
			at = width; /* no place for a break */
			text_addn(out, s, at);
		} else {
			text_addn(out, s, at);
			at++;
		}
		text_add(out, "\n");
		s += at;
		n -= at;
	}
	text_addn(out, s, n);
}

static void cut(struct text *out, const char *s, size_t n, size_t width)
{
	while (n > width) {
		text_addn(out, s, width);
		text_add(out, "\n");
		s += width;
		n -= width;
	}
	text_addn(out, s, n);
}

static void replace_tabs(struct text *out, const char *s, size_t n, const char *by)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\t') {
			text_add(out, by);
		} else {
			text_addn(out, s + i, 1);
		}
	}
}

/* Wrapped between words; what remains begins with LEAD bytes of the line, and lines end in TAIL. */
static void wrap_with(struct text *out, const char *s, size_t n, size_t lead, const char *tail)
{
	const char *first = s;
	while (n > 72) {
		size_t at = 72;
		while (at > lead && s[at] != ' ') {
			at--;
		}
		if (at <= lead) {
			break;
		}
		text_addn(out, s, at);
		text_add(out, tail);
		text_add(out, "\n");
		text_addn(out, first, s == first ? lead : 0);
		s += at + 1;
		n -= at + 1;
	}
	text_addn(out, s, n);
}

static void utf16(struct text *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		text_addn(out, s + i, 1);
		text_addn(out, "", 1);
	}
}

/* Each of the bytes FROM becomes its word of TO. */
static void replace(
	struct text *out, const char *s, size_t n, const char *from, const char *const to[])
{
	for (size_t i = 0; i < n; i++) {
		const char *at = memchr(from, s[i], strlen(from));
		if (at) {
			text_add(out, to[at - from]);
		} else {
			text_addn(out, s + i, 1);
		}
	}
}

static void html(struct text *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		switch (s[i]) {
		case '<':
			text_add(out, "&lt;");
			break;
		case '>':
			text_add(out, "&gt;");
			break;
		case '&':
			text_add(out, "&amp;");
			break;
		case '\t':
			text_add(out, "&nbsp; &nbsp; ");
			break;
		default:
			text_addn(out, s + i, 1);
			break;
		}
	}
	text_add(out, "<br>");
}

static void nbsp(struct text *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == ' ' && i % 3 == 0) {
			text_add(out, "\xc2\xa0");
		} else {
			text_addn(out, s + i, 1);
		}
	}
}

static void printable(struct text *out, const char *s, size_t n)
{
	size_t column = 0;
	for (size_t i = 0; i < n; i++) {
		size_t need = s[i] == '=' ? 3 : 1;
		if (column + need > 75) {
			text_add(out, "=\n");
			column = 0;
		}
		if (s[i] == '=') {
			text_add(out, "=3D");
		} else {
			text_addn(out, s + i, 1);
		}
		column += need;
	}
}

static size_t column(enum mangle how)
{
	switch (how) {
	case MANGLE_FOLD_30:
		return 30;
	case MANGLE_NARROW_40:
		return 40;
	case MANGLE_FOLD_50:
		return 50;
	case MANGLE_WRAP_72:
	case MANGLE_CUT_72:
		return 72;
	default:
		return 80;
	}
}

/* Soft breaks, never inside of "=09". */
static void tabs_printable(struct text *out, const char *s, size_t n)
{
	struct text t = {0};
	replace(&t, s, n, "\t=", (const char *const[]){"=09", "=3D"});
	for (size_t at = 0; at < t.len;) {
		size_t k = MIN(t.len - at, (size_t)72);
		while (at + k < t.len && memchr(t.s + at + k - 2, '=', 2)) {
			k--;
		}
		text_addn(out, t.s + at, k);
		at += k;
		text_add(out, at < t.len ? "=\n" : "=20");
	}
	text_finish(&t);
}

/* The ways that break a line in several; false: HOW is none of them. */
static bool fold_line(enum mangle how, struct text *out, const char *s, size_t n)
{
	struct text t = {0};
	bool folds = true;

	replace_tabs(&t, s, n, "        ");
	const char *line = t.s ? t.s : "";
	switch (how) {
	case MANGLE_WRAP_72:
	case MANGLE_WRAP_80:
	case MANGLE_NARROW_40:
		wrap(out, line, t.len, column(how));
		break;
	case MANGLE_CUT_72:
	case MANGLE_CUT_80:
	case MANGLE_FOLD_30:
	case MANGLE_FOLD_50:
		cut(out, line, t.len, column(how));
		break;
	case MANGLE_FLOWED:
		wrap_with(out, line, t.len, 0, " ");
		break;
	case MANGLE_HANG_72:
		wrap_with(out, line, t.len, strspn(line, " "), "");
		break;
	default:
		folds = false;
		break;
	}
	text_finish(&t);
	return folds;
}

/* The ways that write its characters otherwise; false: HOW is none of them. */
static bool encode_line(enum mangle how, struct text *out, const char *s, size_t n)
{
	switch (how) {
	case MANGLE_NBSP:
		nbsp(out, s, n);
		return true;
	case MANGLE_HTML:
		html(out, s, n);
		return true;
	case MANGLE_PRINTABLE:
		printable(out, s, n);
		return true;
	case MANGLE_UTF16:
		utf16(out, s, n);
		utf16(out, "\r", 1);
		return true;
	case MANGLE_TABS_QP:
		tabs_printable(out, s, n);
		return true;
	case MANGLE_ENTITIES:
		replace(out, s, n, "\t<>&",
			(const char *const[]){"&#9;", "&#60;", "&#x3e;", "&#38;"});
		return true;
	case MANGLE_SPACES:
		replace_tabs(out, s, n, "        ");
		return true;
	case MANGLE_NARROW:
		replace_tabs(out, s, n, "  ");
		return true;
	case MANGLE_TRAILING:
		replace_tabs(out, s, n, "        ");
		text_add(out, "          ");
		return true;
	case MANGLE_NO_TABS:
		replace_tabs(out, s, n, "");
		return true;
	default:
		return false;
	}
}

/* What stands before the line NUMBER. */
static void add_mark(enum mangle how, struct text *out, unsigned number)
{
	switch (how) {
	case MANGLE_QUOTE:
		text_add(out, "> ");
		break;
	case MANGLE_QUOTE_TWICE:
		text_add(out, number % 2 ? ">> " : "> > ");
		break;
	case MANGLE_COLOUR:
		text_add(out, number % 2 ? "\x1b[0;32m" : "");
		break;
	case MANGLE_INDENT:
		text_add(out, "    ");
		break;
	case MANGLE_BAR:
		text_add(out, "| ");
		break;
	case MANGLE_TIGHT:
		text_add(out, ">");
		break;
	case MANGLE_ADDED:
		text_add(out, "+");
		break;
	case MANGLE_BULLET:
		text_add(out, "* ");
		break;
	case MANGLE_NUMBERED:
		text_addf(out, "%6u\t", number);
		break;
	default:
		break;
	}
}

static void mangle_line(enum mangle how, struct text *out, const char *s, size_t n, unsigned number)
{
	if (!fold_line(how, out, s, n) && !encode_line(how, out, s, n)) {
		bool flat = how == MANGLE_FLAT || how == MANGLE_PARAGRAPH;
		size_t indent = flat ? MIN(strspn(s, "\t "), n) : 0;
		add_mark(how, out, number);
		text_addn(out, s + indent, n - indent);
	}
	if (how == MANGLE_PARAGRAPH) {
		text_add(out, n > 0 ? " " : "\n\n");
		return;
	}
	text_add(out, how == MANGLE_COLOUR && number % 2 ? "\x1b[0m" : "");
	text_add(out, how == MANGLE_DOUBLE ? "\n" : "");
	text_add(out, how == MANGLE_CRLF ? "\r\n" : "\n");
	text_addn(out, "", how == MANGLE_UTF16);
}

void mangle(enum mangle how, const char *in, size_t len, struct text *out)
{
	const char *end = in + len;
	unsigned number = 0;

	if (how == MANGLE_MAIL) {
		struct text wrapped = {0};
		mangle(MANGLE_WRAP_72, in, len, &wrapped);
		mangle(MANGLE_QUOTE, wrapped.s, wrapped.len, out);
		text_finish(&wrapped);
		return;
	}
	if (how == MANGLE_PROMPT) {
		text_add(out,
			"Hello,\nhere is what you asked for:\n\nuser@host:~$ sudo lspci -nnvvv\n");
	}
	text_add(out, how == MANGLE_CODE    ? "Here it is: [code]"
		      : how == MANGLE_FENCE ? "```text\n"
		      : how == MANGLE_UTF16 ? "\xff\xfe"
					    : "");
	while (in < end) {
		const char *nl = memchr(in, '\n', (size_t)(end - in));
		size_t n = (size_t)((nl ? nl : end) - in);
		mangle_line(how, out, in, n, ++number);
		in += n + 1;
	}
	text_add(out, how == MANGLE_PARAGRAPH ? "\n" : "");
	text_add(out, how == MANGLE_PROMPT  ? "user@host:~$ exit\nRegards\n"
		      : how == MANGLE_CODE  ? "[/code]\n"
		      : how == MANGLE_FENCE ? "```\n"
					    : "");
}
