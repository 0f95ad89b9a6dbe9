/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/collect.h"

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
#include "runs/attribute.h"
#include "runs/raw.h"

static const uint64_t second = 1000000000u;

static struct stress_sample sample(uint64_t seq, uint64_t submit, uint64_t launch, uint64_t device,
	uint64_t notify, uint32_t flags)
{
	return (struct stress_sample){
		.seq = seq,
		.submit_ns = submit,
		.start_ns = submit + launch,
		.end_ns = submit + launch + device,
		.done_ns = submit + launch + device + notify,
		.flags = flags,
	};
}

static uint64_t total(const struct runs_second *s, unsigned series, unsigned layer)
{
	for (size_t i = 0; i < s->nblock; i++) {
		if (s->block[i].series == series && s->block[i].layer == layer) {
			struct runs_hist h;
			runs_hist_init(&h, RUNS_HIST_1PCT);
			assert_int_equal(runs_hist_parse(&h, s->block[i].hist, s->block[i].len), 0);
			uint64_t n = h.total;
			runs_hist_finish(&h);
			return n;
		}
	}
	return 0;
}

static void layers_add_up(void **state)
{
	(void)state;
	struct runs_collect *c = runs_collect_create(100 * second, false);
	for (uint64_t i = 0; i < 1000; i++) {
		struct stress_sample s = sample(i, 100 * second + i * 900000, 3000 + i,
			20000 + 7 * i, 1500, STRESS_GEMM | STRESS_HAS_DEVICE);
		runs_collect_add(c, &s, 1);
	}
	uint64_t sum[RUNS_LAYERS] = {0};
	for (unsigned l = RUNS_HOST; l <= RUNS_NOTIFY; l++) {
		const struct runs_hist *h = runs_collect_rollup(c, STRESS_GEMM, l);
		assert_non_null(h);
		assert_int_equal(h->total, 1000);
		sum[l] = h->sum;
	}
	assert_int_equal(sum[RUNS_HOST], sum[RUNS_LAUNCH] + sum[RUNS_DEVICE] + sum[RUNS_NOTIFY]);
	const struct runs_hist *gap = runs_collect_rollup(c, STRESS_GEMM, RUNS_GAP);
	assert_int_equal(gap->total, 999);
	/* Where the worker did something of its own, there is no gap of the launches. */
	struct stress_sample s = sample(1000, 100 * second + 1000 * (uint64_t)900000 + 70000, 3000,
		20000, 1500, STRESS_GEMM | STRESS_HAS_DEVICE | STRESS_RESUMED);
	runs_collect_add(c, &s, 1);
	assert_int_equal(runs_collect_rollup(c, STRESS_GEMM, RUNS_GAP)->total, 999);
	assert_int_equal(runs_collect_rollup(c, STRESS_GEMM, RUNS_HOST)->total, 1001);
	assert_null(runs_collect_rollup(c, STRESS_GEMM, RUNS_CYCLES));
	assert_null(runs_collect_rollup(c, STRESS_READ, RUNS_HOST));
	runs_collect_destroy(c);
	runs_collect_destroy(NULL);
}

static void flags_decide_what_counts(void **state)
{
	(void)state;
	struct runs_collect *c = runs_collect_create(0, false);
	const struct stress_sample s[] = {
		sample(0, 10, 5, 100, 5, STRESS_GEMM | STRESS_HAS_DEVICE | STRESS_WARMUP),
		sample(1, 1000, 5, 100, 5, STRESS_GEMM | STRESS_HAS_DEVICE),
		/* A hole in the sequence: no gap. */
		sample(3, 3000, 5, 100, 5, STRESS_READ | STRESS_PERTURBED),
		/* In a batch only the device layer is the sample's. */
		sample(4, 4000, 5, 100, 5, STRESS_GEMM | STRESS_HAS_DEVICE | STRESS_BATCH),
		sample(5, 5000, 5, 100, 5, STRESS_GEMM | STRESS_MISMATCH | STRESS_MISSED),
		/* The clocks' error: start before submit. */
		{.seq = 6,
			.submit_ns = 6000,
			.start_ns = 5990,
			.end_ns = 6100,
			.done_ns = 6090,
			.flags = STRESS_GEMM | STRESS_HAS_DEVICE},
		/* No series of ours: ignored. */
		sample(7, 7000, 1, 1, 1, 200),
	};
	runs_collect_add(c, s, ARRAY_LEN(s));
	struct runs_second *sec = runs_collect_take(c, UINT64_MAX);
	assert_int_equal(sec->warmups, 1);
	assert_int_equal(sec->samples, 5);
	assert_int_equal(sec->perturbed, 1);
	assert_int_equal(sec->mismatches, 1);
	assert_int_equal(sec->missed, 1);
	assert_int_equal(total(sec, STRESS_GEMM, RUNS_HOST), 3);
	assert_int_equal(total(sec, STRESS_GEMM, RUNS_DEVICE), 3);
	assert_int_equal(total(sec, STRESS_GEMM, RUNS_LAUNCH), 2);
	assert_int_equal(total(sec, STRESS_READ, RUNS_HOST), 1);
	assert_int_equal(total(sec, STRESS_READ, RUNS_DEVICE), 0);
	/* Gaps follow the launch before: GEMM 4 → 5 and 5 → 6 (READ 3 → batch 4 has none). */
	assert_int_equal(total(sec, STRESS_GEMM, RUNS_GAP), 2);
	assert_int_equal(runs_collect_rollup(c, STRESS_GEMM, RUNS_LAUNCH)->min, 0);
	runs_second_destroy(sec);
	runs_collect_destroy(c);
}

