/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/series.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"

enum { SECOND = 1000000000 };

/* Bytes of an ordinary packed histogram. */
enum { SLOT_ROOM = 160, BLOCK_ROOM = 384 };

/*
 * A stretch of time with what came in it. BLOB, the packed histogram, lies in the level's pool, or
 * is the part's own where it did not fit; it stays with its place in the ring.
 */
struct part {
	uint64_t start; /* ns; a multiple of the level's width */
	uint8_t *blob;
	size_t len, room;
	bool own;
};

/* Closed parts in order of time. A ring: FIRST is the oldest's place. */
struct level {
	uint64_t width;
	struct part *part;
	uint32_t cap, first, n;
	uint8_t *pool; /* room for ordinary blobs; NULL: nothing was kept yet */
	size_t room;   /* of each */
	uint64_t open; /* start of the part that is being filled */
	struct runs_hist hist;
};

struct runs_series {
	uint64_t count, first, last;
	struct runs_point *recent; /* ring */
	uint32_t nrecent, at;      /* its room; where the next one goes */
	struct level slots, blocks;
	uint64_t block_width; /* what blocks start with */
};

void runs_series_options_init(struct runs_series_options *o)
{
	*o = (struct runs_series_options){
		.slot_ns = 50000000,
		.nslot = 3600,
		.nblock = 2048,
		.nrecent = 16384,
	};
}

static void level_init(struct level *l, uint64_t width, uint32_t cap, size_t room)
{
	*l = (struct level){.width = width, .cap = cap, .room = room};
	l->part = xcalloc(cap, sizeof(*l->part));
	runs_hist_init(&l->hist, RUNS_HIST_1PCT);
}

static struct part *part_at(const struct level *l, uint32_t i)
{
	return &l->part[(l->first + i) % l->cap];
}

static void level_clear(struct level *l)
{
	l->first = l->n = 0;
	l->open = 0;
	runs_hist_reset(&l->hist);
}

static void level_finish(struct level *l)
{
	for (uint32_t i = 0; i < l->cap; i++) {
		if (l->part[i].own) {
			free(l->part[i].blob);
		}
	}
	free(l->part);
	free(l->pool);
	runs_hist_finish(&l->hist);
}

/*
 * The pool is taken, and written to, as a whole when the first part is kept: what a run needs is
 * there from its first second on, and does not grow with it.
 */
static void need_pool(struct level *l)
{
	if (l->pool) {
		return;
	}
	l->pool = xmalloc(l->cap * l->room);
	memset(l->pool, 0, l->cap * l->room);
	for (uint32_t i = 0; i < l->cap; i++) {
		l->part[i].blob = l->pool + i * l->room;
		l->part[i].room = l->room;
	}
}

/* H as P's blob. */
static void part_store(struct part *p, const struct runs_hist *h)
{
	_cleanup_free_ uint8_t *packed = NULL;
	p->len = runs_hist_pack(h, &packed);
	if (p->len > p->room) {
		p->blob = xreallocarray(p->own ? p->blob : NULL, p->len, 1);
		p->room = p->len;
		p->own = true;
	}
	memcpy(p->blob, packed, p->len);
}

/* Ends the open part; in a full ring the oldest makes room. */
static void level_close(struct level *l)
{
	if (!l->hist.total) {
		return;
	}
	if (l->n == l->cap) {
		l->first = (l->first + 1) % l->cap;
		l->n--;
	}
	need_pool(l);
	struct part *p = part_at(l, l->n++);
	p->start = l->open;
	part_store(p, &l->hist);
	runs_hist_reset(&l->hist);
}

