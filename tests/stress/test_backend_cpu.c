/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPU back end in this process: its numbers, its bits, and a flipped bit that it notices. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/macros.h"
#include "stress/backend.h"
#include "stress/bursts.h"
#include "stress/cpu_data.h"
#include "stress/data.h"
#include "stress/host.h"

struct lender {
	struct stress_lender base;
	unsigned beats, give_up_after;
	struct stress_finding finding; /* the last */
	unsigned findings;
};

static bool on_beat(struct stress_lender *l)
{
	struct lender *own = (struct lender *)l;
	return ++own->beats != own->give_up_after;
}

static void on_found(struct stress_lender *l, const struct stress_finding *f)
{
	struct lender *own = (struct lender *)l;
	own->findings++;
	own->finding = *f;
}

static const struct stress_backend_ops *const ops = &stress_backend_cpu;

static struct stress_config configure(uint32_t m, uint32_t k, uint32_t n, uint32_t threads)
{
	struct stress_config c;
	stress_config_init(&c);
	c.shape = (struct stress_shape){.m = m, .k = k, .n = n};
	c.threads = threads;
	c.copies = 3;
	return c;
}

static struct stress_backend *open_it(const struct stress_config *c, struct lender *l)
{
	*l = (struct lender){.base = {.beat = on_beat, .found = on_found}};
	struct stress_backend *b = NULL;
	struct why why = {0};
	int r = ops->open(c, &l->base, &b, &why);
	if (r) {
		fail_msg("open: %d %s", r, why.text);
	}
	return b;
}

static struct stress_sample launch(struct stress_backend *b, enum stress_series series)
{
	struct stress_sample s = {0};
	struct why why;
	assert_int_equal(ops->iterate(b, series, &s, 1, &why), 1);
	assert_int_equal(stress_series_of(&s), series);
	return s;
}

static void samples_are_in_order(void **state)
{
	(void)state;
	struct stress_config c = configure(1, 1000, 777, 0);
	struct lender l;
	struct stress_backend *b = open_it(&c, &l);
	struct stress_facts f;
	ops->facts(b, &f);
	assert_int_equal(f.copies, 3);
	assert_int_equal(f.bytes, 2 * (1000 * 777 + 1000 + 777));
	assert_true(f.max_error >= 0 && f.max_error <= f.error_limit);
	assert_true(f.golden_hash != 0);
	uint32_t copy = 0;
	for (int i = 0; i < 20; i++) {
		struct stress_sample s = launch(b, i % 5 == 4 ? STRESS_READ : STRESS_GEMM);
		assert_true(s.submit_ns <= s.start_ns && s.start_ns < s.end_ns);
		assert_true(s.end_ns <= s.done_ns);
		assert_true(s.flags & STRESS_HAS_DEVICE && s.flags & STRESS_HAS_HASH);
		assert_false(s.flags & STRESS_MISMATCH);
		assert_true(!i || s.copy == (copy + 1) % 3); /* in turn, always */
		copy = s.copy;
		if (stress_series_of(&s) == STRESS_GEMM) {
			assert_true(s.hash == f.golden_hash);
		}
	}
	assert_string_equal(f.note, "");
	ops->close(b);
}

/* Threads, copies and the choice of kernel are no part of the result; the seed is. */
static void bits_depend_on_the_numbers_only(void **state)
{
	(void)state;
	struct stress_host host;
	stress_host_read("", &host);
	uint64_t hash = 0;
	for (uint32_t threads = 1; threads <= MIN(host.cpus, 4u); threads++) {
		struct stress_config c = configure(3, 515, 301, threads);
		c.copies = 1 + threads;
		struct lender l;
		struct stress_backend *b = open_it(&c, &l);
		struct stress_facts f;
		ops->facts(b, &f);
		assert_int_equal(f.threads, threads);
		assert_true(!hash || f.golden_hash == hash);
		hash = f.golden_hash;
		ops->close(b);
	}
	struct stress_config c = configure(3, 515, 301, 1);
	c.seed = 2;
	struct lender l;
	struct stress_backend *b = open_it(&c, &l);
	struct stress_facts f;
	ops->facts(b, &f);
	assert_true(f.golden_hash != hash);
	ops->close(b);
}

