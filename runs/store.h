/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store: one SQLite file with every run, its blocks of one second, what the machine was
 * and what happened to it. This header opens it; info.h reads it, write.h writes it. Only the
 * recorder job and the commands that import, label or remove open it for writing. Blocking;
 * one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/why.h"
#include "runs/db.h"

enum runs_store_mode { RUNS_STORE_READ, RUNS_STORE_WRITE, RUNS_STORE_CREATE };

/* The number in the file's header by which it is known ("BSCP"), and this program's schema. */
enum { RUNS_STORE_MAGIC = 0x42534350 };

struct runs_store;

/* GIVEN, else "$XDG_DATA_HOME/barscope/barscope.db"; the caller frees it. -ENOENT: no HOME. */
int runs_store_path(const char *given, char **ret, struct why *why);

/*
 * Opens PATH; RUNS_STORE_CREATE makes it, and its folder. An older schema is migrated when
 * opened for writing, in one transaction, and read as it is else. -EPROTONOSUPPORT: written
 * by a later barscope; -EMEDIUMTYPE: something else; and db.h's errors.
 */
int runs_store_open(
	const char *path, enum runs_store_mode mode, struct runs_store **ret, struct why *why);
void runs_store_close(struct runs_store *s);
struct runs_db *runs_store_db(const struct runs_store *s);

/* The newest schema that this program knows, and the one S has. */
int runs_store_schema_latest(void);
int runs_store_schema(const struct runs_store *s);

/*
 * Does the file system under PATH (or its nearest folder that exists) lose what is written,
 * or is it nearly full? True: RET says so in one sentence.
 */
bool runs_store_warning(const char *path, struct why *ret);

/*
 * Who records a run holds a lock on it, which ends with the process however it ends.
 * runs_store_lock: 0, -EAGAIN (another process holds it), or an error; held until S closes.
 * runs_store_locked: does another process, or another handle, hold it?
 */
int runs_store_lock(struct runs_store *s, int64_t run);
bool runs_store_locked(struct runs_store *s, int64_t run);

/*
 * A little space set aside beside the store, so that the end of a run can be written on a full
 * disk. Both do nothing when they cannot.
 */
void runs_store_reserve(struct runs_store *s);
void runs_store_release(struct runs_store *s);

static inline void runs_store_closep(struct runs_store **s)
{
	runs_store_close(*s);
}
#define _cleanup_store_ __attribute__((cleanup(runs_store_closep)))
