/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pcie/clean.h"

#include <endian.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "pcie/addr.h"
#include "pcie/clean_int.h"

/* A line of the input is cut in pieces of this size; a window's text holds several, or all. */
enum { RAW_MAX = 64 << 10, TEXT_SIZE = 4 * RAW_MAX + 2, WINDOW_LINES = 4096, WORD = 8 };

/* The number of a numbered line, and quoting, stand within so many bytes. */
enum { NUMBER_MAX = 64 };

/* Mail programs fold longer lines only. */
enum { FOLD_MIN = 60 };

struct cleaner {
	struct pcie_cleaner c; /* first: what the caller sees */
	struct clean_traits traits;
	const char *at, *end; /* of the input, what is still to come */
	bool ends_in_line;    /* the input has no line end at its end */
	char *decoded;        /* the input, where it had to be decoded as a whole */
	uint32_t number;
	unsigned listed;        /* the number that stood before a line last, in a numbered text */
	unsigned grepped;       /* … and grep's */
	unsigned before, after; /* lines of either side that a hunk of a diff still has */
	bool quoted;            /* the hunk stands behind quote marks */
	bool wide;              /* its line before may have been folded */
	bool gap;               /* the line before was empty */
	bool inside;            /* of a line that is longer than RAW_MAX */
	size_t used, size;
	char *text;
};

/* Bytes that take a line off the fast path: controls but for the tab, and all beyond ASCII. */
static bool is_odd(unsigned char c)
{
	return (c < ' ' && c != '\t') || c >= 0x7f;
}

enum copied { COPIED_LINE, COPIED_ALL, COPIED_TO_ODD };

/*
 * Copies the plain bytes of a line to OUT, up to its end, up to N bytes or up to the first
 * odd one; *RET_N says how many. OUT has room for WORD bytes more.
 */
static enum copied copy_plain(const char *s, size_t n, char *out, size_t *ret_n)
{
	const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
	const char *from = s, *end = s + n;

	for (; end - s >= WORD; s += WORD, out += WORD) {
		uint64_t w;
		memcpy(&w, s, WORD);
		memcpy(out, &w, WORD);
		w = le64toh(w); /* the first byte is the lowest */
		/* below 0x20, or from 0x7f on; a borrow or a carry may show one more */
		uint64_t look = ((w - ones * 0x20) | (w + ones)) & high;
		for (; look; look &= look - 1) {
			const char *at = s + __builtin_ctzll(look) / 8;
			if (*at == '\n' || is_odd((unsigned char)*at)) {
				*ret_n = (size_t)(at - from);
				return *at == '\n' ? COPIED_LINE : COPIED_TO_ODD;
			}
		}
	}
	for (; s < end; s++) {
		if (*s == '\n' || is_odd((unsigned char)*s)) {
			*ret_n = (size_t)(s - from);
			return *s == '\n' ? COPIED_LINE : COPIED_TO_ODD;
		}
		*out++ = *s;
	}
	*ret_n = n;
	return COPIED_ALL;
}

