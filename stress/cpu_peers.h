/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * OpenBLAS and oneDNN, loaded at run time with own declarations, to stand beside the CPU's kernels:
 * y = x · Wᵀ in row-major FP32 (oneDNN: BF16 too, where the CPU has it). None is needed to build
 * or run. One thread calls; the libraries use as many as they are told to.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

enum cpu_peer { CPU_PEER_OPENBLAS, CPU_PEER_ONEDNN_F32, CPU_PEER_ONEDNN_BF16, CPU_PEERS };

struct cpu_peers;

/* Loads what is there and fixes the number of threads. Never fails; what is missing is said below.
 */
struct cpu_peers *cpu_peers_open(unsigned threads);
void cpu_peers_close(struct cpu_peers *p); /* NULL is allowed */

/* "openblas f32", …; and its version, "" where it is not loaded. */
const char *cpu_peer_name(enum cpu_peer which);
const char *cpu_peers_version(const struct cpu_peers *p, enum cpu_peer which);

/*
 * Readies one for the shape over COPIES of W (FP32, COPY_BYTES apart). oneDNN puts the weights into
 * its own order, and for BF16 into its own type, once. -ENOENT: not installed, -EOPNOTSUPP: not on
 * this CPU, -ENOMEM; with a sentence.
 */
int cpu_peers_prepare(struct cpu_peers *p, enum cpu_peer which, uint32_t m, uint32_t n, uint32_t k,
	const float *x, const float *w, size_t stride, uint32_t copies, float *y, struct why *why);

/* One multiplication over COPY. False: the library refused. */
bool cpu_peers_run(struct cpu_peers *p, enum cpu_peer which, uint32_t copy);
/* Bytes of weights that one reads. */
size_t cpu_peer_bytes(enum cpu_peer which, uint32_t n, uint32_t k);
