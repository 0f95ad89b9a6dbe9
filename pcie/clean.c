/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/clean.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "pcie/addr.h"

/* What the whole text shows about where it has been. */
struct traits {
	bool entities; /* "&lt;" and its like occur */
	bool tags;     /* "<br>", "</pre>", … occur */
	bool quoted_printable;
	bool numbered; /* each line begins with its number (cat -n, less -N) */
};

/* Bytes that take a line off the fast path: controls but for the tab, and all beyond ASCII. */
static bool is_odd(unsigned char c)
{
	return (c < ' ' && c != '\t') || c >= 0x7f;
}

static bool has_odd(const char *s, size_t n)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
	size_t i = 0;

	for (; i + 8 <= n; i += 8) { /* eight at once: a borrow shows a byte below 0x20 */
		uint64_t w;
		memcpy(&w, s + i, 8);
		uint64_t low = (w - ones * 0x20) & ~w, delete = w + ones;
		if (!((low | delete | w) & high)) {
			continue;
		}
		for (size_t k = i; k < i + 8; k++) {
			if (is_odd((unsigned char)s[k])) {
				return true;
			}
		}
	}
	for (; i < n; i++) {
		if (is_odd((unsigned char)s[i])) {
			return true;
		}
	}
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int hex_digit(char c)
{
	if (is_digit(c)) {
		return c - '0';
	}
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
		return (c | 0x20) - 'a' + 10;
	}
	return -1;
}

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
		int d = hex ? hex_digit(p[i]) : is_digit(p[i]) ? p[i] - '0' : -1;
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
		{"code", TAG_INLINE},
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

/*
 * Copies a line to OUT without what does not belong there; '\n' in OUT where
 * the line breaks in two. Never writes more than N bytes.
 */
static size_t strip(const char *s, size_t n, const struct traits *t, char *out)
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

/* "> ", ">> ", "> > ": the bytes up to the text itself. */
static size_t quote_marks(const char *s, size_t n)
{
	size_t at = 0, i = 0;
	while (i < n) {
		while (i < n && is_blank(s[i])) {
			i++;
		}
		if (i == n || s[i] != '>') {
			break;
		}
		while (i < n && s[i] == '>') {
			i++;
		}
		at = i + (i < n && s[i] == ' ');
	}
	return at;
}

/* Bullets, the marks of diff, and line numbers of grep -n and cat -n. S ends in a NUL. */
static size_t list_marks(const char *s, size_t n)
{
	size_t i = 0;
	while (i < n && is_blank(s[i])) {
		i++;
	}
	if (i + 1 >= n) {
		return 0;
	}
	if ((s[i] == '*' || s[i] == '-' || s[i] == '+') && is_blank(s[i + 1])) {
		return i + 1 + (s[i + 1] == ' ');
	}
	size_t k = i;
	while (k < n && k < i + 7 && is_digit(s[k])) {
		k++;
	}
	if (k == i || k >= n) {
		return 0;
	}
	if (s[k] == '\t') { /* cat -n */
		return k + 1;
	}
	bool sign = (s[k] == ':' || s[k] == '-') && k + 2 < n;
	if (sign && (s[k + 1] == '\t' || s[k + 1] == '[')) {
		return k + 1;
	}
	if (sign && s[k + 1] == ' ' && (s[k] == '-' || s[k + 2] == ' ')) {
		return k + 1;
	}
	/* "12:01:00.0 VGA": no domain has fewer than four digits */
	struct pcie_addr a;
	int used = sign && s[k] == ':' && k - i < 4 ? pcie_addr_scan(s + k + 1, &a) : -1;
	if (used > 0 && is_blank(s[k + 1 + (size_t)used])) {
		return k + 1;
	}
	return 0;
}

