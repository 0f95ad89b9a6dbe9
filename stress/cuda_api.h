/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The CUDA Driver API without a CUDA toolkit: the few types, constants and prototypes that
 * barscope needs, written from NVIDIA's documentation, and a table of pointers filled from
 * libcuda.so.1 at run time. Each symbol is asked for with the version at which the prototype
 * below came in (CUDA Programming Guide, "Driver Entry Point Access"): a newer default under
 * the same name, such as CUDA 13's, is then never called by mistake.
 *
 * The table is immutable once loaded; the functions follow the driver's thread rules.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

typedef int CUresult;
typedef int CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct cuda_ctx *CUcontext;
typedef struct cuda_mod *CUmodule;
typedef struct cuda_func *CUfunction;
typedef struct cuda_stream *CUstream;
typedef struct cuda_event *CUevent;
typedef struct cuda_graph *CUgraph;
typedef struct cuda_graph_exec *CUgraphExec;

enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_DEINITIALIZED = 4,
	CUDA_ERROR_STUB_LIBRARY = 34,
	CUDA_ERROR_NO_DEVICE = 100,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_IMAGE = 200,
	CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
	CUDA_ERROR_ECC_UNCORRECTABLE = 214,
	CUDA_ERROR_INVALID_PTX = 218,
	CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221,
	CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_READY = 600,
	CUDA_ERROR_ILLEGAL_ADDRESS = 700,
	CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
	CUDA_ERROR_LAUNCH_TIMEOUT = 702,
	CUDA_ERROR_HARDWARE_STACK_ERROR = 714,
	CUDA_ERROR_LAUNCH_FAILED = 719,
	CUDA_ERROR_SYSTEM_NOT_READY = 802,
	CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803,
	CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804,
	CUDA_ERROR_UNKNOWN = 999,
};

/* CUdevice_attribute */
enum {
	CUDA_ATTR_MAX_SHARED_PER_BLOCK = 8,
	CUDA_ATTR_SM_COUNT = 16,
	CUDA_ATTR_KERNEL_EXEC_TIMEOUT = 17,
	CUDA_ATTR_COMPUTE_MODE = 20,
	CUDA_ATTR_PCI_BUS = 33,
	CUDA_ATTR_PCI_DEVICE = 34,
	CUDA_ATTR_MEMORY_CLOCK_KHZ = 36,
	CUDA_ATTR_MEMORY_BUS_BITS = 37,
	CUDA_ATTR_L2_BYTES = 38,
	CUDA_ATTR_PCI_DOMAIN = 50,
	CUDA_ATTR_CC_MAJOR = 75,
	CUDA_ATTR_CC_MINOR = 76,
	CUDA_ATTR_SHARED_PER_SM = 81,
	CUDA_ATTR_MAX_SHARED_OPTIN = 97,
};

/* CUfunction_attribute */
enum {
	CUDA_FUNC_STATIC_SHARED = 1,
	CUDA_FUNC_LOCAL_BYTES = 3,
	CUDA_FUNC_REGISTERS = 4,
	CUDA_FUNC_MAX_DYNAMIC_SHARED = 8,
};

/* CUjit_option */
enum {
	CUDA_JIT_INFO_LOG = 3,
	CUDA_JIT_INFO_LOG_BYTES = 4,
	CUDA_JIT_ERROR_LOG = 5,
	CUDA_JIT_ERROR_LOG_BYTES = 6,
};

enum {
	CUDA_STREAM_NON_BLOCKING = 1,
	CUDA_EVENT_DEFAULT = 0,
	CUDA_EVENT_BLOCKING_SYNC = 1,
	CUDA_HOST_PORTABLE = 1,
	CUDA_HOST_MAPPED = 2,
	CUDA_CAPTURE_THREAD_LOCAL = 1,
	CUDA_CTX_SCHED_SPIN = 1,
	CUDA_LAUNCH_CLUSTER_DIMENSION = 4,
	CUDA_LAUNCH_PROGRAMMATIC_SERIALIZATION = 6, /* dependent launch (CUDA 11.8) */
};

/* CUlaunchAttribute: an id and 64 bytes of value. */
struct cuda_launch_attribute {
	int id;
	char pad[4];
	union {
		char bytes[64];
		struct {
			unsigned x, y, z;
		} cluster;
		int programmatic; /* 1: this launch may begin while the one before ends */
	} value;
};

/* CUlaunchConfig (CUDA 11.8) */
struct cuda_launch_config {
	unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
	CUstream stream;
	struct cuda_launch_attribute *attrs;
	unsigned attr_count;
};

