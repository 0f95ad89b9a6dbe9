/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/db.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"

enum { BUSY_MS = 10000 };

struct runs_db {
	sqlite3 *sq;
	char *path;
	int busy_ms;
};

struct runs_rows {
	struct runs_db *db;
	sqlite3_stmt *stmt;
};

/* Why PATH's folder cannot take a file; ENOENT: it could. */
static int folder_error(const char *path)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder =
		slash ? xstrndup(path, (size_t)MAX(slash - path, 1)) : xstrdup(".");
	return access(folder, W_OK) ? errno : ENOENT;
}

/* The last error of DB (or of an open that gave CODE) as a sentence; returns negative errno. */
static int explain(const struct runs_db *db, int code, struct why *why)
{
	const char *path = db->path;
	int sys = db->sq ? sqlite3_system_errno(db->sq) : 0;
	switch (code & 0xff) {
	case SQLITE_FULL:
		why_set(why, "the disk that holds %s is full; what was recorded before is kept",
			path);
		return -ENOSPC;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		why_set(why, "%s is locked by another program for more than %d ms", path,
			db->busy_ms);
		return -EBUSY;
	case SQLITE_CORRUPT:
		why_set(why,
			"%s is damaged (%s); move it away to start a new one, "
			"'sqlite3 FILE .recover' may save what is left",
			path, sqlite3_errmsg(db->sq));
		return -EUCLEAN;
	case SQLITE_NOTADB:
		why_set(why, "%s is not a barscope store, or its first page is damaged", path);
		return -EMEDIUMTYPE;
	case SQLITE_READONLY:
		why_set(why, "%s cannot be written: it, its folder or its file system is read-only",
			path);
		return -EROFS;
	case SQLITE_PERM:
	case SQLITE_AUTH:
		why_set(why, "%s: permission denied", path);
		return -EACCES;
	case SQLITE_CANTOPEN: {
		/* It names the last file that it tried, which may be the log beside the store. */
		int err = sys && sys != ENOENT ? sys : folder_error(path);
		if (err == EROFS) {
			return explain(db, SQLITE_READONLY, why);
		}
		why_set(why, "%s cannot be opened: %s", path, strerror(err));
		return -err;
	}
	case SQLITE_IOERR:
		if (sys == ENOSPC || sys == EDQUOT) {
			why_set(why,
				"the disk that holds %s is full; what was recorded before is kept",
				path);
			return -ENOSPC;
		}
		why_set(why, "%s: the disk fails: %s", path,
			sys ? strerror(sys) : sqlite3_errmsg(db->sq));
		return -EIO;
	case SQLITE_NOMEM:
		why_set(why, "%s: out of memory", path);
		return -ENOMEM;
	default:
		why_set(why, "%s: %s", path,
			db->sq ? sqlite3_errmsg(db->sq) : sqlite3_errstr(code));
		return -EIO;
	}
}

/* PATH as SQLite's URI, with OPTIONS behind it. */
static char *uri_of(const char *path, const char *options)
{
	struct text t = {0};
	text_add(&t, "file:");
	for (const char *p = path; *p; p++) {
		if (strchr("?#%", *p)) {
			text_addf(&t, "%%%02x", (unsigned char)*p);
		} else {
			text_addn(&t, p, 1);
		}
	}
	text_add(&t, options);
	return text_steal(&t);
}

static bool has_bytes(const char *path, const char *suffix)
{
	_cleanup_free_ char *name = NULL;
	struct text t = {0};
	text_addf(&t, "%s%s", path, suffix);
	name = text_steal(&t);
	struct stat st;
	return stat(name, &st) == 0 && st.st_size > 0;
}

int runs_db_attach(struct runs_db *db, const char *path, const char *name, struct why *why)
{
	/* As runs_db_open does it: a folder that cannot be written has no room for the index. */
	const bool log = has_bytes(path, "-wal");
	_cleanup_free_ char *plain = uri_of(path, "?mode=ro");
	_cleanup_free_ char *alone = uri_of(path, "?mode=ro&immutable=1");
	int r = -EROFS;
	if (log || access(path, W_OK) == 0) {
		r = runs_db_run(db, why, "ATTACH ? AS ?", "ss", plain, name);
	}
	if (r && !log) { /* whatever SQLite takes a full disk for */
		r = runs_db_run(db, why, "ATTACH ? AS ?", "ss", alone, name);
	}
	return r;
}

