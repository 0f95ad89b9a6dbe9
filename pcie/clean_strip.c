/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Characters that do not belong: escapes, tags, odd spaces, terminal sequences. */
#include <string.h>
#include <strings.h>

#include "base/macros.h"
#include "base/text.h"
#include "pcie/clean_int.h"

/* Entities of HTML that forums and list archives write. */
static const struct {
	char name[6];
	uint8_t len;
	char is;
} entity[] = {
	{"lt;", 3, '<'},
	{"gt;", 3, '>'},
	{"amp;", 4, '&'},
	{"quot;", 5, '"'},
	{"apos;", 5, '\''},
	{"nbsp;", 5, ' '},
};

/*
 * The entity at P (behind the '&'), N bytes left: returns the bytes used and the
 * character, or 0.
 */
static size_t entity_at(const char *p, size_t n, uint32_t *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(entity); i++) {
		if (n >= entity[i].len && !memcmp(p, entity[i].name, entity[i].len)) {
			*ret = (unsigned char)entity[i].is;
			return entity[i].len;
		}
	}
	if (n < 3 || p[0] != '#') {
		return 0;
	}
	bool hex = p[1] == 'x' || p[1] == 'X';
	size_t i = hex ? 2 : 1, first = i;
	uint32_t v = 0;
	for (; i < n && i < first + 6; i++) {
		int d = hex ? pcie_hex_digit(p[i]) : clean_is_digit(p[i]) ? p[i] - '0' : -1;
		if (d < 0) {
			break;
		}
		v = v * (hex ? 16 : 10) + (uint32_t)d;
	}
	if (i == first || i >= n || p[i] != ';' || v == 0) {
		return 0;
	}
	*ret = v;
	return i + 1;
}

enum tag { TAG_NONE, TAG_INLINE, TAG_BREAK };

/* The HTML tag at P (behind the '<'), N bytes left; *RET_USED includes the '>'. */
static enum tag tag_at(const char *p, size_t n, size_t *ret_used)
{
	static const struct {
		char name[11];
		enum tag tag;
	} known[] = {
		{"a", TAG_INLINE},
		{"b", TAG_INLINE},
		{"blockquote", TAG_BREAK},
		{"body", TAG_BREAK},
		{"br", TAG_BREAK},
		{"code", TAG_BREAK},
		{"div", TAG_BREAK},
		{"em", TAG_INLINE},
		{"font", TAG_INLINE},
		{"html", TAG_BREAK},
		{"i", TAG_INLINE},
		{"li", TAG_BREAK},
		{"p", TAG_BREAK},
		{"pre", TAG_BREAK},
		{"span", TAG_INLINE},
		{"strong", TAG_INLINE},
		{"td", TAG_INLINE},
		{"tr", TAG_BREAK},
		{"tt", TAG_INLINE},
		{"ul", TAG_BREAK},
	};
	char name[11];
	size_t i = n > 0 && p[0] == '/', len = 0;

	while (i < n && len < sizeof(name) - 1 && (p[i] | 0x20) >= 'a' && (p[i] | 0x20) <= 'z') {
		name[len++] = p[i++] | 0x20;
	}
	name[len] = '\0';
	if (len == 0 || i >= n || (p[i] != '>' && p[i] != '/' && p[i] != ' ')) {
		return TAG_NONE;
	}
	const char *end = memchr(p + i, '>', MIN(n - i, (size_t)256));
	if (!end) {
		return TAG_NONE;
	}
	for (size_t k = 0; k < ARRAY_LEN(known); k++) {
		if (!strcmp(name, known[k].name)) {
			*ret_used = (size_t)(end - p) + 1;
			return known[k].tag;
		}
	}
	return TAG_NONE;
}

/* None of them is among the words that lspci and the kernel have in brackets. */
size_t clean_board_tag(const char *p, size_t n)
{
	static const char *const known[] = {"code", "quote", "pre", "spoiler", "hide", "mono"};
	size_t from = n > 0 && p[0] == '/', len = 0;

	while (from + len < n && len < 8 && (p[from + len] | 0x20) >= 'a' &&
		(p[from + len] | 0x20) <= 'z') {
		len++;
	}
	if (from + len >= n || (p[from + len] != ']' && p[from + len] != '=')) {
		return 0;
	}
	for (size_t k = 0; k < ARRAY_LEN(known); k++) {
		if (strlen(known[k]) == len && !strncasecmp(p + from, known[k], len)) {
			const char *end =
				memchr(p + from + len, ']', MIN(n - from - len, (size_t)128));
			return end ? (size_t)(end - p) + 1 : 0;
		}
	}
	return 0;
}

/* The terminal sequence at P (behind the ESC), N bytes left: its length. */
static size_t escape_at(const char *p, size_t n)
{
	if (n == 0) {
		return 0;
	}
	size_t i = 1;
	if (p[0] == '[') {
		while (i < n && i < 64 && (p[i] < '@' || p[i] > '~')) {
			i++;
		}
		return MIN(i + 1, n);
	}
	if (p[0] == ']') {
		while (i < n && i < 256 && p[i] != '\a' && p[i] != 0x1b) {
			i++;
		}
		bool st = i + 1 < n && p[i] == 0x1b && p[i + 1] == '\\';
		return MIN(i + (st ? 2 : 1), n);
	}
	return 1;
}

