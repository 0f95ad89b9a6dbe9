/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small scanners for kernel messages: each moves *P over what it recognises and
 * leaves it alone otherwise. Strings end with NUL. Pure; any thread. Private to klog*.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "pcie/addr.h"
#include "pcie/chars.h"

/* Exactly LITERAL stands at *P. */
static inline bool klog_eat_n(const char **p, const char *literal, size_t n)
{
	/* Most comparisons end at the first character: no call is worth it. */
	for (size_t i = 0; i < n; i++) {
		if ((*p)[i] != literal[i]) {
			return false;
		}
	}
	*p += n;
	return true;
}
#define klog_eat(p, literal) klog_eat_n(p, literal, sizeof(literal) - 1)

static inline void klog_blanks(const char **p)
{
	*p = pcie_skip(*p);
}

static inline bool klog_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* 1 to 16 hex digits, with or without 0x. */
static inline bool klog_hex(const char **p, uint64_t *ret)
{
	const char *s = *p;
	if (s[0] == '0' && (s[1] | 0x20) == 'x') {
		s += 2;
	}
	uint64_t v = 0;
	int n = 0, d;
	for (; (d = pcie_hex_digit(*s)) >= 0; s++, n++) {
		v = v << 4 | (uint64_t)d;
	}
	if (n == 0 || n > 16) {
		return false;
	}
	*p = s;
	*ret = v;
	return true;
}

/* 1 to 18 decimal digits. */
static inline bool klog_dec(const char **p, uint64_t *ret)
{
	const char *s = *p;
	uint64_t v = 0;
	int n = 0;
	for (; klog_digit(*s); s++, n++) {
		if (n == 18) {
			return false;
		}
		v = v * 10 + (uint64_t)(*s - '0');
	}
	if (n == 0) {
		return false;
	}
	*p = s;
	*ret = v;
	return true;
}

/* A range as %pR prints it, and its forms before 2.6.32. */
enum klog_space { KLOG_MEM, KLOG_IO, KLOG_BUS, KLOG_UNTYPED, KLOG_ODD };

struct klog_range {
	enum klog_space space; /* UNTYPED: no word before the numbers. ODD: "??? …" */
	bool is64, pref, window, disabled;
	bool has_base; /* a first and a last address */
	bool has_size; /* 2^64 bytes have none; an empty range is 0 */
	uint64_t base, limit, size;
};

/*
 * "[mem 0x1000-0x1fff 64bit pref]", "[mem size 0x1000]", "[io  0x03b0]", "[bus 00-ff]",
 * "[??? 0x00000000 flags 0x0]", "[e0000000-efffffff]": false unless its ']' is there.
 */
bool klog_range(const char **p, struct klog_range *ret);

/*
 * Matches S against FMT from the start and stores what the fields say. In FMT: %u
 * decimal, %x hex with or without 0x, %w a word that is not stored, %* any text up to the
 * character behind it, ' ' one or more blanks; all else stands for itself. What follows
 * the match is free. Returns the number of fields stored (at most MAX), or -1.
 */
int klog_match(const char *s, const char *fmt, uint64_t *ret, int max);

/* The first "dddd:bb:dd.f" in S that stands as a word; false when there is none. */
bool klog_find_addr(const char *s, struct pcie_addr *ret);
