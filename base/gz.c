/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/gz.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>

#include <zlib.h>

#include "base/alloc.h"
#include "base/text.h"

enum { CHUNK = 1 << 18, WBITS_GZIP = 15 + 16 };

bool gz_is(const char *data, size_t len)
{
	return len >= 2 && (unsigned char)data[0] == 0x1f && (unsigned char)data[1] == 0x8b;
}

/* Unpacks until the end, an error or MAX; returns zlib's last status. */
static int inflate_all(z_stream *z, size_t max, char **buf, size_t *len)
{
	size_t cap = 0;
	for (;;) {
		if (cap - *len < CHUNK) {
			cap = cap ? cap * 2 : 4 * (size_t)CHUNK;
			*buf = xreallocarray(*buf, cap + 1, 1);
		}
		size_t room = cap - *len;
		uInt ask = room > (1u << 30) ? 1u << 30 : (uInt)room;
		z->next_out = (Bytef *)*buf + *len;
		z->avail_out = ask;
		int r = inflate(z, Z_NO_FLUSH);
		*len += ask - z->avail_out;
		if (*len > max) {
			return Z_MEM_ERROR;
		}
		if (r == Z_STREAM_END) {
			if (z->avail_in == 0 || inflateReset(z) != Z_OK ||
				!gz_is((const char *)z->next_in, z->avail_in)) {
				return r;
			}
			continue;
		}
		if (r != Z_OK) {
			return r;
		}
	}
}

int gz_unpack(const char *data, size_t len, size_t max, char **ret, size_t *ret_len, bool *ret_cut,
	struct why *why)
{
	if (len > UINT_MAX) {
		why_set(why, "the gzip data is too long");
		return -EFBIG;
	}
	z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len};
	if (inflateInit2(&z, WBITS_GZIP) != Z_OK) {
		return -ENOMEM;
	}
	char *buf = NULL;
	size_t n = 0;
	int r = inflate_all(&z, max, &buf, &n);
	inflateEnd(&z);
	if (r == Z_MEM_ERROR) {
		free(buf);
		char size[TEXT_SIZE_MAX];
		why_set(why, "the gzip data unpacks to more than %s", text_size(max, size));
		return -EFBIG;
	}
	if (r != Z_STREAM_END && n == 0) {
		free(buf);
		why_set(why, "the gzip data is damaged");
		return -EBADMSG;
	}
	buf[n] = '\0';
	*ret = buf;
	*ret_len = n;
	*ret_cut = r != Z_STREAM_END;
	return 0;
}

int gz_pack(const char *data, size_t len, char **ret, size_t *ret_len)
{
	z_stream z = {.next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)len};
	if (len > UINT_MAX) {
		return -EFBIG;
	}
	if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, WBITS_GZIP, 8,
		    Z_DEFAULT_STRATEGY) != Z_OK) {
		return -ENOMEM;
	}
	uLong bound = deflateBound(&z, (uLong)len);
	char *buf = xmalloc(bound);
	z.next_out = (Bytef *)buf;
	z.avail_out = (uInt)bound;
	int r = deflate(&z, Z_FINISH);
	*ret_len = bound - z.avail_out;
	deflateEnd(&z);
	if (r != Z_STREAM_END) {
		free(buf);
		return -EIO;
	}
	*ret = buf;
	return 0;
}
