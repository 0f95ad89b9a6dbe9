/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CUDA back end on a libcuda.so.1 that runs kernels on the CPU (tests/fakes/fakecuda.c):
 * what it measures, and what it says when something is missing or breaks. The worker is a
 * process of its own, as always: this program re-executes itself.
 */
#include "stress/worker.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/macros.h"
#include "stress/backend.h"
#include "stress/clock_fit.h"

enum { LAYERS = 3000 };

static const uint64_t second = 1000000000u;

struct front {
	struct stress_worker *w;
	struct stress_status status;
	uint64_t gemms, probes[STRESS_SERIES], mismatches, without_device;
	int64_t shortest[LAYERS]; /* ns: the shorter of launch and notify, of warm samples */
	size_t n;
};

static void start_with(struct front *f, const char *orders, const char *shape, const char *kernel,
	enum stress_inject inject)
{
	struct stress_config c;
	struct why why;

	*f = (struct front){0};
	setenv("FAKE_CUDA", orders, 1);
	stress_config_init(&c);
	snprintf(c.backend, sizeof(c.backend), "cuda");
	snprintf(c.kernel, sizeof(c.kernel), "%s", kernel);
	assert_int_equal(stress_shape_parse(shape, &c.shape, &why), 0);
	c.copies = 3;
	c.inject = inject;
	assert_int_equal(stress_worker_start(&c, &f->w, &why), 0);
}

static void start(struct front *f, const char *orders, const char *shape, const char *kernel)
{
	start_with(f, orders, shape, kernel, STRESS_INJECT_NOTHING);
}

static void take(struct front *f, const struct stress_sample *s)
{
	const enum stress_series series = stress_series_of(s);
	f->probes[series]++;
	if (s->flags & STRESS_MISMATCH) {
		f->mismatches++;
	}
	if (series == STRESS_GEMM) {
		f->gemms++;
		f->without_device += !(s->flags & STRESS_HAS_DEVICE);
		if (f->n < LAYERS && !(s->flags & STRESS_WARMUP)) {
			f->shortest[f->n++] = MIN((int64_t)(s->start_ns - s->submit_ns),
				(int64_t)(s->done_ns - s->end_ns));
		}
	}
}

static void turn(struct front *f)
{
	static struct stress_sample batch[1024];
	struct stress_event event;
	struct pollfd p = {.fd = stress_worker_fd(f->w), .events = POLLIN};
	size_t n;

	poll(&p, 1, 50);
	stress_worker_poll(f->w);
	stress_worker_status(f->w, &f->status);
	while ((n = stress_worker_read(f->w, batch, ARRAY_LEN(batch))) > 0) {
		for (size_t i = 0; i < n; i++) {
			take(f, &batch[i]);
		}
	}
	while (stress_worker_events(f->w, &event, 1)) {
	}
}

static void await_gemms(struct front *f, uint64_t n)
{
	const uint64_t began = clock_ns();

	while (f->gemms < n) {
		turn(f);
		if (f->status.phase == STRESS_FAILED || clock_ns() - began > 20 * second) {
			fail_msg("%u samples, phase %d: %s", (unsigned)f->gemms, f->status.phase,
				f->status.why);
		}
	}
}

/* The worker must end by itself and say WANT. */
static void expect_failure(const char *orders, const char *want)
{
	struct front f;
	const uint64_t began = clock_ns();

	start(&f, orders, "2x64x40", "");
	while (f.status.phase != STRESS_FAILED && clock_ns() - began < 20 * second) {
		turn(&f);
	}
	if (f.status.phase != STRESS_FAILED || !strstr(f.status.why, want)) {
		fail_msg("%s: phase %d says '%s', not '%s'", orders, f.status.phase, f.status.why,
			want);
	}
	stress_worker_destroy(f.w, 1000);
}

/* Whatever else runs on this machine: a layer is never shorter than the stated error below 0. */
static void measures_layers_and_probes(void **state)
{
	static struct front f;
	const uint64_t began = clock_ns();
	size_t below = 0;

	(void)state;
	start(&f, "", "2x64x40", "");
	while (f.n < LAYERS || !f.probes[STRESS_D2H] || f.status.ceiling_bytes_per_s <= 0) {
		turn(&f);
		if (f.status.phase == STRESS_FAILED || clock_ns() - began > 30 * second) {
			fail_msg("%u samples, phase %d: %s", (unsigned)f.n, f.status.phase,
				f.status.why);
		}
	}
	for (size_t i = 0; i < f.n; i++) {
		below += f.shortest[i] < -(int64_t)f.status.clock_error_ns;
	}
	print_message("the joined clocks may be wrong by %u ns; %u of %u layers are below that\n",
		(unsigned)f.status.clock_error_ns, (unsigned)below, (unsigned)f.n);
	assert_true(f.status.clock_error_ns > 0);
	assert_true(below * 1000 <= f.n);
	assert_string_equal(f.status.backend, "cuda");
	assert_string_equal(f.status.device, "Fake GPU at 0000:41:00.0");
	assert_int_equal(f.status.copies, 3);
	assert_int_equal(f.status.mismatches, 0);
	assert_true(f.status.max_error >= 0 && f.status.max_error <= f.status.error_limit);
	assert_true(f.status.golden_hash != 0);
	assert_int_equal(f.without_device, 0);
	assert_true(f.probes[STRESS_READ] > 0 && f.probes[STRESS_EMPTY] > 0);
	assert_true(f.probes[STRESS_H2D] > 0);
	stress_worker_destroy(f.w, 1000);
}

