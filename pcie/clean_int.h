/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the cleaning share; nobody else includes this. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie/chars.h"

/* What the lines of a paragraph that lost its line ends began with; bits. */
enum clean_flat {
	FLAT_STAMPS = 1,   /* a kernel log: "[    0.332101] " */
	FLAT_SPEAKERS = 2, /* one without: "pci 0000:01:00.0: " */
	FLAT_LISTING = 4,  /* lspci's headers, and what stands below them */
};

/* What the whole text shows about where it has been. */
struct clean_traits {
	bool entities; /* "&lt;" and its like occur */
	bool tags;     /* "<br>", "</pre>", … occur */
	bool quoted_printable;
	bool numbered; /* each line begins with its number (cat -n, less -N) */
	bool escapes;  /* Markdown's: "\[size=16M\]" */
	bool boards;   /* "[code]", "[quote=…]" of forums occur */
	bool doubled;  /* an empty line stands behind each */
	bool grep;     /* "12:" and "13-" stand before lines that follow each other */
	unsigned flat; /* kinds of paragraphs that occur */
	char mark;     /* '|' or '+' when headers of devices stand behind one: quoted, or a diff */
};

static inline bool clean_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Does P (behind a '&', N bytes left) begin an entity? Behind a '<', a known tag? */
bool clean_is_entity(const char *p, size_t n);
bool clean_is_tag(const char *p, size_t n);
/* Does a forum's tag begin at P (behind a '[')? The bytes up to and with its ']', or 0. */
size_t clean_board_tag(const char *p, size_t n);

/*
 * Copies a line to OUT without what does not belong there; '\n' in OUT where
 * the line breaks in two. Never writes more than N bytes; returns how many.
 */
size_t clean_strip(const char *s, size_t n, const struct clean_traits *t, char *out);

/* "> ", ">> ", "> > ": the bytes up to the text itself. */
size_t clean_quote_marks(const char *s, size_t n);
/* "| " of a mail program, "+" of a diff: its bytes; 0 for rows of tables and trees. */
size_t clean_one_mark(const char *s, size_t n, char mark);
/* "   12 " or "   12\t" at S: the number, and the bytes up to the text; 0 when there is none. */
size_t clean_line_number(const char *s, size_t n, unsigned *ret);

/* "12:" or "13-" of grep -n at S: the number, and the bytes of both; 0 when there is none. */
size_t clean_grep_number(const char *s, size_t n, unsigned *ret);
/* "@@ -1,8 +1,9 @@" of diff -u at S: how many lines of either side follow. */
bool clean_hunk(const char *s, size_t n, unsigned *ret_before, unsigned *ret_after);

unsigned clean_find_flat(const char *s, size_t len);
/* Which of the kinds FLAT the line S (s[n] is NUL) is; 0: it is no paragraph. */
unsigned clean_flat_kind(unsigned flat, const char *s, size_t n);
/* Where the second line of the paragraph S of that kind begins, or N. */
size_t clean_flat_seam(unsigned kind, const char *s, size_t n);

void clean_find_traits(const char *s, size_t len, struct clean_traits *t);
/* To OUT, which has room for LEN bytes; returns how many. */
size_t clean_quoted_printable(const char *s, size_t len, char *out);
/* To OUT, which has room for LEN / 2 * 3 bytes; surrogates become '?'. */
size_t clean_utf16(const char *s, size_t len, bool big, char *out);
