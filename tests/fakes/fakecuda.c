/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libcuda.so.1 without a GPU: device memory is host memory, kernels are run on the CPU when
 * they are launched, and faults come as FAKE_CUDA orders, a list such as "oom=3,cc=80":
 *
 *   nodevice        cuInit finds nothing (100)
 *   mismatch        library and kernel module differ (803)
 *   cc=N            compute capability, default 90
 *   missing=NAME    this symbol does not exist
 *   oom=N           the N-th allocation fails (2)
 *   ptx222=SM       modules for sm_SM are too new for the driver (222)
 *   fail=N          the N-th launch fails (719), and so does everything after it
 *   jit=E           modules end with the error E (221: no compiler)
 *   jithang=1       compiling never ends
 *   crash=1         cuInit ends the process
 *   nocache=1       what was compiled is not put into CUDA_CACHE_PATH
 *   ecc=N           the same with an uncorrectable memory error (214)
 *   hang=N          the N-th launch never ends
 *   slow=US         every launch takes that much longer
 *   flip=N          one output bit of the N-th GEMM flips
 *   rot=N           before the N-th GEMM one bit of its weights flips in memory
 *   nan=1           every output is NaN
 *   mem=MB          that much free memory, default 7168
 *   broken=BYTE     64 bytes of device memory, from the BYTE-th that was allocated on, stay 0
 *   alias=BYTE      the 4 KiB there are the 4 KiB that lie 64 KiB further on
 *   noact=1         the activation is left out
 *   nodependent=1   dependent launches are refused (1)
 *   devices=N       so many GPUs, at 0000:41:00.0, 0000:42:00.0, …; default 1
 *   nopeer=1        no context on another GPU than the first that is asked for
 */
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "kernels/cuda/args.h"
#include "kernels/half.h"
#include "kernels/hash.h"
#include "stress/cuda_api.h"
#include "tests/fakes/gpu_lock.h"

#define EXPORT __attribute__((visibility("default")))

enum { NAME_MAX_LEN = 48, GRAPH_MAX = 4096, ALLOCATIONS = 1 << 16 };

struct cuda_mod {
	int sm;
};

struct cuda_func {
	char name[NAME_MAX_LEN];
};

struct launch {
	char name[NAME_MAX_LEN];
	union {
		struct gemm_cuda_args gemm;
		struct gemm_cuda_span span;
	} args;
};

struct cuda_graph {
	struct launch *launch;
	unsigned n;
};

struct cuda_event {
	uint64_t ns;
};

static struct {
	CUresult sticky;
	bool hangs, capturing;
	unsigned launches, gemms, allocations;
	struct {
		char *p;
		size_t bytes;
	} device[ALLOCATIONS]; /* in the order of their making */
	size_t ndevice;
	pthread_t pinger;
	bool pinging;
	struct gemm_cuda_span ping;
	struct cuda_graph captured;
} state;

/* -- the orders ---------------------------------------------------------------------- */

static const char *order(const char *key)
{
	static char value[64];
	const char *plan = getenv("FAKE_CUDA");
	const size_t len = strlen(key);

	for (const char *p = plan; p && *p; p = strchr(p, ',')) {
		p += *p == ',';
		if (!strncmp(p, key, len) && (p[len] == '=' || p[len] == ',' || !p[len])) {
			const char *v = p[len] == '=' ? p + len + 1 : "1";

			snprintf(value, sizeof(value), "%.*s", (int)strcspn(v, ","), v);
			return value;
		}
		if (!strchr(p, ',')) {
			break;
		}
	}
	return NULL;
}

static unsigned number(const char *key, unsigned otherwise)
{
	const char *v = order(key);

	return v ? (unsigned)atoi(v) : otherwise;
}

/* -- memory that does not keep what is written --------------------------------------------- */

