/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/hist.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "runs/varint.h"

__extension__ typedef unsigned __int128 u128;

enum { VERSION = 2, MAX_BITS = 16, SLACK = 16 };

/*
 * A bucket's bytes: below 0x80 step − 1 in bits 4 to 6 and count − 1 in bits 0 to 3; from 0x80 to
 * 0xfe step − 1 in bits 0 to 6, then the count; 0xff, then both. Most buckets of a second are of
 * the first kind: tails, where neighbours are near and counts small.
 */
enum { SHORT_STEP = 8, SHORT_COUNT = 16, LONG = 0x80, LONG_STEP = 127, FREE = 0xff };

uint32_t runs_hist_buckets(unsigned bits)
{
	return (65 - bits) << bits;
}

uint32_t runs_hist_index(unsigned bits, uint64_t ns)
{
	if (ns < (uint64_t)2 << bits) {
		return (uint32_t)ns;
	}
	unsigned shift = 63u - (unsigned)__builtin_clzll(ns) - bits;
	return (shift << bits) + (uint32_t)(ns >> shift);
}

uint64_t runs_hist_edge(unsigned bits, uint32_t i, uint64_t *ret_width)
{
	unsigned shift = i >> bits;
	shift = shift ? shift - 1 : 0;
	*ret_width = (uint64_t)1 << shift;
	return (uint64_t)(i - (shift << bits)) << shift;
}

void runs_hist_init(struct runs_hist *h, unsigned bits)
{
	*h = (struct runs_hist){.bits = (uint8_t)bits, .min = UINT64_MAX};
}

void runs_hist_finish(struct runs_hist *h)
{
	free(h->count);
	runs_hist_init(h, h->bits);
}

void runs_hist_reset(struct runs_hist *h)
{
	if (h->count) {
		memset(h->count, 0, h->n * sizeof(*h->count));
	}
	h->total = h->sum = h->max = 0;
	h->min = UINT64_MAX;
}

/* Makes the counts reach from FIRST to LAST. */
static void cover(struct runs_hist *h, uint32_t first, uint32_t last)
{
	uint32_t end = h->lo + h->n;
	if (h->n && first >= h->lo && last < end) {
		return;
	}
	uint32_t all = runs_hist_buckets(h->bits);
	uint32_t lo = first > SLACK ? first - SLACK : 0;
	uint32_t hi = MIN(last + SLACK, all);
	if (h->n) {
		lo = MIN(lo, h->lo);
		hi = MAX(hi, end);
	}
	uint64_t *count = xcalloc(hi - lo, sizeof(*count));
	if (h->n) {
		memcpy(count + (h->lo - lo), h->count, h->n * sizeof(*count));
	}
	free(h->count);
	h->count = count;
	h->lo = lo;
	h->n = hi - lo;
}