static void every_kernel_is_checked_before_it_is_timed(void **state)
{
	static const char *const kernels[] = {
		"naive", "tiled_8x128x16", "gemv_m2_r2_u4_w4", "mma_m8_d4", "bulk_k5_c5_s1"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(kernels); i++) {
		struct front f;

		start(&f, "", "2x64x40", kernels[i]);
		await_gemms(&f, 10);
		assert_string_equal(f.status.kernel, kernels[i]);
		stress_worker_destroy(f.w, 1000);
	}
}

static void says_what_is_missing(void **state)
{
	(void)state;
	expect_failure("nodevice", "the NVIDIA driver sees no device");
	expect_failure("mismatch", "reboot, or reload the module");
	expect_failure("cc=75", "compute capability 7.5; the kernels need 8.0");
	expect_failure("missing=cuGraphInstantiateWithFlags", "CUDA 11.4 (470) or newer");
	expect_failure("ptx222=80", "the driver is older than these kernels");
	expect_failure("nan", "computes wrong");
}

static void says_which_allocation_failed(void **state)
{
	/* Three copies, x, y, bias, sink, stamps, pinned stamps, mailbox, small, its device side.
	 */
	static const char *const want[] = {"of weights", "of weights", "of weights", "of x", "of y",
		"of bias", "of a sink", "of stamps", "pinned memory", "pinned memory",
		"the probes' memory", "pinned memory"};

	(void)state;
	for (unsigned i = 0; i < ARRAY_LEN(want); i++) {
		char orders[24];

		snprintf(orders, sizeof(orders), "oom=%u", i + 1);
		expect_failure(orders, want[i]);
	}
}

static void says_that_the_context_is_lost(void **state)
{
	(void)state;
	expect_failure("fail=300", "CUDA_ERROR_LAUNCH_FAILED (719); read the kernel log for Xid");
	expect_failure("ecc=300", "uncorrectable error");
	expect_failure("fail=1", "CUDA_ERROR_LAUNCH_FAILED (719)");
}

static void an_older_driver_gets_the_older_kernels(void **state)
{
	struct front f;

	(void)state;
	start(&f, "ptx222=90", "8x64x40", "");
	await_gemms(&f, 100);
	assert_memory_equal(f.status.kernel, "mma", 3);
	/* All of the sentence, and not as much as an event holds. */
	assert_string_equal(f.status.note,
		"kernels 'gemm90' refused: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222): ptxas fatal   : "
		"Unsupported .version 8.0; current version is '7.4'");
	stress_worker_destroy(f.w, 1000);
}

static void a_launch_that_never_ends_is_a_stall(void **state)
{
	struct front f;
	const uint64_t began = clock_ns();

	(void)state;
	start(&f, "hang=400", "2x64x40", "");
	while (!f.status.stalled) {
		turn(&f);
		assert_true(clock_ns() - began < 20 * second);
	}
	stress_worker_destroy(f.w, 200);
}

static void corruption_is_found_and_told_apart(void **state)
{
	struct front f;
	const uint64_t began = clock_ns();

	(void)state;
	start(&f, "flip=500", "2x64x40", "");
	await_gemms(&f, 1000);
	assert_int_equal(f.mismatches, 1);
	assert_int_equal(f.status.finding.kind, STRESS_WRONG_TRANSIENT);
	assert_int_equal(f.status.finding.outputs, 1);
	assert_int_equal(f.status.finding.output_is ^ f.status.finding.output_was, 0x20);
	assert_int_equal(f.status.finding.repeated, 3);
	stress_worker_destroy(f.w, 1000);

	start(&f, "rot=500", "2x64x40", "");
	while (f.mismatches < 2 || f.status.finding.kind != STRESS_WRONG_WEIGHTS) {
		turn(&f);
		assert_true(clock_ns() - began < 30 * second);
	}
	assert_int_equal(f.status.finding.words, 1);
	assert_int_equal(f.status.finding.offset, 0);
	assert_int_equal(f.status.finding.word_is ^ f.status.finding.word_was, 0x10000000);
	stress_worker_destroy(f.w, 1000);
}

