/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/write.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/gz.h"
#include "base/text.h"

int runs_write_open(struct runs_store *s, struct why *why)
{
	return runs_db_exec(runs_store_db(s), "BEGIN IMMEDIATE", why);
}

void runs_write_uid(char ret[static 36])
{
	uint64_t r[2] = {0};
	/* Early in the boot of a machine without entropy this may fail: the address of a stack
	 * and the time still differ from run to run. */
	if (getrandom(r, sizeof(r), 0) != sizeof(r)) {
		struct timespec ts;
		clock_gettime(CLOCK_REALTIME, &ts);
		r[0] = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
		r[1] = (uint64_t)(uintptr_t)&ts;
	}
	snprintf(ret, 36, "%016llx%016llx", (unsigned long long)r[0], (unsigned long long)r[1]);
}

/* FNV-1a and the length: finds candidates, the bytes decide. */
static void digest(const char *data, size_t len, char ret[static 48])
{
	uint64_t h = 0xcbf29ce484222325u;
	for (size_t i = 0; i < len; i++) {
		h = (h ^ (unsigned char)data[i]) * 0x100000001b3u;
	}
	snprintf(ret, 48, "%016llx-%zu", (unsigned long long)h, len);
}

int runs_write_machine(
	struct runs_store *s, const char *record, size_t len, int64_t *ret_machine, struct why *why)
{
	if (!record) {
		*ret_machine = 0;
		return 0;
	}
	char key[48];
	digest(record, len, key);
	_cleanup_free_ char *packed = NULL;
	size_t n;
	int r = gz_pack(record, len, &packed, &n);
	if (r) {
		why_set(why, "the machine cannot be kept: %s", strerror(-r));
		return r;
	}
	_cleanup_rows_ struct runs_rows *q = NULL;
	r = runs_db_query(runs_store_db(s), &q, why,
		"SELECT id FROM machines WHERE digest = ? AND record = ?", "sb", key, packed, n);
	if (!r) {
		r = runs_rows_next(q, why);
	}
	if (r < 0) {
		return r;
	}
	if (r) {
		*ret_machine = runs_rows_int(q, 0);
		return 0;
	}
	r = runs_db_run(runs_store_db(s), why,
		"INSERT INTO machines (digest, record) VALUES (?, ?)", "sb", key, packed, n);
	if (!r) {
		*ret_machine = runs_db_last_id(runs_store_db(s));
	}
	return r;
}

int runs_write_run(struct runs_store *s, const struct runs_info *run, const char *env,
	int64_t *ret_id, struct why *why)
{
	int r = runs_db_run(runs_store_db(s), why,
		"INSERT INTO runs (uid, label, program, started, start_ns, touched, boot_id, state,"
		" why, backend, shape, dtype, seed, paced_ns, asked_s, machine, env, imported)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0), ?, ?)",
		"sssiiissssssiiiisi", run->uid, run->label, run->program, run->started,
		(int64_t)run->start_ns, run->touched, run->boot_id, runs_state_name(run->state),
		run->why, run->backend, run->shape, run->dtype, (int64_t)run->seed,
		(int64_t)run->paced_ns, (int64_t)run->asked_s, run->machine, env,
		(int64_t)run->imported);
	if (r) {
		return r;
	}
	struct runs_info copy = *run;
	copy.id = runs_db_last_id(runs_store_db(s));
	r = runs_write_facts(s, &copy, why);
	if (!r) {
		*ret_id = copy.id;
	}
	return r;
}

int runs_write_facts(struct runs_store *s, const struct runs_info *run, struct why *why)
{
	return runs_db_run(runs_store_db(s), why,
		"UPDATE runs SET backend = ?, device = ?, kernel = ?, threads = ?, copies = ?,"
		" produced = ?, dropped = ?, bytes = ?, ceiling = nullif(?, 0.0), ceiling_kernel = ?,"
		" golden = ?, mismatches = ?, max_error = ?, clock_error_ns = ? WHERE id = ?",
		"sssiiiiirsiirii", run->backend, run->device, run->kernel, (int64_t)run->threads,
		(int64_t)run->copies, (int64_t)run->produced, (int64_t)run->dropped,
		(int64_t)run->bytes, run->ceiling, run->ceiling_kernel, (int64_t)run->golden,
		(int64_t)run->mismatches, run->max_error < 0 ? (double)NAN : run->max_error,
		(int64_t)run->clock_error_ns, run->id);
}

static int write_block(struct runs_store *s, int64_t run, uint32_t second,
	const struct runs_block *b, struct why *why)
{
	const struct runs_moments *m = &b->moments;
	double none = NAN;
	return runs_db_run(runs_store_db(s), why,
		"INSERT OR REPLACE INTO blocks (run, series, layer, second, hist, n, s1, s2, lag,"
		" nlag) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"iiiibirrri", run, (int64_t)b->series, (int64_t)b->layer, (int64_t)second, b->hist,
		b->len, (int64_t)m->n, b->has_moments ? m->s1 : none, b->has_moments ? m->s2 : none,
		b->has_moments ? m->lag : none, (int64_t)m->npair);
}

