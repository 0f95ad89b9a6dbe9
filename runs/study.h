/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Studies: a change (A before it, B with it) judged over reboots. A plan says in which order the
 * boots come; each boot is filed under what the machine really is, not what was meant. Blocking;
 * errors are db.h's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"
#include "base/why.h"
#include "runs/compare.h"
#include "runs/store.h"

enum { RUNS_STUDY_BOOTS_MAX = 2 * RUNS_BOOTS_MAX };

struct runs_study {
	int64_t id, created; /* UNIX ns */
	char name[48];
	char change[128]; /* in words: "Above 4G Decoding" */
	char fact[64];    /* "above4g.aperture", "rebar=full"; "": filed by hand */
	uint32_t boots;   /* a side */
	char *options;    /* JSON: how the runs are made; owned */
};

enum runs_outcome {
	RUNS_MEASURED,
	RUNS_DID_NOT_START, /* driver, device or worker: a result too */
	RUNS_UNFINISHED,    /* some of the boot's runs are there */
};
const char *runs_outcome_name(enum runs_outcome o);

struct runs_study_boot {
	char boot_id[40];
	int64_t at;     /* UNIX ns */
	char side;      /* 'A' or 'B' */
	char value[64]; /* of the fact */
	enum runs_outcome outcome;
	char why[240]; /* DID_NOT_START */
	size_t nrun;
};

struct runs_study_boots {
	struct runs_study_boot *boot; /* in order of time; owned */
	size_t n;
};

void runs_study_finish(struct runs_study *s);
void runs_study_boots_finish(struct runs_study_boots *b);

/* A name is 1 to 40 of letters, digits, '.', '_' and '-', not only digits. -EINVAL with why. */
int runs_study_check_name(const char *name, struct why *why);

/* -EEXIST: there is one of that name. S's id is set. */
int runs_study_create(struct runs_store *store, struct runs_study *s, struct why *why);
/* -ENOENT. */
int runs_study_load(
	struct runs_store *store, const char *name, struct runs_study *ret, struct why *why);
int runs_study_list(
	struct runs_store *store, struct runs_study **ret, size_t *ret_n, struct why *why);
int runs_study_load_boots(
	struct runs_store *store, int64_t study, struct runs_study_boots *ret, struct why *why);

/* Files a boot, or files it anew. */
int runs_study_file(struct runs_store *store, int64_t study, const struct runs_study_boot *boot,
	struct why *why);
int runs_study_add_run(struct runs_store *store, int64_t study, int64_t run, struct why *why);

/* The runs of one side ('A', 'B') or of both (0), measured boots only. May be empty. */
int runs_study_runs(
	struct runs_store *store, int64_t study, char side, struct runs_list *ret, struct why *why);

/* The plan's K-th boot: A B B A A B B A … against trends. */
char runs_study_planned(uint32_t k);
/* Which side the next boot should be, given those that count; 0: the study is complete. */
char runs_study_next(const struct runs_study *s, const struct runs_study_boots *b);
/* What is to be done next, in one or two lines for a person. */
void runs_study_say_next(
	const struct runs_study *s, const struct runs_study_boots *b, struct text *t);
/* Boots of SIDE that count: measured, or did not start. */
size_t runs_study_count(const struct runs_study_boots *b, char side);

/*
 * Which side VALUE of a fact means. FACT "name=answer": B when it is that answer. Without an
 * answer: yes, full and ok are B, other known answers A. 0: the value is unknown.
 */
char runs_study_side(const char *fact, const char *value);

/*
 * Did one side start less often than the other? P (two-sided, exact over boots) of it; 1 when
 * all boots of both started.
 */
double runs_study_starts(const struct runs_study_boots *b, size_t ret_failed[static 2]);

/* A study's runs by the reference "study:NAME", "study:NAME/A" or "study:NAME/B". */
int runs_study_find(
	struct runs_store *store, const char *ref, struct runs_list *ret, struct why *why);