struct cuda_api {
	CUresult (*Init)(unsigned flags);
	CUresult (*DriverGetVersion)(int *ret);
	CUresult (*GetErrorName)(CUresult e, const char **ret);
	CUresult (*GetErrorString)(CUresult e, const char **ret);
	CUresult (*DeviceGetCount)(int *ret);
	CUresult (*DeviceGet)(CUdevice *ret, int ordinal);
	CUresult (*DeviceGetName)(char *ret, int len, CUdevice d);
	CUresult (*DeviceTotalMem)(size_t *ret, CUdevice d);
	CUresult (*DeviceGetAttribute)(int *ret, int attr, CUdevice d);
	CUresult (*DevicePrimaryCtxRetain)(CUcontext *ret, CUdevice d);
	CUresult (*DevicePrimaryCtxRelease)(CUdevice d);
	CUresult (*DevicePrimaryCtxSetFlags)(CUdevice d, unsigned flags);
	CUresult (*CtxSetCurrent)(CUcontext c);
	CUresult (*CtxSynchronize)(void);
	CUresult (*ModuleLoadDataEx)(
		CUmodule *ret, const void *image, unsigned options, int *option, void **values);
	CUresult (*ModuleUnload)(CUmodule m);
	CUresult (*ModuleGetFunction)(CUfunction *ret, CUmodule m, const char *name);
	CUresult (*FuncGetAttribute)(int *ret, int attr, CUfunction f);
	CUresult (*FuncSetAttribute)(CUfunction f, int attr, int value);
	CUresult (*OccupancyMaxActiveBlocksPerMultiprocessor)(
		int *ret, CUfunction f, int threads, size_t dynamic_shared);
	CUresult (*LaunchKernel)(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
		unsigned by, unsigned bz, unsigned shared_bytes, CUstream s, void **params,
		void **extra);
	CUresult (*MemGetInfo)(size_t *ret_free, size_t *ret_total);
	CUresult (*MemAlloc)(CUdeviceptr *ret, size_t bytes);
	CUresult (*MemFree)(CUdeviceptr p);
	CUresult (*MemHostAlloc)(void **ret, size_t bytes, unsigned flags);
	CUresult (*MemFreeHost)(void *p);
	CUresult (*MemHostGetDevicePointer)(CUdeviceptr *ret, void *p, unsigned flags);
	CUresult (*MemcpyHtoDAsync)(CUdeviceptr to, const void *from, size_t bytes, CUstream s);
	CUresult (*MemcpyDtoHAsync)(void *to, CUdeviceptr from, size_t bytes, CUstream s);
	CUresult (*MemcpyDtoDAsync)(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s);
	CUresult (*MemsetD8Async)(CUdeviceptr to, unsigned char v, size_t bytes, CUstream s);
	CUresult (*StreamCreate)(CUstream *ret, unsigned flags);
	CUresult (*StreamDestroy)(CUstream s);
	CUresult (*StreamSynchronize)(CUstream s);
	CUresult (*StreamQuery)(CUstream s);
	CUresult (*EventCreate)(CUevent *ret, unsigned flags);
	CUresult (*EventRecord)(CUevent e, CUstream s);
	CUresult (*EventSynchronize)(CUevent e);
	CUresult (*EventElapsedTime)(float *ret_ms, CUevent from, CUevent to);
	CUresult (*EventDestroy)(CUevent e);
	CUresult (*StreamBeginCapture)(CUstream s, int mode);
	CUresult (*StreamEndCapture)(CUstream s, CUgraph *ret);
	CUresult (*GraphInstantiateWithFlags)(CUgraphExec *ret, CUgraph g, uint64_t flags);
	CUresult (*GraphLaunch)(CUgraphExec g, CUstream s);
	CUresult (*GraphExecDestroy)(CUgraphExec g);
	CUresult (*GraphDestroy)(CUgraph g);

	/* NULL on drivers that lack them. */
	CUresult (*LaunchKernelEx)(
		const struct cuda_launch_config *c, CUfunction f, void **params, void **extra);
	CUresult (*OccupancyMaxActiveClusters)(
		int *ret, CUfunction f, const struct cuda_launch_config *c);
	CUresult (*DeviceCanAccessPeer)(int *ret, CUdevice d, CUdevice peer);
	CUresult (*CtxEnablePeerAccess)(CUcontext peer, unsigned flags);
	CUresult (*MemcpyPeerAsync)(CUdeviceptr to, CUcontext to_ctx, CUdeviceptr from,
		CUcontext from_ctx, size_t bytes, CUstream s);

	int version;    /* of the driver: 1000 × major + 10 × minor */
	char path[256]; /* which file was loaded */
	void *handle;
};

/*
 * Loads LIBRARY (NULL: "libcuda.so.1"), finds the symbols and calls cuInit. Blocking, may
 * take seconds. Errors, with a sentence that names the next step: -ENOENT no library,
 * -ENOSYS a symbol is missing (driver too old), -ENODEV the driver runs but has no device,
 * -EIO anything else. The library stays loaded until cuda_api_finish.
 */
int cuda_api_init(struct cuda_api *ret, const char *library, struct why *why);
void cuda_api_finish(struct cuda_api *api);

/*
 * Which file LIBRARY ("libcuda.so.1", "libnvidia-ml.so.1") is that has SYMBOL, links followed,
 * whatever it then does. -ENOENT: the loader finds none.
 */
int cuda_api_path(const char *library, const char *symbol, char *ret, size_t size);

/* "CUDA_ERROR_LAUNCH_FAILED (719): unspecified launch failure"; BUF is returned. */
enum { CUDA_ERROR_MAX = 128 };
const char *cuda_error(const struct cuda_api *api, CUresult e, char buf[static CUDA_ERROR_MAX]);

/*
 * The sentence for E, which DOING ("launching gemv_m1", "allocating 90 MiB of weights") met:
 * what happened, and what to do next where that is known. Returns the negative errno that
 * fits: -ENOMEM, -EIO (sticky: the context is lost), -ENOEXEC (the PTX does not suit), -ENODEV.
 */
int cuda_fail(const struct cuda_api *api, CUresult e, struct why *why, const char *fmt, ...)
	PRINTF(4, 5);
