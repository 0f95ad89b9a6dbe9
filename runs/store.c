/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/store.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/macros.h"
#include "base/text.h"

enum { RESERVE = 512 * 1024 };

struct runs_store {
	struct runs_db *db;
	int schema;
	int lock_fd; /* of PATH.lock; -1 until needed */
};

/*
 * Step N makes schema N + 1 out of N. A step that was released is never edited. Times: *_ns at
 * runs and events CLOCK_MONOTONIC_RAW; started, ended, touched, marked, at: UNIX time in ns.
 * 64-bit patterns (seed, hash) are stored as the signed integer of the same bits.
 */
static const char *const migration[] = {
	/* machines: capture records, gzipped, each once. */
	"CREATE TABLE machines (id INTEGER PRIMARY KEY, digest TEXT NOT NULL, record BLOB NOT NULL);"
	"CREATE INDEX machines_digest ON machines (digest);"
	"CREATE TABLE runs (id INTEGER PRIMARY KEY AUTOINCREMENT, uid TEXT NOT NULL UNIQUE,"
	" label TEXT NOT NULL, program TEXT NOT NULL, started INTEGER NOT NULL,"
	" start_ns INTEGER NOT NULL, ended INTEGER, touched INTEGER NOT NULL,"
	" boot_id TEXT NOT NULL, state TEXT NOT NULL, why TEXT NOT NULL DEFAULT '',"
	" backend TEXT NOT NULL, device TEXT NOT NULL DEFAULT '', kernel TEXT NOT NULL DEFAULT '',"
	" shape TEXT NOT NULL, dtype TEXT NOT NULL, threads INTEGER NOT NULL DEFAULT 0,"
	" copies INTEGER NOT NULL DEFAULT 0, seed INTEGER NOT NULL, paced_ns INTEGER NOT NULL,"
	" asked_s INTEGER NOT NULL, machine INTEGER REFERENCES machines, env TEXT NOT NULL,"
	" produced INTEGER NOT NULL DEFAULT 0, dropped INTEGER NOT NULL DEFAULT 0,"
	" bytes INTEGER NOT NULL DEFAULT 0, ceiling REAL, ceiling_kernel TEXT NOT NULL DEFAULT '',"
	" golden INTEGER NOT NULL DEFAULT 0, mismatches INTEGER NOT NULL DEFAULT 0,"
	" max_error REAL, clock_error_ns INTEGER NOT NULL DEFAULT 0,"
	" imported INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX runs_label ON runs (label);"
	/* One-second blocks: hist.h's packed form; s1, s2, lag, nlag: moments of ln(value). */
	"CREATE TABLE blocks (run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,"
	" series INTEGER NOT NULL, layer INTEGER NOT NULL, second INTEGER NOT NULL,"
	" hist BLOB NOT NULL, n INTEGER NOT NULL, s1 REAL, s2 REAL, lag REAL, nlag INTEGER,"
	" PRIMARY KEY (run, series, layer, second)) WITHOUT ROWID;"
	"CREATE TABLE seconds (run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,"
	" second INTEGER NOT NULL, samples INTEGER NOT NULL, warmups INTEGER NOT NULL,"
	" dropped INTEGER NOT NULL, missed INTEGER NOT NULL, mismatches INTEGER NOT NULL,"
	" perturbed INTEGER NOT NULL, status TEXT, raw BLOB,"
	" PRIMARY KEY (run, second)) WITHOUT ROWID;"
	/* The whole run at 0.1 %. */
	"CREATE TABLE rollups (run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,"
	" series INTEGER NOT NULL, layer INTEGER NOT NULL, hist BLOB NOT NULL,"
	" PRIMARY KEY (run, series, layer)) WITHOUT ROWID;"
	"CREATE TABLE events (id INTEGER PRIMARY KEY,"
	" run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, from_ns INTEGER NOT NULL,"
	" to_ns INTEGER NOT NULL, source TEXT NOT NULL, code INTEGER NOT NULL,"
	" value REAL, note TEXT NOT NULL);"
	"CREATE INDEX events_run ON events (run, from_ns);"
	/* What was about to be done, committed before it was. */
	"CREATE TABLE intents (id INTEGER PRIMARY KEY,"
	" run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, at INTEGER NOT NULL,"
	" step TEXT NOT NULL, status TEXT);"
	"CREATE INDEX intents_run ON intents (run);"
	"CREATE TABLE baselines (id INTEGER PRIMARY KEY, marked INTEGER NOT NULL,"
	" boot_id TEXT NOT NULL, machine INTEGER REFERENCES machines, env TEXT NOT NULL,"
	" backend TEXT NOT NULL, device TEXT NOT NULL, kernel TEXT NOT NULL, shape TEXT NOT NULL,"
	" dtype TEXT NOT NULL, threads INTEGER NOT NULL, window_ns INTEGER NOT NULL,"
	" hist BLOB NOT NULL);",

	"CREATE TABLE episodes (id INTEGER PRIMARY KEY,"
	" run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, from_ns INTEGER NOT NULL,"
	" to_ns INTEGER NOT NULL, worst_ns INTEGER NOT NULL, excess_ns INTEGER NOT NULL,"
	" n INTEGER NOT NULL, perturbed INTEGER NOT NULL, part INTEGER NOT NULL);"
	"CREATE INDEX episodes_run ON episodes (run, from_ns);"
	/* A before/after protocol over reboots: its plan, what each boot was, and its runs. */
	"CREATE TABLE studies (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
	" created INTEGER NOT NULL, change TEXT NOT NULL, fact TEXT NOT NULL,"
	" boots INTEGER NOT NULL, options TEXT NOT NULL);"
	"CREATE TABLE study_boots (study INTEGER NOT NULL REFERENCES studies ON DELETE CASCADE,"
	" boot_id TEXT NOT NULL, at INTEGER NOT NULL, side TEXT NOT NULL, value TEXT NOT NULL,"
	" outcome TEXT NOT NULL, why TEXT NOT NULL, PRIMARY KEY (study, boot_id));"
	"CREATE TABLE study_runs (study INTEGER NOT NULL REFERENCES studies ON DELETE CASCADE,"
	" run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE, PRIMARY KEY (study, run));",

	/* GPUs whose clocks are, or may be, locked by a run (clocks.h). */
	"CREATE TABLE locked_clocks (address TEXT PRIMARY KEY, mhz INTEGER NOT NULL,"
	" boot_id TEXT NOT NULL, at INTEGER NOT NULL);",

	/* Hashes of verified outputs, under all that their bits depend on (golden.h). */
	"CREATE TABLE goldens (build INTEGER NOT NULL, isa TEXT NOT NULL, kernel TEXT NOT NULL,"
	" shape TEXT NOT NULL, dtype TEXT NOT NULL, seed INTEGER NOT NULL, hash INTEGER NOT NULL,"
	" since INTEGER NOT NULL, boot_id TEXT NOT NULL, seen INTEGER NOT NULL,"
	" PRIMARY KEY (build, isa, kernel, shape, dtype, seed)) WITHOUT ROWID;",
};

