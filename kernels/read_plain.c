/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The read-only loop of every CPU: 8-byte words, in plain C. */
#include "kernels/read.h"

typedef uint64_t word;

static inline word word_zero(void)
{
	return 0;
}

static inline word word_xor(word a, word b)
{
	return a ^ b;
}

static inline word word_load(const char *p)
{
	word w;
	__builtin_memcpy(&w, p, sizeof(w));
	return w;
}

static inline uint64_t word_fold(word w)
{
	return w;
}

#include "kernels/read_blocked.h"

uint64_t read_plain_x8(const void *p, size_t bytes)
{
	return read_blocked(p, bytes, 1, 8);
}