static void the_reference_agrees(void **state)
{
	(void)state;
	static const enum stress_dtype types[] = {STRESS_F16, STRESS_F32};
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct stress_config c = configure(2, 300, 100, 1);
		c.dtype = types[i];
		snprintf(c.kernel, sizeof(c.kernel), "ref");
		struct lender l;
		struct stress_backend *b = open_it(&c, &l);
		struct stress_facts f;
		ops->facts(b, &f);
		assert_string_equal(f.kernel, "ref");
		/* FP64 sums: only the last rounding is left. */
		assert_true(f.max_error <= (types[i] == STRESS_F16 ? 0x1p-11 : 0x1p-24));
		ops->close(b);
	}
}

/* Silent corruption: one bit of one weight of one copy. */
static void one_flipped_bit_is_noticed(void **state)
{
	(void)state;
	struct stress_config c = configure(1, 512, 200, 1);
	struct lender l;
	struct stress_backend *b = open_it(&c, &l);
	struct stress_facts f;
	ops->facts(b, &f);
	size_t bytes;
	unsigned char *w = stress_cpu_weights(b, 1, &bytes);
	assert_int_equal(bytes, 2 * 512 * 200);
	w[2 * (512 * 150 + 7) + 1] ^= 0x40; /* the exponent of W[150][7] */
	unsigned wrong = 0, wrong_reads = 0;
	for (int i = 0; i < 6; i++) {
		struct stress_sample s = launch(b, STRESS_GEMM);
		assert_int_equal(s.hash != f.golden_hash, s.copy == 1);
		wrong += s.hash != f.golden_hash;
	}
	for (int i = 0; i < 6; i++) {
		struct stress_sample s = launch(b, STRESS_READ);
		assert_int_equal((s.flags & STRESS_MISMATCH) != 0, s.copy == 1);
		wrong_reads += s.copy == 1;
	}
	assert_int_equal(wrong, 2);
	assert_int_equal(wrong_reads, 2);
	assert_int_equal(l.findings, 4);
	assert_int_equal(l.finding.kind, STRESS_WRONG_WEIGHTS);
	assert_int_equal(l.finding.copy, 1);
	assert_int_equal(l.finding.words, 1);
	assert_int_equal(l.finding.offset, (2 * (512 * 150 + 7) + 1) / 4 * 4);
	assert_int_equal(l.finding.address, (uintptr_t)w + l.finding.offset);
	assert_int_equal(l.finding.word_is ^ l.finding.word_was, 0x40000000);

	/* Put back, all is well again: it was memory, not arithmetic. */
	w[2 * (512 * 150 + 7) + 1] ^= 0x40;
	for (int i = 0; i < 3; i++) {
		assert_true(launch(b, STRESS_GEMM).hash == f.golden_hash);
	}
	ops->close(b);
}

/* Any bit of any copy, also one that no rounded output shows. */
static void every_flipped_bit_is_found_by_the_checksum(void **state)
{
	(void)state;
	struct stress_config c = configure(1, 512, 200, 1);
	struct lender l;
	struct stress_backend *b = open_it(&c, &l);
	struct why why;
	size_t bytes;
	for (unsigned i = 0; i < 60; i++) {
		const uint32_t copy = i % 3;
		const size_t at = i * 7919 % (2 * 512 * 200);
		unsigned char *w = stress_cpu_weights(b, copy, &bytes);
		w[at] ^= (unsigned char)(1 << i % 8);
		for (uint32_t k = 0; k < 3; k++) {
			assert_int_equal(ops->audit(b, &why), k == copy);
		}
		w[at] ^= (unsigned char)(1 << i % 8);
	}
	assert_int_equal(l.findings, 8); /* more are only counted */
	ops->close(b);

	for (uint64_t seed = 1; seed < 20; seed++) {
		c.seed = seed;
		b = open_it(&c, &l);
		assert_int_equal(ops->inject(b, STRESS_INJECT_WEIGHT, &why), 0);
		int found = 0;
		for (uint32_t k = 0; k < 3; k++) {
			found += ops->audit(b, &why);
		}
		assert_int_equal(found, 1);
		assert_int_equal(__builtin_popcount(l.finding.word_is ^ l.finding.word_was), 1);
		ops->close(b);
	}
}