/* What stands for CH in the cleaned text: 0 nothing, else the character. */
static uint32_t plain(uint32_t ch)
{
	static const struct {
		uint32_t first, last, is;
	} range[] = {
		{0x0080, 0x009f, '?'}, /* C1 controls */
		{0x00a0, 0x00a0, ' '},
		{0x00ad, 0x00ad, 0}, /* soft hyphen */
		{0x00b7, 0x00b7, '*'},
		{0x2000, 0x200a, ' '},
		{0x200b, 0x200f, 0},
		{0x2010, 0x2015, '-'},
		{0x2018, 0x2019, '\''},
		{0x201c, 0x201d, '"'},
		{0x2022, 0x2022, '*'}, /* bullet */
		{0x202f, 0x202f, ' '},
		{0x205f, 0x205f, ' '},
		{0x2060, 0x2060, 0},
		{0x2212, 0x2212, '-'},
		{0x3000, 0x3000, ' '},
		{0xd800, 0xdfff, '?'}, /* surrogates */
		{0xfeff, 0xfeff, 0},
		{0x110000, UINT32_MAX, '?'},
	};

	if (ch >= 0xff01 && ch <= 0xff5e) {
		return ch - 0xff01 + '!'; /* as wide as an ideograph */
	}
	for (size_t i = 0; i < ARRAY_LEN(range); i++) {
		if (ch >= range[i].first && ch <= range[i].last) {
			return range[i].is;
		}
	}
	return ch;
}

static size_t put(uint32_t ch, char *out)
{
	if (ch >= 0x80) {
		ch = plain(ch);
	}
	if (ch == 0) {
		return 0;
	}
	if (ch < 0x20 || ch == 0x7f) {
		*out = ch == '\n' || ch == '\r' ? '\n' : ch == '\t' ? '\t' : '?';
		return 1;
	}
	if (ch < 0x80) {
		*out = (char)ch;
		return 1;
	}
	char buf[4];
	size_t n = text_utf8_encode(ch, buf);
	memcpy(out, buf, n);
	return n;
}

/* A byte that is no UTF-8: Latin-1 and code page 1252 where that is plain text. */
static char single_byte(unsigned char c)
{
	switch (c) {
	case 0xa0:
		return ' ';
	case 0x91:
	case 0x92:
		return '\'';
	case 0x93:
	case 0x94:
		return '"';
	case 0x96:
	case 0x97:
		return '-';
	default:
		return '?';
	}
}

size_t clean_strip(const char *s, size_t n, const struct clean_traits *t, char *out)
{
	size_t o = 0;
	for (size_t i = 0; i < n;) {
		unsigned char c = (unsigned char)s[i];
		if (c == 0x1b) {
			i += 1 + escape_at(s + i + 1, n - i - 1);
		} else if (c == '&' && t->entities) {
			uint32_t ch;
			size_t used = entity_at(s + i + 1, n - i - 1, &ch);
			/* escaped twice: "&amp;lt;" */
			size_t again = used && ch == '&'
					       ? entity_at(s + i + 1 + used, n - i - 1 - used, &ch)
					       : 0;
			o += used ? put(ch, out + o) : put(c, out + o);
			i += 1 + used + again;
		} else if (c == '<' && t->tags) {
			size_t used = 0;
			enum tag tag = tag_at(s + i + 1, n - i - 1, &used);
			if (tag != TAG_INLINE) {
				out[o++] = tag == TAG_BREAK ? '\n' : '<';
			}
			i += 1 + used;
		} else if (c == '[' && t->boards) {
			size_t used = clean_board_tag(s + i + 1, n - i - 1);
			out[o++] = used ? '\n' : '[';
			i += 1 + used;
		} else if (c == '\\' && t->escapes && i + 1 < n && strchr("[]()<>_*#", s[i + 1]) &&
			   s[i + 1]) {
			out[o++] = s[i + 1];
			i += 2;
		} else if (c == '\b') {
			i++;
		} else if (c < 0x80) {
			o += put(c, out + o);
			i++;
		} else {
			uint32_t ch;
			size_t used = text_utf8_decode(s + i, n - i, &ch);
			if (used == 1) {
				out[o++] = single_byte(c);
			} else if (!(ch == 0xc2 && i + 3 < n &&
					   !memcmp(s + i + 2, "\xc2\xa0", 2))) {
				o += put(
					ch, out + o); /* else: a non-breaking space encoded twice */
			}
			i += used;
		}
	}
	return o;
}

bool clean_is_entity(const char *p, size_t n)
{
	uint32_t ch;
	return entity_at(p, n, &ch) > 0;
}

bool clean_is_tag(const char *p, size_t n)
{
	size_t used;
	return tag_at(p, n, &used) != TAG_NONE;
}
