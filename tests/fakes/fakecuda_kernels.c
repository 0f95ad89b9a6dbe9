/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fake's kernels: what a GPU would compute, computed on the CPU, and memory that is broken. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "kernels/half.h"
#include "kernels/hash.h"
#include "tests/fakes/fakecuda.h"

/* -- memory that does not keep what is written --------------------------------------------- */

/* The AT-th byte of device memory, with N bytes behind it in one piece; NULL: not there (yet). */
static char *device_byte(size_t at, size_t n)
{
	for (size_t i = 0; i < fake.ndevice; i++) {
		if (at < fake.device[i].bytes) {
			return at + n <= fake.device[i].bytes ? fake.device[i].p + at : NULL;
		}
		at -= fake.device[i].bytes;
	}
	return NULL;
}

static bool overlaps(const char *p, size_t n, const char *q, size_t m)
{
	return p && q && p < q + m && q < p + n;
}

void fake_spoil(uint64_t to, size_t n)
{
	char *p = (char *)(uintptr_t)to;

	if (fake_order("broken")) {
		char *b = device_byte(fake_number("broken", 0), 64);

		if (overlaps(p, n, b, 64)) {
			memset(b, 0, 64);
		}
	}
	if (fake_order("alias")) {
		char *a = device_byte(fake_number("alias", 0), 4096);
		char *b = device_byte(fake_number("alias", 0) + 65536, 4096);

		if (b && overlaps(p, n, a, 4096)) {
			memcpy(b, a, 4096);
		} else if (a && overlaps(p, n, b, 4096)) {
			memcpy(a, b, 4096);
		}
	}
}

/* As kernels/cuda/probe.cu has them. */
static void run_pattern(const struct gemm_cuda_span *s, bool check)
{
	struct gemm_cuda_broken *out = (struct gemm_cuda_broken *)(uintptr_t)s->out;

	for (uint64_t at = s->p; at < s->p + s->bytes; at += 8) {
		uint64_t *word = (uint64_t *)(uintptr_t)at;

		if (!check) {
			*word = gemm_pattern(at, s->stamp);
		} else if (*word != gemm_pattern(at, s->stamp)) {
			out->words++;
			out->first_inv = out->first_inv > ~at ? out->first_inv : ~at;
			out->last = out->last > at ? out->last : at;
		}
	}
	if (!check) {
		fake_spoil(s->p, s->bytes);
	}
}

/* -- kernels --------------------------------------------------------------------------- */

/* The GPU's own clock: another zero, and 40 ppm faster. */
static uint64_t device_clock(void)
{
	const uint64_t now = clock_ns();

	return now + now / 25000 + 123456789012345u;
}

static void spin_until(uint64_t ns)
{
	while (clock_ns() < ns) {
	}
}

static float value_of(const struct launch *l, uint64_t p, size_t i)
{
	if (!strncmp(l->name, "f32", 3)) {
		return ((const float *)(uintptr_t)p)[i];
	}
	return gemm_half_to_float(((const uint16_t *)(uintptr_t)p)[i]);
}

static double activate(double v, uint32_t act)
{
	if (act == GEMM_CUDA_ACT_RELU) {
		return v > 0 ? v : 0;
	}
	if (act == GEMM_CUDA_ACT_GELU) { /* in its usual form, not the kernels' */
		return v / 2 * (1 + tanh(0.7978845608 * (v + 0.044715 * v * v * v)));
	}
	return v;
}

