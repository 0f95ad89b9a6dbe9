/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `tune` found fastest, and for what exactly that holds: plain data that goes from one
 * process to another as bytes. A key that differs in anything is a miss, never a guess.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { STRESS_CHOICES = 8 };

/* The GPU as a choice knows it. */
struct stress_choice_device {
	char name[96];
	uint32_t cc, sms, driver; /* 10 × major + minor; multiprocessors; the driver's CUDA */
};

/* An own kernel for a shape. */
struct stress_choice {
	struct stress_choice_device device;
	uint64_t build; /* gemm_cuda_build() */
	uint32_t m, k, n;
	bool f32, hot; /* HOT: one copy of the weights, which L2 may hold */
	char kernel[24];
	uint64_t p50_ns; /* of a launch in a graph */
	int64_t date;    /* seconds since 1970 */
};

/* cuBLASLt's algorithm for a problem. */
struct stress_library_choice {
	struct stress_choice_device device;
	uint64_t version;  /* cublasLtGetVersion */
	char build_id[44]; /* of the library's file, in hex */
	uint32_t m, k, n, ldx, ldw, ldy;
	bool f32, bias;
	uint32_t act, align, reductions; /* activation; bytes; the mask of reduction schemes */
	uint64_t workspace;              /* bytes allowed */
	uint64_t algo[8];                /* cublasLtMatmulAlgo_t */
	uint64_t p50_ns;
	int64_t date;
};

/* Whether the keys are equal. */
bool stress_choice_fits(const struct stress_choice *a, const struct stress_choice *b);
bool stress_library_choice_fits(
	const struct stress_library_choice *a, const struct stress_library_choice *b);
