/* SPDX-License-Identifier: GPL-2.0-or-later */
/* barscope as a test starts it: its arguments, its input, its memory; what it said, how it ended.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

struct outcome {
	int status; /* exit status, or 1000 + signal */
	long kib;   /* resident, at the most */
	char out[16384], err[4096];
};

/* A folder of this test's own below /tmp, with the store in it; for cmocka. 0, or -1. */
int program_folder_make(void **state);
int program_folder_remove(void **state);
/* NAME in it; valid for the next three calls. */
const char *in_folder(const char *name);

/*
 * Starts $BARSCOPE with ARGUMENTS (NULL ends them) and INPUT (NULL: this test's own) as its
 * standard input; MEMORY bytes of addresses at most, 0: as many as it likes.
 */
pid_t program_start(const char *const *arguments, const char *input, size_t memory);
/* Waits for its end. */
void program_end(pid_t pid, struct outcome *ret);
