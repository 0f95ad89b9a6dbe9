/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/info.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/gz.h"
#include "base/macros.h"
#include "base/text.h"
#include "pcie/mask.h"
#include "runs/env.h"

static const char *const states[] = {
	[RUNS_RUNNING] = "running",
	[RUNS_DONE] = "done",
	[RUNS_STOPPED] = "stopped",
	[RUNS_FAILED] = "failed",
	[RUNS_DIED] = "died",
	[RUNS_MACHINE_DOWN] = "machine-down",
};

const char *runs_state_name(enum runs_state s)
{
	return states[s];
}

static enum runs_state state_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(states); i++) {
		if (!strcmp(states[i], name)) {
			return (enum runs_state)i;
		}
	}
	/* A damaged or later name: nothing that counts as finished. */
	return RUNS_DIED;
}

void runs_list_finish(struct runs_list *l)
{
	free(l->run);
	*l = (struct runs_list){0};
}

#define COLUMNS                                                                                    \
	"id, uid, label, program, started, ended, touched, start_ns, boot_id, state, why,"         \
	" backend, device, kernel, shape, dtype, threads, copies, seed, paced_ns, asked_s,"        \
	" machine, produced, dropped, bytes, ceiling, ceiling_kernel, golden, mismatches,"         \
	" max_error, clock_error_ns, imported"

static void fill(struct runs_info *r, const struct runs_rows *q)
{
	*r = (struct runs_info){
		.id = runs_rows_int(q, 0),
		.started = runs_rows_int(q, 4),
		.ended = runs_rows_int(q, 5),
		.touched = runs_rows_int(q, 6),
		.start_ns = (uint64_t)runs_rows_int(q, 7),
		.state = state_of(runs_rows_text(q, 9)),
		.threads = (uint32_t)runs_rows_int(q, 16),
		.copies = (uint32_t)runs_rows_int(q, 17),
		.seed = (uint64_t)runs_rows_int(q, 18),
		.paced_ns = (uint64_t)runs_rows_int(q, 19),
		.asked_s = (uint32_t)runs_rows_int(q, 20),
		.machine = runs_rows_int(q, 21),
		.produced = (uint64_t)runs_rows_int(q, 22),
		.dropped = (uint64_t)runs_rows_int(q, 23),
		.bytes = (uint64_t)runs_rows_int(q, 24),
		.ceiling = runs_rows_real(q, 25),
		.golden = (uint64_t)runs_rows_int(q, 27),
		.mismatches = (uint64_t)runs_rows_int(q, 28),
		.max_error = runs_rows_null(q, 29) ? -1 : runs_rows_real(q, 29),
		.clock_error_ns = (uint64_t)runs_rows_int(q, 30),
		.imported = runs_rows_int(q, 31) != 0,
	};
	runs_rows_copy(q, 1, r->uid, sizeof(r->uid));
	runs_rows_copy(q, 2, r->label, sizeof(r->label));
	runs_rows_copy(q, 3, r->program, sizeof(r->program));
	runs_rows_copy(q, 8, r->boot_id, sizeof(r->boot_id));
	/* The kernel's last words, as an older version has kept them. */
	_cleanup_free_ char *masked =
		pcie_mask_text(runs_rows_text(q, 10), strlen(runs_rows_text(q, 10)), NULL, NULL);
	text_copy(r->why, sizeof(r->why), masked);
	runs_rows_copy(q, 11, r->backend, sizeof(r->backend));
	runs_rows_copy(q, 12, r->device, sizeof(r->device));
	runs_rows_copy(q, 13, r->kernel, sizeof(r->kernel));
	runs_rows_copy(q, 14, r->shape, sizeof(r->shape));
	runs_rows_copy(q, 15, r->dtype, sizeof(r->dtype));
	runs_rows_copy(q, 26, r->ceiling_kernel, sizeof(r->ceiling_kernel));
}

