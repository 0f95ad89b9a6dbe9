/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The AArch64 kernels, see gemm.h; "_row" reads W as one stream, the others as four. */
#pragma once

#include "kernels/gemm.h"

void gemm_neon_f16(const struct gemm *g);
void gemm_neon_f32(const struct gemm *g);
void gemm_neon_row_f16(const struct gemm *g);
void gemm_neon_row_f32(const struct gemm *g);