/* Was there no room for the log's index: a folder that cannot be written, or a full disk? */
static bool lacks_index(const struct runs_db *db, int code)
{
	const int sys = db->sq ? sqlite3_system_errno(db->sq) : 0;
	switch (code & 0xff) {
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_FULL:
		return true;
	case SQLITE_IOERR:
		return sys == ENOSPC || sys == EDQUOT;
	default:
		return false;
	}
}

static int open_as(struct runs_db *db, const char *options, int flags)
{
	_cleanup_free_ char *uri = uri_of(db->path, options);
	int code =
		sqlite3_open_v2(uri, &db->sq, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, NULL);
	if (code == SQLITE_OK) {
		sqlite3_extended_result_codes(db->sq, 1);
		runs_db_patience(db, BUSY_MS);
		/* The first real read: only now does SQLite look at the file. */
		code = sqlite3_exec(db->sq, "SELECT count(*) FROM sqlite_schema", NULL, NULL, NULL);
	}
	return code;
}

int runs_db_open(const char *path, enum runs_db_mode mode, struct runs_db **ret, struct why *why)
{
	struct stat st;
	bool there = stat(path, &st) == 0;
	if (!there && (mode != RUNS_DB_CREATE || errno != ENOENT)) {
		int err = errno;
		why_set(why, "%s: %s", path, strerror(err));
		return -err;
	}
	if (there && !S_ISREG(st.st_mode)) {
		why_set(why, "%s is not a file", path);
		return -EISDIR;
	}

	struct runs_db *db = xcalloc(1, sizeof(*db));
	db->path = xstrdup(path);
	int flags = mode == RUNS_DB_READ    ? SQLITE_OPEN_READONLY
		    : mode == RUNS_DB_WRITE ? SQLITE_OPEN_READWRITE
					    : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
	mode_t mask = umask(077);
	int code = open_as(db, "", flags);
	umask(mask);
	if (code != SQLITE_OK && mode == RUNS_DB_READ && !has_bytes(path, "-wal") &&
		lacks_index(db, code) && access(path, R_OK) == 0) {
		/* With no log, the file alone is all there is. */
		sqlite3_close(db->sq);
		db->sq = NULL;
		code = open_as(db, "?immutable=1", flags);
	}
	int r = 0;
	if (code != SQLITE_OK) {
		r = explain(db, code, why);
	} else if (mode != RUNS_DB_READ) {
		if (sqlite3_db_readonly(db->sq, "main")) {
			r = explain(db, SQLITE_READONLY, why);
		} else {
			r = runs_db_exec(db,
				"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
				"PRAGMA foreign_keys = ON",
				why);
		}
	}
	if (r) {
		runs_db_close(db);
		return r;
	}
	*ret = db;
	return 0;
}

void runs_db_close(struct runs_db *db)
{
	if (!db) {
		return;
	}
	sqlite3_close(db->sq);
	free(db->path);
	free(db);
}

void runs_db_patience(struct runs_db *db, int ms)
{
	db->busy_ms = ms;
	sqlite3_busy_timeout(db->sq, ms);
}

const char *runs_db_path(const struct runs_db *db)
{
	return db->path;
}

int runs_db_exec(struct runs_db *db, const char *sql, struct why *why)
{
	int code = sqlite3_exec(db->sq, sql, NULL, NULL, NULL);
	return code == SQLITE_OK ? 0 : explain(db, code, why);
}

static int bind(sqlite3_stmt *stmt, const char *fmt, va_list ap)
{
	int code = SQLITE_OK;
	for (int i = 1; *fmt && code == SQLITE_OK; fmt++, i++) {
		switch (*fmt) {
		case 'i':
			code = sqlite3_bind_int64(stmt, i, va_arg(ap, int64_t));
			break;
		case 's':
			code = sqlite3_bind_text(
				stmt, i, va_arg(ap, const char *), -1, SQLITE_TRANSIENT);
			break;
		case 'b': {
			const void *p = va_arg(ap, const void *);
			size_t n = va_arg(ap, size_t);
			code = p ? sqlite3_bind_blob64(stmt, i, p, n, SQLITE_TRANSIENT)
				 : sqlite3_bind_null(stmt, i);
			break;
		}
		case 'r': {
			double v = va_arg(ap, double);
			code = isfinite(v) ? sqlite3_bind_double(stmt, i, v)
					   : sqlite3_bind_null(stmt, i);
			break;
		}
		default:
			code = SQLITE_MISUSE;
		}
	}
	return code;
}