/* Takes in all rows of Q; open runs become what they are by now. */
static int collect(struct runs_store *s, struct runs_rows *q, const char *boot_id,
	struct runs_list *ret, struct why *why)
{
	_cleanup_runs_ struct runs_list l = {0};
	size_t cap = 0;
	int r;
	while ((r = runs_rows_next(q, why)) > 0) {
		l.run = xgrow(l.run, l.n, &cap, sizeof(*l.run));
		struct runs_info *run = &l.run[l.n++];
		fill(run, q);
		if (run->state == RUNS_RUNNING && boot_id && !run->imported) {
			bool earlier = *boot_id && strcmp(run->boot_id, boot_id) != 0;
			run->state = earlier                         ? RUNS_MACHINE_DOWN
				     : runs_store_locked(s, run->id) ? RUNS_RUNNING
								     : RUNS_DIED;
		}
	}
	if (!r) {
		*ret = l;
		l = (struct runs_list){0};
	}
	return r;
}

int runs_info_list(struct runs_store *s, const char *label, const char *boot_id,
	struct runs_list *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = label ? runs_db_query(runs_store_db(s), &q, why,
				"SELECT " COLUMNS " FROM runs WHERE label = ? ORDER BY started, id",
				"s", label)
		      : runs_db_query(runs_store_db(s), &q, why,
				"SELECT " COLUMNS " FROM runs ORDER BY started, id", "");
	return r ? r : collect(s, q, boot_id, ret, why);
}

int runs_info_open(
	struct runs_store *s, const char *boot_id, struct runs_list *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT " COLUMNS " FROM runs WHERE state = 'running' AND NOT imported"
		" ORDER BY started, id",
		"");
	return r ? r : collect(s, q, boot_id, ret, why);
}

int runs_info_number(struct runs_store *s, int64_t run, const char *boot_id, struct runs_list *ret,
	struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(
		runs_store_db(s), &q, why, "SELECT " COLUMNS " FROM runs WHERE id = ?", "i", run);
	return r ? r : collect(s, q, boot_id, ret, why);
}

int runs_info_machine(
	struct runs_store *s, int64_t machine, char **ret, size_t *ret_len, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why, "SELECT record FROM machines WHERE id = ?",
		"i", machine);
	if (!r) {
		r = runs_rows_next(q, why);
	}
	if (r < 0) {
		return r;
	}
	if (!r) {
		why_set(why, "%s is damaged: it lacks machine %lld, which a run names",
			runs_db_path(runs_store_db(s)), (long long)machine);
		return -ENODATA;
	}
	size_t len;
	const uint8_t *blob = runs_rows_blob(q, 0, &len);
	bool cut = false;
	r = gz_unpack((const char *)blob, len, 256 * MIB, ret, ret_len, &cut, why);
	if (!r && cut) {
		free(*ret);
		why_set(why, "%s is damaged: machine %lld in it is not whole",
			runs_db_path(runs_store_db(s)), (long long)machine);
		r = -EBADMSG;
	}
	return r;
}

/* One text by a query with one run; -ENODATA when there is none. */
static int one_text(struct runs_store *s, const char *sql, int64_t run, char **ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why, sql, "i", run);
	if (!r) {
		r = runs_rows_next(q, why);
	}
	if (r < 0) {
		return r;
	}
	if (!r || runs_rows_null(q, 0)) {
		why_set(why, "run %lld has none", (long long)run);
		return -ENODATA;
	}
	*ret = xstrdup(runs_rows_text(q, 0));
	return 0;
}

int runs_info_env(struct runs_store *s, int64_t run, struct js **ret, struct why *why)
{
	_cleanup_free_ char *text = NULL;
	int r = one_text(s, "SELECT env FROM runs WHERE id = ?", run, &text, why);
	r = r ? r : js_parse(text, strlen(text), ret, why);
	if (!r) {
		runs_env_mask(*ret);
	}
	return r;
}

int runs_info_last_status(struct runs_store *s, int64_t run, char **ret, struct why *why)
{
	return one_text(s,
		"SELECT status FROM seconds WHERE run = ? AND status IS NOT NULL"
		" ORDER BY second DESC LIMIT 1",
		run, ret, why);
}

static int damaged(struct runs_store *s, struct why *why)
{
	why_set(why, "%s holds a damaged histogram", runs_db_path(runs_store_db(s)));
	return -EUCLEAN;
}

