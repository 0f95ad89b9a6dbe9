/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/bundle.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text.h"
#include "pcie/mask.h"
#include "runs/env.h"
#include "runs/write.h"

/* What belongs to a run, beside its row in "runs". A later schema's tables come to the end. */
static const char *const parts[] = {
	"seconds", "blocks", "rollups", "events", "intents", "episodes"};

/* The columns of TABLE that both files have, but id and run: ", a, b, …". */
static int common_columns(struct runs_db *db, const char *table, char **ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(db, &q, why,
		"SELECT name FROM pragma_table_info(?1, 'main') WHERE name IN"
		" (SELECT name FROM pragma_table_info(?1, 'src')) AND name NOT IN ('id', 'run')",
		"s", table);
	if (r) {
		return r;
	}
	struct text t = {0};
	while ((r = runs_rows_next(q, why)) > 0) {
		/* Names of our own schema: nothing to quote. */
		text_addf(&t, ", %s", runs_rows_text(q, 0));
	}
	*ret = text_steal(&t);
	return r;
}

static int copy_part(
	struct runs_db *db, const char *table, int64_t from, int64_t to, struct why *why)
{
	_cleanup_free_ char *columns = NULL;
	int r = common_columns(db, table, &columns, why);
	if (r || !*columns) {
		return r;
	}
	struct text t = {0};
	text_addf(&t, "INSERT INTO main.%s (run%s) SELECT ?%s FROM src.%s WHERE run = ?", table,
		columns, columns, table);
	_cleanup_free_ char *sql = text_steal(&t);
	return runs_db_run(db, why, sql, "ii", to, from);
}

/* The machine of src's run OLD in this store: the same one, or a copy. 0: it has none. */
static int copy_machine(struct runs_store *s, int64_t old, int64_t *ret, struct why *why)
{
	struct runs_db *db = runs_store_db(s);
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(db, &q, why,
		"SELECT m.digest, m.record, (SELECT id FROM main.machines WHERE digest = m.digest"
		" AND record = m.record) FROM src.machines m JOIN src.runs r ON r.machine = m.id"
		" WHERE r.id = ?",
		"i", old);
	if (!r) {
		r = runs_rows_next(q, why);
	}
	if (r <= 0) {
		*ret = 0;
		return r;
	}
	if (!runs_rows_null(q, 2)) {
		*ret = runs_rows_int(q, 2);
		return 0;
	}
	size_t len;
	const uint8_t *record = runs_rows_blob(q, 1, &len);
	r = runs_db_run(db, why, "INSERT INTO main.machines (digest, record) VALUES (?, ?)", "sb",
		runs_rows_text(q, 0), record, len);
	*ret = runs_db_last_id(db);
	return r;
}

/* What an earlier version has stored of run ID as it was: it must not travel. */
static int mask_run(struct runs_store *s, int64_t id, struct why *why)
{
	struct runs_db *db = runs_store_db(s);
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(db, &q, why, "SELECT env, why FROM main.runs WHERE id = ?", "i", id);
	if (!r) {
		r = runs_rows_next(q, why);
	}
	if (r <= 0) {
		return r;
	}
	struct js *env = NULL;
	_cleanup_free_ char *text = NULL;
	if (!js_parse(runs_rows_text(q, 0), strlen(runs_rows_text(q, 0)), &env, NULL)) {
		runs_env_mask(env);
		text = js_text_compact(env);
		js_free(env);
	}
	/* What is no object nobody can read, and so nobody mask. */
	const char *kept = text && *text == '{' ? text : "{}";
	_cleanup_free_ char *reason =
		pcie_mask_text(runs_rows_text(q, 1), strlen(runs_rows_text(q, 1)), NULL, NULL);
	return runs_db_run(db, why, "UPDATE main.runs SET env = ?, why = ? WHERE id = ?", "ssi",
		kept, reason, id);
}

/* Copies src's run OLD into S with all that belongs to it. */
static int copy_run(
	struct runs_store *s, int64_t old, bool imported, int64_t *ret_id, struct why *why)
{
	struct runs_db *db = runs_store_db(s);
	int64_t machine, id;
	_cleanup_free_ char *columns = NULL;
	int r = copy_machine(s, old, &machine, why);
	if (!r) {
		r = common_columns(db, "runs", &columns, why);
	}
	if (r) {
		return r;
	}
	struct text t = {0};
	text_addf(&t, "INSERT INTO main.runs (%s) SELECT %s FROM src.runs WHERE id = ?",
		columns + 2, columns + 2);
	_cleanup_free_ char *sql = text_steal(&t);
	r = runs_db_run(db, why, sql, "i", old);
	id = runs_db_last_id(db);
	if (!r) {
		r = runs_db_run(db, why,
			"UPDATE main.runs SET machine = nullif(?, 0), imported = imported OR ?,"
			" state = CASE state WHEN 'running' THEN 'died' ELSE state END WHERE id = ?",
			"iii", machine, (int64_t)imported, id);
	}
	if (!r) {
		r = mask_run(s, id, why);
	}
	for (size_t i = 0; !r && i < ARRAY_LEN(parts); i++) {
		r = copy_part(db, parts[i], old, id, why);
	}
	if (!r) {
		*ret_id = id;
	}
	return r;
}

/*
 * BEGIN. Until the machine's number is put right, a copied run refers to nothing, or to another's.
 * Not inside the copying: this pragma ends statements that are being read.
 */
static int open_copy(struct runs_store *s, const char *from, struct why *why)
{
	int r = runs_db_attach(runs_store_db(s), from, "src", why);
	if (!r) {
		r = runs_write_open(s, why);
	}
	if (!r) {
		r = runs_db_exec(runs_store_db(s), "PRAGMA defer_foreign_keys = ON", why);
	}
	return r;
}

