/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `tune` found fastest, kept in a file of the cache folder: JSON with a check sum over its
 * entries. The file may be lost, damaged or another program's at any time: then it is as if there
 * were none, and a note says so. Blocking; one thread.
 */
#pragma once

#include <stddef.h>

#include "base/why.h"
#include "stress/worker.h"

struct runs_choices {
	struct stress_choice *own; /* owned */
	struct stress_library_choice *library;
	size_t own_n, library_n, own_cap, library_cap;
};

/* "$XDG_CACHE_HOME/barscope/choices.json" or below $HOME/.cache. -ENOENT with neither. */
int runs_choices_path(char **ret);

/*
 * Reads PATH. Always leaves RET usable: empty when there is no file, and when it cannot be used,
 * which returns negative errno with a sentence that is a note, no error.
 */
int runs_choices_load(const char *path, struct runs_choices *ret, struct why *note);
int runs_choices_save(const char *path, const struct runs_choices *c, struct why *why);
void runs_choices_finish(struct runs_choices *c);

/* In place of what was found earlier under the same key. */
void runs_choices_put(struct runs_choices *c, const struct stress_choice *own);
void runs_choices_put_library(struct runs_choices *c, const struct stress_library_choice *library);

/* Those that may be of use for C's shapes, as many as it has room for, the latest first. */
void runs_choices_lend(const struct runs_choices *choices, struct stress_config *c);

/* The usual file into C; a damaged one leaves NOTE ("" otherwise). */
void runs_choices_lend_usual(struct stress_config *c, struct why *note);
