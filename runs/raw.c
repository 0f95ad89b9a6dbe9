/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/raw.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/gz.h"
#include "base/macros.h"
#include "runs/varint.h"

enum { VERSION = 1, NUMBERS = 9 };

static uint64_t zigzag(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static uint64_t unzigzag(uint64_t v)
{
	return (v >> 1) ^ -(v & 1);
}

void runs_raw_add(struct runs_raw *r, const struct stress_sample *s)
{
	if (r->cap - r->len < 1 + NUMBERS * VARINT_MAX) {
		r->cap = MAX(r->cap * 2, (size_t)4096);
		r->data = xreallocarray(r->data, r->cap, 1);
	}
	if (!r->len) {
		r->data[r->len++] = VERSION;
	}
	uint8_t *p = r->data + r->len;
	p += varint_put(p, s->flags);
	p += varint_put(p, s->seq - r->last.seq);
	p += varint_put(p, zigzag((int64_t)(s->submit_ns - r->last.done_ns)));
	p += varint_put(p, s->done_ns - s->submit_ns);
	if (s->flags & STRESS_HAS_DEVICE) {
		p += varint_put(p, zigzag((int64_t)(s->start_ns - s->submit_ns)));
		p += varint_put(p, s->end_ns - s->start_ns);
	}
	if (s->flags & STRESS_HAS_CYCLES) {
		p += varint_put(p, s->cycles);
	}
	p += varint_put(p, s->copy);
	if (s->flags & STRESS_HAS_HASH) {
		p += varint_put(p, s->hash);
	}
	r->len = (size_t)(p - r->data);
	r->last = *s;
	r->n++;
}

int runs_raw_take(struct runs_raw *r, uint8_t **ret, size_t *ret_len)
{
	char *packed = NULL;
	size_t len = 0;
	int e = r->n ? gz_pack((const char *)r->data, r->len, &packed, &len) : 0;
	r->len = r->n = 0;
	memset(&r->last, 0, sizeof(r->last));
	if (e) {
		return e;
	}
	*ret = (uint8_t *)packed;
	*ret_len = len;
	return 0;
}

void runs_raw_finish(struct runs_raw *r)
{
	free(r->data);
	memset(r, 0, sizeof(*r));
}

/* One sample from DATA at *AT, after LAST. */
static int read_one(const uint8_t *data, size_t len, size_t *at, const struct stress_sample *last,
	struct stress_sample *ret)
{
	struct stress_sample s = {0};
	uint64_t flags, v;
	if (varint_get(data, len, at, &flags) || flags > UINT32_MAX) {
		return -EBADMSG;
	}
	s.flags = (uint32_t)flags;
	bool bad = varint_get(data, len, at, &v);
	s.seq = last->seq + v;
	bad = bad || varint_get(data, len, at, &v);
	s.submit_ns = last->done_ns + unzigzag(v);
	bad = bad || varint_get(data, len, at, &v);
	s.done_ns = s.submit_ns + v;
	if (!bad && (s.flags & STRESS_HAS_DEVICE)) {
		bad = varint_get(data, len, at, &v);
		s.start_ns = s.submit_ns + unzigzag(v);
		bad = bad || varint_get(data, len, at, &v);
		s.end_ns = s.start_ns + v;
	}
	if (!bad && (s.flags & STRESS_HAS_CYCLES)) {
		bad = varint_get(data, len, at, &s.cycles);
	}
	bad = bad || varint_get(data, len, at, &v) || v > UINT32_MAX;
	s.copy = (uint32_t)v;
	if (!bad && (s.flags & STRESS_HAS_HASH)) {
		bad = varint_get(data, len, at, &s.hash);
	}
	if (bad) {
		return -EBADMSG;
	}
	*ret = s;
	return 0;
}

int runs_raw_parse(const uint8_t *data, size_t len, struct stress_sample **ret, size_t *ret_n)
{
	const size_t max = 256 * MIB;
	_cleanup_free_ char *buf = NULL;
	size_t n, count = 0, cap = 0, at = 1;
	bool cut = false;
	if (gz_unpack((const char *)data, len, max, &buf, &n, &cut, NULL) || cut || n < 1 ||
		buf[0] != VERSION) {
		return -EBADMSG;
	}
	_cleanup_free_ struct stress_sample *s = NULL;
	struct stress_sample last = {0};
	while (at < n) {
		s = xgrow(s, count, &cap, sizeof(*s));
		if (read_one((const uint8_t *)buf, n, &at, &last, &s[count])) {
			return -EBADMSG;
		}
		last = s[count++];
	}
	*ret = s;
	*ret_n = count;
	s = NULL;
	return 0;
}