static void seconds_end_in_order(void **state)
{
	(void)state;
	struct runs_collect *c = runs_collect_create(50 * second, false);
	assert_null(runs_collect_take(c, 50 * second + 1));
	for (uint64_t i = 0; i < 30; i++) { /* 10 Hz for 3 s */
		struct stress_sample s =
			sample(i, 50 * second + i * second / 10, 0, 1000, 0, STRESS_GEMM);
		runs_collect_add(c, &s, 1);
	}
	struct runs_second *chain = runs_collect_take(c, 52 * second + 1);
	assert_int_equal(chain->second, 0);
	assert_int_equal(chain->samples, 10);
	assert_int_equal(chain->next->second, 1);
	assert_null(chain->next->next);
	runs_second_destroy(chain);
	/* The open one ends by the clock, a little late. */
	assert_null(runs_collect_take(c, 53 * second + second / 5));
	runs_collect_dropped(c, 17);
	runs_collect_status(c, "{\"temperature\":70}");
	chain = runs_collect_take(c, 53 * second + second / 3);
	assert_int_equal(chain->second, 2);
	assert_int_equal(chain->dropped, 17);
	assert_string_equal(chain->status, "{\"temperature\":70}");
	runs_second_destroy(chain);
	/* A stall of ten seconds: one empty second, then the present. */
	chain = runs_collect_take(c, 63 * second + second / 3);
	assert_int_equal(chain->second, 3);
	assert_int_equal(chain->samples, 0);
	assert_null(chain->next);
	runs_second_destroy(chain);
	struct stress_sample s = sample(30, 63 * second + second / 2, 0, 9, 0, STRESS_GEMM);
	runs_collect_add(c, &s, 1);
	runs_collect_dropped(c, 20);
	chain = runs_collect_take(c, UINT64_MAX);
	assert_int_equal(chain->second, 13);
	assert_int_equal(chain->dropped, 3);
	runs_second_destroy(chain);
	assert_null(runs_collect_take(c, UINT64_MAX));
	runs_collect_destroy(c);
}

/* A second holds 256 events and as many episodes; what is more is counted, and told by one event.
 */
static void what_does_not_fit_is_counted(void **state)
{
	(void)state;
	struct runs_collect *c = runs_collect_create(0, false);
	struct runs_event e = {.from_ns = 1, .to_ns = 2, .source = "steal"};
	struct runs_episode ep = {.from_ns = 1, .to_ns = 2, .n = 1};
	for (int i = 0; i < 300; i++) {
		runs_collect_event(c, &e);
		runs_collect_episode(c, &ep);
	}
	runs_collect_lost(c, 7); /* of a ring, in all so far */
	runs_collect_lost(c, 9);
	struct runs_second *sec = runs_collect_take(c, 1500000000);
	assert_int_equal(sec->nevent, 257);
	assert_int_equal(sec->nepisode, 256);
	const struct runs_event *last = &sec->event[256];
	assert_string_equal(last->source, RUNS_LOST);
	assert_int_equal(last->code, 44 + 44 + 9);
	assert_true(last->from_ns == 0 && last->to_ns == 1000000000);
	assert_false(runs_is_cause(last->source) || runs_is_cause(RUNS_NOTE));
	assert_true(runs_is_cause("steal"));
	runs_second_destroy(sec);
	runs_collect_lost(c, 9); /* nothing new */
	runs_collect_event(c, &e);
	sec = runs_collect_take(c, UINT64_MAX);
	assert_int_equal(sec->nevent, 1);
	runs_second_destroy(sec);
	runs_collect_destroy(c);
}

