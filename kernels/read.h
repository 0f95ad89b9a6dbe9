/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The read-only loops behind read_kernels() of gemm.h. All return the xor of the data's
 * 8-byte words (the last one filled up with zeros). "_x8" reads one place, eight vectors a
 * turn; "_s4" four places at once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t read_plain_x8(const void *p, size_t bytes);

uint64_t read_sse2_x8(const void *p, size_t bytes);
uint64_t read_sse2_s4(const void *p, size_t bytes);
uint64_t read_avx2_x4(const void *p, size_t bytes);
uint64_t read_avx2_x8(const void *p, size_t bytes);
uint64_t read_avx2_s4(const void *p, size_t bytes);
uint64_t read_avx2_s8(const void *p, size_t bytes);
uint64_t read_avx512_x4(const void *p, size_t bytes);
uint64_t read_avx512_x8(const void *p, size_t bytes);
uint64_t read_avx512_s4(const void *p, size_t bytes);

uint64_t read_neon_x4(const void *p, size_t bytes);
uint64_t read_neon_x8(const void *p, size_t bytes);
uint64_t read_neon_s4(const void *p, size_t bytes);