/* The AT-th byte of device memory, with N bytes behind it in one piece; NULL: not there (yet). */
static char *device_byte(size_t at, size_t n)
{
	for (size_t i = 0; i < state.ndevice; i++) {
		if (at < state.device[i].bytes) {
			return at + n <= state.device[i].bytes ? state.device[i].p + at : NULL;
		}
		at -= state.device[i].bytes;
	}
	return NULL;
}

static bool overlaps(const char *p, size_t n, const char *q, size_t m)
{
	return p && q && p < q + m && q < p + n;
}

/* Call after N bytes at TO were written. */
static void spoil(uint64_t to, size_t n)
{
	char *p = (char *)(uintptr_t)to;

	if (order("broken")) {
		char *b = device_byte(number("broken", 0), 64);

		if (overlaps(p, n, b, 64)) {
			memset(b, 0, 64);
		}
	}
	if (order("alias")) {
		char *a = device_byte(number("alias", 0), 4096);
		char *b = device_byte(number("alias", 0) + 65536, 4096);

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
		spoil(s->p, s->bytes);
	}
}

/* -- kernels --------------------------------------------------------------------------- */

/* The GPU's own clock: another zero, and 40 ppm faster. */
static uint64_t device_clock(void)
{
	const uint64_t now = clock_ns();

	return now + now / 25000 + 123456789012345u;
}