/* AR(1) with correlation RHO in ln(latency): the estimate finds it, over seconds too. */
static void correlation_is_found(void **state)
{
	(void)state;
	static const double rhos[] = {0, 0.5, 0.9, -0.4};
	for (size_t k = 0; k < ARRAY_LEN(rhos); k++) {
		struct runs_collect *c = runs_collect_create(0, false);
		uint64_t seed = 12345 + k, t = 0;
		double x = 0;
		for (uint64_t i = 0; i < 40000; i++) {
			double u = 0;
			for (int j = 0; j < 12; j++) { /* nearly normal */
				seed = seed * 6364136223846793005u + 1442695040888963407u;
				u += (double)(seed >> 11) / 9007199254740992.0 - 0.5;
			}
			x = rhos[k] * x + sqrt(1 - rhos[k] * rhos[k]) * u;
			uint64_t ns = (uint64_t)(50000 * exp(0.05 * x));
			struct stress_sample s = sample(i, t, 0, ns, 0, STRESS_GEMM);
			t += ns;
			runs_collect_add(c, &s, 1);
		}
		const struct runs_moments *m = runs_collect_moments(c, STRESS_GEMM, RUNS_HOST);
		assert_int_equal(m->n, 40000);
		assert_true(fabs(runs_moments_lag1(m) - rhos[k]) < 0.03);
		assert_true(fabs(runs_moments_log_sd(m) - 0.05) < 0.004);
		/* The seconds' sums give the same. */
		struct runs_moments sum = {0};
		struct runs_second *chain = runs_collect_take(c, UINT64_MAX);
		for (const struct runs_second *s = chain; s; s = s->next) {
			for (size_t i = 0; i < s->nblock; i++) {
				if (s->block[i].layer == RUNS_HOST) {
					runs_moments_merge(&sum, &s->block[i].moments);
				}
			}
		}
		assert_true(fabs(runs_moments_lag1(&sum) - runs_moments_lag1(m)) < 1e-9);
		runs_second_destroy(chain);
		runs_collect_destroy(c);
	}
	struct runs_moments none = {0};
	assert_true(isnan(runs_moments_lag1(&none)) && isnan(runs_moments_log_sd(&none)));
}

static void raw_samples_come_back(void **state)
{
	(void)state;
	struct runs_raw raw = {0};
	struct stress_sample in[300];
	uint64_t seed = 5;
	for (size_t i = 0; i < ARRAY_LEN(in); i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		in[i] = sample(1000 + i + (i > 100), 77 * second + i * 31000, 2000 + (seed >> 50),
			21000, 900, STRESS_GEMM);
		in[i].copy = i % 8;
		if (i % 3) {
			in[i].flags |= STRESS_HAS_DEVICE | STRESS_HAS_CYCLES;
			in[i].cycles = 40000 + i;
		} else {
			in[i].start_ns = in[i].end_ns = 0;
		}
		if (i % 5 == 0) {
			in[i].flags |= STRESS_HAS_HASH;
			in[i].hash = seed;
		}
		runs_raw_add(&raw, &in[i]);
	}
	_cleanup_free_ uint8_t *data = NULL;
	size_t len, n;
	assert_int_equal(runs_raw_take(&raw, &data, &len), 0);
	assert_true(len < sizeof(in) / 4);
	struct stress_sample *out;
	assert_int_equal(runs_raw_parse(data, len, &out, &n), 0);
	assert_int_equal(n, ARRAY_LEN(in));
	assert_memory_equal(in, out, sizeof(in));
	free(out);
	for (size_t cut = 0; cut < len; cut++) {
		assert_int_equal(runs_raw_parse(data, cut, &out, &n), -EBADMSG);
	}
	/* The next second stands alone; an empty one is none. */
	runs_raw_add(&raw, &in[5]);
	uint8_t *one;
	assert_int_equal(runs_raw_take(&raw, &one, &len), 0);
	assert_int_equal(runs_raw_parse(one, len, &out, &n), 0);
	assert_int_equal(n, 1);
	assert_memory_equal(&in[5], out, sizeof(*out));
	free(out);
	free(one);
	assert_int_equal(runs_raw_take(&raw, &one, &len), 0);
	assert_null(one);
	runs_raw_finish(&raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers_add_up),
		cmocka_unit_test(flags_decide_what_counts),
		cmocka_unit_test(seconds_end_in_order),
		cmocka_unit_test(what_does_not_fit_is_counted),
		cmocka_unit_test(correlation_is_found),
		cmocka_unit_test(raw_samples_come_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
