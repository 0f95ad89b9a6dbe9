/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/study.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text.h"
#include "runs/write.h"

static const char *const outcomes[] = {
	[RUNS_MEASURED] = "measured",
	[RUNS_DID_NOT_START] = "did-not-start",
	[RUNS_UNFINISHED] = "unfinished",
};

const char *runs_outcome_name(enum runs_outcome o)
{
	return outcomes[o];
}

void runs_study_finish(struct runs_study *s)
{
	free(s->options);
	*s = (struct runs_study){0};
}

void runs_study_boots_finish(struct runs_study_boots *b)
{
	free(b->boot);
	*b = (struct runs_study_boots){0};
}

int runs_study_check_name(const char *name, struct why *why)
{
	size_t n = strlen(name), digits = strspn(name, "0123456789");
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("._-", name[i])) {
			n = 0;
		}
	}
	if (n < 1 || n > 40 || digits == n) {
		why_set(why,
			"a study's name is 1 to 40 letters, digits, '.', '_' or '-', and not a number");
		return -EINVAL;
	}
	return 0;
}

/* A store of the first schema has no tables of studies. */
static int has_studies(struct runs_store *store, struct why *why)
{
	if (runs_store_schema(store) < 2) {
		why_set(why, "%s has no studies", runs_db_path(runs_store_db(store)));
		return -ENOENT;
	}
	return 0;
}

int runs_study_create(struct runs_store *store, struct runs_study *s, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	struct runs_db *db = runs_store_db(store);
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	s->created = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
	int r = runs_db_query(db, &q, why, "SELECT 1 FROM studies WHERE name = ?", "s", s->name);
	if (!r) {
		r = runs_rows_next(q, why);
	}
	if (r > 0) {
		why_set(why, "there is a study '%s' already", s->name);
		return -EEXIST;
	}
	if (!r) {
		r = runs_db_run(db, why,
			"INSERT INTO studies (name, created, change, fact, boots, options)"
			" VALUES (?, ?, ?, ?, ?, ?)",
			"sissis", s->name, s->created, s->change, s->fact, (int64_t)s->boots,
			s->options);
	}
	if (!r) {
		s->id = runs_db_last_id(db);
	}
	return r;
}

static void fill(struct runs_study *s, const struct runs_rows *q)
{
	*s = (struct runs_study){
		.id = runs_rows_int(q, 0),
		.created = runs_rows_int(q, 2),
		.boots = (uint32_t)MIN(runs_rows_int(q, 5), (int64_t)RUNS_BOOTS_MAX),
		.options = xstrdup(runs_rows_text(q, 6)),
	};
	runs_rows_copy(q, 1, s->name, sizeof(s->name));
	runs_rows_copy(q, 3, s->change, sizeof(s->change));
	runs_rows_copy(q, 4, s->fact, sizeof(s->fact));
}

#define STUDY_COLUMNS "id, name, created, change, fact, boots, options"

int runs_study_load(
	struct runs_store *store, const char *name, struct runs_study *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = has_studies(store, why);
	if (!r) {
		r = runs_db_query(runs_store_db(store), &q, why,
			"SELECT " STUDY_COLUMNS " FROM studies WHERE name = ?", "s", name);
	}
	if (!r) {
		r = runs_rows_next(q, why);
		if (!r) {
			why_set(why, "there is no study '%s'", name);
			return -ENOENT;
		}
	}
	if (r < 0) {
		return r;
	}
	fill(ret, q);
	return 0;
}

int runs_study_list(
	struct runs_store *store, struct runs_study **ret, size_t *ret_n, struct why *why)
{
	struct runs_study *s = NULL;
	size_t n = 0, cap = 0;
	*ret = NULL;
	*ret_n = 0;
	if (runs_store_schema(store) < 2) {
		return 0;
	}
	_cleanup_rows_ struct runs_rows *q = NULL;
	int r = runs_db_query(runs_store_db(store), &q, why,
		"SELECT " STUDY_COLUMNS " FROM studies ORDER BY created, id", "");
	while (!r && (r = runs_rows_next(q, why)) > 0) {
		s = xgrow(s, n, &cap, sizeof(*s));
		fill(&s[n++], q);
		r = 0;
	}
	if (r) {
		for (size_t i = 0; i < n; i++) {
			runs_study_finish(&s[i]);
		}
		free(s);
		return r;
	}
	*ret = s;
	*ret_n = n;
	return 0;
}

static enum runs_outcome outcome_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(outcomes); i++) {
		if (!strcmp(outcomes[i], name)) {
			return (enum runs_outcome)i;
		}
	}
	return RUNS_UNFINISHED;
}

int runs_study_load_boots(
	struct runs_store *store, int64_t study, struct runs_study_boots *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	struct runs_study_boots b = {0};
	size_t cap = 0;
	int r = has_studies(store, why);
	if (!r) {
		r = runs_db_query(runs_store_db(store), &q, why,
			"SELECT boot_id, at, side, value, outcome, why, (SELECT count(*) FROM"
			" study_runs s JOIN runs r ON r.id = s.run WHERE s.study = b.study AND"
			" r.boot_id = b.boot_id) FROM study_boots b WHERE study = ? ORDER BY at, boot_id",
			"i", study);
	}
	while (!r && (r = runs_rows_next(q, why)) > 0) {
		b.boot = xgrow(b.boot, b.n, &cap, sizeof(*b.boot));
		struct runs_study_boot *x = &b.boot[b.n++];
		*x = (struct runs_study_boot){
			.at = runs_rows_int(q, 1),
			.side = *runs_rows_text(q, 2) == 'B' ? 'B' : 'A',
			.outcome = outcome_of(runs_rows_text(q, 4)),
			.nrun = (size_t)runs_rows_int(q, 6),
		};
		runs_rows_copy(q, 0, x->boot_id, sizeof(x->boot_id));
		runs_rows_copy(q, 3, x->value, sizeof(x->value));
		runs_rows_copy(q, 5, x->why, sizeof(x->why));
		r = 0;
	}
	if (r) {
		runs_study_boots_finish(&b);
		return r;
	}
	*ret = b;
	return 0;
}

