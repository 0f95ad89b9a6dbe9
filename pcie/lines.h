/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines of a text, as every text parser of this room gets them: views into one
 * buffer that somebody else owns and that outlives them.
 *
 * What a parser may rely on: s[len] is '\0' and no other NUL is in the line, so
 * that the string functions work on it; no '\n' and no '\r'; trailing blanks are
 * gone, leading ones are kept. A line that came through the text door was
 * cleaned (quoting, escapes, colours) and is a logical one: where a mail program
 * or a forum had wrapped it, the pieces are joined again and NUMBER is the first
 * piece's. Prompts, time stamps and log prefixes are still there.
 *
 * One owner; no function here is safe on lines that another thread changes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pcie_line {
	const char *s;
	size_t len;
	uint32_t number; /* in the input, from 1 */
	uint16_t width;  /* bytes of the physical line as it stood, blanks and quoting included */
	uint16_t lead;   /* of these, the ones that cleaning took away; they still stand before S */
};

struct pcie_lines {
	struct pcie_line *line;
	size_t n, cap;
	bool cut; /* the text ends without a line end: its last number may go on */
};

void pcie_lines_push(struct pcie_lines *l, const char *s, size_t len, uint32_t number);

/*
 * Appends the lines of TEXT (LEN bytes, and text[LEN] is writable), as they
 * stand: nothing is joined. Writes NULs over line ends and trailing blanks and
 * '?' over NULs. For logs that come from a file and not from a paste.
 */
void pcie_lines_split(struct pcie_lines *l, char *text, size_t len);

/* Frees the array, not the text. */
void pcie_lines_finish(struct pcie_lines *l);