int runs_info_hist(struct runs_store *s, const struct runs_info *run, unsigned series,
	unsigned layer, struct runs_hist *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	bool closed = run->state == RUNS_DONE || run->state == RUNS_STOPPED ||
		      run->state == RUNS_FAILED || !runs_layer_in_blocks(series, layer);
	int r = closed ? runs_db_query(runs_store_db(s), &q, why,
				 "SELECT hist FROM rollups WHERE run = ? AND series = ? AND layer = ?",
				 "iii", run->id, (int64_t)series, (int64_t)layer)
		       : runs_db_query(runs_store_db(s), &q, why,
				 "SELECT hist FROM blocks WHERE run = ? AND series = ? AND layer = ?",
				 "iii", run->id, (int64_t)series, (int64_t)layer);
	if (r) {
		return r;
	}
	struct runs_hist h;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	while ((r = runs_rows_next(q, why)) > 0) {
		size_t len;
		const uint8_t *blob = runs_rows_blob(q, 0, &len);
		if (closed ? runs_hist_parse(&h, blob, len)
			   : runs_hist_merge_packed(&h, blob, len)) {
			r = damaged(s, why);
			break;
		}
	}
	if (r) {
		runs_hist_finish(&h);
		return r;
	}
	runs_hist_finish(ret);
	*ret = h;
	return 0;
}

static struct runs_moments moments_at(const struct runs_rows *q, int col, uint64_t n)
{
	return (struct runs_moments){
		.n = n,
		.s1 = runs_rows_real(q, col),
		.s2 = runs_rows_real(q, col + 1),
		.lag = runs_rows_real(q, col + 2),
		.npair = (uint64_t)runs_rows_int(q, col + 3),
	};
}

int runs_info_blocks(struct runs_store *s, int64_t run, unsigned series, unsigned layer,
	uint32_t step, runs_block_fn *fn, void *arg, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	/* A few of many are looked up one by one: a scan would read the whole day. */
	const char *sql =
		step > 1
			? "WITH RECURSIVE chosen(at) AS (SELECT 0 UNION ALL SELECT at + ?4 FROM"
			  " chosen WHERE at + ?4 <= (SELECT max(second) FROM seconds WHERE run = ?1))"
			  " SELECT second, hist, s1, s2, lag, nlag FROM chosen CROSS JOIN blocks"
			  " WHERE run = ?1 AND series = ?2 AND layer = ?3 AND second = at"
			: "SELECT second, hist, s1, s2, lag, nlag FROM blocks WHERE run = ?1"
			  " AND series = ?2 AND layer = ?3 AND ?4 ORDER BY second";
	int r = runs_db_query(runs_store_db(s), &q, why, sql, "iiii", run, (int64_t)series,
		(int64_t)layer, (int64_t)MAX(step, 1u));
	if (r) {
		return r;
	}
	struct runs_hist h;
	runs_hist_init(&h, RUNS_HIST_1PCT);
	while ((r = runs_rows_next(q, why)) > 0) {
		size_t len;
		const uint8_t *blob = runs_rows_blob(q, 1, &len);
		runs_hist_reset(&h);
		if (runs_hist_merge_packed(&h, blob, len)) {
			r = damaged(s, why);
			break;
		}
		struct runs_moments m = moments_at(q, 2, h.total);
		r = fn(arg, (uint32_t)runs_rows_int(q, 0), &h, &m);
		if (r) {
			break;
		}
	}
	runs_hist_finish(&h);
	return r;
}

int runs_info_totals(struct runs_store *s, int64_t run, struct runs_totals *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT sum(samples), sum(warmups), sum(dropped), sum(missed), sum(mismatches),"
		" sum(perturbed), sum(samples > 0), max(second), (SELECT sum(code) FROM events"
		" WHERE run = ?1 AND source = ?2) FROM seconds WHERE run = ?1",
		"is", run, RUNS_LOST);
	if (!r) {
		r = runs_rows_next(q, why);
	}
	if (r < 0) {
		return r;
	}
	*ret = (struct runs_totals){
		.samples = (uint64_t)runs_rows_int(q, 0),
		.warmups = (uint64_t)runs_rows_int(q, 1),
		.dropped = (uint64_t)runs_rows_int(q, 2),
		.missed = (uint64_t)runs_rows_int(q, 3),
		.mismatches = (uint64_t)runs_rows_int(q, 4),
		.perturbed = (uint64_t)runs_rows_int(q, 5),
		.seconds = (uint32_t)runs_rows_int(q, 6),
		.last = (uint32_t)runs_rows_int(q, 7),
		.events_lost = (uint64_t)MAX(runs_rows_int(q, 8), 0),
	};
	return 0;
}

