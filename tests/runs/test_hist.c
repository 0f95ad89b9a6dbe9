/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/hist.h"
#include "runs/varint.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cleanup.h"
#include "base/macros.h"

/* xorshift64: the same numbers on every machine. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static void every_value_lies_in_its_bucket(void **state)
{
	(void)state;
	static const unsigned widths[] = {RUNS_HIST_1PCT, RUNS_HIST_TENTH_PCT};
	for (size_t w = 0; w < ARRAY_LEN(widths); w++) {
		unsigned bits = widths[w];
		for (unsigned e = 0; e < 64; e++) {
			for (int d = -2; d <= 2; d++) {
				uint64_t v = ((uint64_t)1 << e) + (uint64_t)d, width;
				uint32_t i = runs_hist_index(bits, v);
				assert_true(i < runs_hist_buckets(bits));
				uint64_t low = runs_hist_edge(bits, i, &width);
				assert_true(low <= v && v - low < width);
				assert_true(
					(double)(width - 1) <= (double)v / (double)(1u << bits));
			}
		}
		assert_int_equal(runs_hist_index(bits, UINT64_MAX), runs_hist_buckets(bits) - 1);
		/* No hole and no overlap between neighbours. */
		uint64_t expect = 0;
		for (uint32_t i = 0; i < runs_hist_buckets(bits); i++) {
			uint64_t width;
			assert_true(runs_hist_edge(bits, i, &width) == expect);
			assert_int_equal(runs_hist_index(bits, expect), i);
			expect += width;
		}
		assert_true(expect == 0); /* 2^64 */
	}
}

static void quantiles_hold_the_promised_width(void **state)
{
	(void)state;
	enum { N = 20000 };
	static const double q[] = {0.001, 0.05, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999};
	static const unsigned widths[] = {RUNS_HIST_1PCT, RUNS_HIST_TENTH_PCT};
	uint64_t *v = malloc(N * sizeof(*v)), seed = 42;
	for (size_t w = 0; w < ARRAY_LEN(widths); w++) {
		struct runs_hist h;
		runs_hist_init(&h, widths[w]);
		uint64_t sum = 0;
		for (size_t i = 0; i < N; i++) {
			v[i] = 3000000 + next(&seed) % 900000 + (i % 100 ? 0 : 40000000);
			sum += v[i];
			runs_hist_add(&h, v[i]);
		}
		qsort(v, N, sizeof(*v), by_value);
		assert_true(h.min == v[0] && h.max == v[N - 1] && h.sum == sum && h.total == N);
		assert_true(fabs(runs_hist_mean(&h) - (double)sum / N) < 1);
		for (size_t k = 0; k < ARRAY_LEN(q); k++) {
			double exact = (double)v[(size_t)(q[k] * (N - 1))];
			double got = (double)runs_hist_quantile(&h, q[k]);
			assert_true(fabs(got - exact) <= exact / (double)(1u << widths[w]) + 1);
		}
		assert_true(runs_hist_quantile(&h, 0) == v[0]);
		assert_true(runs_hist_quantile(&h, 1) == v[N - 1]);
		double band =
			((double)v[N * 95 / 100] - (double)v[N * 5 / 100]) / 2 / (double)v[N / 2];
		assert_true(fabs(runs_hist_band(&h) - band) < 1.5 / (double)(1u << widths[w]));
		assert_int_equal(runs_hist_above(&h, 30000000), N / 100);
		double share = runs_hist_time_above(&h, 30000000);
		assert_true(fabs(share - 0.01 * 43.45 / (0.01 * 43.45 + 0.99 * 3.45)) < 0.002);
		runs_hist_finish(&h);
	}
	free(v);
}

static void small_values_are_exact(void **state)
{
	(void)state;
	struct runs_hist h;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	assert_int_equal(runs_hist_quantile(&h, 0.5), 0);
	assert_true(isnan(runs_hist_band(&h)));
	for (uint64_t v = 0; v <= 100; v++) {
		runs_hist_add(&h, v);
	}
	for (unsigned v = 0; v <= 100; v++) {
		assert_int_equal(runs_hist_quantile(&h, v / 100.0), v);
	}
	runs_hist_reset(&h);
	assert_int_equal(h.total, 0);
	runs_hist_add_n(&h, UINT64_MAX, 3);
	assert_true(h.sum == UINT64_MAX && h.max == UINT64_MAX && h.min == UINT64_MAX);
	assert_true(runs_hist_quantile(&h, 0.5) == UINT64_MAX);
	runs_hist_finish(&h);
}