static void wait_us(unsigned us)
{
	const uint64_t until = clock_ns() + us * (uint64_t)1000;

	while (clock_ns() < until) {
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
	const unsigned nth = ++state.gemms;
	uint64_t hash = 0;

	if (number("rot", 0) == nth) {
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
		sum = activate(sum, order("noact") ? GEMM_CUDA_ACT_NONE : a->act);
		if (order("nan")) {
			sum = 0.0 / 0.0;
		}
		uint32_t bits = gemm_half_from_double(sum);
		const float single = (float)sum;

		if (f32) {
			memcpy(&bits, &single, 4);
		}
		bits ^= i == 0 && number("flip", 0) == nth ? 0x20 : 0;
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
	volatile uint64_t *p = (volatile uint64_t *)(uintptr_t)state.ping.p;

	(void)unused;
	for (uint64_t i = 1; i <= state.ping.bytes; i++) {
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

static bool takes_span(const char *name)
{
	return !strncmp(name, "read", 4) || !strcmp(name, "empty") || !strcmp(name, "checksum") ||
	       !strncmp(name, "pattern", 7) || !strcmp(name, "ping");
}

static void run(struct launch *l)
{
	const bool span = takes_span(l->name);
	const uint64_t start = device_clock();
	uint64_t hash = 0;

	if (!strcmp(l->name, "ping")) {
		state.ping = l->args.span;
		state.pinging = !pthread_create(&state.pinger, NULL, answer_pings, NULL);
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
	wait_us(number("slow", 0));
	const uint64_t at = span ? l->args.span.stamp : l->args.gemm.stamp;

	if (at) {
		struct gemm_cuda_stamp *s = (struct gemm_cuda_stamp *)(uintptr_t)at;

		s->start_inv = s->start_inv > ~start ? s->start_inv : ~start;
		s->end = device_clock();
		s->block_ns = s->end - start;
		s->cycles = s->block_ns * 2;
		s->hash += hash;
		s->blocks += 1;
	}
}

static CUresult launch(CUfunction f, void **params)
{
	struct launch l = {.name = ""};

	snprintf(l.name, sizeof(l.name), "%s", f->name);
	if (takes_span(l.name)) {
		memcpy(&l.args.span, params[0], sizeof(l.args.span));
	} else {
		memcpy(&l.args.gemm, params[0], sizeof(l.args.gemm));
	}
	if (state.capturing) {
		if (state.captured.n == GRAPH_MAX) {
			return CUDA_ERROR_OUT_OF_MEMORY;
		}
		state.captured.launch[state.captured.n++] = l;
		return CUDA_SUCCESS;
	}
	state.launches++;
	if (number("fail", 0) == state.launches) {
		state.sticky = CUDA_ERROR_LAUNCH_FAILED;
	}
	if (number("ecc", 0) == state.launches) {
		state.sticky = CUDA_ERROR_ECC_UNCORRECTABLE;
	}
	if (number("hang", 0) == state.launches) {
		state.hangs = true;
	}
	if (state.sticky == CUDA_SUCCESS && !state.hangs) {
		gpu_lock();
		run(&l);
		gpu_unlock();
	}
	return CUDA_SUCCESS; /* as on a GPU, the fault shows later */
}

static CUresult settle(void)
{
	if (state.pinging) {
		pthread_join(state.pinger, NULL);
		state.pinging = false;
	}
	while (state.hangs) {
		nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
	}
	return state.sticky;
}

/* -- the driver ------------------------------------------------------------------------ */

EXPORT CUresult cuInit(unsigned flags);
EXPORT CUresult cuInit(unsigned flags)
{
	(void)flags;
	if (order("crash")) {
		abort();
	}
	return order("nodevice")   ? CUDA_ERROR_NO_DEVICE
	       : order("mismatch") ? CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
				   : CUDA_SUCCESS;
}

static CUresult fake_version(int *ret)
{
	*ret = 12020;
	return CUDA_SUCCESS;
}

static CUresult fake_error_name(CUresult e, const char **ret)
{
	*ret = e == CUDA_ERROR_OUT_OF_MEMORY             ? "CUDA_ERROR_OUT_OF_MEMORY"
	       : e == CUDA_ERROR_LAUNCH_FAILED           ? "CUDA_ERROR_LAUNCH_FAILED"
	       : e == CUDA_ERROR_ECC_UNCORRECTABLE       ? "CUDA_ERROR_ECC_UNCORRECTABLE"
	       : e == CUDA_ERROR_UNSUPPORTED_PTX_VERSION ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
							 : NULL;
	return CUDA_SUCCESS;
}

static CUresult fake_error_string(CUresult e, const char **ret)
{
	(void)e;
	*ret = NULL;
	return CUDA_SUCCESS;
}

static CUresult fake_count(int *ret)
{
	*ret = (int)number("devices", 1);
	return CUDA_SUCCESS;
}

static CUresult fake_device(CUdevice *ret, int ordinal)
{
	*ret = ordinal;
	return ordinal >= 0 && ordinal < (int)number("devices", 1) ? CUDA_SUCCESS
								   : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult fake_name(char *ret, int len, CUdevice d)
{
	(void)d;
	snprintf(ret, (size_t)len, "Fake GPU");
	return CUDA_SUCCESS;
}

static CUresult fake_total(size_t *ret, CUdevice d)
{
	(void)d;
	*ret = (size_t)8 << 30;
	return CUDA_SUCCESS;
}

static CUresult fake_attribute(int *ret, int attr, CUdevice d)
{
	const unsigned cc = number("cc", 90);

	switch (attr) {
	case CUDA_ATTR_SM_COUNT:
		*ret = 4;
		break;
	case CUDA_ATTR_MAX_SHARED_OPTIN:
		*ret = 232448;
		break;
	case CUDA_ATTR_L2_BYTES:
		*ret = 1 << 20;
		break;
	case CUDA_ATTR_CC_MAJOR:
		*ret = (int)(cc / 10);
		break;
	case CUDA_ATTR_CC_MINOR:
		*ret = (int)(cc % 10);
		break;
	case CUDA_ATTR_PCI_BUS:
		*ret = 0x41 + d;
		break;
	default:
		*ret = 0;
	}
	return CUDA_SUCCESS;
}

static CUresult fake_retain(CUcontext *ret, CUdevice d)
{
	static CUdevice first = -1;

	first = first < 0 ? d : first;
	if (d != first && order("nopeer")) {
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*ret = (CUcontext)(uintptr_t)(0x10 + d);
	return CUDA_SUCCESS;
}

static CUresult fake_can_access(int *ret, CUdevice d, CUdevice peer)
{
	*ret = d != peer;
	return CUDA_SUCCESS;
}

static CUresult fake_enable_peer(CUcontext peer, unsigned flags)
{
	(void)flags;
	return peer ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult fake_peer(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from, CUcontext from_ctx,
	size_t bytes, CUstream s)
{
	(void)s;
	if (!to_ctx || !from_ctx || to_ctx == from_ctx) {
		return CUDA_ERROR_INVALID_VALUE;
	}
	memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
	return state.sticky;
}

static CUresult fake_device_ok(CUdevice d)
{
	(void)d;
	return CUDA_SUCCESS;
}

static CUresult fake_flags(CUdevice d, unsigned flags)
{
	(void)d;
	(void)flags;
	return CUDA_SUCCESS;
}

static CUresult fake_current(CUcontext c)
{
	(void)c;
	return CUDA_SUCCESS;
}

/* As the driver does: a folder a module, below CUDA_CACHE_PATH. */
static void keep(const char *image)
{
	const char *off = getenv("CUDA_CACHE_DISABLE"), *top = getenv("CUDA_CACHE_PATH");
	char path[512];

	if (!top || (off && !strcmp(off, "1")) || order("nocache")) {
		return;
	}
	snprintf(path, sizeof(path), "%s/%zx", top, strlen(image));
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%zx/cubin", top, strlen(image));
	FILE *f = fopen(path, "w");

	if (f) {
		fputs("made by fakecuda\n", f);
		fclose(f);
	}
}

static CUresult fake_load(
	CUmodule *ret, const void *image, unsigned options, int *option, void **values)
{
	const char *target = strstr(image, ".target sm_");
	const int sm = target ? atoi(target + strlen(".target sm_")) : 0;

	if (sm == 0) {
		return CUDA_ERROR_INVALID_PTX;
	}
	if (number("ptx222", 0) == (unsigned)sm) {
		/* The log's buffer comes first and its size second, as the caller has them. */
		if (options == 2 && option[0] == CUDA_JIT_ERROR_LOG) {
			snprintf(values[0], (uintptr_t)values[1],
				"ptxas fatal   : Unsupported .version 8.0; current version is '7.4'\n");
		}
		return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
	}
	if (order("jit")) {
		return (CUresult)number("jit", 0);
	}
	while (order("jithang")) {
		nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
	}
	keep(image);
	*ret = malloc(sizeof(**ret));
	(*ret)->sm = sm;
	return CUDA_SUCCESS;
}

static CUresult fake_unload(CUmodule m)
{
	free(m);
	return CUDA_SUCCESS;
}

static CUresult fake_function(CUfunction *ret, CUmodule m, const char *name)
{
	static struct cuda_func all[128];

	(void)m;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!all[i].name[0]) {
			snprintf(all[i].name, sizeof(all[i].name), "%s", name);
		}
		if (!strcmp(all[i].name, name)) {
			*ret = &all[i];
			return CUDA_SUCCESS;
		}
	}
	return CUDA_ERROR_NOT_FOUND;
}

static CUresult fake_function_get(int *ret, int attr, CUfunction f)
{
	(void)f;
	*ret = attr == CUDA_FUNC_REGISTERS ? 64 : 0;
	return CUDA_SUCCESS;
}

static CUresult fake_function_set(CUfunction f, int attr, int value)
{
	(void)f;
	(void)attr;
	return value <= 232448 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult fake_occupancy(int *ret, CUfunction f, int threads, size_t shared)
{
	(void)f;
	(void)threads;
	*ret = shared > 116224 ? 1 : 2;
	return CUDA_SUCCESS;
}

static CUresult fake_launch(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
	unsigned by, unsigned bz, unsigned shared, CUstream s, void **params, void **extra)
{
	(void)gy, (void)gz, (void)by, (void)bz, (void)shared, (void)s, (void)extra;
	if (gx == 0 || bx == 0 || bx > 1024) {
		return CUDA_ERROR_INVALID_VALUE;
	}
	return launch(f, params);
}

static CUresult fake_launch_ex(
	const struct cuda_launch_config *c, CUfunction f, void **params, void **extra)
{
	(void)extra;
	for (unsigned i = 0; i < c->attr_count; i++) {
		const struct cuda_launch_attribute *a = &c->attrs[i];

		if (a->id == CUDA_LAUNCH_CLUSTER_DIMENSION && c->grid_x % a->value.cluster.x) {
			return CUDA_ERROR_INVALID_VALUE;
		}
		if (a->id == CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION && order("nodependent")) {
			return CUDA_ERROR_INVALID_VALUE;
		}
	}
	return launch(f, params);
}

static CUresult fake_clusters(int *ret, CUfunction f, const struct cuda_launch_config *c)
{
	(void)f;
	*ret = 4 / (int)c->attrs[0].value.cluster.x;
	return CUDA_SUCCESS;
}

static CUresult fake_free_memory(size_t *ret_free, size_t *ret_total)
{
	*ret_free = (size_t)number("mem", 7168) << 20;
	*ret_total = (size_t)8 << 30;
	return CUDA_SUCCESS;
}

static CUresult allocate(CUdeviceptr *ret, size_t bytes)
{
	if (++state.allocations == number("oom", 0)) {
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*ret = (CUdeviceptr)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult fake_alloc(CUdeviceptr *ret, size_t bytes)
{
	const CUresult e = allocate(ret, bytes);

	if (e == CUDA_SUCCESS && state.ndevice < ALLOCATIONS) {
		state.device[state.ndevice].p = (char *)(uintptr_t)*ret;
		state.device[state.ndevice++].bytes = bytes;
	}
	return e;
}

static CUresult fake_free(CUdeviceptr p)
{
	free((void *)(uintptr_t)p);
	return CUDA_SUCCESS;
}

static CUresult fake_host_alloc(void **ret, size_t bytes, unsigned flags)
{
	CUdeviceptr p = 0;
	const CUresult e = allocate(&p, bytes);

	(void)flags;
	*ret = (void *)(uintptr_t)p;
	return e;
}

static CUresult fake_host_free(void *p)
{
	free(p);
	return CUDA_SUCCESS;
}

static CUresult fake_host_pointer(CUdeviceptr *ret, void *p, unsigned flags)
{
	(void)flags;
	*ret = (CUdeviceptr)(uintptr_t)p;
	return CUDA_SUCCESS;
}

static CUresult fake_to_device(CUdeviceptr to, const void *from, size_t bytes, CUstream s)
{
	(void)s;
	memcpy((void *)(uintptr_t)to, from, bytes);
	spoil(to, bytes);
	return state.sticky;
}

static CUresult fake_to_host(void *to, CUdeviceptr from, size_t bytes, CUstream s)
{
	(void)s;
	memcpy(to, (void *)(uintptr_t)from, bytes);
	return state.sticky;
}

static CUresult fake_on_device(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s)
{
	(void)s;
	memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
	spoil(to, bytes);
	return state.sticky;
}

static CUresult fake_memset(CUdeviceptr to, unsigned char v, size_t bytes, CUstream s)
{
	(void)s;
	memset((void *)(uintptr_t)to, v, bytes);
	spoil(to, bytes);
	return state.sticky;
}

static CUresult fake_stream(CUstream *ret, unsigned flags)
{
	(void)flags;
	*ret = (CUstream)(uintptr_t)0x20;
	return CUDA_SUCCESS;
}

static CUresult fake_stream_ok(CUstream s)
{
	(void)s;
	return CUDA_SUCCESS;
}

static CUresult fake_synchronize(CUstream s)
{
	(void)s;
	return settle();
}

static CUresult fake_context_synchronize(void)
{
	return settle();
}

static CUresult fake_query(CUstream s)
{
	(void)s;
	return state.hangs ? CUDA_ERROR_NOT_READY : settle();
}

static CUresult fake_event(CUevent *ret, unsigned flags)
{
	(void)flags;
	*ret = calloc(1, sizeof(**ret));
	return CUDA_SUCCESS;
}

static CUresult fake_record(CUevent e, CUstream s)
{
	(void)s;
	e->ns = clock_ns();
	return CUDA_SUCCESS;
}

static CUresult fake_event_wait(CUevent e)
{
	(void)e;
	return settle();
}

static CUresult fake_elapsed(float *ret, CUevent from, CUevent to)
{
	*ret = (float)(to->ns - from->ns) / 1e6f;
	return CUDA_SUCCESS;
}

static CUresult fake_event_destroy(CUevent e)
{
	free(e);
	return CUDA_SUCCESS;
}

static CUresult fake_capture(CUstream s, int mode)
{
	(void)s;
	(void)mode;
	state.captured.launch = calloc(GRAPH_MAX, sizeof(struct launch));
	state.captured.n = 0;
	state.capturing = true;
	return CUDA_SUCCESS;
}

static CUresult fake_captured(CUstream s, CUgraph *ret)
{
	(void)s;
	state.capturing = false;
	if (!state.captured.n) { /* nothing came: what a real one refuses, too */
		free(state.captured.launch);
		state.captured.launch = NULL;
	}
	*ret = malloc(sizeof(**ret));
	**ret = state.captured;
	return CUDA_SUCCESS;
}

static CUresult fake_instantiate(CUgraphExec *ret, CUgraph g, uint64_t flags)
{
	struct cuda_graph *copy = malloc(sizeof(*copy));

	(void)flags;
	*copy = *g;
	*ret = (CUgraphExec)copy;
	return CUDA_SUCCESS;
}

static CUresult fake_graph_launch(CUgraphExec g, CUstream s)
{
	struct cuda_graph *copy = (struct cuda_graph *)g;

	(void)s;
	for (unsigned i = 0; i < copy->n; i++) {
		run(&copy->launch[i]);
	}
	return CUDA_SUCCESS;
}

static CUresult fake_exec_destroy(CUgraphExec g)
{
	struct cuda_graph *copy = (struct cuda_graph *)g;

	free(copy->launch);
	free(copy);
	return CUDA_SUCCESS;
}

static CUresult fake_graph_destroy(CUgraph g)
{
	free(g); /* its launches belong to what was made of it */
	return CUDA_SUCCESS;
}

/* The version is that of the newest prototype under this name: asking below it gets an older. */
static const struct {
	const char *name;
	int least;
	void (*function)(void);
} symbols[] = {
	{"cuInit", 2000, (void (*)(void))cuInit},
	{"cuDriverGetVersion", 2020, (void (*)(void))fake_version},
	{"cuGetErrorName", 6000, (void (*)(void))fake_error_name},
	{"cuGetErrorString", 6000, (void (*)(void))fake_error_string},
	{"cuDeviceGetCount", 2000, (void (*)(void))fake_count},
	{"cuDeviceGet", 2000, (void (*)(void))fake_device},
	{"cuDeviceGetName", 2000, (void (*)(void))fake_name},
	{"cuDeviceTotalMem", 3020, (void (*)(void))fake_total},
	{"cuDeviceGetAttribute", 2000, (void (*)(void))fake_attribute},
	{"cuDevicePrimaryCtxRetain", 7000, (void (*)(void))fake_retain},
	{"cuDevicePrimaryCtxRelease", 11000, (void (*)(void))fake_device_ok},
	{"cuDevicePrimaryCtxSetFlags", 11000, (void (*)(void))fake_flags},
	{"cuCtxSetCurrent", 4000, (void (*)(void))fake_current},
	{"cuCtxSynchronize", 2000, (void (*)(void))fake_context_synchronize},
	{"cuModuleLoadDataEx", 2010, (void (*)(void))fake_load},
	{"cuModuleUnload", 2000, (void (*)(void))fake_unload},
	{"cuModuleGetFunction", 2000, (void (*)(void))fake_function},
	{"cuFuncGetAttribute", 2020, (void (*)(void))fake_function_get},
	{"cuFuncSetAttribute", 9000, (void (*)(void))fake_function_set},
	{"cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050, (void (*)(void))fake_occupancy},
	{"cuLaunchKernel", 4000, (void (*)(void))fake_launch},
	{"cuLaunchKernelEx", 11060, (void (*)(void))fake_launch_ex},
	{"cuOccupancyMaxActiveClusters", 11070, (void (*)(void))fake_clusters},
	{"cuMemGetInfo", 3020, (void (*)(void))fake_free_memory},
	{"cuMemAlloc", 3020, (void (*)(void))fake_alloc},
	{"cuMemFree", 3020, (void (*)(void))fake_free},
	{"cuMemHostAlloc", 2020, (void (*)(void))fake_host_alloc},
	{"cuMemFreeHost", 2000, (void (*)(void))fake_host_free},
	{"cuMemHostGetDevicePointer", 3020, (void (*)(void))fake_host_pointer},
	{"cuMemcpyHtoDAsync", 3020, (void (*)(void))fake_to_device},
	{"cuMemcpyDtoHAsync", 3020, (void (*)(void))fake_to_host},
	{"cuMemcpyDtoDAsync", 3020, (void (*)(void))fake_on_device},
	{"cuMemsetD8Async", 3020, (void (*)(void))fake_memset},
	{"cuStreamCreate", 2000, (void (*)(void))fake_stream},
	{"cuStreamDestroy", 4000, (void (*)(void))fake_stream_ok},
	{"cuStreamSynchronize", 2000, (void (*)(void))fake_synchronize},
	{"cuStreamQuery", 2000, (void (*)(void))fake_query},
	{"cuEventCreate", 2000, (void (*)(void))fake_event},
	{"cuEventRecord", 2000, (void (*)(void))fake_record},
	{"cuEventSynchronize", 2000, (void (*)(void))fake_event_wait},
	{"cuEventElapsedTime", 2000, (void (*)(void))fake_elapsed},
	{"cuEventDestroy", 4000, (void (*)(void))fake_event_destroy},
	{"cuStreamBeginCapture", 10010, (void (*)(void))fake_capture},
	{"cuStreamEndCapture", 10000, (void (*)(void))fake_captured},
	{"cuGraphInstantiateWithFlags", 11040, (void (*)(void))fake_instantiate},
	{"cuGraphLaunch", 10000, (void (*)(void))fake_graph_launch},
	{"cuGraphExecDestroy", 10000, (void (*)(void))fake_exec_destroy},
	{"cuGraphDestroy", 10000, (void (*)(void))fake_graph_destroy},
	{"cuDeviceCanAccessPeer", 4000, (void (*)(void))fake_can_access},
	{"cuCtxEnablePeerAccess", 4000, (void (*)(void))fake_enable_peer},
	{"cuMemcpyPeerAsync", 4000, (void (*)(void))fake_peer},
};

EXPORT CUresult cuGetProcAddress_v2(
	const char *name, void **ret, int version, uint64_t flags, int *status);
EXPORT CUresult cuGetProcAddress_v2(
	const char *name, void **ret, int version, uint64_t flags, int *status)
{
	const char *missing = order("missing");

	(void)flags;
	*ret = NULL;
	*status = 1;
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		if (!strcmp(symbols[i].name, name) && !(missing && !strcmp(missing, name))) {
			/* Another version is another prototype: never handed out for this one. */
			if (version != symbols[i].least) {
				fprintf(stderr, "fakecuda: %s asked for as %d, it is %d\n", name,
					version, symbols[i].least);
				abort();
			}
			memcpy(ret, &symbols[i].function, sizeof(*ret));
			*status = 0;
		}
	}
	return CUDA_SUCCESS;
}