int runs_info_last_second(struct runs_store *s, int64_t run, uint32_t *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT max(second) FROM seconds WHERE run = ?", "i", run);
	if (!r) {
		r = runs_rows_next(q, why);
	}
	if (r < 0) {
		return r;
	}
	*ret = (uint32_t)runs_rows_int(q, 0);
	return 0;
}

int runs_info_layers(
	struct runs_store *s, int64_t run, uint32_t ret[static STRESS_SERIES], struct why *why)
{
	/* One look-up a pair: a DISTINCT would read every block of a day. */
	uint32_t found[STRESS_SERIES] = {0};
	for (int64_t series = 0; series < STRESS_SERIES; series++) {
		for (int64_t layer = 0; layer < RUNS_LAYERS; layer++) {
			_cleanup_rows_ struct runs_rows *q = NULL;
			int r = runs_db_query(runs_store_db(s), &q, why,
				"SELECT 1 WHERE EXISTS (SELECT 1 FROM blocks WHERE run = ?1"
				" AND series = ?2 AND layer = ?3) OR EXISTS (SELECT 1 FROM rollups"
				" WHERE run = ?1 AND series = ?2 AND layer = ?3)",
				"iii", run, series, layer);
			if (!r) {
				r = runs_rows_next(q, why);
			}
			if (r < 0) {
				return r;
			}
			found[series] |= r ? 1u << layer : 0;
		}
	}
	memcpy(ret, found, sizeof(found));
	return 0;
}

int runs_info_events(struct runs_store *s, int64_t run, size_t max, struct runs_event **ret,
	size_t *ret_n, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT from_ns, to_ns, source, code, value, note FROM events WHERE run = ?"
		" ORDER BY from_ns, id LIMIT ?",
		"ii", run, (int64_t)max);
	if (r) {
		return r;
	}
	_cleanup_free_ struct runs_event *e = NULL;
	size_t n = 0, cap = 0;
	while ((r = runs_rows_next(q, why)) > 0) {
		e = xgrow(e, n, &cap, sizeof(*e));
		e[n] = (struct runs_event){
			.from_ns = (uint64_t)runs_rows_int(q, 0),
			.to_ns = (uint64_t)runs_rows_int(q, 1),
			.code = runs_rows_int(q, 3),
			.value = runs_rows_null(q, 4) ? __builtin_nan("") : runs_rows_real(q, 4),
		};
		runs_rows_copy(q, 2, e[n].source, sizeof(e[n].source));
		runs_rows_copy(q, 5, e[n].note, sizeof(e[n].note));
		n++;
	}
	if (!r) {
		*ret = e;
		*ret_n = n;
		e = NULL;
	}
	return r;
}

int runs_info_episodes(struct runs_store *s, int64_t run, size_t max, struct runs_episode **ret,
	size_t *ret_n, struct why *why)
{
	*ret = NULL;
	*ret_n = 0;
	if (runs_store_schema(s) < 2) {
		return 0;
	}
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT from_ns, to_ns, worst_ns, excess_ns, n, perturbed, part FROM episodes"
		" WHERE run = ? ORDER BY from_ns, id LIMIT ?",
		"ii", run, (int64_t)max);
	if (r) {
		return r;
	}
	_cleanup_free_ struct runs_episode *e = NULL;
	size_t n = 0, cap = 0;
	while ((r = runs_rows_next(q, why)) > 0) {
		e = xgrow(e, n, &cap, sizeof(*e));
		e[n++] = (struct runs_episode){
			.from_ns = (uint64_t)runs_rows_int(q, 0),
			.to_ns = (uint64_t)runs_rows_int(q, 1),
			.worst_ns = (uint64_t)runs_rows_int(q, 2),
			.excess_ns = (uint64_t)runs_rows_int(q, 3),
			.n = (uint32_t)runs_rows_int(q, 4),
			.perturbed = (uint32_t)runs_rows_int(q, 5),
			.part = (uint8_t)runs_rows_int(q, 6),
		};
	}
	if (!r) {
		*ret = e;
		*ret_n = n;
		e = NULL;
	}
	return r;
}