/* "   12 " or "   12\t" at S: the number, and the bytes up to the text; 0 when there is none. */
static size_t line_number(const char *s, size_t n, unsigned *ret)
{
	size_t i = 0, first;
	while (i < n && is_blank(s[i])) {
		i++;
	}
	*ret = 0;
	for (first = i; i < n && i < first + 7 && is_digit(s[i]); i++) {
		*ret = *ret * 10 + (unsigned)(s[i] - '0');
	}
	if (i == first || (i < n && !is_blank(s[i]))) {
		return 0;
	}
	return i + (i < n);
}

/* The marks before a line that are not its own, one kind inside the other. */
static size_t marks(const char *s, size_t n, bool numbered)
{
	unsigned number;
	size_t at = quote_marks(s, n);
	if (numbered) {
		at += line_number(s + at, n - at, &number);
		at += quote_marks(s + at, n - at);
	}
	size_t list = list_marks(s + at, n - at);
	if (list > 0) {
		at += list;
		at += quote_marks(s + at, n - at);
	}
	return at;
}

/* A line is finished: takes its marks and trailing blanks away and notes it. */
static void emit(struct pcie_clean *c, char *s, size_t n, size_t width, uint32_t number)
{
	char *stop = s + n;
	*stop = '\0';
	size_t lead = marks(s, n, c->numbered);

	s += lead;
	while (stop > s && is_blank(stop[-1])) {
		stop--;
	}
	if (stop - s > PCIE_CLEAN_LINE_MAX) {
		stop = s + PCIE_CLEAN_LINE_MAX;
		c->cut = true;
	}
	*stop = '\0';
	if (c->lines.n >= PCIE_CLEAN_LINES_MAX) {
		c->cut = true;
		return;
	}
	pcie_lines_push(&c->lines, s, (size_t)(stop - s), number);
	struct pcie_line *l = &c->lines.line[c->lines.n - 1];
	l->width = (uint16_t)MIN(width, (size_t)UINT16_MAX);
	l->lead = (uint16_t)MIN(lead, (size_t)UINT16_MAX);
}

/* The pieces of a stripped line; a tag at its edge makes no empty line. */
static size_t emit_pieces(struct pcie_clean *c, char *s, size_t n, size_t width, uint32_t number)
{
	char *nl = memchr(s, '\n', n);
	if (!nl) {
		emit(c, s, n, width, number);
		return n;
	}
	char *end = s + n;
	bool any = false;
	for (char *p = s; p <= end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl) {
			nl = end;
		}
		if (nl > p) {
			emit(c, p, (size_t)(nl - p), (size_t)(nl - p), number);
			any = true;
		}
	}
	if (!any) {
		emit(c, s, 0, 0, number);
	}
	return n;
}

static void clean_lines(struct pcie_clean *c, const char *s, size_t len, const struct traits *t)
{
	const char *end = s + len;
	char *out = c->text;
	uint32_t number = 0;

	while (s < end && !(c->cut && c->lines.n >= PCIE_CLEAN_LINES_MAX)) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s);
		const char *next = s + n + (nl != NULL);

		number++;
		while (n > 0 && s[n - 1] == '\r') {
			n--;
		}
		if (has_odd(s, n) || (t->entities && memchr(s, '&', n)) ||
			(t->tags && memchr(s, '<', n))) {
			size_t k = strip(s, n, t, out);
			out += emit_pieces(c, out, k, k, number);
		} else {
			memcpy(out, s, n);
			emit(c, out, n, n, number);
			out += n;
		}
		*out++ = '\0';
		s = next;
	}
}

