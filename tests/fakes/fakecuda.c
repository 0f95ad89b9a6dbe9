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
 *   takes=US        every launch takes that long, however long the CPU needed for it (or longer)
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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "tests/fakes/fakecuda.h"

#define EXPORT __attribute__((visibility("default")))

struct cuda_mod {
	int sm;
};

struct fake_state fake;

/* -- the orders ---------------------------------------------------------------------- */

const char *fake_order(const char *key)
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

unsigned fake_number(const char *key, unsigned otherwise)
{
	const char *v = fake_order(key);

	return v ? (unsigned)atoi(v) : otherwise;
}

/* -- the driver ------------------------------------------------------------------------ */

EXPORT CUresult cuInit(unsigned flags);
EXPORT CUresult cuInit(unsigned flags)
{
	(void)flags;
	if (fake_order("crash")) {
		abort();
	}
	return fake_order("nodevice")   ? CUDA_ERROR_NO_DEVICE
	       : fake_order("mismatch") ? CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
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
	*ret = (int)fake_number("devices", 1);
	return CUDA_SUCCESS;
}

static CUresult fake_device(CUdevice *ret, int ordinal)
{
	*ret = ordinal;
	return ordinal >= 0 && ordinal < (int)fake_number("devices", 1) ? CUDA_SUCCESS
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
	const unsigned cc = fake_number("cc", 90);

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
	if (d != first && fake_order("nopeer")) {
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
	return fake.sticky;
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

	if (!top || (off && !strcmp(off, "1")) || fake_order("nocache")) {
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
	if (fake_number("ptx222", 0) == (unsigned)sm) {
		/* The log's buffer comes first and its size second, as the caller has them. */
		if (options == 2 && option[0] == CUDA_JIT_ERROR_LOG) {
			snprintf(values[0], (uintptr_t)values[1],
				"ptxas fatal   : Unsupported .version 8.0; current version is '7.4'\n");
		}
		return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
	}
	if (fake_order("jit")) {
		return (CUresult)fake_number("jit", 0);
	}
	while (fake_order("jithang")) {
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

static CUresult fake_clusters(int *ret, CUfunction f, const struct cuda_launch_config *c)
{
	(void)f;
	*ret = 4 / (int)c->attrs[0].value.cluster.x;
	return CUDA_SUCCESS;
}

/* -- memory ------------------------------------------------------------------------------ */

static CUresult fake_free_memory(size_t *ret_free, size_t *ret_total)
{
	*ret_free = (size_t)fake_number("mem", 7168) << 20;
	*ret_total = (size_t)8 << 30;
	return CUDA_SUCCESS;
}

static CUresult allocate(CUdeviceptr *ret, size_t bytes)
{
	if (++fake.allocations == fake_number("oom", 0)) {
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*ret = (CUdeviceptr)(uintptr_t)aligned_alloc(256, (bytes + 255) / 256 * 256);
	return *ret ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult fake_alloc(CUdeviceptr *ret, size_t bytes)
{
	const CUresult e = allocate(ret, bytes);

	if (e == CUDA_SUCCESS && fake.ndevice < ALLOCATIONS) {
		fake.device[fake.ndevice].p = (char *)(uintptr_t)*ret;
		fake.device[fake.ndevice++].bytes = bytes;
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
	fake_spoil(to, bytes);
	return fake.sticky;
}

static CUresult fake_to_host(void *to, CUdeviceptr from, size_t bytes, CUstream s)
{
	(void)s;
	memcpy(to, (void *)(uintptr_t)from, bytes);
	return fake.sticky;
}

static CUresult fake_on_device(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s)
{
	(void)s;
	memcpy((void *)(uintptr_t)to, (void *)(uintptr_t)from, bytes);
	fake_spoil(to, bytes);
	return fake.sticky;
}

static CUresult fake_memset(CUdeviceptr to, unsigned char v, size_t bytes, CUstream s)
{
	(void)s;
	memset((void *)(uintptr_t)to, v, bytes);
	fake_spoil(to, bytes);
	return fake.sticky;
}

/* -- symbols ----------------------------------------------------------------------------- */

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
	const char *missing = fake_order("missing");

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