static int prepare(struct runs_db *db, sqlite3_stmt **ret, struct why *why, const char *sql,
	const char *fmt, va_list ap)
{
	sqlite3_stmt *stmt = NULL;
	int code = sqlite3_prepare_v2(db->sq, sql, -1, &stmt, NULL);
	if (code == SQLITE_OK) {
		code = bind(stmt, fmt, ap);
	}
	if (code != SQLITE_OK) {
		int r = explain(db, code, why);
		sqlite3_finalize(stmt);
		return r;
	}
	*ret = stmt;
	return 0;
}

int runs_db_run(struct runs_db *db, struct why *why, const char *sql, const char *fmt, ...)
{
	sqlite3_stmt *stmt;
	va_list ap;
	va_start(ap, fmt);
	int r = prepare(db, &stmt, why, sql, fmt, ap);
	va_end(ap);
	if (r) {
		return r;
	}
	int code;
	do {
		code = sqlite3_step(stmt);
	} while (code == SQLITE_ROW);
	if (code != SQLITE_DONE) {
		r = explain(db, code, why);
	}
	sqlite3_finalize(stmt);
	return r;
}

int64_t runs_db_last_id(const struct runs_db *db)
{
	return sqlite3_last_insert_rowid(db->sq);
}

int runs_db_changed(const struct runs_db *db)
{
	return sqlite3_changes(db->sq);
}

int runs_db_query(struct runs_db *db, struct runs_rows **ret, struct why *why, const char *sql,
	const char *fmt, ...)
{
	sqlite3_stmt *stmt;
	va_list ap;
	va_start(ap, fmt);
	int r = prepare(db, &stmt, why, sql, fmt, ap);
	va_end(ap);
	if (r) {
		return r;
	}
	*ret = xmalloc(sizeof(**ret));
	**ret = (struct runs_rows){db, stmt};
	return 0;
}

int runs_rows_next(struct runs_rows *rows, struct why *why)
{
	int code = sqlite3_step(rows->stmt);
	return code == SQLITE_ROW ? 1 : code == SQLITE_DONE ? 0 : explain(rows->db, code, why);
}

void runs_rows_finish(struct runs_rows *rows)
{
	if (rows) {
		sqlite3_finalize(rows->stmt);
		free(rows);
	}
}

bool runs_rows_null(const struct runs_rows *rows, int col)
{
	return sqlite3_column_type(rows->stmt, col) == SQLITE_NULL;
}

int64_t runs_rows_int(const struct runs_rows *rows, int col)
{
	return sqlite3_column_int64(rows->stmt, col);
}

double runs_rows_real(const struct runs_rows *rows, int col)
{
	return sqlite3_column_double(rows->stmt, col);
}

const char *runs_rows_text(const struct runs_rows *rows, int col)
{
	const char *s = (const char *)sqlite3_column_text(rows->stmt, col);
	return s ? s : "";
}

const uint8_t *runs_rows_blob(const struct runs_rows *rows, int col, size_t *ret_len)
{
	static const uint8_t none[1];
	const uint8_t *p = sqlite3_column_blob(rows->stmt, col);
	*ret_len = (size_t)sqlite3_column_bytes(rows->stmt, col);
	return p ? p : none;
}

void runs_rows_copy(const struct runs_rows *rows, int col, char *ret, size_t size)
{
	text_copy(ret, size, runs_rows_text(rows, col));
}

int runs_db_end(struct runs_db *db, int r, struct why *why)
{
	if (!r) {
		r = runs_db_exec(db, "COMMIT", why);
	}
	if (r && !sqlite3_get_autocommit(db->sq)) {
		sqlite3_exec(db->sq, "ROLLBACK", NULL, NULL, NULL);
	}
	return r;
}

int runs_db_check(struct runs_db *db, struct why *why)
{
	_cleanup_rows_ struct runs_rows *rows = NULL;
	int r = runs_db_query(db, &rows, why, "PRAGMA integrity_check(1)", "");
	if (!r) {
		r = runs_rows_next(rows, why);
	}
	if (r < 0) {
		return r;
	}
	if (strcmp(runs_rows_text(rows, 0), "ok") != 0) {
		why_set(why, "%s is damaged: %s", db->path, runs_rows_text(rows, 0));
		return -EUCLEAN;
	}
	return 0;
}