static void injected_faults_are_found(void **state)
{
	struct front f;
	uint64_t began = clock_ns();

	(void)state;
	start_with(&f, "", "2x64x40", "", STRESS_INJECT_OUTPUT);
	while (f.mismatches < 1 || f.status.finding.kind == STRESS_WRONG_NOTHING) {
		turn(&f);
		assert_true(clock_ns() - began < 30 * second);
	}
	assert_int_equal(f.mismatches, 1);
	assert_int_equal(f.status.finding.kind, STRESS_WRONG_TRANSIENT);
	assert_int_equal(f.status.finding.m, 1);
	assert_int_equal(f.status.finding.n, 0);
	assert_int_equal(f.status.weight_faults, 0);
	stress_worker_destroy(f.w, 1000);

	/* The checksum alone decides here: K is so large that one bit changes no rounded output. */
	began = clock_ns();
	start_with(&f, "", "1x4099x24", "", STRESS_INJECT_WEIGHT);
	while (!f.status.weight_faults) {
		turn(&f);
		assert_true(clock_ns() - began < 60 * second);
	}
	assert_int_equal(f.status.finding.kind, STRESS_WRONG_WEIGHTS);
	assert_int_equal(
		__builtin_popcount(f.status.finding.word_is ^ f.status.finding.word_was), 1);
	stress_worker_destroy(f.w, 1000);
}

static const uint64_t ahead = 1000000000000000u; /* the device's zero is elsewhere */

/* What the device's clock shows at AT; it is PPM parts of a million fast. */
static uint64_t device_at(uint64_t at, int ppm)
{
	return ahead + at + (uint64_t)((int64_t)at * ppm / 1000000);
}

static void two_clocks_become_one(void **state)
{
	struct clock_fit f = {0};
	uint64_t host = 5 * second;

	(void)state;
	assert_int_equal(clock_fit_host(&f, 77), 0);
	/* Questions take from 1 to 3 µs. */
	for (unsigned i = 0; i < 100; i++, host += second) {
		const uint64_t took = 1000 + i % 3 * 1000;

		clock_fit_add(&f, host, device_at(host + took / 2, 50), host + took);
	}
	for (uint64_t at = host - second; at < host; at += second / 10) {
		const int64_t off = (int64_t)(clock_fit_host(&f, device_at(at, 50)) - at);

		assert_true(off < 20 && off > -20);
		assert_true(clock_fit_error(&f, device_at(at, 50)) <= 4000);
	}
}

/* Answers anywhere in the question's time, questions interrupted for milliseconds: the bound
 * holds at every moment, and bad moments do not widen it by more than they last. */
static void the_stated_error_holds(void **state)
{
	uint64_t seed = 1, widest = 0, held = 0;

	(void)state;
	for (unsigned round = 0; round < 300; round++) {
		struct clock_fit f = {0};
		const int ppm = (int)(round % 9) * 50 - 200;
		uint64_t host = 3 * second;

		for (unsigned i = 0; i < 60; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			const uint64_t took = seed >> 33 & 7 ? 1000 + (seed >> 40) % 3000
							     : (seed >> 40) % 9000000;
			const uint64_t within = (seed >> 20) % (took + 1);
			const uint64_t device = device_at(host + within, ppm);
			const bool joined = clock_fit_add(&f, host, device, host + took);

			held += !joined;
			host += took;
			for (unsigned k = 0; k < 4;
				k++, host += second / 100 + (seed >> 44) % 1000000) {
				const uint64_t d = device_at(host, ppm);
				const int64_t off = (int64_t)(clock_fit_host(&f, d) - host);
				const int64_t error = (int64_t)clock_fit_error(&f, d) + 2;

				if (off > error || off < -error) {
					fail_msg("round %u, pair %u: off by %ld ns, said %ld",
						round, i, (long)off, (long)error);
				}
				widest = i > 30 ? MAX(widest, (uint64_t)error) : widest;
			}
		}
	}
	print_message("after thirty pairs wrong by at most %u ns; %u pairs refused\n",
		(unsigned)widest, (unsigned)held);
	assert_true(widest < 20000 && held > 100);
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "--worker")) {
		return stress_worker_main(argc, argv);
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_clocks_become_one),
		cmocka_unit_test(the_stated_error_holds),
		cmocka_unit_test(measures_layers_and_probes),
		cmocka_unit_test(every_kernel_is_checked_before_it_is_timed),
		cmocka_unit_test(says_what_is_missing),
		cmocka_unit_test(says_which_allocation_failed),
		cmocka_unit_test(says_that_the_context_is_lost),
		cmocka_unit_test(an_older_driver_gets_the_older_kernels),
		cmocka_unit_test(a_launch_that_never_ends_is_a_stall),
		cmocka_unit_test(corruption_is_found_and_told_apart),
		cmocka_unit_test(injected_faults_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
