/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cleaning: what mail programs, forums, terminals and shells do to a text is
 * undone before any parser sees it. Linear in the input; pure; any thread.
 *
 * Undone: UTF-16 and byte-order marks, CRLF, quoted-printable, colours and other
 * terminal sequences, HTML escapes and tags, non-breaking and other odd spaces,
 * typographic dashes and quotes, quote marks ("> ", ">> "), bullets, the marks
 * of diff, grep -n and cat -n. Not undone: line wraps, since only a parser knows
 * what may follow what; indentation stays as it is.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/lines.h"

enum {
	PCIE_CLEAN_LINE_MAX = 16384, /* bytes of a line; the rest of a longer one is dropped */
	PCIE_CLEAN_LINES_MAX = 4 << 20,
};

struct pcie_clean {
	char *text; /* what the lines point into; owned */
	struct pcie_lines lines;
	bool cut;      /* a line was too long, or there were too many */
	bool numbered; /* every line's number was taken away */
};

/*
 * Cleans LEN bytes (any bytes). Line numbers count the input's lines (in a
 * quoted-printable text, those after decoding). The caller owns the result and
 * calls pcie_clean_finish(). -ENOMEM.
 */
int pcie_clean_text(const char *data, size_t len, struct pcie_clean *ret);

void pcie_clean_finish(struct pcie_clean *c);
