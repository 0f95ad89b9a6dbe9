/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What only NVIDIA's driver can tell, asked of it by a process of its own: a library that
 * crashes, a card that is lost or a compiler that never ends take that process along and no
 * other. The child writes what it knows at each step, so that the front also knows at which one
 * it stopped.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stress/worker.h"

enum doctor_gpu_step {
	DOCTOR_GPU_NOT_ASKED,
	DOCTOR_GPU_LOAD,    /* libcuda.so.1 and cuInit */
	DOCTOR_GPU_CONTEXT, /* on the first device */
	DOCTOR_GPU_COMPILE, /* a tiny kernel, from PTX */
	DOCTOR_GPU_LAUNCH,  /* it, again and again */
	DOCTOR_GPU_LIBRARY, /* cuBLASLt */
	DOCTOR_GPU_KERNEL,  /* the kernel that the shape gets, compiled */
	DOCTOR_GPU_TIME,    /* it, cuBLASLt and the floor, interleaved */
	DOCTOR_GPU_DONE,
};

/* Plain data: one process hands it to another as bytes. */
struct doctor_gpu {
	enum doctor_gpu_step step; /* begun last; DONE: all were ended */
	int error;                 /* of that step: negative errno; -ETIMEDOUT: it never ended */
	char why[240];             /* and the sentence that goes with it */

	char libcuda[256], nvml[256]; /* the files, links followed; "" : none */
	int version;                  /* of CUDA: 1000 × major + 10 × minor */
	char device[96], address[24];
	int cc, devices;
	uint64_t compile_ns;
	uint64_t launch_p50_ns, launch_p99_ns, launch_max_ns; /* from submission to completion */
	unsigned launches;
	char cublaslt[256], cublaslt_why[160]; /* one of them is "" */
	uint64_t cublaslt_version;

	/* The tiny kernel in the driver's cache, in a folder made for it and removed again. */
	char cache[256]; /* where that folder was; "" : none could be made */
	bool cache_off;  /* CUDA_CACHE_DISABLE */
	unsigned cached; /* files that the driver left there */

	/* KERNEL, by a second child: the cache is the user's then. */
	int kernel_error;
	char kernel_why[240];
	char kernel[48], kernel_note[200];
	int registers, local_bytes, blocks_per_sm;
	char time_why[160];                 /* why there are no times; "" */
	double own_ns, library_ns, read_ns; /* of a launch in a graph; 0: not known */
};

struct doctor_gpu_question {
	const char *libcuda, *cublaslt; /* NULL: as the loader finds them */
	struct stress_shape shape;
	bool quick;        /* leave the launches and the shape's kernel out */
	unsigned limit_ms; /* for each child */
};

/* Blocking, seconds; any thread. RET is filled as far as it came. */
void doctor_gpu_ask(const struct doctor_gpu_question *q, struct doctor_gpu *ret);

/* What was being done, for a sentence: "loading libcuda.so.1". */
const char *doctor_gpu_doing(enum doctor_gpu_step s);

/* The child: "barscope --doctor-gpu PASS LIBCUDA CUBLASLT SHAPE"; writes to standard output. */
int doctor_gpu_main(int argc, char **argv);