int runs_study_file(struct runs_store *store, int64_t study, const struct runs_study_boot *boot,
	struct why *why)
{
	char side[2] = {boot->side, '\0'};
	return runs_db_run(runs_store_db(store), why,
		"INSERT OR REPLACE INTO study_boots (study, boot_id, at, side, value, outcome, why)"
		" VALUES (?, ?, ?, ?, ?, ?, ?)",
		"isissss", study, boot->boot_id, boot->at, side, boot->value,
		outcomes[boot->outcome], boot->why);
}

int runs_study_add_run(struct runs_store *store, int64_t study, int64_t run, struct why *why)
{
	return runs_db_run(runs_store_db(store), why,
		"INSERT OR IGNORE INTO study_runs (study, run) VALUES (?, ?)", "ii", study, run);
}

int runs_study_runs(
	struct runs_store *store, int64_t study, char side, struct runs_list *ret, struct why *why)
{
	_cleanup_rows_ struct runs_rows *q = NULL;
	char wanted[2] = {side, '\0'};
	struct runs_list l = {0};
	int r = runs_db_query(runs_store_db(store), &q, why,
		"SELECT s.run FROM study_runs s JOIN runs r ON r.id = s.run JOIN study_boots b"
		" ON b.study = s.study AND b.boot_id = r.boot_id WHERE s.study = ?1"
		" AND b.outcome = 'measured' AND (?2 = '' OR b.side = ?2) ORDER BY r.started, r.id",
		"is", study, wanted);
	while (!r && (r = runs_rows_next(q, why)) > 0) {
		char ref[32];
		struct runs_list one = {0};
		snprintf(ref, sizeof(ref), "run:%lld", (long long)runs_rows_int(q, 0));
		r = runs_info_find(store, ref, NULL, &one, why);
		if (!r) {
			l.run = xreallocarray(l.run, l.n + 1, sizeof(*l.run));
			l.run[l.n++] = one.run[0];
			runs_list_finish(&one);
		}
	}
	if (r) {
		runs_list_finish(&l);
		return r;
	}
	*ret = l;
	return 0;
}

char runs_study_planned(uint32_t k)
{
	return "ABBA"[k % 4];
}

size_t runs_study_count(const struct runs_study_boots *b, char side)
{
	size_t n = 0;
	for (size_t i = 0; i < b->n; i++) {
		n += b->boot[i].side == side && b->boot[i].outcome != RUNS_UNFINISHED;
	}
	return n;
}

char runs_study_next(const struct runs_study *s, const struct runs_study_boots *b)
{
	size_t a = runs_study_count(b, 'A'), bb = runs_study_count(b, 'B');
	if (a >= s->boots && bb >= s->boots) {
		return 0;
	}
	char next = runs_study_planned((uint32_t)(a + bb));
	if (next == 'A' ? a >= s->boots : bb >= s->boots) {
		next = next == 'A' ? 'B' : 'A';
	}
	/* One that was booted too often already waits for the other. */
	if (a > bb + 1) {
		return 'B';
	}
	return bb > a + 1 ? 'A' : next;
}

char runs_study_side(const char *fact, const char *value)
{
	static const char *const with[] = {"yes", "full", "ok", "on", "1", "performance"};
	if (!*value || !strcmp(value, "unknown") || !strcmp(value, "n-a")) {
		return 0;
	}
	const char *answer = strchr(fact, '=');
	if (answer) {
		return !strcmp(answer + 1, value) ? 'B' : 'A';
	}
	for (size_t i = 0; i < ARRAY_LEN(with); i++) {
		if (!strcmp(with[i], value)) {
			return 'B';
		}
	}
	return 'A';
}

double runs_study_starts(const struct runs_study_boots *b, size_t ret_failed[static 2])
{
	double side[2][RUNS_BOOTS_MAX];
	size_t n[2] = {0}, failed[2] = {0};
	for (size_t i = 0; i < b->n; i++) {
		const struct runs_study_boot *x = &b->boot[i];
		int k = x->side == 'B';
		if (x->outcome != RUNS_UNFINISHED && n[k] < RUNS_BOOTS_MAX) {
			bool no = x->outcome == RUNS_DID_NOT_START;
			side[k][n[k]++] = no;
			failed[k] += no;
		}
	}
	memcpy(ret_failed, failed, sizeof(failed));
	if (!n[0] || !n[1] || !(failed[0] + failed[1])) {
		return 1;
	}
	struct runs_permutation p;
	runs_boots_permute(side[0], n[0], side[1], n[1], &p);
	return p.p;
}

int runs_study_find(
	struct runs_store *store, const char *ref, struct runs_list *ret, struct why *why)
{
	char name[64];
	char side = 0;
	text_copy(name, sizeof(name), ref + strlen("study:"));
	char *slash = strchr(name, '/');
	if (slash) {
		side = (char)toupper((unsigned char)slash[1]);
		if ((side != 'A' && side != 'B') || slash[2]) {
			why_set(why, "'%s': a study's sides are A and B", ref);
			return -EINVAL;
		}
		*slash = '\0';
	}
	struct runs_study s = {0};
	int r = runs_study_load(store, name, &s, why);
	if (!r) {
		r = runs_study_runs(store, s.id, side, ret, why);
	}
	runs_study_finish(&s);
	if (!r && !ret->n) {
		why_set(why, "%s has no runs yet", ref);
		r = -ENODATA;
	}
	return r;
}