static void merging_equals_adding(void **state)
{
	(void)state;
	struct runs_hist all, part[3], sum, coarse, expect;
	uint64_t seed = 7;
	runs_hist_init(&all, RUNS_HIST_TENTH_PCT);
	runs_hist_init(&sum, RUNS_HIST_TENTH_PCT);
	runs_hist_init(&coarse, RUNS_HIST_1PCT);
	runs_hist_init(&expect, RUNS_HIST_1PCT);
	for (size_t k = 0; k < 3; k++) {
		runs_hist_init(&part[k], RUNS_HIST_TENTH_PCT);
		for (size_t i = 0; i < 1000; i++) {
			uint64_t v = next(&seed) >> (next(&seed) % 60);
			runs_hist_add(&all, v);
			runs_hist_add(&expect, v);
			runs_hist_add(&part[k], v);
		}
		assert_int_equal(runs_hist_merge(&sum, &part[k]), 0);
		assert_int_equal(runs_hist_merge(&coarse, &part[k]), 0);
	}
	_cleanup_free_ uint8_t *a = NULL, *b = NULL, *c = NULL, *d = NULL;
	size_t na = runs_hist_pack(&all, &a), nb = runs_hist_pack(&sum, &b);
	assert_int_equal(na, nb);
	assert_memory_equal(a, b, na);
	size_t nc = runs_hist_pack(&coarse, &c), nd = runs_hist_pack(&expect, &d);
	assert_int_equal(nc, nd);
	assert_memory_equal(c, d, nc);
	/* Coarse into fine would invent precision. */
	assert_int_equal(runs_hist_merge(&all, &coarse), -EINVAL);
	assert_int_equal(runs_hist_merge_packed(&all, c, nc), -EINVAL);
	assert_int_equal(all.total, 3000);
	for (size_t k = 0; k < 3; k++) {
		runs_hist_finish(&part[k]);
	}
	runs_hist_finish(&all);
	runs_hist_finish(&sum);
	runs_hist_finish(&coarse);
	runs_hist_finish(&expect);
}

static void packing_survives_and_damage_is_refused(void **state)
{
	(void)state;
	struct runs_hist h, back;
	uint64_t seed = 99;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	runs_hist_init(&back, RUNS_HIST_TENTH_PCT);
	for (size_t i = 0; i < 5000; i++) {
		runs_hist_add(&h, 30000 + next(&seed) % 3000 + (i % 500 ? 0 : 1000000));
	}
	_cleanup_free_ uint8_t *p = NULL, *again = NULL;
	size_t n = runs_hist_pack(&h, &p);
	assert_true(n < 120); /* a second of a fast GPU stays small */
	assert_int_equal(runs_hist_parse(&back, p, n), 0);
	assert_int_equal(back.bits, RUNS_HIST_1PCT);
	assert_int_equal(runs_hist_pack(&back, &again), n);
	assert_memory_equal(p, again, n);

	for (size_t cut = 0; cut < n; cut++) {
		assert_int_equal(runs_hist_parse(&back, p, cut), -EBADMSG);
	}
	assert_int_equal(back.total, 5000); /* untouched */
	/* Any single byte changed: refused, or a histogram that is consistent in itself. */
	size_t refused = 0;
	for (size_t at = 0; at < n; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			_cleanup_free_ uint8_t *bad = malloc(n);
			memcpy(bad, p, n);
			bad[at] ^= (uint8_t)(1u << bit);
			struct runs_hist x;
			runs_hist_init(&x, RUNS_HIST_1PCT);
			int r = runs_hist_parse(&x, bad, n);
			refused += r != 0;
			if (!r) {
				uint64_t total = 0;
				for (uint32_t i = 0; i < x.n; i++) {
					total += x.count[i];
				}
				assert_true(total == x.total && x.min <= x.max);
			}
			runs_hist_finish(&x);
		}
	}
	assert_true(refused > n * 8 / 2);
	uint8_t later[2] = {9, 7};
	assert_int_equal(runs_hist_parse(&back, later, 2), -EPROTONOSUPPORT);

	/* Empty packs and comes back. */
	runs_hist_reset(&h);
	_cleanup_free_ uint8_t *none = NULL;
	n = runs_hist_pack(&h, &none);
	assert_int_equal(runs_hist_parse(&back, none, n), 0);
	assert_int_equal(back.total, 0);
	assert_int_equal(runs_hist_merge_packed(&h, none, n), 0);
	runs_hist_finish(&h);
	runs_hist_finish(&back);
}