int runs_write_second(
	struct runs_store *s, int64_t run, const struct runs_second *sec, struct why *why)
{
	struct runs_db *db = runs_store_db(s);
	int r = runs_db_run(db, why,
		"INSERT OR REPLACE INTO seconds (run, second, samples, warmups, dropped, missed,"
		" mismatches, perturbed, status, raw) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"iiiiiiiisb", run, (int64_t)sec->second, (int64_t)sec->samples,
		(int64_t)sec->warmups, (int64_t)sec->dropped, (int64_t)sec->missed,
		(int64_t)sec->mismatches, (int64_t)sec->perturbed, sec->status, sec->raw,
		sec->nraw);
	for (size_t i = 0; !r && i < sec->nblock; i++) {
		r = write_block(s, run, sec->second, &sec->block[i], why);
	}
	for (size_t i = 0; !r && i < sec->nevent; i++) {
		const struct runs_event *e = &sec->event[i];
		r = runs_db_run(db, why,
			"INSERT INTO events (run, from_ns, to_ns, source, code, value, note)"
			" VALUES (?, ?, ?, ?, ?, ?, ?)",
			"iiisirs", run, (int64_t)e->from_ns, (int64_t)e->to_ns, e->source, e->code,
			e->value, e->note);
	}
	for (size_t i = 0; !r && i < sec->nepisode; i++) {
		const struct runs_episode *e = &sec->episode[i];
		r = runs_db_run(db, why,
			"INSERT INTO episodes (run, from_ns, to_ns, worst_ns, excess_ns, n,"
			" perturbed, part) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			"iiiiiiii", run, (int64_t)e->from_ns, (int64_t)e->to_ns,
			(int64_t)e->worst_ns, (int64_t)e->excess_ns, (int64_t)e->n,
			(int64_t)e->perturbed, (int64_t)e->part);
	}
	return r;
}

int runs_write_rollup(struct runs_store *s, int64_t run, unsigned series, unsigned layer,
	const uint8_t *hist, size_t len, struct why *why)
{
	return runs_db_run(runs_store_db(s), why,
		"INSERT OR REPLACE INTO rollups (run, series, layer, hist) VALUES (?, ?, ?, ?)",
		"iiib", run, (int64_t)series, (int64_t)layer, hist, len);
}

int runs_write_touched(struct runs_store *s, int64_t run, int64_t now, struct why *why)
{
	return runs_db_run(
		runs_store_db(s), why, "UPDATE runs SET touched = ? WHERE id = ?", "ii", now, run);
}

int runs_write_intent(struct runs_store *s, int64_t run, int64_t at, const char *step,
	const char *status, struct why *why)
{
	return runs_db_run(runs_store_db(s), why,
		"INSERT INTO intents (run, at, step, status) VALUES (?, ?, ?, ?)", "iiss", run, at,
		step, status);
}

int runs_write_end(struct runs_store *s, int64_t run, int64_t ended, enum runs_state state,
	const char *reason, struct why *why)
{
	return runs_db_run(runs_store_db(s), why,
		"UPDATE runs SET ended = ?, state = ?, why = ? WHERE id = ?", "issi", ended,
		runs_state_name(state), reason, run);
}

int runs_label_check(const char *label, struct why *why)
{
	size_t n = strlen(label);
	if (n < 1 || n > 63) {
		why_set(why, "a label has 1 to 63 bytes");
		return -EINVAL;
	}
	while (n > 0) {
		uint32_t ch;
		size_t used = text_utf8_decode(label, n, &ch);
		if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0) || ch == 0xfffd) {
			why_set(why, "a label is UTF-8 text without control characters");
			return -EINVAL;
		}
		label += used;
		n -= used;
	}
	return 0;
}

int runs_write_label(struct runs_store *s, int64_t run, const char *label, struct why *why)
{
	int r = runs_label_check(label, why);
	if (r < 0) {
		return r;
	}
	return runs_db_run(
		runs_store_db(s), why, "UPDATE runs SET label = ? WHERE id = ?", "si", label, run);
}

int runs_write_baseline(
	struct runs_store *s, const struct runs_baseline *b, const char *env, struct why *why)
{
	_cleanup_free_ uint8_t *hist = NULL;
	size_t len = runs_hist_pack(&b->hist, &hist);
	return runs_db_run(runs_store_db(s), why,
		"INSERT INTO baselines (marked, boot_id, machine, env, backend, device, kernel,"
		" shape, dtype, threads, window_ns, hist)"
		" VALUES (?, ?, nullif(?, 0), ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		"isissssssiib", b->marked, b->boot_id, b->machine, env, b->backend, b->device,
		b->kernel, b->shape, b->dtype, (int64_t)b->threads, (int64_t)b->window_ns, hist,
		len);
}
