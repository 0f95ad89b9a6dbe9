/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small macros that every room uses; nothing clever. */
#pragma once

#include <stddef.h>

#define ARRAY_LEN(a)      (sizeof(a) / sizeof((a)[0]))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define MIN(a, b)         ((a) < (b) ? (a) : (b))
#define MAX(a, b)         ((a) > (b) ? (a) : (b))

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)