int runs_store_schema_latest(void)
{
	return (int)ARRAY_LEN(migration);
}

int runs_store_schema(const struct runs_store *s)
{
	return s->schema;
}

struct runs_db *runs_store_db(const struct runs_store *s)
{
	return s->db;
}

int runs_store_path(const char *given, char **ret, struct why *why)
{
	if (given) {
		*ret = xstrdup(given);
		return 0;
	}
	_cleanup_free_ char *dir = NULL;
	int r = file_data_dir(&dir);
	if (r) {
		why_set(why,
			"HOME is not set, so there is no place for the store; give --store FILE");
		return r;
	}
	struct text t = {0};
	text_addf(&t, "%s/barscope.db", dir);
	*ret = text_steal(&t);
	return 0;
}

static int read_int(struct runs_db *db, const char *sql, int64_t *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *rows = NULL;
	int r = runs_db_query(db, &rows, why, sql, "");
	if (!r) {
		r = runs_rows_next(rows, why);
	}
	if (r < 0) {
		return r;
	}
	*ret = runs_rows_int(rows, 0);
	return 0;
}

/* Whose file is it, and of which schema? 0: an empty one. */
static int identify(struct runs_db *db, int64_t *ret_schema, struct why *why)
{
	int64_t magic, schema, tables;
	int r = read_int(db, "PRAGMA application_id", &magic, why);
	if (!r) {
		r = read_int(db, "PRAGMA user_version", &schema, why);
	}
	if (!r) {
		r = read_int(db, "SELECT count(*) FROM sqlite_schema", &tables, why);
	}
	if (r) {
		return r;
	}
	if (magic != RUNS_STORE_MAGIC && (tables || schema || magic)) {
		why_set(why, "%s is an SQLite file of another program, not a barscope store",
			runs_db_path(db));
		return -EMEDIUMTYPE;
	}
	if (schema > runs_store_schema_latest()) {
		why_set(why, "%s was written by a later barscope (schema %d; this one knows %d)",
			runs_db_path(db), (int)schema, runs_store_schema_latest());
		return -EPROTONOSUPPORT;
	}
	*ret_schema = magic == RUNS_STORE_MAGIC ? schema : 0;
	return 0;
}

static int migrate(struct runs_db *db, struct why *why)
{
	/* Another process may have done it between our look and our lock: look again inside. */
	int r = runs_db_exec(db, "BEGIN IMMEDIATE", why);
	if (r) {
		return r;
	}
	int64_t schema = 0;
	r = identify(db, &schema, why);
	for (; !r && schema < runs_store_schema_latest(); schema++) {
		char sql[80];
		snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d",
			RUNS_STORE_MAGIC, (int)schema + 1);
		r = runs_db_exec(db, migration[schema], why);
		if (!r) {
			r = runs_db_exec(db, sql, why);
		}
	}
	return runs_db_end(db, r, why);
}

