/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SQLite as barscope uses it: a thin face, so that no other file knows it. Statements take
 * their values by a format, every failure becomes one sentence that names the file. Blocking;
 * one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

struct runs_db;
struct runs_rows;

enum runs_db_mode {
	RUNS_DB_READ,   /* changes nothing, also beside a writer and on read-only media */
	RUNS_DB_WRITE,  /* must exist */
	RUNS_DB_CREATE, /* made when missing, mode 0600 */
};

/*
 * Opens PATH with a write-ahead log and full synchronisation. Errors, each with a sentence:
 * -ENOENT, -EACCES, -EROFS, -ENOSPC, -EBUSY (another program holds it for more than ten
 * seconds), -EUCLEAN (damaged), -EMEDIUMTYPE (no SQLite file), -EIO. Every function below
 * fails with the same ones.
 */
int runs_db_open(const char *path, enum runs_db_mode mode, struct runs_db **ret, struct why *why);
void runs_db_close(struct runs_db *db);
const char *runs_db_path(const struct runs_db *db);
/* How long to wait for another program's lock; ten seconds from the start. */
void runs_db_patience(struct runs_db *db, int ms);

/* One or more statements without values. */
int runs_db_exec(struct runs_db *db, const char *sql, struct why *why);

/*
 * One statement with values, run to its end. FMT, one letter a value: i int64_t, s const char *
 * (NULL: null), b const void * and size_t (NULL: null), r double (not finite: null).
 */
int runs_db_run(struct runs_db *db, struct why *why, const char *sql, const char *fmt, ...);
/* Reads PATH beside the open file, as schema NAME; it is not changed. */
int runs_db_attach(struct runs_db *db, const char *path, const char *name, struct why *why);
/* The row id of the last insertion. */
int64_t runs_db_last_id(const struct runs_db *db);
/* How many rows the last statement changed. */
int runs_db_changed(const struct runs_db *db);

/* A query; the rows are freed with runs_rows_finish, also after an error. */
int runs_db_query(struct runs_db *db, struct runs_rows **ret, struct why *why, const char *sql,
	const char *fmt, ...);
/* 1: a row is there, 0: no more, else an error. */
int runs_rows_next(struct runs_rows *rows, struct why *why);
void runs_rows_finish(struct runs_rows *rows);

/* Column COL of the row; null gives 0, 0.0, "" and an empty blob. Texts and blobs live until
 * the next row. */
bool runs_rows_null(const struct runs_rows *rows, int col);
int64_t runs_rows_int(const struct runs_rows *rows, int col);
double runs_rows_real(const struct runs_rows *rows, int col);
const char *runs_rows_text(const struct runs_rows *rows, int col);
const uint8_t *runs_rows_blob(const struct runs_rows *rows, int col, size_t *ret_len);
/* runs_rows_text into a buffer, cut to its size. */
void runs_rows_copy(const struct runs_rows *rows, int col, char *ret, size_t size);

/* Shuts a transaction: commits when R is 0, else rolls back and returns R. */
int runs_db_end(struct runs_db *db, int r, struct why *why);

/* SQLite's own check of the whole file: 0, or -EUCLEAN with the first complaint. */
int runs_db_check(struct runs_db *db, struct why *why);

static inline void runs_rows_finishp(struct runs_rows **rows)
{
	runs_rows_finish(*rows);
}
#define _cleanup_rows_ __attribute__((cleanup(runs_rows_finishp)))
