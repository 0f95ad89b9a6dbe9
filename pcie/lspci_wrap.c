/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a line was broken on its way. At 72 columns and more, all that a line is known
 * by stays in its first piece, and whoever reads it looks for the rest. In a narrower
 * column the words themselves are torn: there each line is put together before it is read.
 */
#include "pcie/lspci_int.h"

enum {
	NEAR = 8,       /* lines around an empty one that show what it is */
	FULL_MIN = 24,  /* columns of a line that a wrap may have filled */
	ALONE_MIN = 50, /* ... where an empty line stands behind each */
	FOLD_MAX = 66,  /* a wider column leaves the words of a line whole */
	FOLD_LINES = 128,
	FOLD_SEEN = 6,  /* so many lines show a column */
	BREAKS_MIN = 3, /* so many breaks at it are no chance */
	TAB = 8,
};

bool lspci_is_seam(const struct pcie_lines *l, size_t at)
{
	if (at == 0 || at + 1 >= l->n || l->line[at].len > 0 || l->line[at + 1].len == 0 ||
		l->line[at - 1].len == 0) {
		return false;
	}
	unsigned full = l->line[at - 1].width;
	bool widest = full >= FULL_MIN, alone = full >= ALONE_MIN;
	size_t first = at > NEAR ? at - NEAR : 0, last = MIN(at + NEAR, l->n);
	for (size_t i = first; i < last && (widest || alone); i++) {
		widest = widest && l->line[i].width <= full + 1;
		alone = alone && !(i > first && l->line[i].len && l->line[i - 1].len);
	}
	return (widest || alone) && !pcie_lspci_is_start(l->line[at + 1].s, l->line[at + 1].len);
}

bool lspci_is_rest(const struct pcie_lines *l, size_t at)
{
	if (at >= l->n) {
		return false;
	}
	return l->line[at].len > 0 ? !pcie_lspci_is_start(l->line[at].s, l->line[at].len)
				   : lspci_is_seam(l, at);
}

/* Blanks that cleaning took from the end of a line. */
static size_t trailing(const struct pcie_line *l)
{
	size_t kept = l->lead + l->len;
	return l->width > kept ? l->width - kept : 0;
}

/* The columns of a line, with what stands before it. */
static size_t columns(const struct pcie_line *l)
{
	size_t n = 0;
	for (size_t i = 0; i < l->len; i++) {
		n += l->s[i] == '\t' ? TAB - n % TAB : 1;
	}
	return l->lead + n + trailing(l);
}

/* Does a line of its own begin here, even if it is torn? What is torn off is not indented. */
static bool begins(const struct pcie_line *l, struct lspci_fold f)
{
	static const char *const long_word[] = {
		"Prefetchable memory behind bridge:", "Kernel driver in use:"};
	const char *s = pcie_skip(l->s);
	size_t indent = (size_t)(s - l->s), len = l->len - indent;

	if (l->len == 0 || indent > f.indent + 1 || memchr(l->s, '\t', indent) ||
		pcie_lspci_is_start(s, len) || lspci_starts_with_address(s)) {
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(long_word); i++) {
		if (len > 8 && !strncmp(s, long_word[i], len)) {
			return true;
		}
	}
	return false;
}

/* Between words: would the next one have had room? */
static bool has_no_room(const struct pcie_lines *l, size_t at, struct lspci_fold f)
{
	const char *next = pcie_skip(l->line[at + 1].s);
	size_t n = columns(&l->line[at]) - trailing(&l->line[at]);
	return n + 1 + strcspn(next, " \t") > f.column;
}

/* The row of a hex dump at AT goes on in the next line: was it torn, or is the blank there? */
static bool is_torn_row(const struct pcie_lines *l, size_t at, struct lspci_fold f)
{
	const struct pcie_line *row = &l->line[at];
	bool half = row->len > 2 && pcie_is_blank(row->s[row->len - 2]);
	return half || trailing(row) > 0 ||
	       (row[1].len > f.indent && pcie_is_blank(row[1].s[f.indent])) ||
	       row[1].lead > row->lead; /* ">" took the blank with it */
}

