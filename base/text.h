/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text: a string that grows, strict numbers, sizes for people.
 * Pure functions; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"

/* A string that grows; always NUL-terminated once something was added. */
struct text {
	char *s;
	size_t len, cap;
};

void text_add(struct text *t, const char *s);
void text_addn(struct text *t, const char *s, size_t n);
void text_addf(struct text *t, const char *fmt, ...) PRINTF(2, 3);
void text_finish(struct text *t);
/* Hands over the string (never NULL) and empties T. The caller frees it. */
char *text_steal(struct text *t);

/* Copies at most SIZE - 1 bytes and always terminates; cuts on a UTF-8 character's boundary. */
void text_copy(char *dst, size_t size, const char *src);

/* Without leading and trailing white space, in place; returns the new start. */
char *text_trim(char *s);

/*
 * Whole-string numbers: no sign, no blank, nothing after the last digit.
 * BASE 10, 16 (with or without 0x) or 0 (0x decides). -EINVAL, -ERANGE.
 */
int text_parse_u64(const char *s, int base, uint64_t *ret);

/* "32G", "16 GiB", "256MB", "1048576": binary units, to bytes. -EINVAL, -ERANGE. */
int text_parse_size(const char *s, uint64_t *ret_bytes);

enum { TEXT_SIZE_MAX = 24 };
/* Bytes for a person: "16 GiB", "11.5 GiB", "640 KiB", "24 B". Returns BUF. */
const char *text_size(uint64_t bytes, char buf[static TEXT_SIZE_MAX]);
/* The same in powers of ten, beside bytes a second: "90.2 MB", "15.4 kB", "24 B". */
const char *text_size10(uint64_t bytes, char buf[static TEXT_SIZE_MAX]);

enum { TEXT_TIME_MAX = 24 };
/* Nanoseconds for a person: "812 ns", "21.7 µs", "3.91 ms", "1.20 s". Returns BUF. */
const char *text_ns(uint64_t ns, char buf[static TEXT_TIME_MAX]);

/*
 * Decodes one UTF-8 character from the N bytes at S; returns the bytes used
 * (0 when N is 0). A bad byte yields U+FFFD and 1.
 */
size_t text_utf8_decode(const char *s, size_t n, uint32_t *ret_ch);
/* Encodes CH into BUF (4 bytes), returns the number of bytes. */
size_t text_utf8_encode(uint32_t ch, char buf[static 4]);
/* Columns that CH takes on a terminal: 0 (combining, control), 1 or 2 (wide). */
int text_width(uint32_t ch);