/* As version 1 was: steps and counts as plain LEB128 numbers. */
static size_t pack_as_before(const struct runs_hist *h, uint8_t *p)
{
	uint64_t filled = 0, last = 0;
	for (uint32_t i = 0; i < h->n; i++) {
		filled += h->count[i] != 0;
	}
	size_t at = 2;
	p[0] = 1;
	p[1] = h->bits;
	const uint64_t head[] = {h->total, h->sum, h->min, h->max - h->min, filled};
	for (size_t i = 0; i < ARRAY_LEN(head); i++) {
		at += varint_put(p + at, head[i]);
	}
	for (uint32_t i = 0; i < h->n; i++) {
		if (h->count[i]) {
			at += varint_put(p + at, h->lo + i - last);
			at += varint_put(p + at, h->count[i]);
			last = h->lo + i;
		}
	}
	return at;
}

/* Steps and counts on both sides of every limit of the packing, beside the older form. */
static void all_steps_and_counts_come_back(void **state)
{
	(void)state;
	static const uint64_t count[] = {1, 2, 15, 16, 17, 127, 128, 1000000, 1ull << 40};
	static const uint32_t step[] = {1, 2, 7, 8, 9, 126, 127, 128, 300};
	for (unsigned bits = RUNS_HIST_1PCT; bits <= RUNS_HIST_TENTH_PCT; bits += 3) {
		struct runs_hist h, back;
		runs_hist_init(&h, bits);
		runs_hist_init(&back, bits);
		uint32_t i = 0;
		for (size_t k = 0; k < ARRAY_LEN(step) * ARRAY_LEN(count); k++) {
			uint64_t width;
			i += step[k / ARRAY_LEN(count)];
			runs_hist_add_n(
				&h, runs_hist_edge(bits, i, &width), count[k % ARRAY_LEN(count)]);
		}
		_cleanup_free_ uint8_t *p = NULL, *again = NULL, *old = malloc(4096);
		size_t n = runs_hist_pack(&h, &p), m = pack_as_before(&h, old);
		for (int form = 0; form < 2; form++) {
			assert_int_equal(runs_hist_parse(&back, form ? old : p, form ? m : n), 0);
			free(again);
			assert_int_equal(runs_hist_pack(&back, &again), n);
			assert_memory_equal(p, again, n);
		}
		assert_int_equal(runs_hist_parse(&back, old, m - 1), -EBADMSG);
		runs_hist_finish(&h);
		runs_hist_finish(&back);
	}
}

static void enough_samples_is_a_rule(void **state)
{
	(void)state;
	assert_true(runs_enough(8, 0.5));
	assert_true(runs_enough(80, 0.95) && !runs_enough(79, 0.95));
	assert_true(runs_enough(80, 0.05) && !runs_enough(79, 0.05));
	assert_true(runs_enough(400, 0.99) && !runs_enough(399, 0.99));
	assert_true(runs_enough(4000, 0.999) && !runs_enough(3999, 0.999));
	assert_false(runs_enough(1e12, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_lies_in_its_bucket),
		cmocka_unit_test(quantiles_hold_the_promised_width),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(merging_equals_adding),
		cmocka_unit_test(packing_survives_and_damage_is_refused),
		cmocka_unit_test(all_steps_and_counts_come_back),
		cmocka_unit_test(enough_samples_is_a_rule),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