/* Soft line breaks and "=3D" are signs; any other '=' speaks against it. */
static bool is_quoted_printable(const char *s, size_t len)
{
	size_t escaped = 0, soft = 0, long_soft = 0, other = 0;
	const char *end = s + len, *line = s;

	for (const char *p = s; (p = memchr(p, '=', (size_t)(end - p))); p++) {
		size_t left = (size_t)(end - p);
		if (left >= 3 && p[1] == '3' && (p[2] == 'D' || p[2] == 'd')) {
			escaped++;
		} else if (left >= 2 &&
			   (p[1] == '\n' || (p[1] == '\r' && left >= 3 && p[2] == '\n'))) {
			if (p > s && p[-1] == '=') {
				other++;
				continue;
			}
			line = p;
			while (line > s && p - line < 80 && line[-1] != '\n') {
				line--;
			}
			soft++;
			long_soft += p - line >= 59 && p - line < 78;
		} else if (!(left >= 3 && (hex_digit(p[1]) >= 8 || p[1] == '2' || p[1] == '0') &&
				   hex_digit(p[2]) >= 0)) {
			other++;
		}
	}
	return (escaped > 0 || soft > 1 || long_soft > 0) && other <= (escaped + soft) / 2;
}

static size_t decode_quoted_printable(const char *s, size_t len, char *out)
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
		} else if (i + 2 < len && hex_digit(s[i + 1]) >= 0 && hex_digit(s[i + 2]) >= 0) {
			out[o++] = (char)(hex_digit(s[i + 1]) << 4 | hex_digit(s[i + 2]));
			i += 2;
		} else if (i + 1 < len) {
			out[o++] = s[i];
		}
	}
	return o;
}

/* At least eight of the first lines count up, and none counts otherwise. */
static bool is_numbered(const char *s, size_t len)
{
	const char *end = s + len;
	unsigned last = 0, up = 0, number;

	for (int i = 0; i < 64 && s < end; i++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s), quote = quote_marks(s, n);
		if (line_number(s + quote, n - quote, &number)) {
			if (up > 0 && number != last + 1) {
				return false;
			}
			last = number;
			up++;
		}
		s += n + 1;
	}
	return up >= 8;
}

static void find_traits(const char *s, size_t len, struct traits *t)
{
	const char *end = s + len;
	uint32_t ch;
	size_t used;

	for (const char *p = s; !t->entities && (p = memchr(p, '&', (size_t)(end - p))); p++) {
		t->entities = entity_at(p + 1, (size_t)(end - p) - 1, &ch) > 0;
	}
	for (const char *p = s; !t->tags && (p = memchr(p, '<', (size_t)(end - p))); p++) {
		t->tags = tag_at(p + 1, (size_t)(end - p) - 1, &used) != TAG_NONE;
	}
	t->quoted_printable = is_quoted_printable(s, len);
	t->numbered = is_numbered(s, len);
}

/* UTF-16 with its mark, as Windows tools save it: to UTF-8. Surrogates become '?'. */
static size_t decode_utf16(const char *s, size_t len, bool big, char *out)
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

int pcie_clean_text(const char *data, size_t len, struct pcie_clean *ret)
{
	struct pcie_clean c = {0};
	struct traits t = {0};
	char *copy = NULL;

	if (len >= 2 && (!memcmp(data, "\xff\xfe", 2) || !memcmp(data, "\xfe\xff", 2))) {
		copy = malloc(len / 2 * 3 + 1);
		if (!copy) {
			return -ENOMEM;
		}
		len = decode_utf16(data + 2, len - 2, data[0] == '\xfe', copy);
		data = copy;
	}
	find_traits(data, len, &t);
	if (t.quoted_printable) {
		char *decoded = malloc(len + 1);
		if (!decoded) {
			free(copy);
			return -ENOMEM;
		}
		len = decode_quoted_printable(data, len, decoded);
		free(copy);
		data = copy = decoded;
		find_traits(data, len, &t);
	}

	/* no line grows, and each needs a NUL: a newline's place, or one more at the end */
	c.text = malloc(len + 2);
	if (!c.text) {
		free(copy);
		return -ENOMEM;
	}
	c.numbered = t.numbered;
	clean_lines(&c, data, len, &t);
	c.lines.cut = len > 0 && data[len - 1] != '\n';
	free(copy);
	*ret = c;
	return 0;
}

void pcie_clean_finish(struct pcie_clean *c)
{
	pcie_lines_finish(&c->lines);
	free(c->text);
	*c = (struct pcie_clean){0};
}
