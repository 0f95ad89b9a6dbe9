/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "base/alloc.h"

static void reserve(struct text *t, size_t more)
{
	size_t need = t->len + more + 1;
	if (need <= t->cap) {
		return;
	}
	size_t cap = t->cap ? t->cap : 64;
	while (cap < need) {
		cap *= 2;
	}
	t->s = xreallocarray(t->s, cap, 1);
	t->cap = cap;
}

void text_addn(struct text *t, const char *s, size_t n)
{
	reserve(t, n);
	memcpy(t->s + t->len, s, n);
	t->len += n;
	t->s[t->len] = '\0';
}

void text_add(struct text *t, const char *s)
{
	text_addn(t, s, strlen(s));
}

void text_addf(struct text *t, const char *fmt, ...)
{
	va_list ap, again;
	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n > 0) {
		reserve(t, (size_t)n);
		vsnprintf(t->s + t->len, (size_t)n + 1, fmt, again);
		t->len += (size_t)n;
	}
	va_end(again);
}

void text_finish(struct text *t)
{
	free(t->s);
	*t = (struct text){0};
}

char *text_steal(struct text *t)
{
	reserve(t, 0);
	t->s[t->len] = '\0';
	char *s = t->s;
	*t = (struct text){0};
	return s;
}

void text_copy(char *dst, size_t size, const char *src)
{
	if (size == 0) {
		return;
	}
	size_t n = strlen(src);
	if (n >= size) {
		n = size - 1;
		while (n > 0 && ((unsigned char)src[n] & 0xc0) == 0x80) {
			n--;
		}
	}
	memcpy(dst, src, n);
	dst[n] = '\0';
}

char *text_trim(char *s)
{
	while (isspace((unsigned char)*s)) {
		s++;
	}
	size_t n = strlen(s);
	while (n > 0 && isspace((unsigned char)s[n - 1])) {
		s[--n] = '\0';
	}
	return s;
}

int text_parse_u64(const char *s, int base, uint64_t *ret)
{
	if (!isxdigit((unsigned char)s[0])) {
		return -EINVAL;
	}
	if (base == 0) {
		base = s[0] == '0' && (s[1] == 'x' || s[1] == 'X') ? 16 : 10;
	}

	char *end;
	errno = 0;
	unsigned long long v = strtoull(s, &end, base);
	if (errno == ERANGE) {
		return -ERANGE;
	}
	if (end == s || *end) {
		return -EINVAL;
	}
	*ret = v;
	return 0;
}

int text_parse_size(const char *s, uint64_t *ret_bytes)
{
	static const char units[] = "KMGTPE";

	if (!isdigit((unsigned char)s[0])) {
		return -EINVAL;
	}
	char *end;
	errno = 0;
	unsigned long long v = strtoull(s, &end, 10);
	if (errno == ERANGE) {
		return -ERANGE;
	}
	while (*end == ' ') {
		end++;
	}
	unsigned shift = 0;
	const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
		if (*end == 'i') {
			end++;
		}
	}
	if (*end == 'B' || (*end == 'b' && unit)) {
		end++;
	}
	if (*end) {
		return -EINVAL;
	}
	if (shift && v > UINT64_MAX >> shift) {
		return -ERANGE;
	}
	*ret_bytes = (uint64_t)v << shift;
	return 0;
}

const char *text_size(uint64_t bytes, char buf[static TEXT_SIZE_MAX])
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

	unsigned u = 0;
	while (u + 1 < ARRAY_LEN(units) && bytes >> (10 * (u + 1))) {
		u++;
	}
	uint64_t unit = (uint64_t)1 << (10 * u);
	if (bytes % unit == 0) {
		snprintf(buf, TEXT_SIZE_MAX, "%llu %s", (unsigned long long)(bytes / unit),
			units[u]);
	} else {
		double v = (double)bytes / (double)unit;
		snprintf(buf, TEXT_SIZE_MAX, "%.*f %s", v < 10 ? 2 : 1, v, units[u]);
	}
	return buf;
}