static int make_folder(const char *path, struct why *why)
{
	const char *slash = strrchr(path, '/');
	if (!slash || slash == path) {
		return 0;
	}
	_cleanup_free_ char *dir = xstrndup(path, (size_t)(slash - path));
	int r = file_make_dirs(dir);
	if (r) {
		why_set(why, "the store's folder %s cannot be made: %s", dir, strerror(-r));
	}
	return r;
}

int runs_store_open(
	const char *path, enum runs_store_mode mode, struct runs_store **ret, struct why *why)
{
	static const enum runs_db_mode modes[] = {
		[RUNS_STORE_READ] = RUNS_DB_READ,
		[RUNS_STORE_WRITE] = RUNS_DB_WRITE,
		[RUNS_STORE_CREATE] = RUNS_DB_CREATE,
	};
	int r = mode == RUNS_STORE_CREATE ? make_folder(path, why) : 0;
	if (r) {
		return r;
	}
	struct runs_store *s = xcalloc(1, sizeof(*s));
	s->lock_fd = -1;
	int64_t schema = 0;
	r = runs_db_open(path, modes[mode], &s->db, why);
	if (!r) {
		r = identify(s->db, &schema, why);
	}
	if (!r && schema < runs_store_schema_latest() && mode != RUNS_STORE_READ) {
		r = migrate(s->db, why);
		schema = runs_store_schema_latest();
	}
	if (!r && !schema) {
		why_set(why, "%s holds no runs yet", path);
		r = -ENODATA;
	}
	if (r) {
		runs_store_close(s);
		return r;
	}
	s->schema = (int)schema;
	*ret = s;
	return 0;
}

void runs_store_close(struct runs_store *s)
{
	if (!s) {
		return;
	}
	runs_db_close(s->db);
	if (s->lock_fd >= 0) {
		close(s->lock_fd);
	}
	free(s);
}

static const char *fleeting(const struct statfs *fs)
{
	switch ((unsigned long)fs->f_type) {
	case TMPFS_MAGIC:
		return "tmpfs, which lives in memory: a crash or reboot loses it";
	case RAMFS_MAGIC:
		return "ramfs, which lives in memory: a crash or reboot loses it";
	case OVERLAYFS_SUPER_MAGIC:
		return "an overlay (a container or live system): it may be gone after a reboot";
	default:
		return NULL;
	}
}

bool runs_store_warning(const char *path, struct why *ret)
{
	/* A day without raw samples takes up to 400 MB. */
	const uint64_t enough = 512 * MIB;
	_cleanup_free_ char *folder = xstrdup(path);
	struct statfs fs;
	int r = statfs(folder, &fs);
	while (r) {
		char *slash = strrchr(folder, '/');
		if (!slash || !strcmp(folder, "/")) {
			r = statfs(slash ? "/" : ".", &fs);
			break;
		}
		slash[slash == folder] = '\0';
		r = statfs(folder, &fs);
	}
	if (r) {
		return false;
	}
	const char *lost = fleeting(&fs);
	uint64_t left = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	char size[TEXT_SIZE_MAX];
	if (lost) {
		why_set(ret, "the store %s lies on %s", path, lost);
	} else if (left < enough) {
		why_set(ret, "the disk of the store %s has only %s left", path,
			text_size(left, size));
	} else {
		return false;
	}
	return true;
}

static char *beside(const struct runs_store *s, const char *suffix)
{
	struct text t = {0};
	text_addf(&t, "%s%s", runs_db_path(s->db), suffix);
	return text_steal(&t);
}

static int lock_file(struct runs_store *s, int flags)
{
	if (s->lock_fd < 0) {
		_cleanup_free_ char *path = beside(s, ".lock");
		s->lock_fd = open(path, flags | O_CLOEXEC, 0600);
		if (s->lock_fd < 0) {
			return -errno;
		}
	}
	return 0;
}

/* Byte N of the lock file stands for run N: an open file description's lock, not the process's. */
int runs_store_lock(struct runs_store *s, int64_t run)
{
	int r = lock_file(s, O_RDWR | O_CREAT);
	struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = run, .l_len = 1};
	if (!r && fcntl(s->lock_fd, F_OFD_SETLK, &l)) {
		r = errno == EACCES ? -EAGAIN : -errno;
	}
	return r;
}

bool runs_store_locked(struct runs_store *s, int64_t run)
{
	_cleanup_free_ char *path = beside(s, ".lock");
	_cleanup_fd_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct flock l = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = run, .l_len = 1};
	return fd >= 0 && !fcntl(fd, F_OFD_GETLK, &l) && l.l_type != F_UNLCK;
}

void runs_store_reserve(struct runs_store *s)
{
	_cleanup_free_ char *path = beside(s, ".reserve");
	_cleanup_fd_ int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && posix_fallocate(fd, 0, RESERVE)) {
		unlink(path);
	}
}

void runs_store_release(struct runs_store *s)
{
	_cleanup_free_ char *path = beside(s, ".reserve");
	unlink(path);
}
