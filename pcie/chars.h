/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Characters and words as every text reader of this room looks at them. Pure; any thread. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool pcie_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* S behind its blanks. */
static inline const char *pcie_skip(const char *s)
{
	while (pcie_is_blank(*s)) {
		s++;
	}
	return s;
}

/* What stands in S behind WORD, when S begins with it, else NULL. */
static inline const char *pcie_after(const char *s, const char *word)
{
	size_t n = strlen(word);
	return strncmp(s, word, n) ? NULL : s + n;
}

/* The value of a hex digit, or -1. */
static inline int pcie_hex_digit(char c)
{
	static const int8_t value[256] = {
		['0'] = 1,
		['1'] = 2,
		['2'] = 3,
		['3'] = 4,
		['4'] = 5,
		['5'] = 6,
		['6'] = 7,
		['7'] = 8,
		['8'] = 9,
		['9'] = 10,
		['A'] = 11,
		['B'] = 12,
		['C'] = 13,
		['D'] = 14,
		['E'] = 15,
		['F'] = 16,
		['a'] = 11,
		['b'] = 12,
		['c'] = 13,
		['d'] = 14,
		['e'] = 15,
		['f'] = 16,
	};
	return value[(unsigned char)c] - 1;
}