/* The folder that PATH is to lie in, which an export does not make. */
static int check_folder(const char *path, struct why *why)
{
	const char *slash = strrchr(path, '/');
	struct stat st;
	_cleanup_free_ char *dir = slash ? xstrndup(path, (size_t)(slash - path) + 1) : NULL;
	if (dir && stat(dir, &st) < 0) {
		const int r = -errno;
		why_set(why, "%s: %s", path, strerror(-r));
		return r;
	}
	return 0;
}

int runs_bundle_export(
	const char *from, const struct runs_list *list, const char *to, struct why *why)
{
	if (!access(to, F_OK)) {
		why_set(why, "%s exists already", to);
		return -EEXIST;
	}
	int r = check_folder(to, why);
	if (r) {
		return r;
	}
	for (size_t i = 0; i < list->n; i++) {
		if (list->run[i].state == RUNS_RUNNING) {
			why_set(why, "run %lld is still running", (long long)list->run[i].id);
			return -EBUSY;
		}
	}
	struct text t = {0};
	text_addf(&t, "%s.part", to);
	_cleanup_free_ char *part = text_steal(&t);
	unlink(part);
	struct runs_store *s;
	r = runs_store_open(part, RUNS_STORE_CREATE, &s, why);
	if (r) {
		unlink(part); /* a full disk leaves it empty */
		return r;
	}
	struct runs_db *db = runs_store_db(s);
	r = open_copy(s, from, why);
	if (!r) {
		for (size_t i = 0; !r && i < list->n; i++) {
			int64_t id;
			r = copy_run(s, list->run[i].id, false, &id, why);
			if (!r) {
				/* What an open run has become is known to the reader only. */
				r = runs_db_run(db, why,
					"UPDATE main.runs SET state = ? WHERE id = ?", "si",
					runs_state_name(list->run[i].state), id);
			}
		}
		r = runs_db_end(db, r, why);
	}
	if (!r) {
		r = runs_db_exec(db, "DETACH src; PRAGMA journal_mode = DELETE; VACUUM", why);
	}
	runs_store_close(s);
	if (!r && rename(part, to)) {
		r = -errno;
		why_set(why, "%s: %s", to, strerror(errno));
	}
	if (r) {
		unlink(part);
	}
	return r;
}

/* Nothing but our tables and indexes: views and triggers would run somebody's SQL. */
static int inspect(const char *path, struct why *why)
{
	_cleanup_store_ struct runs_store *s = NULL;
	int r = runs_store_open(path, RUNS_STORE_READ, &s, why);
	if (!r) {
		r = runs_db_check(runs_store_db(s), why);
	}
	if (r) {
		return r == -EUCLEAN ? -EBADMSG : r;
	}
	_cleanup_rows_ struct runs_rows *q = NULL;
	r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT name FROM sqlite_schema WHERE type NOT IN ('table', 'index')"
		" OR sql LIKE 'CREATE VIRTUAL%' OR sql LIKE '%GENERATED ALWAYS%'",
		"");
	if (!r) {
		r = runs_rows_next(q, why);
	}
	if (r > 0) {
		why_set(why, "%s holds '%s', which no bundle has", path, runs_rows_text(q, 0));
		return -EBADMSG;
	}
	return r;
}

static int see_block(
	void *arg, uint32_t second, const struct runs_hist *h, const struct runs_moments *m)
{
	(void)arg;
	(void)second;
	(void)h;
	(void)m;
	return 0;
}

/* Every histogram of run ID can be read. */
static int readable(struct runs_store *s, int64_t id, struct why *why)
{
	uint32_t layers[STRESS_SERIES];
	struct runs_info closed = {.id = id, .state = RUNS_DONE};
	int r = runs_info_layers(s, id, layers, why);
	for (unsigned i = 0; !r && i < STRESS_SERIES * RUNS_LAYERS; i++) {
		unsigned series = i / RUNS_LAYERS, layer = i % RUNS_LAYERS;
		if (layers[series] & 1u << layer) {
			struct runs_hist h;
			runs_hist_init(&h, RUNS_HIST_1PCT);
			r = runs_info_blocks(s, id, series, layer, 1, see_block, NULL, why);
			if (!r) {
				r = runs_info_hist(s, &closed, series, layer, &h, why);
			}
			runs_hist_finish(&h);
		}
	}
	return r == -EUCLEAN ? -EBADMSG : r;
}

static int import_all(struct runs_store *s, struct runs_imported *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT id, (SELECT count(*) FROM main.runs WHERE uid = r.uid) FROM src.runs r"
		" ORDER BY id",
		"");
	while (!r && (r = runs_rows_next(q, why)) > 0) {
		int64_t id;
		if (runs_rows_int(q, 1)) {
			ret->known++;
			r = 0;
			continue;
		}
		r = copy_run(s, runs_rows_int(q, 0), true, &id, why);
		if (!r) {
			r = readable(s, id, why);
		}
		ret->added++;
	}
	return r;
}

int runs_bundle_import(const char *from, const char *to, struct runs_imported *ret, struct why *why)
{
	int r = inspect(from, why);
	if (r) {
		return r;
	}
	_cleanup_store_ struct runs_store *s = NULL;
	r = runs_store_open(to, RUNS_STORE_CREATE, &s, why);
	if (!r) {
		r = open_copy(s, from, why);
	}
	if (r) {
		return r;
	}
	struct runs_imported n = {0};
	r = runs_db_end(runs_store_db(s), import_all(s, &n, why), why);
	if (!r) {
		*ret = n;
	}
	return r;
}
