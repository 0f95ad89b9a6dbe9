/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Small allocations: they end the program when memory is out. A buffer whose
 * size a person or an input chooses is allocated with malloc and checked.
 */
#pragma once

#include <stddef.h>

void *xmalloc(size_t size) __attribute__((malloc));
void *xcalloc(size_t n, size_t size) __attribute__((malloc));
void *xreallocarray(void *p, size_t n, size_t size);
char *xstrdup(const char *s) __attribute__((malloc));
char *xstrndup(const char *s, size_t n) __attribute__((malloc));

/*
 * Makes room for one more element in an array that grows by doubling:
 * ARRAY holds N elements of SIZE bytes, *CAP is its room. Returns the array,
 * which may have moved.
 */
void *xgrow(void *array, size_t n, size_t *cap, size_t size);