static void a_flipped_output_is_transient(void **state)
{
	(void)state;
	struct stress_config c = configure(2, 512, 200, 1);
	struct lender l;
	struct stress_backend *b = open_it(&c, &l);
	struct stress_facts f;
	struct why why;
	ops->facts(b, &f);
	assert_true(launch(b, STRESS_GEMM).hash == f.golden_hash);
	assert_int_equal(ops->inject(b, STRESS_INJECT_OUTPUT, &why), 0);
	const struct stress_sample s = launch(b, STRESS_GEMM);
	assert_true(s.hash != f.golden_hash);
	assert_int_equal(l.findings, 1);
	assert_int_equal(l.finding.kind, STRESS_WRONG_TRANSIENT);
	assert_true(l.finding.hash == s.hash);
	assert_int_equal(l.finding.outputs, 1);
	assert_int_equal(l.finding.m, 1);
	assert_int_equal(l.finding.n, 0);
	assert_int_equal(l.finding.output_is ^ l.finding.output_was, 4);
	assert_int_equal(l.finding.repeated, 3);
	assert_int_equal(l.finding.repeated_wrong, 0);
	assert_int_equal(l.finding.words, 0);
	char text[STRESS_FINDING_TEXT];
	stress_finding_text(&l.finding, text);
	assert_non_null(strstr(text, "transient: the inputs are intact and repetitions are right; "
				     "1 output differs, first y[1][0]: 0x"));
	assert_true(launch(b, STRESS_GEMM).hash == f.golden_hash);
	ops->close(b);
}

static void a_delay_stands_before_the_launch(void **state)
{
	(void)state;
	struct stress_config c = configure(1, 512, 200, 1);
	struct lender l;
	struct stress_backend *b = open_it(&c, &l);
	struct why why;
	assert_int_equal(ops->inject(b, STRESS_INJECT_DELAY, &why), 0);
	for (int i = 0; i < 10; i++) {
		const struct stress_sample s = launch(b, STRESS_GEMM);
		assert_int_equal((s.flags & STRESS_INJECTED) != 0, i % 2);
		assert_true(i % 2 == 0 || s.start_ns - s.submit_ns >= STRESS_DELAY_NS);
	}
	ops->close(b);
}

static void every_read_loop_gets_its_turn(void **state)
{
	(void)state;
	struct stress_config c = configure(1, 1024, 512, 1);
	struct lender l;
	struct stress_backend *b = open_it(&c, &l);
	struct stress_facts f;
	ops->facts(b, &f);
	assert_true(f.read_kernels >= 1);
	struct stress_ceiling ceiling;
	for (unsigned i = 0; i < 3 * f.read_kernels; i++) {
		launch(b, STRESS_READ);
	}
	for (unsigned i = 0; i < f.read_kernels; i++) {
		assert_true(ops->ceiling(b, i, &ceiling));
		assert_int_equal(ceiling.bursts, 3);
		assert_true(ceiling.bytes_per_s > 0);
		assert_true(strlen(ceiling.name) > 0);
	}
	assert_false(ops->ceiling(b, f.read_kernels, &ceiling));
	ops->close(b);
}

/* The ceiling must not be the luckiest of many loops, nor miss one that becomes the best. */
static void bursts_go_to_the_best_loops(void **state)
{
	(void)state;
	static const uint64_t speed[] = {900, 500, 700, 510, 901, 1200}; /* ns */
	struct stress_bursts b;
	stress_bursts_init(&b, ARRAY_LEN(speed));
	assert_true(stress_bursts_median(&b, 0) == UINT64_MAX);
	for (int i = 0; i < 400; i++) {
		unsigned loop = stress_bursts_choose(&b);
		assert_true(loop < ARRAY_LEN(speed));
		/* One lucky burst of a slow loop. */
		stress_bursts_add(&b, loop, loop == 5 && !b.loop[5].n ? 1 : speed[loop]);
	}
	uint32_t sum = 0;
	for (unsigned i = 0; i < b.loops; i++) {
		assert_true(b.loop[i].n >= 8); /* nobody is forgotten */
		sum += b.loop[i].n;
	}
	assert_int_equal(sum, 400);
	assert_true(b.loop[1].n + b.loop[3].n > 300);
	assert_int_equal(stress_bursts_median(&b, 5), 1200);
	assert_int_equal(stress_bursts_median(&b, 1), 500);

	/* The machine changes its mind: loop 2 is the fastest from now on. */
	for (int i = 0; i < 4000; i++) {
		unsigned loop = stress_bursts_choose(&b);
		stress_bursts_add(&b, loop, loop == 2 ? 100 : speed[loop]);
	}
	assert_int_equal(stress_bursts_median(&b, 2), 100);
	assert_true(b.loop[2].n > 1000);

	uint64_t v[] = {5, 1, 4, 2};
	assert_int_equal(stress_median(v, 4), 4);
	assert_int_equal(stress_median(v, 1), 1);
}

