/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paragraphs: lines that lost their ends on a page that shows them so. */
#include <string.h>

#include "base/macros.h"
#include "pcie/addr.h"
#include "pcie/clean_int.h"
#include "pcie/lspci_int.h"

/* "[    0.332101] " at S. */
static bool is_stamp(const char *s)
{
	if (*s != '[') {
		return false;
	}
	s += 1 + strspn(s + 1, " ");
	size_t whole = strspn(s, "0123456789");
	if (whole == 0 || s[whole] != '.') {
		return false;
	}
	size_t part = strspn(s + whole + 1, "0123456789");
	return (part == 3 || part == 6) && !strncmp(s + whole + 1 + part, "] ", 2);
}

/* "pci 0000:01:00.0: " at S. */
static bool is_speaker(const char *s)
{
	struct pcie_addr a;
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-");
	if (n < 2 || n > 16 || s[n] != ' ') {
		return false;
	}
	int used = pcie_addr_scan(s + n + 1, &a);
	return used > 0 && !strncmp(s + n + 1 + used, ": ", 2);
}

/* What begins a line of lspci at S of N bytes, AT bytes behind the paragraph's beginning. */
static bool is_listing(const char *s, size_t n, size_t at)
{
	if (pcie_hex_digit(*s) >= 0 && lspci_is_header(s, n, false)) {
		return true;
	}
	if (!((*s >= 'A' && *s <= 'Z') || *s == '[' || *s == '!')) {
		return false;
	}
	if (at > 1 && s[-2] == ':') {
		return false; /* "Region 0: Memory at" */
	}
	if (at >= 10 && !memcmp(s - 10, "[virtual] ", 10)) {
		return false;
	}
	if (pcie_after(s, "BAR ")) { /* "BAR 0: current size" */
		return n > 6 && pcie_after(s + 5, ": current") != NULL;
	}
	enum lspci_word word = lspci_word(s);
	return word != WORD_NONE && word != WORD_ELISION;
}

static bool is_seam(enum clean_flat flat, const char *s, size_t n, size_t at)
{
	switch (flat) {
	case FLAT_STAMPS:
		return is_stamp(s);
	case FLAT_SPEAKERS:
		return is_speaker(s);
	case FLAT_LISTING:
		return is_listing(s, n, at);
	default:
		return false;
	}
}

static size_t find_seam(enum clean_flat flat, const char *s, size_t n, size_t from)
{
	from = MAX(from, strspn(s, " \t"));
	for (size_t i = from + 1; i < n; i++) {
		if (s[i - 1] == ' ' && s[i] != ' ' && is_seam(flat, s + i, n - i, i)) {
			return i;
		}
	}
	return n;
}

/* Three or more? A header inside of a line shows more than a word of lspci's. */
static bool has_seams(enum clean_flat flat, const char *s, size_t n)
{
	enum { SEAMS = 3 };
	unsigned count = 0;
	for (size_t at = 0; at < n && count < SEAMS;) {
		at = find_seam(flat, s, n, at);
		if (at < n) {
			count += flat == FLAT_LISTING && pcie_hex_digit(s[at]) >= 0 ? 2 : 1;
		}
	}
	return count >= SEAMS;
}

size_t clean_flat_seam(unsigned kind, const char *s, size_t n)
{
	return find_seam((enum clean_flat)kind, s, n, 0);
}

unsigned clean_flat_kind(unsigned flat, const char *s, size_t n)
{
	size_t indent = strspn(s, " \t");
	flat &= is_stamp(s + indent) ? FLAT_STAMPS : ~0U; /* who speaks stands behind it */
	for (unsigned bit = FLAT_STAMPS; bit <= FLAT_LISTING; bit <<= 1) {
		enum clean_flat kind = (enum clean_flat)bit;
		/* somebody's sentence may have a word or two */
		if ((flat & bit) && (is_seam(kind, s + indent, n - MIN(indent, n), 0) ||
					    has_seams(kind, s, n))) {
			return bit;
		}
	}
	return 0;
}

/* The first bytes of a line, with a blank for each non-breaking one; returns how many that makes.
 */
static size_t copy_piece(char *piece, const char *s, size_t n)
{
	size_t len = 0;
	for (size_t i = 0; i < n; i++) {
		bool wide = i + 1 < n && !memcmp(s + i, "\xc2\xa0", 2);
		piece[len++] = wide ? ' ' : s[i];
		i += wide;
	}
	piece[len] = '\0';
	return len;
}

unsigned clean_find_flat(const char *s, size_t len)
{
	enum { LINES = 256, LONG = 100, PIECE = 2048 };
	const char *end = s + len;
	char piece[PIECE];
	unsigned found = 0;

	for (int i = 0; i < LINES && s < end; i++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t n = (size_t)((nl ? nl : end) - s);
		size_t some = n >= LONG ? copy_piece(piece, s, MIN(n, (size_t)PIECE - 1)) : 0;
		for (unsigned kind = FLAT_STAMPS; some > 0 && kind <= FLAT_LISTING; kind <<= 1) {
			found |= has_seams((enum clean_flat)kind, piece, some) ? kind : 0;
		}
		s += n + 1;
	}
	return found;
}
