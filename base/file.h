/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files. Blocking; any thread. */
#pragma once

#include <stddef.h>

#include "base/why.h"

/*
 * Reads NAME (relative to DIRFD, or AT_FDCWD) into BUF: at most SIZE - 1 bytes,
 * NUL-terminated. Returns the bytes read or negative errno.
 */
int file_read_at(int dirfd, const char *name, char *buf, size_t size);

/* The same of an open file, from where it stands. */
int file_read_fd(int fd, char *buf, size_t size);

/*
 * Reads all of PATH ("-": standard input) into a fresh buffer with a NUL behind
 * it; the caller frees it. More than MAX bytes: -EFBIG. A FIFO or terminal that
 * never ends is cut off by MAX as well.
 */
int file_read_all(const char *path, size_t max, char **ret, size_t *ret_len, struct why *why);

/*
 * PATH becomes DATA at once or stays as it was: a temporary file beside it is synced and renamed.
 * An existing file keeps its mode, a symbolic link stays one, and what is no regular file (a
 * device, a FIFO) is written through. Negative errno, and why.
 */
int file_write_atomic(const char *path, const char *data, size_t len, struct why *why);

/* mkdir -p, mode 0700 for what it makes. */
int file_make_dirs(const char *path);

/* "$XDG_DATA_HOME/barscope" or "$HOME/.local/share/barscope"; the caller frees it. -ENOENT with no
 * HOME. */
int file_data_dir(char **ret);

/* The same for what can be made again: "$XDG_CACHE_HOME/barscope" or "$HOME/.cache/barscope". */
int file_cache_dir(char **ret);