static void what_cannot_be_is_one_sentence(void **state)
{
	(void)state;
	struct lender l = {.base = {.beat = on_beat, .found = on_found}};
	struct stress_backend *b = NULL;
	struct why why;
	struct stress_config c = configure(1, 1 << 24, 1 << 16, 0); /* 2 TiB a copy */
	assert_int_equal(ops->open(&c, &l.base, &b, &why), -ENOMEM);
	assert_non_null(strstr(why.text, "shape 1x16777216x65536 with 3 copies"));

	c = configure(1, 64, 64, 100000);
	assert_int_equal(ops->open(&c, &l.base, &b, &why), -EINVAL);
	assert_non_null(strstr(why.text, "100000 threads: this process may run on"));

	c = configure(1, 64, 64, 0);
	c.copies = 4000000000u;
	assert_int_equal(ops->open(&c, &l.base, &b, &why), -EINVAL);

	c = configure(1, 64, 64, 0);
	snprintf(c.kernel, sizeof(c.kernel), "abacus");
	assert_int_equal(ops->open(&c, &l.base, &b, &why), -EINVAL);
	assert_string_equal(why.text, "there is no kernel 'abacus' for this type");

	l.give_up_after = 2; /* the front asks to stop while the weights are filled */
	c = configure(1, 64, 64, 0);
	assert_int_equal(ops->open(&c, &l.base, &b, &why), -ECANCELED);
	assert_null(b);
}

static void numbers_do_not_depend_on_the_cut(void **state)
{
	(void)state;
	for (int dtype = STRESS_F16; dtype <= STRESS_F32; dtype++) {
		enum { N = 1000 };
		uint32_t whole[N], parts[N];
		size_t e = stress_dtype_size((enum stress_dtype)dtype);
		stress_fill(whole, 0, N, (enum stress_dtype)dtype, STRESS_W, 7);
		for (size_t at = 0; at < N; at += 100) {
			stress_fill((char *)parts + at * e, at, 100, (enum stress_dtype)dtype,
				STRESS_W, 7);
		}
		assert_memory_equal(whole, parts, N * e);
		stress_fill(parts, 0, N, (enum stress_dtype)dtype, STRESS_X, 7);
		assert_memory_not_equal(whole, parts, N * e);
	}
}

static void the_hash_sees_every_bit(void **state)
{
	(void)state;
	unsigned char data[37];
	for (size_t len = 0; len <= sizeof(data); len++) {
		memset(data, 0, sizeof(data));
		uint64_t zero = stress_hash(data, len);
		assert_true(zero != 0);
		for (size_t bit = 0; bit < len * 8; bit++) {
			data[bit / 8] ^= (unsigned char)(1 << bit % 8);
			assert_true(stress_hash(data, len) != zero);
			data[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
		assert_true(!len || stress_hash(data, len - 1) != zero);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(samples_are_in_order),
		cmocka_unit_test(bits_depend_on_the_numbers_only),
		cmocka_unit_test(the_reference_agrees),
		cmocka_unit_test(one_flipped_bit_is_noticed),
		cmocka_unit_test(every_flipped_bit_is_found_by_the_checksum),
		cmocka_unit_test(a_flipped_output_is_transient),
		cmocka_unit_test(a_delay_stands_before_the_launch),
		cmocka_unit_test(every_read_loop_gets_its_turn),
		cmocka_unit_test(bursts_go_to_the_best_loops),
		cmocka_unit_test(what_cannot_be_is_one_sentence),
		cmocka_unit_test(numbers_do_not_depend_on_the_cut),
		cmocka_unit_test(the_hash_sees_every_bit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
