/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A GPU made ready to multiply: rotating copies of the weights, x, y and the stamps in its
 * memory, the same numbers on the host, and kernels checked against FP64. What the CUDA back
 * end, `tune` and `verify` share. One thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "kernels/cuda/args.h"
#include "kernels/gemm_ref.h"
#include "stress/backend.h"
#include "stress/cuda_dev.h"

enum { STRESS_GPU_COPIES_MAX = 65536, STRESS_GPU_SLOTS = 256 };

struct stress_gpu {
	struct cuda_dev *dev;
	bool owns_dev;
	struct stress_config config;
	uint32_t copies;
	size_t w_bytes, x_bytes, y_bytes;
	size_t w_span;    /* w_bytes up to a multiple of 16; the rest is 0 */
	size_t y_stride;  /* slot S writes y + S % Y_SLOTS * Y_STRIDE: a wrong y is still there */
	uint32_t y_slots; /* when its hash has been seen to be wrong */
	bool vec;         /* rows lie at multiples of 16 bytes */
	CUdeviceptr *w;
	CUdeviceptr x, y, bias, sink;
	CUdeviceptr stamps;                  /* STRESS_GPU_SLOTS of them */
	struct gemm_cuda_stamp *host_stamps; /* pinned */
	uint64_t *host_sum;                  /* behind them */
	CUfunction checksum;                 /* NULL: not asked for yet */
	uint64_t weights_sum;                /* what it is of every copy */
	void *hw, *hx, *hy, *hbias;          /* the same numbers on the host */
	struct gemm_ref_sum *reference;      /* every REFERENCE_STEP-th output; NULL: not yet */
	uint64_t reference_terms, reference_step;
};

/* What a check against FP64 found. */
struct stress_gpu_check {
	uint64_t hash;         /* of copy 0's output */
	bool same;             /* all copies gave it, and it is the hash of what lies in memory */
	uint64_t outputs;      /* compared with FP64 */
	uint64_t over;         /* of them: beyond what rounding can explain */
	double error;          /* |y − ref| / Σ|w||x| of the worst one; NaN counts as infinite */
	double limit;          /* what rounding alone can explain there, in the same unit */
	double error_absolute; /* the largest |y − ref| */
	double error_relative; /* the largest |y − ref| / |ref| */
	uint32_t worst_m, worst_n;
};

/*
 * Opens the device, checks the memory, makes and uploads the numbers. LENDER (NULL allowed) gets
 * signs of life. Errors as cuda_dev_open and cuda_fail; -ENOMEM with the sizes; -ECANCELED.
 */
int stress_gpu_open(const struct stress_config *c, struct stress_lender *lender,
	struct stress_gpu **ret, struct why *why);
/* The same on a device that is open; OWNED: it is closed with what is made here. */
int stress_gpu_open_on(struct cuda_dev *dev, bool owned, const struct stress_config *c,
	struct stress_lender *lender, struct stress_gpu **ret, struct why *why);
void stress_gpu_close(struct stress_gpu *g);
/* How many copies of W_BYTES each there must be, lest L2 hold the next one. */
uint32_t stress_gpu_copies(const struct cuda_dev *d, uint64_t w_bytes);

/* The host's x, bias and weights (all copies) to the GPU once more, stamps cleared. */
int stress_gpu_upload(struct stress_gpu *g, struct stress_lender *lender, struct why *why);

/*
 * Takes the signs off x and the weights, on the host and the GPU: sums then grow with K instead of
 * its root, and bits that are lost in them show.
 */
int stress_gpu_make_positive(struct stress_gpu *g, struct why *why);

/*
 * The kernel named NAME, or with "" the one that the configuration's choices name for this GPU and
 * shape (*RET_TUNED), else the most promising one that loads; the device's jit_note says when the
 * driver refused a better one. -EINVAL: no such kernel.
 */
int stress_gpu_kernel(struct stress_gpu *g, const char *name, struct cuda_kernel *ret,
	bool *ret_tuned, struct why *why);

/* What a choice made here and now would hold for; KERNEL, P50_NS and DATE are left empty. */
struct stress_choice stress_gpu_choice(const struct stress_gpu *g);

/* The arguments of a launch over COPY, with stamps in SLOT (negative: none). */
struct gemm_cuda_args stress_gpu_args(const struct stress_gpu *g, uint32_t copy, int slot);

/* Fetches N stamps from SLOT on into host_stamps and clears them; waits. */
int stress_gpu_take_stamps(struct stress_gpu *g, int slot, int n, struct why *why);

/* Waits, fetches y, and hashes it as the kernels do. */
int stress_gpu_hash(struct stress_gpu *g, uint64_t *ret, struct why *why);

/* Waits, fetches y, and compares it with FP64 as stress_gpu_check does; SAME is not its matter. */
int stress_gpu_compare(struct stress_gpu *g, uint32_t act, bool bias, uint64_t terms,
	struct stress_gpu_check *ret, struct why *why);

/*
 * Launches K over every copy and compares: at most TERMS products in FP64, spread over all
 * outputs. With ACT or BIAS the epilogue is checked as well.
 */
int stress_gpu_check(struct stress_gpu *g, const struct cuda_kernel *k, uint32_t act, bool bias,
	uint64_t terms, struct stress_gpu_check *ret, struct why *why);

/* The hash of M × N outputs, as the kernels form it. */
uint64_t stress_gpu_hash_of(const struct stress_gpu *g, const void *y);

/*
 * Readies the weights' checksum: the kernel, and what it must be, from the host's numbers. Signs of
 * life go to LENDER. Then stress_gpu_checksum takes it of COPY on the GPU; waits.
 */
int stress_gpu_checksum_prepare(
	struct stress_gpu *g, struct stress_lender *lender, struct why *why);
int stress_gpu_checksum(struct stress_gpu *g, uint32_t copy, uint64_t *ret, struct why *why);

/* Where COPY differs from the numbers that the seed gives, into F. For after a wrong checksum. */
int stress_gpu_compare_weights(
	struct stress_gpu *g, uint32_t copy, struct stress_finding *f, struct why *why);

/*
 * K gave a wrong output over COPY in SLOT: tells what it comes from. GOLDEN is the right output's
 * hash, and lies in hy. Launches again, waits, may take a second.
 */
int stress_gpu_tell_apart(struct stress_gpu *g, const struct cuda_kernel *k, uint32_t copy,
	int slot, uint64_t golden, struct stress_finding *f, struct why *why);

/* Flips one bit, which the seed chooses, of a copy of the weights on the GPU. */
int stress_gpu_flip_weight(struct stress_gpu *g, struct why *why);

/*
 * Writes a pattern that every address gives itself to all copies, then reads it back; twice, with
 * other bits. -EIO when something does not come back: LENDER was told, and why says the addresses.
 * The numbers are uploaded after it.
 */
int stress_gpu_memory_test(struct stress_gpu *g, struct stress_lender *lender, struct why *why);