static struct runs_intent intent_of(const struct runs_rows *q)
{
	struct runs_intent i = {.at = runs_rows_int(q, 0)};
	runs_rows_copy(q, 1, i.step, sizeof(i.step));
	runs_rows_copy(q, 2, i.status, sizeof(i.status));
	return i;
}

int runs_info_intents(struct runs_store *s, int64_t run, size_t max, struct runs_intent **ret,
	size_t *ret_n, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT at, step, status FROM intents WHERE run = ? ORDER BY id LIMIT ?", "ii", run,
		(int64_t)max);
	if (r) {
		return r;
	}
	_cleanup_free_ struct runs_intent *list = NULL;
	size_t n = 0, cap = 0;
	while ((r = runs_rows_next(q, why)) > 0) {
		list = xgrow(list, n, &cap, sizeof(*list));
		list[n++] = intent_of(q);
	}
	if (!r) {
		*ret = list;
		*ret_n = n;
		list = NULL;
	}
	return r;
}

int runs_info_last_intent(
	struct runs_store *s, int64_t run, struct runs_intent *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT at, step, status FROM intents WHERE run = ? ORDER BY id DESC LIMIT 1", "i",
		run);
	if (!r) {
		r = runs_rows_next(q, why);
	}
	if (r <= 0) {
		return r ? r : -ENODATA;
	}
	*ret = intent_of(q);
	return 0;
}

void runs_baseline_finish(struct runs_baseline *b)
{
	runs_hist_finish(&b->hist);
}

int runs_info_baseline(struct runs_store *s, const char *backend, const char *shape,
	const char *dtype, struct runs_baseline *ret, char **ret_env, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT id, marked, boot_id, machine, backend, device, kernel, shape, dtype,"
		" threads, window_ns, hist, env FROM baselines WHERE (?1 IS NULL OR backend = ?1)"
		" AND (?2 IS NULL OR shape = ?2) AND (?3 IS NULL OR dtype = ?3)"
		" ORDER BY id DESC LIMIT 1",
		"sss", backend, shape, dtype);
	if (!r) {
		r = runs_rows_next(q, why);
	}
	if (r <= 0) {
		return r ? r : -ENODATA;
	}
	struct runs_baseline b = {
		.id = runs_rows_int(q, 0),
		.marked = runs_rows_int(q, 1),
		.machine = runs_rows_int(q, 3),
		.threads = (uint32_t)runs_rows_int(q, 9),
		.window_ns = (uint64_t)runs_rows_int(q, 10),
	};
	runs_rows_copy(q, 2, b.boot_id, sizeof(b.boot_id));
	runs_rows_copy(q, 4, b.backend, sizeof(b.backend));
	runs_rows_copy(q, 5, b.device, sizeof(b.device));
	runs_rows_copy(q, 6, b.kernel, sizeof(b.kernel));
	runs_rows_copy(q, 7, b.shape, sizeof(b.shape));
	runs_rows_copy(q, 8, b.dtype, sizeof(b.dtype));
	size_t len;
	const uint8_t *blob = runs_rows_blob(q, 11, &len);
	runs_hist_init(&b.hist, RUNS_HIST_1PCT);
	if (runs_hist_parse(&b.hist, blob, len)) {
		return damaged(s, why);
	}
	*ret = b;
	*ret_env = xstrdup(runs_rows_text(q, 12));
	return 0;
}

int runs_info_remove(struct runs_store *s, int64_t run, struct why *why)
{
	struct runs_db *db = runs_store_db(s);
	int r = runs_db_exec(db, "BEGIN IMMEDIATE", why);
	if (r) {
		return r;
	}
	r = runs_db_run(db, why, "DELETE FROM runs WHERE id = ?", "i", run);
	if (!r && !runs_db_changed(db)) {
		why_set(why, "there is no run %lld in %s", (long long)run, runs_db_path(db));
		r = -ENOENT;
	}
	if (!r) {
		r = runs_db_exec(db,
			"DELETE FROM machines WHERE id NOT IN (SELECT machine FROM runs WHERE"
			" machine NOT NULL UNION SELECT machine FROM baselines WHERE machine NOT NULL)",
			why);
	}
	return runs_db_end(db, r, why);
}
