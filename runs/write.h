/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing the store. The recorder job and `runs import` are the only callers; each call may
 * stand inside a transaction that the caller opened with runs_write_open. Errors are db.h's.
 */
#pragma once

#include "runs/collect.h"
#include "runs/hist.h"
#include "runs/info.h"
#include "runs/store.h"

/* BEGIN; shut it with runs_db_end(runs_store_db(S), result, why). */
int runs_write_open(struct runs_store *s, struct why *why);

/* A fresh random uid. */
void runs_write_uid(char ret[static 36]);

/* RECORD (a capture; NULL: none) is kept once for all runs that share it. */
int runs_write_machine(struct runs_store *s, const char *record, size_t len, int64_t *ret_machine,
	struct why *why);
/* RUN's members but id; ENV a JSON object. */
int runs_write_run(struct runs_store *s, const struct runs_info *run, const char *env,
	int64_t *ret_id, struct why *why);
/* What is known only once the worker runs, and the counters. */
int runs_write_facts(struct runs_store *s, const struct runs_info *run, struct why *why);
int runs_write_second(
	struct runs_store *s, int64_t run, const struct runs_second *sec, struct why *why);
int runs_write_rollup(struct runs_store *s, int64_t run, unsigned series, unsigned layer,
	const uint8_t *hist, size_t len, struct why *why);
int runs_write_touched(struct runs_store *s, int64_t run, int64_t now, struct why *why);
/* STATUS: JSON or NULL. */
int runs_write_intent(struct runs_store *s, int64_t run, int64_t at, const char *step,
	const char *status, struct why *why);
int runs_write_end(struct runs_store *s, int64_t run, int64_t ended, enum runs_state state,
	const char *reason, struct why *why);
/*
 * A label is 1 to 63 bytes of UTF-8 without control characters, so that every list can show it.
 * -EINVAL with a sentence. Pure.
 */
int runs_label_check(const char *label, struct why *why);
int runs_write_label(struct runs_store *s, int64_t run, const char *label, struct why *why);
int runs_write_baseline(
	struct runs_store *s, const struct runs_baseline *b, const char *env, struct why *why);
