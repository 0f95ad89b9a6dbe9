/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the whole of a text shows, and the encodings that are undone for all of it. */
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "pcie/addr.h"
#include "pcie/clean_int.h"

/* "=09", "=0A", "=2C", "=C3": what a program escapes; "=00" stands in lspci's lines. */
static bool is_escape(char high, char low)
{
	if (high == '0') {
		return low == '9' || (low | 0x20) == 'a' || (low | 0x20) == 'd';
	}
	return (high == '2' || pcie_hex_digit(high) >= 8) && pcie_hex_digit(low) >= 0;
}

/* "[size=", "secondary=" end a line of a narrow column by chance: that is no soft break. */
static bool is_behind_name(const char *s, const char *p)
{
	static const char name[][5] = {"size", "mary", "dary", "nate", "ency", "rent"};
	for (size_t i = 0; i < ARRAY_LEN(name) && p - s >= 4; i++) {
		if (!memcmp(p - 4, name[i], 4)) {
			return true;
		}
	}
	return false;
}

/* Soft line breaks and "=3D" are signs; any other '=' speaks against it. */
static bool is_quoted_printable(const char *s, size_t len)
{
	size_t escaped = 0, soft = 0, long_soft = 0, blank_ends = 0, other = 0;
	const char *end = s + len, *line = s;

	for (const char *p = s; (p = memchr(p, '=', (size_t)(end - p))); p++) {
		size_t left = (size_t)(end - p);
		if (left >= 3 && p[1] == '3' && (p[2] == 'D' || p[2] == 'd')) {
			escaped++;
		} else if (left >= 4 && !memcmp(p + 1, "20", 2) && (p[3] == '\n' || p[3] == '\r')) {
			blank_ends++; /* the only way to write a blank at a line's end */
		} else if (left >= 2 &&
			   (p[1] == '\n' || (p[1] == '\r' && left >= 3 && p[2] == '\n'))) {
			if ((p > s && p[-1] == '=') || is_behind_name(s, p)) {
				other++;
				continue;
			}
			line = p;
			while (line > s && p - line < 80 && line[-1] != '\n') {
				line--;
			}
			soft++;
			long_soft += p - line >= 59 && p - line < 78;
		} else if (!(left >= 3 && is_escape(p[1], p[2]))) {
			other++;
		}
	}
	return (escaped > 0 || soft > 1 || long_soft > 0 || blank_ends > 1) &&
	       other <= (escaped + soft + blank_ends) / 2;
}

size_t clean_quoted_printable(const char *s, size_t len, char *out)
{
	size_t o = 0;
	for (size_t i = 0; i < len; i++) {
		if (s[i] != '=') {
			out[o++] = s[i];
			continue;
		}
		if (i + 1 < len && s[i + 1] == '\n') {
			i += 1;
		} else if (i + 2 < len && s[i + 1] == '\r' && s[i + 2] == '\n') {
			i += 2;
		} else if (i + 2 < len && pcie_hex_digit(s[i + 1]) >= 0 &&
			   pcie_hex_digit(s[i + 2]) >= 0) {
			out[o++] = (char)(pcie_hex_digit(s[i + 1]) << 4 | pcie_hex_digit(s[i + 2]));
			i += 2;
		} else if (i + 1 < len) {
			out[o++] = s[i];
		}
	}
	return o;
}

/*
 * At least eight of the first lines count up, and few have a number that does not; of a
 * short text, all but a heading.
 */
static bool is_numbered(const char *s, size_t len)
{
	const char *end = s + len;
	unsigned last = 0, up = 0, other = 0, bare = 0, number;

	for (int i = 0; i < 64 && s < end; i++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s), quote = clean_quote_marks(s, n);
		if (clean_line_number(s + quote, n - quote, &number)) {
			bool next = up == 0 || number == last + 1;
			last = next ? number : last;
			up += next;
			other += !next; /* a wrapped line's second half */
		} else {
			bare += n > quote + 1;
		}
		s += n + 1;
	}
	return up >= 8 ? other <= up / 4 : up >= 3 && other == 0 && bare <= up / 3;
}

/*
 * Two lines or more follow each other by the numbers of grep -n with its context. A run
 * without a line that matched is a list: "1- first".
 */
static bool has_grep_numbers(const char *s, size_t len)
{
	const char *end = s + len;
	unsigned last = 0, pairs = 0, waiting = 0, number;
	bool matched = false;
	char sign = '\0';

	for (int i = 0; i < 256 && s < end && pairs < 2; i++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s), quote = clean_quote_marks(s, n);
		size_t used = clean_grep_number(s + quote, n - quote, &number);
		char is = used ? s[quote + used - 1] : '\0';
		bool next = used && sign && number == last + 1;
		waiting = next ? waiting + (is == '-' || sign == '-') : 0;
		matched = (next && matched) ||
			  (is == ':' && n > quote + used && s[quote + used] != ' ');
		if (matched) {
			pairs += waiting;
			waiting = 0;
		}
		sign = is;
		last = number;
		s += n + 1;
	}
	return pairs >= 2;
}

/* "12" or "12,3", the line and how many; one when it does not say. */
static const char *scan_range(const char *s, const char *end, unsigned *ret)
{
	unsigned value[2] = {0, 1};
	for (int i = 0; i < 2; i++) {
		const char *first = s;
		for (value[i] = 0; s < end && s - first < 7 && clean_is_digit(*s); s++) {
			value[i] = value[i] * 10 + (unsigned)(*s - '0');
		}
		if (s == first) {
			return NULL;
		}
		if (s == end || *s != ',') {
			*ret = i == 1 ? value[1] : 1;
			return s;
		}
		s++;
	}
	return NULL;
}

