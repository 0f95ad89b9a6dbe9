/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LEB128 numbers of up to 64 bits. Pure; any thread. */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

enum { VARINT_MAX = 10 };

/* Writes V at P (VARINT_MAX bytes of room); returns the bytes used. */
static inline size_t varint_put(uint8_t *p, uint64_t v)
{
	size_t n = 0;
	for (; v >= 0x80; v >>= 7) {
		p[n++] = (uint8_t)(v | 0x80);
	}
	p[n++] = (uint8_t)v;
	return n;
}

/* Reads one number at *AT and moves it on. -EBADMSG: cut off, or more than 64 bits. */
static inline int varint_get(const uint8_t *data, size_t len, size_t *at, uint64_t *ret)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		if (*at >= len) {
			return -EBADMSG;
		}
		uint8_t b = data[(*at)++];
		if (shift == 63 && b > 1) {
			return -EBADMSG;
		}
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			*ret = v;
			return 0;
		}
	}
	return -EBADMSG;
}
