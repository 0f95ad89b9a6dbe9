/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pure; any thread. */
#pragma once

#include <stdlib.h>

/* qsort() that also takes an empty array whose pointer is NULL: C leaves that undefined. */
static inline void sort_array(
	void *base, size_t n, size_t size, int (*compare)(const void *, const void *))
{
	if (n > 1) {
		qsort(base, n, size, compare);
	}
}