/* Doubles the width: parts that now share a stretch become one. */
static void level_fold(struct level *l)
{
	struct runs_hist sum;
	runs_hist_init(&sum, RUNS_HIST_1PCT);
	uint32_t n = 0;
	l->width *= 2;
	for (uint32_t i = 0; i < l->n; i++) {
		struct part *p = part_at(l, i);
		uint64_t start = p->start - p->start % l->width;
		struct part *q = n ? part_at(l, n - 1) : NULL;
		if (q && q->start == start) {
			runs_hist_reset(&sum);
			runs_hist_merge_packed(&sum, q->blob, q->len);
			runs_hist_merge_packed(&sum, p->blob, p->len);
			part_store(q, &sum);
		} else {
			/* The room that stood there stays in the ring. */
			struct part *to = part_at(l, n++), old = *to;
			*to = *p;
			to->start = start;
			if (to != p) {
				*p = old;
			}
		}
	}
	l->n = n;
	l->open -= l->open % l->width;
	runs_hist_finish(&sum);
}

static void level_add(struct level *l, uint64_t t, uint64_t value, bool fold)
{
	uint64_t start = t - t % l->width;
	if (start > l->open || !l->hist.total) {
		level_close(l);
		while (fold && l->n == l->cap) {
			level_fold(l);
			start = t - t % l->width;
		}
		/* After folding, the last part may be the one this sample belongs to. */
		struct part *last = l->n ? part_at(l, l->n - 1) : NULL;
		if (fold && last && last->start == start) {
			runs_hist_merge_packed(&l->hist, last->blob, last->len);
			l->n--;
		}
		l->open = MAX(l->open, start);
	}
	runs_hist_add(&l->hist, value);
}

struct runs_series *runs_series_create(const struct runs_series_options *o)
{
	struct runs_series_options defaults;
	if (!o) {
		runs_series_options_init(&defaults);
		o = &defaults;
	}
	struct runs_series *s = xcalloc(1, sizeof(*s));
	s->nrecent = MAX(o->nrecent, 1u);
	s->recent = xcalloc(s->nrecent, sizeof(*s->recent));
	s->block_width = SECOND;
	level_init(&s->slots, MAX(o->slot_ns, (uint64_t)1), MAX(o->nslot, 1u), SLOT_ROOM);
	level_init(&s->blocks, s->block_width, MAX(o->nblock, 2u), BLOCK_ROOM);
	return s;
}

void runs_series_destroy(struct runs_series *s)
{
	if (!s) {
		return;
	}
	level_finish(&s->slots);
	level_finish(&s->blocks);
	free(s->recent);
	free(s);
}

void runs_series_clear(struct runs_series *s)
{
	s->count = s->first = s->last = 0;
	s->at = 0;
	level_clear(&s->slots);
	level_clear(&s->blocks);
	s->blocks.width = s->block_width;
}

void runs_series_add(struct runs_series *s, uint64_t t_ns, uint64_t value)
{
	if (!s->count) {
		s->first = s->last = t_ns;
	}
	s->last = t_ns = MAX(t_ns, s->last);
	s->count++;
	s->recent[s->at] = (struct runs_point){t_ns, value};
	s->at = (s->at + 1) % s->nrecent;
	level_add(&s->slots, t_ns, value, false);
	level_add(&s->blocks, t_ns, value, true);
}

uint64_t runs_series_count(const struct runs_series *s)
{
	return s->count;
}

uint64_t runs_series_first(const struct runs_series *s)
{
	return s->first;
}

uint64_t runs_series_last(const struct runs_series *s)
{
	return s->last;
}

static uint32_t kept(const struct runs_series *s)
{
	return s->count < s->nrecent ? (uint32_t)s->count : s->nrecent;
}

/* The I-th sample kept, 0 the oldest. */
static const struct runs_point *recent_at(const struct runs_series *s, uint32_t i)
{
	return &s->recent[(s->at + s->nrecent - kept(s) + i) % s->nrecent];
}

