/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cleaning: what mail programs, forums, terminals and shells do to a text is
 * undone before any parser sees it. Linear in the input, in one pass; pure; any thread.
 *
 * Undone: UTF-16 and byte-order marks, CRLF, quoted-printable, colours and other
 * terminal sequences, HTML escapes and tags, forums' "[code]", non-breaking and
 * other odd spaces, typographic dashes and quotes, quote marks ("> ", ">> ", "| "),
 * bullets, the marks of diff, grep -n and cat -n, an empty line behind each; of diff -u
 * the new side stays. Not undone:
 * line wraps, since only a parser knows what may follow what; indentation stays as it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/lines.h"

/* Bytes of a line; the rest of a longer one is dropped. */
enum { PCIE_CLEAN_LINE_MAX = 16384 };

/* A window that moves over the lines of a text; its memory does not grow with the text. */
struct pcie_cleaner {
	struct pcie_lines lines; /* the window */
	bool done;               /* it holds the last line */
	bool cut;                /* a line was too long */
	bool diff;               /* lines that a diff takes away were left out */
};

/*
 * Opens a text of LEN bytes (any bytes), which stays the caller's and must live as
 * long. The window is empty at first. -ENOMEM.
 */
int pcie_cleaner_open(const char *data, size_t len, struct pcie_cleaner **ret);

/*
 * Forgets the first TAKEN lines of the window and reads on behind the others; lines
 * and their text move. False when everything had been read before. Line numbers
 * count the input's lines (in a quoted-printable text, those after decoding).
 */
bool pcie_cleaner_next(struct pcie_cleaner *c, size_t taken);

/* NULL is allowed. */
void pcie_cleaner_close(struct pcie_cleaner *c);