size_t clean_quote_marks(const char *s, size_t n)
{
	size_t at = 0, i = 0;
	while (i < n) {
		while (i < n && pcie_is_blank(s[i])) {
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

/* Rows of tables and trees have more of them. */
size_t clean_one_mark(const char *s, size_t n, char mark)
{
	size_t i = 0;
	while (i < n && pcie_is_blank(s[i])) {
		i++;
	}
	if (i == n) {
		return 0;
	}
	if (mark == '|') {
		bool row = i + 1 < n && (s[n - 1] == '|' || s[i + 1] == '=');
		return s[i] == '|' && !row ? i + 1 + (i + 1 < n && s[i + 1] == ' ') : 0;
	}
	bool own = i + 1 < n && strchr(s[i] == '+' ? "+-" : "+-[", s[i + 1]);
	return (s[i] == '+' || s[i] == '-') && !own ? i + 1 : 0;
}

size_t clean_grep_number(const char *s, size_t n, unsigned *ret)
{
	size_t i = 0;
	for (*ret = 0; i < n && i < 7 && clean_is_digit(s[i]); i++) {
		*ret = *ret * 10 + (unsigned)(s[i] - '0');
	}
	return i > 0 && s[0] != '0' && i < n && (s[i] == ':' || s[i] == '-') ? i + 1 : 0;
}

/* The start of the line that comes next, without its quote marks; its bytes, which are few. */
static size_t peek(const struct cleaner *c, const char **ret)
{
	size_t len = MIN((size_t)(c->end - c->at), (size_t)NUMBER_MAX);
	const char *nl = memchr(c->at, '\n', len);
	len = nl ? (size_t)(nl - c->at) : len;
	size_t quote = clean_quote_marks(c->at, len);
	*ret = c->at + quote;
	return len - quote;
}

/* Is NUMBER, which stands like a domain before an address, one of a run of grep's? */
static bool is_in_run(const struct cleaner *c, unsigned number)
{
	const char *next;
	unsigned after;
	if (number == c->grepped + 1) {
		return true;
	}
	size_t n = peek(c, &next), used = clean_grep_number(next, n, &after);
	return used > 0 && next[used - 1] == '-' && after == number + 1;
}

/*
 * "12:01.0 VGA" is an address, "12:01:00.0 VGA" has one behind a number, and "10000:e1:00.0"
 * has a domain unless the lines around count on. S ends in a NUL.
 */
static size_t grep_mark(struct cleaner *c, const char *s, size_t n)
{
	struct pcie_addr a;
	unsigned number;
	size_t used = clean_grep_number(s, n, &number);
	if (used > 0 && s[used - 1] == ':') {
		bool whole = pcie_addr_scan(s, &a) > 0, behind = pcie_addr_scan(s + used, &a) > 0;
		if (s[used] == ' ' || (whole && !(behind && is_in_run(c, number)))) {
			used = 0;
		}
	}
	c->grepped = used > 0 ? number : 0;
	return used;
}

/* Bullets, the marks of diff, and line numbers of grep -n and cat -n. S ends in a NUL. */
static size_t list_marks(struct cleaner *c, const char *s, size_t n)
{
	size_t i = 0;
	while (i < n && pcie_is_blank(s[i])) {
		i++;
	}
	if (i + 1 >= n) {
		return 0;
	}
	if ((s[i] == '*' || s[i] == '-' || s[i] == '+') && pcie_is_blank(s[i + 1])) {
		return i + 1 + (s[i + 1] == ' ');
	}
	size_t k = c->traits.grep ? grep_mark(c, s + i, n - i) : 0;
	if (k > 0) {
		return i + k;
	}
	k = i;
	while (k < n && k < i + 7 && clean_is_digit(s[k])) {
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
	if (used > 0 && pcie_is_blank(s[k + 1 + (size_t)used])) {
		return k + 1;
	}
	return 0;
}

size_t clean_line_number(const char *s, size_t n, unsigned *ret)
{
	size_t i = 0, first;
	while (i < n && pcie_is_blank(s[i])) {
		i++;
	}
	*ret = 0;
	for (first = i; i < n && i < first + 7 && clean_is_digit(s[i]); i++) {
		*ret = *ret * 10 + (unsigned)(s[i] - '0');
	}
	if (i == first || (i < n && !pcie_is_blank(s[i]))) {
		return 0;
	}
	return i + (i < n);
}

/*
 * The number that the line at S has in a numbered text. A number that does not follow the
 * last one may belong to the second half of a wrapped line; behind a gap the next line knows.
 */
static size_t list_number(struct cleaner *c, const char *s, size_t n)
{
	unsigned number, next;
	size_t used = clean_line_number(s, n, &number);
	if (used == 0) {
		return 0;
	}
	if (number != c->listed + 1) {
		const char *line;
		size_t len = peek(c, &line);
		if (number <= c->listed || !clean_line_number(line, len, &next) ||
			next != number + 1) {
			return 0;
		}
	}
	c->listed = number;
	return used;
}

static bool may_be_mark(char c)
{
	return clean_is_digit(c) || c == '>' || c == '|' || c == '*' || c == '+' || c == '-';
}

/* The marks before a line that are not its own, one kind inside the other. */
static size_t marks(struct cleaner *c, const char *s, size_t n)
{
	const struct clean_traits *t = &c->traits;
	size_t first = 0;
	while (first < n && pcie_is_blank(s[first])) {
		first++;
	}
	if (first == n || !may_be_mark(s[first])) { /* most lines */
		return 0;
	}
	size_t at = clean_quote_marks(s, n);
	for (int depth = 0; depth < 3 && t->mark; depth++) {
		size_t mark = clean_one_mark(s + at, n - at, t->mark);
		if (mark == 0) {
			break;
		}
		at += mark;
		at += clean_quote_marks(s + at, n - at);
	}
	if (t->numbered) {
		at += list_number(c, s + at, n - at);
		at += clean_quote_marks(s + at, n - at);
	}
	size_t list = list_marks(c, s + at, n - at);
	if (list > 0) {
		at += list;
		at += clean_quote_marks(s + at, n - at);
	}
	return at;
}

/*
 * The mark of a line in a hunk of diff -u, and quoting before it: its bytes. *RET_GONE: the
 * diff takes the line away, and the text has what stands there now. A line that the hunk
 * cannot have ends it: it was cut, and what follows is no diff any more. A folded line's
 * second half has no mark; the header of a device is none.
 */
static size_t hunk_mark(struct cleaner *c, const char *s, size_t n, bool *ret_gone)
{
	size_t at = n > 0 && may_be_mark(s[0]) ? clean_quote_marks(s, n) : 0;

	*ret_gone = false;
	if (at < n && s[at] == '@' && clean_hunk(s + at, n - at, &c->before, &c->after)) {
		c->before = c->after > 0 ? c->before : 0; /* or nothing came in its place */
		c->quoted = at > 0;
		c->wide = n >= FOLD_MIN;
		return 0;
	}
	if (c->before == 0 && c->after == 0) {
		return 0;
	}
	/* the blank of an empty line is lost on the way; "\ No newline at end of file" */
	char mark = at < n ? s[at] : ' ';
	if (mark == '\\' || (at == n && c->traits.doubled)) {
		return 0;
	}
	bool old = mark == '-' || mark == ' ', new = mark == '+' || mark == ' ';
	bool marked = old || new, folded = c->wide && !marked;
	struct pcie_addr a;
	c->wide = n >= FOLD_MIN;
	if (folded && pcie_addr_scan(s + at, &a) <= 0) {
		return 0;
	}
	if (c->quoted != (at > 0) || !marked || (old && c->before == 0) || (new && c->after == 0)) {
		c->before = c->after = 0;
		return 0;
	}
	c->before -= old;
	c->after -= new;
	*ret_gone = old && !new;
	return at + (at < n);
}

/* Notes a line as it is; its trailing blanks go, S ends in a NUL at STOP. */
static void note_line(struct cleaner *c, char *s, char *stop, size_t width, size_t lead)
{
	while (stop > s && pcie_is_blank(stop[-1])) {
		stop--;
	}
	if (stop - s > PCIE_CLEAN_LINE_MAX) {
		stop = s + PCIE_CLEAN_LINE_MAX;
		c->c.cut = true;
	}
	*stop = '\0';
	bool gap = c->traits.doubled && stop == s && !c->gap;
	c->gap = stop == s;
	if (gap) {
		return; /* it only keeps two lines apart */
	}
	struct pcie_lines *lines = &c->c.lines;
	pcie_lines_push(lines, s, (size_t)(stop - s), c->number);
	struct pcie_line *l = &lines->line[lines->n - 1];
	l->width = (uint16_t)MIN(width, (size_t)UINT16_MAX);
	l->lead = (uint16_t)MIN(lead, (size_t)UINT16_MAX);
}

/* A line is finished: takes its marks away and notes it, or the lines that it once was. */
static void emit(struct cleaner *c, char *s, size_t n)
{
	size_t width = n;
	char *stop = s + n;
	bool gone;
	*stop = '\0';
	size_t lead = hunk_mark(c, s, n, &gone);
	if (gone) {
		c->c.diff = true;
		c->gap = false; /* the empty line behind it goes too */
		return;
	}
	lead = lead > 0 ? lead : marks(c, s, n);

	s += lead;
	unsigned flat = c->traits.flat ? clean_flat_kind(c->traits.flat, s, (size_t)(stop - s)) : 0;
	while (flat) {
		size_t len = (size_t)(stop - s), at = clean_flat_seam(flat, s, len);
		if (at == len) {
			break;
		}
		note_line(c, s, s + at - 1, at, lead);
		s += at;
		lead = 0;
		width = len - at;
	}
	note_line(c, s, stop, width, lead);
}

/* The pieces of a stripped line; a tag at its edge makes no empty line. */
static void emit_pieces(struct cleaner *c, char *s, size_t n)
{
	char *nl = memchr(s, '\n', n);
	if (!nl) {
		emit(c, s, n);
		return;
	}
	char *end = s + n;
	bool any = false;
	for (char *p = s; p <= end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (!nl) {
			nl = end;
		}
		if (nl > p) {
			emit(c, p, (size_t)(nl - p));
			any = true;
		}
	}
	if (!any) {
		emit(c, s, 0);
	}
}

/* The next line of the input, or a piece of one that is too long, into the window. */
static void take_line(struct cleaner *c)
{
	const char *s = c->at;
	size_t n, left = MIN((size_t)(c->end - s), (size_t)RAW_MAX);
	char *out = c->text + c->used;
	enum copied how = copy_plain(s, left, out, &n);
	bool has_end = how == COPIED_LINE;

	if (how == COPIED_TO_ODD && s[n] == '\r' && n + 1 < left && s[n + 1] == '\n') {
		has_end = true;
		how = COPIED_LINE;
		c->at = s + n + 2;
	} else if (how == COPIED_TO_ODD) {
		const char *nl = memchr(s + n, '\n', left - n);
		has_end = nl != NULL;
		n = nl ? (size_t)(nl - s) : left;
		c->at = s + n + has_end;
		while (n > 0 && s[n - 1] == '\r') {
			n--;
		}
	} else {
		c->at = s + n + has_end;
	}
	c->number += !c->inside;
	c->inside = !has_end;
	if (how == COPIED_TO_ODD || (c->traits.entities && memchr(s, '&', n)) ||
		(c->traits.tags && memchr(s, '<', n)) ||
		(c->traits.escapes && memchr(s, '\\', n)) ||
		(c->traits.boards && memchr(s, '[', n))) {
		n = clean_strip(s, n, &c->traits, out);
		emit_pieces(c, out, n);
	} else {
		emit(c, out, n);
	}
	c->used += n + 1;
}

/* The lines from TAKEN on go to the front of the window. */
static void drop(struct cleaner *c, size_t taken)
{
	struct pcie_lines *l = &c->c.lines;
	size_t keep = l->n - MIN(taken, l->n);
	if (keep == 0) {
		l->n = c->used = 0;
		return;
	}
	char *first = (char *)l->line[taken].s - l->line[taken].lead; /* in our own text */
	size_t back = (size_t)(first - c->text);
	memmove(c->text, first, c->used - back);
	memmove(l->line, l->line + taken, keep * sizeof(*l->line));
	for (size_t i = 0; i < keep; i++) {
		l->line[i].s -= back;
	}
	l->n = keep;
	c->used -= back;
}

bool pcie_cleaner_next(struct pcie_cleaner *cleaner, size_t taken)
{
	struct cleaner *c = (struct cleaner *)cleaner;

	drop(c, taken);
	if (cleaner->done) {
		return false;
	}
	while (c->at < c->end && cleaner->lines.n < WINDOW_LINES &&
		c->size - c->used >= MIN((size_t)(c->end - c->at), (size_t)RAW_MAX) + 2 + WORD) {
		take_line(c);
	}
	cleaner->done = c->at == c->end;
	cleaner->lines.cut = cleaner->done && c->ends_in_line;
	return true;
}

int pcie_cleaner_open(const char *data, size_t len, struct pcie_cleaner **ret)
{
	struct cleaner *c = calloc(1, sizeof(*c));
	if (!c) {
		return -ENOMEM;
	}
	if (len >= 2 && (!memcmp(data, "\xff\xfe", 2) || !memcmp(data, "\xfe\xff", 2))) {
		c->decoded = malloc(len / 2 * 3 + 1);
		if (!c->decoded) {
			pcie_cleaner_close(&c->c);
			return -ENOMEM;
		}
		len = clean_utf16(data + 2, len - 2, data[0] == '\xfe', c->decoded);
		data = c->decoded;
	}
	clean_find_traits(data, len, &c->traits);
	if (c->traits.quoted_printable) {
		char *decoded = malloc(len + 1);
		if (!decoded) {
			pcie_cleaner_close(&c->c);
			return -ENOMEM;
		}
		len = clean_quoted_printable(data, len, decoded);
		free(c->decoded);
		data = c->decoded = decoded;
		clean_find_traits(data, len, &c->traits);
	}
	/* each piece takes a byte more than it has when no line end was behind it */
	c->size = MIN(len + len / RAW_MAX + 3 + WORD, (size_t)TEXT_SIZE);
	c->text = malloc(c->size);
	if (!c->text) {
		pcie_cleaner_close(&c->c);
		return -ENOMEM;
	}
	c->at = data;
	c->end = data + len;
	c->ends_in_line = len > 0 && data[len - 1] != '\n';
	*ret = &c->c;
	return 0;
}

void pcie_cleaner_close(struct pcie_cleaner *cleaner)
{
	struct cleaner *c = (struct cleaner *)cleaner;
	if (c) {
		pcie_lines_finish(&cleaner->lines);
		free(c->decoded);
		free(c->text);
		free(c);
	}
}