bool clean_hunk(const char *s, size_t n, unsigned *ret_before, unsigned *ret_after)
{
	const char *end = s + n;
	unsigned before, after;

	if (n < 4 || memcmp(s, "@@ -", 4) != 0) {
		return false;
	}
	s = scan_range(s + 4, end, &before);
	if (!s || end - s < 2 || s[0] != ' ' || s[1] != '+') {
		return false;
	}
	s = scan_range(s + 2, end, &after);
	if (!s || end - s < 3 || memcmp(s, " @@", 3) != 0) {
		return false;
	}
	*ret_before = before;
	*ret_after = after;
	return true;
}

/* The bytes of blanks, colours (also non-breaking blanks) and quote marks at S. */
static size_t skip_odd(const char *s, size_t n)
{
	size_t i = 0;
	for (size_t was = n; was != i;) {
		was = i;
		i += clean_quote_marks(s + i, n - i);
		while (i < n && pcie_is_blank(s[i])) {
			i++;
		}
		if (n - i > 2 && !memcmp(s + i, "\xc2\xa0", 2)) {
			i += 2;
		}
		const char *end = n - i > 2 && !memcmp(s + i, "\x1b[", 2)
					  ? memchr(s + i, 'm', MIN(n - i, (size_t)12))
					  : NULL;
		i = end ? (size_t)(end - s) + 1 : i;
	}
	return i;
}

/* Does the header of a device begin at S, N bytes left? */
static bool is_header(const char *s, size_t n)
{
	struct pcie_addr a;
	char head[40];
	size_t some = MIN(n, sizeof(head) - 1);
	memcpy(head, s, some);
	head[some] = '\0';
	int used = pcie_addr_scan(head, &a);
	return used > 0 && head[used] && strchr(" /\xc2", head[used]);
}

/* The sign that stands before the header of a device, or before nearly every line; or '\0'. */
static char find_mark(const char *s, size_t len)
{
	const char *end = s + len;
	unsigned marked = 0, bare = 0;

	for (int i = 0; i < 256 && s < end; i++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s), at = skip_odd(s, n);
		char mark = at < n && (s[at] == '|' || s[at] == '+') ? s[at] : '\0';
		bool bar = mark == '|' && clean_one_mark(s + at, n - at, mark) > 0;
		marked += bar;
		bare += !bar && at < n && s[at] != '\r';
		for (int depth = 0; depth < 3 && at < n && mark && s[at] == mark; depth++) {
			at += 1 + skip_odd(s + at + 1, n - at - 1);
		}
		if (mark && is_header(s + at, n - at)) {
			return mark;
		}
		s += n + 1;
	}
	return marked >= 8 && bare <= marked / 8 ? '|' : '\0';
}

/* No two of the first lines stand together. */
static bool is_doubled(const char *s, size_t len)
{
	const char *end = s + len;
	unsigned filled = 0;
	bool before = false;

	for (int i = 0; i < 256 && s < end; i++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s), at = clean_quote_marks(s, n);
		while (at < n && (pcie_is_blank(s[at]) || s[at] == '\r')) {
			at++;
		}
		if (at < n && before) {
			return false;
		}
		before = at < n;
		filled += before;
		s += n + 1;
	}
	return filled >= 8;
}

static bool has_board_tags(const char *s, size_t len)
{
	const char *end = s + len;
	for (const char *p = s; (p = memchr(p, '[', (size_t)(end - p))) && end - p > 4; p++) {
		char c = p[1] == '/' ? p[2] | 0x20 : p[1] | 0x20; /* most brackets are sizes, ids */
		if (c > 'b' && c < 't' && p[2] != 'i' &&
			clean_board_tag(p + 1, (size_t)(end - p) - 1)) {
			return true;
		}
	}
	return false;
}

/* "\[size=", "\[8086": what an editor for Markdown makes of brackets. */
static bool has_escapes(const char *s, size_t len)
{
	const char *end = s + len;
	unsigned n = 0;
	for (const char *p = s; n < 3 && (p = memchr(p, '\\', (size_t)(end - p))); p++) {
		n += end - p > 1 && (p[1] == '[' || p[1] == ']');
	}
	return n >= 3;
}

void clean_find_traits(const char *s, size_t len, struct clean_traits *t)
{
	const char *end = s + len;

	for (const char *p = s; !t->entities && (p = memchr(p, '&', (size_t)(end - p))); p++) {
		t->entities = clean_is_entity(p + 1, (size_t)(end - p) - 1);
	}
	for (const char *p = s; !t->tags && (p = memchr(p, '<', (size_t)(end - p))); p++) {
		t->tags = clean_is_tag(p + 1, (size_t)(end - p) - 1);
	}
	t->quoted_printable = is_quoted_printable(s, len);
	t->numbered = is_numbered(s, len);
	t->boards = has_board_tags(s, len);
	t->escapes = has_escapes(s, len);
	t->doubled = is_doubled(s, len);
	t->grep = has_grep_numbers(s, len);
	t->flat = clean_find_flat(s, len);
	t->mark = find_mark(s, len);
}

size_t clean_utf16(const char *s, size_t len, bool big, char *out)
{
	size_t o = 0;
	for (size_t i = 0; i + 1 < len; i += 2) {
		unsigned char a = (unsigned char)s[i], b = (unsigned char)s[i + 1];
		uint32_t ch = big ? (uint32_t)a << 8 | b : (uint32_t)b << 8 | a;
		if (ch >= 0xd800 && ch < 0xe000) {
			ch = '?';
		}
		char buf[4];
		size_t n = text_utf8_encode(ch, buf);
		memcpy(out + o, buf, n);
		o += n;
	}
	return o;
}