/* The first kept sample at or after FROM. */
static uint32_t recent_find(const struct runs_series *s, uint64_t from)
{
	uint32_t lo = 0, hi = kept(s);
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (recent_at(s, mid)->t_ns < from) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

size_t runs_series_recent(
	const struct runs_series *s, uint64_t from_ns, struct runs_point *ret, size_t max)
{
	uint32_t first = recent_find(s, from_ns), n = kept(s) - first;
	if (n > max) {
		first += n - (uint32_t)max;
		n = (uint32_t)max;
	}
	for (uint32_t i = 0; i < n; i++) {
		ret[i] = *recent_at(s, first + i);
	}
	return n;
}

/* The finest level that reaches back to FROM; NULL: the samples do. */
static const struct level *level_for(const struct runs_series *s, uint64_t from)
{
	from = MAX(from, s->first);
	if (kept(s) == s->count || recent_at(s, 0)->t_ns < from) {
		return NULL;
	}
	const struct level *l = &s->slots;
	if (l->n < l->cap || part_at(l, 0)->start <= from) {
		return l;
	}
	return &s->blocks;
}

uint64_t runs_series_grain(const struct runs_series *s, uint64_t from_ns)
{
	const struct level *l = level_for(s, from_ns);
	return l ? l->width : 1;
}

/* The first closed part whose middle is at or after FROM. */
static uint32_t level_find(const struct level *l, uint64_t from)
{
	uint32_t lo = 0, hi = l->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (part_at(l, mid)->start + l->width / 2 < from) {
			lo = mid + 1;
		} else {
			hi = mid;
		}
	}
	return lo;
}

/* Adds what L (NULL: the samples) has in [FROM, TO). */
static void sum_up(const struct runs_series *s, const struct level *l, uint64_t from, uint64_t to,
	struct runs_hist *h)
{
	if (!l) {
		for (uint32_t i = recent_find(s, from); i < kept(s); i++) {
			const struct runs_point *p = recent_at(s, i);
			if (p->t_ns >= to) {
				return;
			}
			runs_hist_add(h, p->value);
		}
		return;
	}
	for (uint32_t i = level_find(l, from); i < l->n; i++) {
		const struct part *p = part_at(l, i);
		if (p->start + l->width / 2 >= to) {
			return;
		}
		runs_hist_merge_packed(h, p->blob, p->len);
	}
	/* The open part counts by its middle as well, or by the last sample as long as that is
	 * earlier.
	 */
	uint64_t middle = MIN(l->open + l->width / 2, s->last);
	if (middle >= from && middle < to) {
		runs_hist_merge(h, &l->hist);
	}
}

void runs_series_hist(
	const struct runs_series *s, uint64_t from_ns, uint64_t to_ns, struct runs_hist *h)
{
	if (s->count) {
		sum_up(s, level_for(s, from_ns), from_ns, to_ns, h);
	}
}

void runs_series_columns(const struct runs_series *s, uint64_t from_ns, uint64_t to_ns, size_t n,
	struct runs_column *ret)
{
	memset(ret, 0, n * sizeof(*ret));
	if (!n || to_ns <= from_ns || !s->count) {
		return;
	}
	/* One level for all columns: at a border between two, samples would count twice or not. */
	const struct level *l = level_for(s, from_ns);
	struct runs_hist h;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	double step = (double)(to_ns - from_ns) / (double)n;
	for (size_t i = 0; i < n; i++) {
		uint64_t a = from_ns + (uint64_t)(step * (double)i);
		uint64_t b = i + 1 == n ? to_ns : from_ns + (uint64_t)(step * (double)(i + 1));
		if (b <= s->first || a > s->last) {
			continue;
		}
		runs_hist_reset(&h);
		sum_up(s, l, a, b, &h);
		if (h.total) {
			ret[i] = (struct runs_column){h.total, h.min, runs_hist_quantile(&h, 0.05),
				runs_hist_quantile(&h, 0.5), runs_hist_quantile(&h, 0.95), h.max};
		}
	}
	runs_hist_finish(&h);
}

static size_t level_memory(const struct level *l)
{
	size_t n = l->cap * sizeof(*l->part) + l->hist.n * sizeof(*l->hist.count);
	for (uint32_t i = 0; i < l->n; i++) {
		n += part_at(l, i)->len;
	}
	return n;
}

size_t runs_series_memory(const struct runs_series *s)
{
	return sizeof(*s) + s->nrecent * sizeof(*s->recent) + level_memory(&s->slots) +
	       level_memory(&s->blocks);
}
