/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An output in a file, to compare another one with it element by element: barscope-dump in
 * barscope(1). Lines of text, an empty one, and the M × N elements, row by row, little endian.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "stress/worker.h"

struct cmd_dump {
	struct stress_shape shape;
	enum stress_dtype dtype;
	uint64_t seed, build; /* BUILD: of the kernels and numbers */
	char kernel[40], isa[16];
	char *text; /* the file; owned */
	const void *y;
	size_t bytes;
};

/* Errors: file's, -EBADMSG (no dump, damaged or cut), -EPROTONOSUPPORT (a later version). */
int cmd_dump_read(const char *path, struct cmd_dump *ret, struct why *why);
/* D's members but TEXT. */
int cmd_dump_write(const char *path, const struct cmd_dump *d, struct why *why);
void cmd_dump_finish(struct cmd_dump *d);

struct cmd_dump_diff {
	uint64_t outputs, differ; /* in any bit */
	double largest;           /* |y − dump|; infinite where one of them is no number */
	double is, was;           /* there, */
	uint32_t m, n;            /* and where that is */
};

/* Y has as many elements as D, of its type. */
void cmd_dump_compare(const struct cmd_dump *d, const void *y, struct cmd_dump_diff *ret);
