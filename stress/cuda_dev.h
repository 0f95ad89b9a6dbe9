/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One GPU, opened: its facts, its primary context, and kernels loaded from the embedded PTX
 * when they are first asked for. One thread: the one that opened it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "kernels/cuda/table.h"
#include "stress/cuda_api.h"

struct cuda_dev {
	struct cuda_api api;
	CUdevice device;
	CUcontext context;
	CUstream stream;
	char address[24]; /* PCI address, lower case */
	char name[96];
	struct gemm_cuda_device limits;
	uint64_t memory, l2;         /* bytes */
	int mem_clock_khz, bus_bits; /* 0 where the driver does not say */
	bool watchdog; /* kernels are ended after a few seconds: a display runs on it */
	CUmodule modules[GEMM_CUDA_MODULES];
	char jit_note[256]; /* why a module was refused, the last one; "" */
	bool refused[GEMM_CUDA_MODULES];
};

/* A kernel ready to be launched for one shape. */
struct cuda_kernel {
	const struct gemm_cuda_kernel *of;
	CUfunction function;
	struct gemm_cuda_plan plan;
	int registers, local_bytes, static_shared; /* local bytes: spills and stack */
	int blocks_per_sm;
};

/*
 * Opens the device at ADDRESS ("": the first) with the driver library LIBRARY (NULL: the
 * usual). Seconds. Errors as cuda_api_init; -ENODEV also for an address that the driver does
 * not know. On success the context is current.
 */
int cuda_dev_open(const char *library, const char *address, struct cuda_dev **ret, struct why *why);
void cuda_dev_close(struct cuda_dev *d);

struct cuda_dev_fact {
	char address[24], name[96];
	int cc;
};

/* The devices that the driver sees, without opening one; how many, or negative errno. */
int cuda_dev_list(const char *library, struct cuda_dev_fact *ret, size_t max, struct why *why);

/* D's PCI address, as it is written everywhere here. */
void cuda_dev_address(const struct cuda_api *api, CUdevice d, char ret[static 24]);

/* A function of a module, which is compiled by the driver when it is the first of it. */
int cuda_dev_function(struct cuda_dev *d, enum gemm_cuda_module m, const char *name,
	CUfunction *ret, struct why *why);

/*
 * Readies K for the shape; VEC as for gemm_cuda_plan. -EOPNOTSUPP: K does not suit the shape
 * or the device; -ENOEXEC: the driver refused its module; else as cuda_fail.
 */
int cuda_dev_kernel(struct cuda_dev *d, const struct gemm_cuda_kernel *k, uint32_t m, uint32_t n,
	uint32_t kk, bool vec, struct cuda_kernel *ret, struct why *why);

/*
 * The most promising kernel for the shape that loads; D's jit_note says when the driver refused a
 * better one.
 */
int cuda_dev_best(struct cuda_dev *d, enum gemm_dtype dtype, uint32_t m, uint32_t n, uint32_t k,
	bool vec, struct cuda_kernel *ret, struct why *why);

/*
 * The oldest CUDA (1000 × major + 10 × minor) whose drivers take the kernels that a device of
 * compute capability CC needs (*RET_LEAST) and all that suit it (*RET_ALL): by their PTX
 * versions (PTX ISA, "Release Notes"). Pure.
 */
void cuda_dev_needs(int cc, int *ret_least, int *ret_all);

/* BYTES of pinned memory that the device reaches too; free with MemFreeHost. Errors: cuda_fail. */
int cuda_dev_pin(
	struct cuda_dev *d, size_t bytes, void **ret, CUdeviceptr *ret_device, struct why *why);

/* Launches on S (asynchronous). */
CUresult cuda_dev_launch(struct cuda_dev *d, const struct cuda_kernel *k,
	const struct gemm_cuda_args *args, CUstream s);
CUresult cuda_dev_launch_span(struct cuda_dev *d, CUfunction f, uint32_t grid, uint32_t threads,
	uint32_t shared, const struct gemm_cuda_span *span, CUstream s);

/* Readies a read-only loop. Errors as cuda_dev_kernel. */
int cuda_dev_read(
	struct cuda_dev *d, const struct gemm_cuda_read *r, CUfunction *ret, struct why *why);
CUresult cuda_dev_launch_read(struct cuda_dev *d, const struct gemm_cuda_read *r, CUfunction f,
	const struct gemm_cuda_span *span, CUstream s);
