/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The x86 kernels, see gemm.h. Call one only on a CPU that has what the table of gemm.c
 * says. "_row" reads W as one stream, the others as four.
 */
#pragma once

#include "kernels/gemm.h"

void gemm_avx2_f16(const struct gemm *g);
void gemm_avx2_f32(const struct gemm *g);
void gemm_avx2_row_f16(const struct gemm *g);
void gemm_avx2_row_f32(const struct gemm *g);

void gemm_avx512_f16(const struct gemm *g);
void gemm_avx512_f32(const struct gemm *g);
void gemm_avx512_row_f16(const struct gemm *g);
void gemm_avx512_row_f32(const struct gemm *g);
