/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/golden.h"

#include <stdio.h>
#include <time.h>

int runs_golden_look(struct runs_store *s, const struct runs_golden_key *k, uint64_t hash,
	struct runs_golden_found *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *rows = NULL;
	struct runs_golden_found f = {0};

	if (!k->build || runs_store_schema(s) < 4) {
		*ret = f;
		return 0;
	}
	int r = runs_db_query(runs_store_db(s), &rows, why,
		"SELECT hash, since, boot_id, seen FROM goldens WHERE build = ? AND isa = ? AND"
		" kernel = ? AND shape = ? AND dtype = ? AND seed = ?",
		"issssi", (int64_t)k->build, k->isa, k->kernel, k->shape, k->dtype,
		(int64_t)k->seed);

	r = r ? r : runs_rows_next(rows, why);
	if (r < 0) {
		return r;
	}
	if (r > 0) {
		f.hash = (uint64_t)runs_rows_int(rows, 0);
		f.since = runs_rows_int(rows, 1);
		runs_rows_copy(rows, 2, f.boot_id, sizeof(f.boot_id));
		f.seen = runs_rows_int(rows, 3);
		f.verdict = f.hash == hash ? RUNS_GOLDEN_SAME : RUNS_GOLDEN_DIFFERS;
	}
	*ret = f;
	return 0;
}

int runs_golden_take(struct runs_store *s, const struct runs_golden_key *k, uint64_t hash,
	const char *boot_id, int64_t now, struct runs_golden_found *ret, struct why *why)
{
	struct runs_golden_found f;
	int r = runs_golden_look(s, k, hash, &f, why);

	if (r == 0 && k->build && f.verdict == RUNS_GOLDEN_UNKNOWN) {
		f = (struct runs_golden_found){
			.verdict = RUNS_GOLDEN_NEW, .hash = hash, .since = now, .seen = 1};
		r = runs_db_run(runs_store_db(s), why,
			"INSERT INTO goldens (build, isa, kernel, shape, dtype, seed, hash, since,"
			" boot_id, seen) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
			"issssiiis", (int64_t)k->build, k->isa, k->kernel, k->shape, k->dtype,
			(int64_t)k->seed, (int64_t)hash, now, boot_id);
	} else if (r == 0 && f.verdict == RUNS_GOLDEN_SAME) {
		f.seen++;
		r = runs_db_run(runs_store_db(s), why,
			"UPDATE goldens SET seen = seen + 1 WHERE build = ? AND isa = ? AND"
			" kernel = ? AND shape = ? AND dtype = ? AND seed = ?",
			"issssi", (int64_t)k->build, k->isa, k->kernel, k->shape, k->dtype,
			(int64_t)k->seed);
	}
	if (r == 0) {
		*ret = f;
	}
	return r;
}

void runs_golden_text(
	const struct runs_golden_found *f, uint64_t hash, char ret[static RUNS_GOLDEN_TEXT])
{
	const time_t at = (time_t)(f->since / 1000000000);
	char when[24] = "";
	struct tm tm;

	if (localtime_r(&at, &tm)) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm);
	}
	ret[0] = '\0';
	if (f->verdict == RUNS_GOLDEN_NEW) {
		snprintf(ret, RUNS_GOLDEN_TEXT, "first of its kind, stored for later runs");
	} else if (f->verdict == RUNS_GOLDEN_SAME) {
		snprintf(ret, RUNS_GOLDEN_TEXT, "the same as since %s, %lld time%s", when,
			(long long)f->seen, f->seen == 1 ? "" : "s");
	} else if (f->verdict == RUNS_GOLDEN_DIFFERS) {
		snprintf(ret, RUNS_GOLDEN_TEXT,
			"hash 0x%016llx, where it was 0x%016llx on %s with the same kernels and numbers",
			(unsigned long long)hash, (unsigned long long)f->hash, when);
	}
}