/* Were the lines from AT on broken at the column and nowhere else, or between words, or not? */
static struct lspci_fold judge_fold(
	const struct pcie_lines *l, size_t at, size_t last, struct lspci_fold f)
{
	unsigned anywhere = 0, between = 0;
	for (; at + 1 < last; at++) {
		const struct pcie_line *line = &l->line[at];
		if (line->len == 0 || begins(&l->line[at + 1], f)) {
			continue;
		}
		bool torn = lspci_is_hex_row(pcie_skip(line->s)) ? is_torn_row(l, at, f)
								 : columns(line) == f.column;
		f.lead = MIN(f.lead, (unsigned)line[1].lead);
		anywhere += torn;
		between += !torn && has_no_room(l, at, f);
	}
	f.anywhere = anywhere >= BREAKS_MIN && anywhere > 4 * between;
	return f.anywhere || between >= BREAKS_MIN ? f : (struct lspci_fold){0};
}

struct lspci_fold lspci_find_fold(const struct pcie_lines *l, size_t at)
{
	struct lspci_fold f = {.indent = FOLD_MAX, .lead = UINT16_MAX};
	size_t seen = 0, i, last = MIN(l->n, at + FOLD_LINES);

	for (i = at; i < last; i++) {
		const struct pcie_line *line = &l->line[i];
		size_t n = columns(line);
		if (n > FOLD_MAX) {
			break;
		}
		if (line->len > 0) {
			seen++;
			f.column = MAX(f.column, (unsigned)n);
		}
		if (line->len > 0 && line->lead == l->line[at].lead) { /* ">TAbort-" is no quote */
			f.indent = MIN(f.indent, (unsigned)strspn(line->s, " "));
		}
	}
	if (seen < FOLD_SEEN || f.column < FULL_MIN) {
		return (struct lspci_fold){0};
	}
	return judge_fold(l, at, i, f);
}

/* Was the line at AT broken, so that the next one belongs to it? */
static bool is_broken(const struct pcie_lines *l, size_t at, struct lspci_fold f)
{
	if (at + 1 >= l->n || l->line[at + 1].len == 0) {
		return false;
	}
	const struct pcie_line *line = &l->line[at], *next = line + 1;
	if (!f.anywhere) {
		return !begins(next, f) && has_no_room(l, at, f);
	}
	if (columns(line) != f.column) {
		return false;
	}
	if (trailing(line) > 0) { /* inside of blanks, and not at an end: no line has them there */
		bool bare = strchr(":]", line->s[line->len - 1]) != NULL;
		return !pcie_lspci_is_start(next->s, next->len) ||
		       (bare && lspci_word(next->s) == WORD_MEMORY); /* behind "Region 0:" */
	}
	return !begins(next, f);
}

size_t lspci_unfold(
	const struct pcie_lines *l, size_t at, struct lspci_fold f, struct lspci_unfolded *ret)
{
	size_t n = 0;

	ret->len = 0;
	for (;; n++) {
		const struct pcie_line *piece = &l->line[at + n];
		size_t blanks = f.anywhere ? trailing(piece) : 1;
		const char *s = piece->s, *end = s + piece->len;
		if (n > 0 && piece->lead > f.lead) {
			s -= piece->lead - f.lead; /* no mark, but its own: ">TAbort-" */
		}
		s += n > 0 ? MIN((size_t)f.indent, (size_t)(end - s)) : 0;
		if (ret->len + (size_t)(end - s) + blanks >= sizeof(ret->s)) {
			return 0; /* nothing of lspci's is so long */
		}
		memcpy(ret->s + ret->len, s, (size_t)(end - s));
		ret->len += (size_t)(end - s);
		if (n + 1 == LSPCI_FOLDS || !is_broken(l, at + n, f)) {
			break;
		}
		memset(ret->s + ret->len, ' ', blanks);
		ret->len += blanks;
	}
	ret->s[ret->len] = '\0';
	ret->open = f.anywhere && at + n + 1 == l->n && columns(&l->line[at + n]) == f.column;
	return n + 1;
}
