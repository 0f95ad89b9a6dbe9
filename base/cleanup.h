/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scope-bound cleanup, for functions with more than one way out. */
#pragma once

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_closep(const int *fd)
{
	if (*fd >= 0) {
		close(*fd);
	}
}

static inline void cleanup_fclosep(FILE **f)
{
	if (*f) {
		fclose(*f);
	}
}

static inline void cleanup_closedirp(DIR **d)
{
	if (*d) {
		closedir(*d);
	}
}

#define _cleanup_(f)   __attribute__((cleanup(f)))
#define _cleanup_free_ _cleanup_(cleanup_freep)
#define _cleanup_fd_   _cleanup_(cleanup_closep)
#define _cleanup_file_ _cleanup_(cleanup_fclosep)
#define _cleanup_dir_  _cleanup_(cleanup_closedirp)
