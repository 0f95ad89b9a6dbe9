/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The toolkit's stub of libcuda: made to link with. Every function is there and ends with
 * CUDA_ERROR_STUB_LIBRARY, the one that looks functions up too.
 */
#include "stress/cuda_api.h"

#define STUB(name)                                                                                 \
	__attribute__((visibility("default"))) CUresult name(void);                                \
	CUresult name(void)                                                                        \
	{                                                                                          \
		return CUDA_ERROR_STUB_LIBRARY;                                                    \
	}

STUB(cuGetProcAddress_v2)
STUB(cuInit)
STUB(cuDriverGetVersion)
STUB(cuGetErrorName)
STUB(cuGetErrorString)
STUB(cuDeviceGetCount)
STUB(cuDeviceGet)
STUB(cuDeviceGetName)
STUB(cuDeviceTotalMem_v2)
STUB(cuDeviceGetAttribute)
STUB(cuDevicePrimaryCtxRetain)
STUB(cuDevicePrimaryCtxRelease_v2)
STUB(cuDevicePrimaryCtxSetFlags_v2)
STUB(cuCtxSetCurrent)
STUB(cuCtxSynchronize)
STUB(cuModuleLoadDataEx)
STUB(cuModuleUnload)
STUB(cuModuleGetFunction)
STUB(cuFuncGetAttribute)
STUB(cuFuncSetAttribute)
STUB(cuOccupancyMaxActiveBlocksPerMultiprocessor)
STUB(cuLaunchKernel)
STUB(cuMemGetInfo_v2)
STUB(cuMemAlloc_v2)
STUB(cuMemFree_v2)
STUB(cuMemHostAlloc)
STUB(cuMemFreeHost)
STUB(cuMemHostGetDevicePointer_v2)
STUB(cuMemcpyHtoDAsync_v2)
STUB(cuMemcpyDtoHAsync_v2)
STUB(cuMemcpyDtoDAsync_v2)
STUB(cuMemsetD8Async)
STUB(cuStreamCreate)
STUB(cuStreamDestroy_v2)
STUB(cuStreamSynchronize)
STUB(cuStreamQuery)
STUB(cuEventCreate)
STUB(cuEventRecord)
STUB(cuEventSynchronize)
STUB(cuEventElapsedTime)
STUB(cuEventDestroy_v2)
STUB(cuStreamBeginCapture_v2)
STUB(cuStreamEndCapture)
STUB(cuGraphInstantiateWithFlags)
STUB(cuGraphLaunch)
STUB(cuGraphExecDestroy)
STUB(cuGraphDestroy)
