/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *checked(void *p)
{
	if (!p) {
		fputs("barscope: out of memory\n", stderr);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	return checked(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return checked(strndup(s, n));
}

void *xgrow(void *array, size_t n, size_t *cap, size_t size)
{
	if (n < *cap) {
		return array;
	}
	*cap = *cap ? *cap * 2 : 8;
	return xreallocarray(array, *cap, size);
}
