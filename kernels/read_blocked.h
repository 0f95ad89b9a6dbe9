/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A read-only loop over a vector unit, as gemm_blocked.h: an ISA file defines the vector
 * first. It needs word (a vector type), word_zero(), word_xor(a, b), word_load(const char *)
 * and word_fold(w), all lanes by xor.
 *
 * Every byte is read once and goes into the result by xor of 8-byte words, so every loop
 * gives the same value for the same bytes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

#define INLINE static inline __attribute__((always_inline))

/* The last bytes, in 8-byte words; the last word is filled up with zeros. */
static uint64_t read_rest(const char *p, size_t bytes)
{
	uint64_t sum = 0;
	for (; bytes; p += 8) {
		uint64_t w = 0;
		size_t n = bytes < 8 ? bytes : 8;
		__builtin_memcpy(&w, p, n);
		sum ^= w;
		bytes -= n;
	}
	return sum;
}

/* STREAMS places are read in turn, WORDS of them at each; STREAMS × WORDS ≤ 16, constants. */
INLINE uint64_t read_blocked(const void *data, size_t bytes, int streams, int words)
{
	const char *p = data;
	const size_t step = (size_t)words * sizeof(word);
	const size_t each = bytes / (size_t)streams / step * step;
	word sum[16];
	UNROLL for (int i = 0; i < streams * words; i++)
	{
		sum[i] = word_zero();
	}
	for (size_t at = 0; at < each; at += step) {
		UNROLL for (int s = 0; s < streams; s++)
		{
			UNROLL for (int w = 0; w < words; w++)
			{
				const char *from =
					p + (size_t)s * each + at + (size_t)w * sizeof(word);
				word *to = &sum[s * words + w];
				*to = word_xor(*to, word_load(from));
			}
		}
	}
	UNROLL for (int i = 1; i < streams * words; i++)
	{
		sum[0] = word_xor(sum[0], sum[i]);
	}
	const size_t done = each * (size_t)streams;
	return word_fold(sum[0]) ^ read_rest(p + done, bytes - done);
}
