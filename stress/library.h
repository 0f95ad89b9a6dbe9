/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Libraries that need not be there: opened when they are asked for, their functions put into a
 * struct of pointers by a table. The one place where libraries are opened. Any thread; a
 * library's constructors run in the open.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A function that a library may have, and where its pointer goes. */
struct stress_symbol {
	const char *name[2]; /* as it is called, newest first; NULL: no other */
	int version;         /* of its prototype, where the library is asked by one; else 0 */
	bool optional;       /* without it the pointer is NULL */
	size_t offset;       /* of the pointer in the struct */
};

/* Finds S by means of DATA; NULL: it is not there. */
typedef void *stress_find_symbol(void *data, const struct stress_symbol *s);

/*
 * The first of N libraries that can be opened; NULL: none, and *RET_REASON (NULL allowed) is what
 * the loader said of the last one, valid until the next call.
 */
void *stress_library_open(const char *const *names, size_t n, const char **ret_reason);
void stress_library_close(void *library); /* NULL is allowed */

/* NULL: LIBRARY has none of that name. */
void *stress_library_symbol(void *library, const char *name);
/* The file that SYMBOL (NULL allowed) was loaded from, as the loader names it; NULL: unknown. */
const char *stress_library_file(const void *symbol);

/* The finder for libraries that are asked by name; DATA is the library. */
stress_find_symbol stress_library_find;

/*
 * Puts the N functions of TABLE into the struct at RET. NULL: all that must be there are; else the
 * newest name of the first one that is missing.
 */
const char *stress_library_load(const struct stress_symbol *table, size_t n,
	stress_find_symbol *find, void *data, void *ret);

/* Stores a pointer to a function: ISO C wants a copy, not a cast, of what a library gives. */
void stress_library_put(void *slot, void *symbol);
