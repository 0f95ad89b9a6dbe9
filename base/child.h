/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program, mostly this one started again (/proc/self/exe), for work that may crash or hang, with
 * what it writes to standard output read until a deadline. Any thread, one at a time for each
 * child.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int fd; /* what it writes to its standard output */
};

/*
 * ARGV and ENV (NULL: this process's) end with NULL. Standard input and error are /dev/null,
 * nothing else is handed on, no signal is blocked. Negative errno.
 */
int child_start(char *const *argv, char *const *env, struct child *ret);
/* The same with PROGRAM, looked up in PATH; -ENOENT: there is none. */
int child_start_program(
	const char *program, char *const *argv, char *const *env, struct child *ret);

/* Reads until SIZE bytes are there: SIZE, less at the child's end; -ETIMEDOUT, or negative errno.
 * UNTIL_NS is of clock_ns(). */
ssize_t child_read(const struct child *c, void *buf, size_t size, uint64_t until_ns);

/*
 * The same of a text without a fixed length: RET_HAVE is how much had come, also where an error or
 * the deadline ended it. 0: SIZE bytes, or all until the child's end.
 */
int child_read_some(
	const struct child *c, void *buf, size_t size, uint64_t until_ns, size_t *ret_have);

/*
 * Reaps the child, with KILL after ending it; its wait status. -1: it is stuck in the kernel and
 * was left behind.
 */
int child_end(struct child *c, bool kill);