static uint64_t add_sat(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void runs_hist_add_n(struct runs_hist *h, uint64_t ns, uint64_t n)
{
	if (!n) {
		return;
	}
	uint32_t i = runs_hist_index(h->bits, ns);
	cover(h, i, i);
	h->count[i - h->lo] += n;
	h->total += n;
	uint64_t product;
	h->sum = __builtin_mul_overflow(ns, n, &product) ? UINT64_MAX : add_sat(h->sum, product);
	h->min = MIN(h->min, ns);
	h->max = MAX(h->max, ns);
}

void runs_hist_add(struct runs_hist *h, uint64_t ns)
{
	runs_hist_add_n(h, ns, 1);
}

/* Bucket I of a histogram with BITS as a bucket of DST, which is not finer. */
static uint32_t convert(const struct runs_hist *dst, unsigned bits, uint32_t i)
{
	uint64_t width;
	return dst->bits == bits ? i : runs_hist_index(dst->bits, runs_hist_edge(bits, i, &width));
}

int runs_hist_merge(struct runs_hist *dst, const struct runs_hist *src)
{
	if (src->bits < dst->bits) {
		return -EINVAL;
	}
	if (!src->total) {
		return 0;
	}
	cover(dst, runs_hist_index(dst->bits, src->min), runs_hist_index(dst->bits, src->max));
	for (uint32_t i = 0; i < src->n; i++) {
		if (src->count[i]) {
			dst->count[convert(dst, src->bits, src->lo + i) - dst->lo] += src->count[i];
		}
	}
	dst->total += src->total;
	dst->sum = add_sat(dst->sum, src->sum);
	dst->min = MIN(dst->min, src->min);
	dst->max = MAX(dst->max, src->max);
	return 0;
}

uint64_t runs_hist_quantile(const struct runs_hist *h, double q)
{
	if (!h->total) {
		return 0;
	}
	if (q <= 0) {
		return h->min;
	}
	if (q >= 1) {
		return h->max;
	}
	/* The little more: 0.29 × 100 must not be rank 28. */
	double rank = q * (double)(h->total - 1) + 1e-9;
	uint64_t whole = (uint64_t)rank, before = 0;
	for (uint32_t i = 0; i < h->n; i++) {
		uint64_t c = h->count[i];
		if (whole < before + c) {
			uint64_t width, low = runs_hist_edge(h->bits, h->lo + i, &width);
			double in = (rank - (double)before + 0.5) / (double)c;
			uint64_t v = low + MIN((uint64_t)((double)width * in), width - 1);
			return MAX(h->min, MIN(v, h->max));
		}
		before += c;
	}
	return h->max;
}

double runs_hist_mean(const struct runs_hist *h)
{
	return h->total ? (double)h->sum / (double)h->total : 0;
}

double runs_hist_band(const struct runs_hist *h)
{
	double p50 = (double)runs_hist_quantile(h, 0.5);
	if (p50 <= 0) {
		return NAN;
	}
	double p5 = (double)runs_hist_quantile(h, 0.05), p95 = (double)runs_hist_quantile(h, 0.95);
	return (p95 - p5) / 2 / p50;
}

uint64_t runs_hist_above(const struct runs_hist *h, uint64_t ns)
{
	uint32_t first = runs_hist_index(h->bits, ns);
	uint64_t n = 0;
	for (uint32_t i = first > h->lo ? first - h->lo : 0; i < h->n; i++) {
		n += h->count[i];
	}
	return n;
}

double runs_hist_time_above(const struct runs_hist *h, uint64_t ns)
{
	uint32_t first = runs_hist_index(h->bits, ns);
	double above = 0, all = 0;
	for (uint32_t i = 0; i < h->n; i++) {
		uint64_t width, low = runs_hist_edge(h->bits, h->lo + i, &width);
		double t = (double)h->count[i] * ((double)low + (double)(width - 1) / 2);
		all += t;
		above += h->lo + i >= first ? t : 0;
	}
	return all > 0 ? above / all : 0;
}

bool runs_enough(double n, double q)
{
	double tail = q < 0.5 ? q : 1 - q;
	return n * tail >= 4 - 1e-6;
}

static size_t bucket_put(uint8_t *p, uint64_t step, uint64_t count)
{
	size_t n = 1;
	if (step >= 1 && step <= SHORT_STEP && count <= SHORT_COUNT) {
		p[0] = (uint8_t)((step - 1) << 4 | (count - 1));
		return n;
	}
	if (step >= 1 && step <= LONG_STEP) {
		p[0] = (uint8_t)(LONG + step - 1);
	} else {
		p[0] = FREE;
		n += varint_put(p + n, step);
	}
	return n + varint_put(p + n, count);
}

static int bucket_get(const uint8_t *data, size_t len, unsigned version, size_t *at,
	uint64_t *ret_step, uint64_t *ret_count)
{
	if (version > 1) {
		if (*at >= len) {
			return -EBADMSG;
		}
		uint8_t b = data[(*at)++];
		if (b < LONG) {
			*ret_step = (b >> 4) + 1u;
			*ret_count = (b & 15) + 1u;
			return 0;
		}
		if (b != FREE) {
			*ret_step = b - LONG + 1u;
			return varint_get(data, len, at, ret_count);
		}
	}
	int r = varint_get(data, len, at, ret_step);
	return r ? r : varint_get(data, len, at, ret_count);
}

size_t runs_hist_pack(const struct runs_hist *h, uint8_t **ret)
{
	uint32_t filled = 0;
	for (uint32_t i = 0; i < h->n; i++) {
		filled += h->count[i] != 0;
	}
	uint8_t *buf = xmalloc(2 + 5 * VARINT_MAX + (size_t)filled * (4 + VARINT_MAX));
	size_t at = 0;
	buf[at++] = VERSION;
	buf[at++] = h->bits;
	at += varint_put(buf + at, h->total);
	at += varint_put(buf + at, h->sum);
	at += varint_put(buf + at, h->total ? h->min : 0);
	at += varint_put(buf + at, h->total ? h->max - h->min : 0);
	at += varint_put(buf + at, filled);
	uint32_t last = 0;
	for (uint32_t i = 0; i < h->n; i++) {
		if (h->count[i]) {
			at += bucket_put(buf + at, h->lo + i - last, h->count[i]);
			last = h->lo + i;
		}
	}
	*ret = buf;
	return at;
}

/* What stands before the buckets. */
struct head {
	unsigned version, bits;
	uint64_t total, sum, min, max, filled;
	size_t at; /* where the buckets start */
};

static int read_head(const uint8_t *data, size_t len, struct head *ret)
{
	if (len < 2) {
		return -EBADMSG;
	}
	if (data[0] < 1 || data[0] > VERSION) {
		return data[0] ? -EPROTONOSUPPORT : -EBADMSG;
	}
	struct head h = {.version = data[0], .bits = data[1], .at = 2};
	uint64_t span;
	if (h.bits < 1 || h.bits > MAX_BITS || varint_get(data, len, &h.at, &h.total) ||
		varint_get(data, len, &h.at, &h.sum) || varint_get(data, len, &h.at, &h.min) ||
		varint_get(data, len, &h.at, &span) || varint_get(data, len, &h.at, &h.filled) ||
		span > UINT64_MAX - h.min || h.filled > runs_hist_buckets(h.bits) ||
		!h.total != !h.filled) {
		return -EBADMSG;
	}
	h.max = h.min + span;
	u128 least = (u128)h.min * h.total, most = (u128)h.max * h.total;
	if ((h.sum < least && h.sum != UINT64_MAX) || h.sum > most) {
		return -EBADMSG;
	}
	*ret = h;
	return 0;
}

/* Walks the buckets; with DST not NULL adds them to it, which then must cover them. */
static int walk(const struct head *h, const uint8_t *data, size_t len, struct runs_hist *dst)
{
	size_t at = h->at;
	uint64_t i = 0, sum = 0, first = 0;
	for (uint64_t k = 0; k < h->filled; k++) {
		uint64_t step, c;
		if (bucket_get(data, len, h->version, &at, &step, &c) || !c || (k && !step) ||
			step >= runs_hist_buckets(h->bits) || c > UINT64_MAX - sum) {
			return -EBADMSG;
		}
		i += step;
		sum += c;
		first = k ? first : i;
		if (i >= runs_hist_buckets(h->bits)) {
			return -EBADMSG;
		}
		if (dst) {
			dst->count[convert(dst, h->bits, (uint32_t)i) - dst->lo] += c;
		}
	}
	if (at != len || sum != h->total ||
		(h->filled && (first != runs_hist_index(h->bits, h->min) ||
				      i != runs_hist_index(h->bits, h->max)))) {
		return -EBADMSG;
	}
	return 0;
}

int runs_hist_merge_packed(struct runs_hist *dst, const uint8_t *data, size_t len)
{
	struct head h;
	int r = read_head(data, len, &h);
	if (!r) {
		r = walk(&h, data, len, NULL);
	}
	if (r) {
		return r;
	}
	if (h.bits < dst->bits) {
		return -EINVAL;
	}
	if (!h.total) {
		return 0;
	}
	cover(dst, runs_hist_index(dst->bits, h.min), runs_hist_index(dst->bits, h.max));
	walk(&h, data, len, dst);
	dst->total += h.total;
	dst->sum = add_sat(dst->sum, h.sum);
	dst->min = MIN(dst->min, h.min);
	dst->max = MAX(dst->max, h.max);
	return 0;
}

int runs_hist_parse(struct runs_hist *h, const uint8_t *data, size_t len)
{
	struct head head;
	int r = read_head(data, len, &head);
	if (r) {
		return r;
	}
	struct runs_hist fresh;
	runs_hist_init(&fresh, head.bits);
	r = runs_hist_merge_packed(&fresh, data, len);
	if (r) {
		runs_hist_finish(&fresh);
		return r;
	}
	runs_hist_finish(h);
	*h = fresh;
	return 0;
}