const char *text_size10(uint64_t bytes, char buf[static TEXT_SIZE_MAX])
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};

	unsigned u = 0;
	double v = (double)bytes;
	/* 999,950 is 1.0 of the next. */
	while (u + 1 < ARRAY_LEN(units) && v >= (u ? 999.95 : 1000)) {
		v /= 1000;
		u++;
	}
	snprintf(buf, TEXT_SIZE_MAX, "%.*f %s", u ? 1 : 0, v, units[u]);
	return buf;
}

const char *text_ns(uint64_t ns, char buf[static TEXT_TIME_MAX])
{
	static const char *const units[] = {"µs", "ms", "s"};

	if (ns < 1000) {
		snprintf(buf, TEXT_TIME_MAX, "%u ns", (unsigned)ns);
		return buf;
	}
	double v = (double)ns / 1000;
	unsigned u = 0;
	while (u + 1 < ARRAY_LEN(units) && v >= 999.5) {
		v /= 1000;
		u++;
	}
	snprintf(buf, TEXT_TIME_MAX, "%.*f %s", v < 9.995 ? 2 : v < 99.95 ? 1 : 0, v, units[u]);
	return buf;
}

size_t text_utf8_decode(const char *s, size_t n, uint32_t *ret_ch)
{
	const unsigned char *p = (const unsigned char *)s;
	if (n == 0) {
		return 0;
	}
	if (p[0] < 0x80) {
		*ret_ch = p[0];
		return 1;
	}

	size_t len = p[0] >= 0xf0 && p[0] < 0xf5   ? 4
		     : p[0] >= 0xe0 && p[0] < 0xf0 ? 3
		     : p[0] >= 0xc2 && p[0] < 0xe0 ? 2
						   : 0;
	*ret_ch = 0xfffd;
	if (len == 0 || n < len) {
		return 1;
	}
	uint32_t ch = p[0] & (0xff >> (len + 1));
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80) {
			return 1;
		}
		ch = ch << 6 | (p[i] & 0x3f);
	}
	bool overlong = (len == 3 && ch < 0x800) || (len == 4 && ch < 0x10000);
	if (overlong || ch > 0x10ffff || (ch >= 0xd800 && ch < 0xe000)) {
		return 1;
	}
	*ret_ch = ch;
	return len;
}

size_t text_utf8_encode(uint32_t ch, char buf[static 4])
{
	if (ch < 0x80) {
		buf[0] = (char)ch;
		return 1;
	}
	if (ch < 0x800) {
		buf[0] = (char)(0xc0 | ch >> 6);
		buf[1] = (char)(0x80 | (ch & 0x3f));
		return 2;
	}
	if (ch < 0x10000) {
		buf[0] = (char)(0xe0 | ch >> 12);
		buf[1] = (char)(0x80 | (ch >> 6 & 0x3f));
		buf[2] = (char)(0x80 | (ch & 0x3f));
		return 3;
	}
	buf[0] = (char)(0xf0 | ch >> 18);
	buf[1] = (char)(0x80 | (ch >> 12 & 0x3f));
	buf[2] = (char)(0x80 | (ch >> 6 & 0x3f));
	buf[3] = (char)(0x80 | (ch & 0x3f));
	return 4;
}

int text_width(uint32_t ch)
{
	/* The locale decides nothing here: a golden screen is the same everywhere. */
	static const struct {
		uint32_t first, last;
		int width;
	} range[] = {
		{0x0300, 0x036f, 0},
		{0x1100, 0x115f, 2},
		{0x200b, 0x200f, 0},
		{0x20d0, 0x20ff, 0},
		{0x2e80, 0x303e, 2},
		{0x3041, 0x33ff, 2},
		{0x3400, 0x4dbf, 2},
		{0x4e00, 0x9fff, 2},
		{0xa000, 0xa4cf, 2},
		{0xac00, 0xd7a3, 2},
		{0xf900, 0xfaff, 2},
		{0xfe00, 0xfe0f, 0},
		{0xfe30, 0xfe6f, 2},
		{0xff00, 0xff60, 2},
		{0xffe0, 0xffe6, 2},
		{0x1f300, 0x1f64f, 2},
		{0x1f900, 0x1f9ff, 2},
		{0x20000, 0x3fffd, 2},
	};

	if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0)) {
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(range); i++) {
		if (ch >= range[i].first && ch <= range[i].last) {
			return range[i].width;
		}
	}
	return 1;
}