static uint64_t run_gemm(struct launch *l)
{
	const struct gemm_cuda_args *a = &l->args.gemm;
	const bool f32 = !strncmp(l->name, "f32", 3), acc16 = strstr(l->name, "acc16");
	const unsigned nth = ++fake.gemms;
	uint64_t hash = 0;

	if (fake_number("rot", 0) == nth) {
		((uint16_t *)(uintptr_t)a->w)[1] ^= 0x1000;
	}
	for (size_t i = 0; i < (size_t)a->m * a->n; i++) {
		const size_t m = i / a->n, n = i % a->n;
		double sum = 0;

		for (size_t k = 0; k < a->k; k++) {
			sum += (double)value_of(l, a->x, m * a->ldx + k) *
			       value_of(l, a->w, n * a->ldw + k);
			if (acc16) {
				sum = gemm_half_to_float(gemm_half_from_double(sum));
			}
		}
		sum += a->bias ? value_of(l, a->bias, n) : 0;
		sum = activate(sum, fake_order("noact") ? GEMM_CUDA_ACT_NONE : a->act);
		if (fake_order("nan")) {
			sum = 0.0 / 0.0;
		}
		uint32_t bits = gemm_half_from_double(sum);
		const float single = (float)sum;

		if (f32) {
			memcpy(&bits, &single, 4);
		}
		bits ^= i == 0 && fake_number("flip", 0) == nth ? 0x20 : 0;
		bits ^= a->flip && i == a->flip - 1 ? 0x0400 : 0;
		if (f32) {
			memcpy((float *)(uintptr_t)a->y + m * a->ldy + n, &bits, 4);
		} else {
			((uint16_t *)(uintptr_t)a->y)[m * a->ldy + n] = (uint16_t)bits;
		}
		hash += gemm_hash_element(i, bits);
	}
	return hash;
}

/* As kernels/cuda/probe.cu has it. */
static void run_checksum(const struct gemm_cuda_span *s)
{
	const uint32_t *p = (const uint32_t *)(uintptr_t)s->p;
	uint64_t sum = 0;

	for (size_t i = 0; i < s->bytes / 4; i++) {
		sum += gemm_hash_element(i, p[i]);
	}
	*(uint64_t *)(uintptr_t)s->out += sum;
}

static void *answer_pings(void *unused)
{
	volatile uint64_t *p = (volatile uint64_t *)(uintptr_t)fake.ping.p;

	(void)unused;
	for (uint64_t i = 1; i <= fake.ping.bytes; i++) {
		const uint64_t from = clock_ns();

		while (__atomic_load_n(&p[0], __ATOMIC_ACQUIRE) < i) {
			if (clock_ns() - from > 2000000000) {
				return NULL;
			}
			sched_yield();
		}
		p[2] = device_clock();
		__atomic_store_n(&p[1], i, __ATOMIC_RELEASE);
	}
	return NULL;
}

bool fake_takes_span(const char *name)
{
	return !strncmp(name, "read", 4) || !strcmp(name, "empty") || !strcmp(name, "checksum") ||
	       !strncmp(name, "pattern", 7) || !strcmp(name, "ping");
}

void fake_run(struct launch *l)
{
	const bool span = fake_takes_span(l->name);
	const uint64_t began = clock_ns(), start = device_clock();
	uint64_t hash = 0;

	if (!strcmp(l->name, "ping")) {
		fake.ping = l->args.span;
		fake.pinging = !pthread_create(&fake.pinger, NULL, answer_pings, NULL);
		return;
	}
	if (!strncmp(l->name, "pattern", 7)) {
		run_pattern(&l->args.span, !strcmp(l->name, "pattern_check"));
		return;
	}
	if (!strcmp(l->name, "checksum")) {
		run_checksum(&l->args.span);
	}
	if (!span) {
		hash = run_gemm(l);
	}
	spin_until(clock_ns() + fake_number("slow", 0) * (uint64_t)1000);
	spin_until(began + fake_number("takes", 0) * (uint64_t)1000);
	const uint64_t at = span ? l->args.span.stamp : l->args.gemm.stamp;

	if (at) {
		struct gemm_cuda_stamp *s = (struct gemm_cuda_stamp *)(uintptr_t)at;

		s->start_inv = s->start_inv > ~start ? s->start_inv : ~start;
		struct gemm_cuda_end *e = &s->end[GEMM_CUDA_ENDS - 1];

		e->ns = device_clock();
		s->block_ns = e->ns - start;
		s->cycles = s->block_ns * 2;
		e->hash += hash;
		e->blocks += 1;
	}
}
