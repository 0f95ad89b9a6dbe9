/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/cuda_api.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text.h"
#include "stress/library.h"

/* cuGetProcAddress takes the bare name and the version; the plain name has the version in it. */
enum { BARE, PLAIN };

#define NEED(member, plain, version)                                                               \
	{                                                                                          \
		{"cu" #member, plain}, version, false, offsetof(struct cuda_api, member)           \
	}
#define WANT(member, plain, version)                                                               \
	{                                                                                          \
		{"cu" #member, plain}, version, true, offsetof(struct cuda_api, member)            \
	}

static const struct stress_symbol symbols[] = {
	NEED(Init, "cuInit", 2000),
	NEED(DriverGetVersion, "cuDriverGetVersion", 2020),
	NEED(GetErrorName, "cuGetErrorName", 6000),
	NEED(GetErrorString, "cuGetErrorString", 6000),
	NEED(DeviceGetCount, "cuDeviceGetCount", 2000),
	NEED(DeviceGet, "cuDeviceGet", 2000),
	NEED(DeviceGetName, "cuDeviceGetName", 2000),
	NEED(DeviceTotalMem, "cuDeviceTotalMem_v2", 3020),
	NEED(DeviceGetAttribute, "cuDeviceGetAttribute", 2000),
	NEED(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 7000),
	NEED(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", 11000),
	NEED(DevicePrimaryCtxSetFlags, "cuDevicePrimaryCtxSetFlags_v2", 11000),
	NEED(CtxSetCurrent, "cuCtxSetCurrent", 4000),
	NEED(CtxSynchronize, "cuCtxSynchronize", 2000),
	NEED(ModuleLoadDataEx, "cuModuleLoadDataEx", 2010),
	NEED(ModuleUnload, "cuModuleUnload", 2000),
	NEED(ModuleGetFunction, "cuModuleGetFunction", 2000),
	NEED(FuncGetAttribute, "cuFuncGetAttribute", 2020),
	NEED(FuncSetAttribute, "cuFuncSetAttribute", 9000),
	NEED(OccupancyMaxActiveBlocksPerMultiprocessor,
		"cuOccupancyMaxActiveBlocksPerMultiprocessor", 6050),
	NEED(LaunchKernel, "cuLaunchKernel", 4000),
	NEED(MemGetInfo, "cuMemGetInfo_v2", 3020),
	NEED(MemAlloc, "cuMemAlloc_v2", 3020),
	NEED(MemFree, "cuMemFree_v2", 3020),
	NEED(MemHostAlloc, "cuMemHostAlloc", 2020),
	NEED(MemFreeHost, "cuMemFreeHost", 2000),
	NEED(MemHostGetDevicePointer, "cuMemHostGetDevicePointer_v2", 3020),
	NEED(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", 3020),
	NEED(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", 3020),
	NEED(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", 3020),
	NEED(MemsetD8Async, "cuMemsetD8Async", 3020),
	NEED(StreamCreate, "cuStreamCreate", 2000),
	NEED(StreamDestroy, "cuStreamDestroy_v2", 4000),
	NEED(StreamSynchronize, "cuStreamSynchronize", 2000),
	NEED(StreamQuery, "cuStreamQuery", 2000),
	NEED(EventCreate, "cuEventCreate", 2000),
	NEED(EventRecord, "cuEventRecord", 2000),
	NEED(EventSynchronize, "cuEventSynchronize", 2000),
	NEED(EventElapsedTime, "cuEventElapsedTime", 2000),
	NEED(EventDestroy, "cuEventDestroy_v2", 4000),
	NEED(StreamBeginCapture, "cuStreamBeginCapture_v2", 10010),
	NEED(StreamEndCapture, "cuStreamEndCapture", 10000),
	NEED(GraphInstantiateWithFlags, "cuGraphInstantiateWithFlags", 11040),
	NEED(GraphLaunch, "cuGraphLaunch", 10000),
	NEED(GraphExecDestroy, "cuGraphExecDestroy", 10000),
	NEED(GraphDestroy, "cuGraphDestroy", 10000),
	WANT(LaunchKernelEx, "cuLaunchKernelEx", 11060),
	WANT(OccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters", 11070),
	WANT(DeviceCanAccessPeer, "cuDeviceCanAccessPeer", 4000),
	WANT(CtxEnablePeerAccess, "cuCtxEnablePeerAccess", 4000),
	WANT(MemcpyPeerAsync, "cuMemcpyPeerAsync", 4000),
};

/* cuGetProcAddress in its forms of CUDA 11.3 and 12.0; either may be missing. */
struct lookup {
	void *handle;
	CUresult (*v1)(const char *name, void **ret, int version, uint64_t flags);
	CUresult (*v2)(const char *name, void **ret, int version, uint64_t flags, int *status);
};

static void *find(void *data, const struct stress_symbol *s)
{
	const struct lookup *l = data;
	void *p = NULL;
	int status = 0;

	if (l->v2 && l->v2(s->name[BARE], &p, s->version, 0, &status) == CUDA_SUCCESS && p) {
		return p;
	}
	if (!l->v2 && l->v1 && l->v1(s->name[BARE], &p, s->version, 0) == CUDA_SUCCESS && p) {
		return p;
	}
	return stress_library_symbol(l->handle, s->name[PLAIN]);
}

static int resolve(struct cuda_api *api, struct why *why)
{
	struct lookup l = {.handle = api->handle};

	stress_library_put(&l.v1, stress_library_symbol(api->handle, "cuGetProcAddress"));
	stress_library_put(&l.v2, stress_library_symbol(api->handle, "cuGetProcAddress_v2"));
	const char *missing = stress_library_load(symbols, ARRAY_LEN(symbols), find, &l, api);

	if (missing) {
		why_set(why,
			"%s has no %s: the driver is too old, CUDA 11.4 (470) or newer is needed",
			api->path, missing);
		return -ENOSYS;
	}
	return 0;
}

static int start(struct cuda_api *api, struct why *why)
{
	char buf[CUDA_ERROR_MAX];
	int count = 0;
	CUresult e = api->Init(0);

	if (e == CUDA_SUCCESS) {
		e = api->DriverGetVersion(&api->version);
	}
	if (e == CUDA_SUCCESS) {
		e = api->DeviceGetCount(&count);
	}
	if (e == CUDA_ERROR_NO_DEVICE || (e == CUDA_SUCCESS && count == 0)) {
		why_set(why,
			"the NVIDIA driver sees no device (CUDA_VISIBLE_DEVICES empty, no /dev/nvidia0, "
			"or the card failed to start: see 'barscope check' and the kernel log)");
		return -ENODEV;
	}
	if (e == CUDA_ERROR_STUB_LIBRARY) {
		why_set(why,
			"%s is the toolkit's stub, not the driver: take its folder out of "
			"LD_LIBRARY_PATH",
			api->path);
		return -EIO;
	}
	if (e == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH) {
		why_set(why,
			"%s and the loaded kernel module are of different versions: reboot, or reload "
			"the module",
			api->path);
		return -EIO;
	}
	if (e != CUDA_SUCCESS) {
		why_set(why, "cuInit: %s; is the nvidia kernel module loaded?",
			cuda_error(api, e, buf));
		return -EIO;
	}
	return 0;
}

int cuda_api_path(const char *library, const char *symbol, char *ret, size_t size)
{
	void *handle = stress_library_open(&library, 1, NULL);
	const char *file =
		handle ? stress_library_file(stress_library_symbol(handle, symbol)) : NULL;

	if (file) {
		char *real = realpath(file, NULL);

		text_copy(ret, size, real ? real : file);
		free(real);
	}
	stress_library_close(handle);
	return file ? 0 : -ENOENT;
}

int cuda_api_init(struct cuda_api *ret, const char *library, struct why *why)
{
	struct cuda_api api = {0};
	const char *name = library ? library : "libcuda.so.1", *reason = NULL;

	api.handle = stress_library_open(&name, 1, &reason);
	if (!api.handle) {
		why_set(why, "%s; no NVIDIA driver library: install the driver's user space",
			reason);
		return -ENOENT;
	}
	const char *file = stress_library_file(stress_library_symbol(api.handle, "cuInit"));

	text_copy(api.path, sizeof(api.path), file ? file : name);
	int r = resolve(&api, why);

	if (r == 0) {
		r = start(&api, why);
	}
	if (r < 0) {
		stress_library_close(api.handle);
		return r;
	}
	*ret = api;
	return 0;
}

void cuda_api_finish(struct cuda_api *api)
{
	if (api->handle) {
		stress_library_close(api->handle);
		api->handle = NULL;
	}
}

const char *cuda_error(const struct cuda_api *api, CUresult e, char buf[static CUDA_ERROR_MAX])
{
	const char *name = NULL, *text = NULL;

	if (api->GetErrorName) {
		api->GetErrorName(e, &name);
	}
	if (api->GetErrorString) {
		api->GetErrorString(e, &text);
	}
	if (name) {
		snprintf(buf, CUDA_ERROR_MAX, "%s (%d)%s%s", name, e, text ? ": " : "",
			text ? text : "");
	} else {
		snprintf(buf, CUDA_ERROR_MAX, "CUDA error %d", e);
	}
	return buf;
}

/* What to do about an error, where that is known; and the errno it stands for. */
static const struct advice {
	CUresult error;
	int result;
	const char *next;
} advice[] = {
	{CUDA_ERROR_OUT_OF_MEMORY, -ENOMEM,
		"free memory on the GPU, or use a smaller shape or fewer copies"},
	{CUDA_ERROR_NO_DEVICE, -ENODEV, NULL},
	{CUDA_ERROR_INVALID_DEVICE, -ENODEV, NULL},
	{CUDA_ERROR_UNSUPPORTED_PTX_VERSION, -ENOEXEC, "the driver is older than these kernels"},
	{CUDA_ERROR_INVALID_PTX, -ENOEXEC, "the driver's compiler refused the kernels"},
	{CUDA_ERROR_NO_BINARY_FOR_GPU, -ENOEXEC, "the GPU is older than these kernels"},
	{CUDA_ERROR_INVALID_IMAGE, -ENOEXEC, "the driver's compiler refused the kernels"},
	{CUDA_ERROR_JIT_COMPILER_NOT_FOUND, -ENOEXEC,
		"libnvidia-ptxjitcompiler is missing: install it with the driver"},
	{CUDA_ERROR_NOT_FOUND, -ENOEXEC, NULL},
	{CUDA_ERROR_ECC_UNCORRECTABLE, -EIO,
		"the GPU's memory has an uncorrectable error: read the kernel log for Xid 48, 63, 64, "
		"94 or 95"},
	{CUDA_ERROR_ILLEGAL_ADDRESS, -EIO, "read the kernel log for Xid 13 or 31"},
	{CUDA_ERROR_LAUNCH_TIMEOUT, -EIO,
		"the display's watchdog ended the kernel: run without a display on this GPU"},
	{CUDA_ERROR_HARDWARE_STACK_ERROR, -EIO, "read the kernel log for Xid"},
	{CUDA_ERROR_LAUNCH_FAILED, -EIO, "read the kernel log for Xid"},
	{CUDA_ERROR_UNKNOWN, -EIO, "read the kernel log for Xid"},
};

int cuda_fail(const struct cuda_api *api, CUresult e, struct why *why, const char *fmt, ...)
{
	char doing[96], buf[CUDA_ERROR_MAX];
	const struct advice *a = NULL;
	va_list args;

	va_start(args, fmt);
	vsnprintf(doing, sizeof(doing), fmt, args);
	va_end(args);
	for (size_t i = 0; i < ARRAY_LEN(advice); i++) {
		if (advice[i].error == e) {
			a = &advice[i];
		}
	}
	why_set(why, "%s: %s%s%s", doing, cuda_error(api, e, buf), a && a->next ? "; " : "",
		a && a->next ? a->next : "");
	return a ? a->result : -EIO;
}
