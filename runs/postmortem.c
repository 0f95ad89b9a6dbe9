/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/postmortem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "runs/lastwords.h"
#include "runs/write.h"

/* ", last seen: temperature 83, power 448" from a flat JSON object. */
static void add_status(struct text *t, const char *json)
{
	struct js *j = NULL;
	if (js_parse(json, strlen(json), &j, NULL)) {
		return;
	}
	const struct js *value;
	const char *name;
	for (size_t i = 0; (name = js_member(j, i, &value)); i++) {
		_cleanup_free_ char *plain = js_str(value) ? NULL : js_text_compact(value);
		text_addf(t, "%s%s %s", i ? ", " : "; last state: ", name,
			plain ? plain : js_str(value));
	}
	js_free(j);
}

/* What the store knows about the end of RUN: "2 min 5 s in, at step X; last state: …". */
static int describe(
	struct runs_store *s, const struct runs_info *run, struct text *t, struct why *why)
{
	struct runs_totals totals;
	struct runs_intent intent;
	int r = runs_info_totals(s, run->id, &totals, why);
	if (r) {
		return r;
	}
	uint32_t in = totals.samples || totals.warmups ? totals.last + 1 : 0;
	if (in >= 60) {
		text_addf(t, "%u min ", in / 60);
	}
	text_addf(t, "%u s in", in % 60);
	r = runs_info_last_intent(s, run->id, &intent, why);
	if (!r) {
		text_addf(t, ", at step \"%s\"", intent.step);
	} else if (r != -ENODATA) {
		return r;
	}
	_cleanup_free_ char *status = NULL;
	r = runs_info_last_status(s, run->id, &status, why);
	if (!r) {
		add_status(t, status);
	}
	return r == -ENODATA ? 0 : r;
}

/* What the kernel of one run's boot said last. */
struct words {
	int64_t run;
	char text[160];
};

/*
 * For each of L that went down with its machine; owned. Reading a journal takes its time, so this
 * is done before the store is locked.
 */
static struct words *collect_words(const struct runs_list *l, const char *root, uint64_t until_ns)
{
	struct words *w = xcalloc(l->n, sizeof(*w));
	for (size_t i = 0; i < l->n; i++) {
		const struct runs_info *run = &l->run[i];
		w[i].run = run->id;
		if (run->state == RUNS_MACHINE_DOWN) {
			runs_last_words(root, run->boot_id, run->touched / 1000000000, until_ns,
				w[i].text, sizeof(w[i].text));
		}
	}
	return w;
}

static const char *words_of(const struct words *w, size_t n, int64_t run)
{
	for (size_t i = 0; i < n; i++) {
		if (w[i].run == run) {
			return w[i].text;
		}
	}
	return "";
}

static int close_one(struct runs_store *s, const struct runs_info *run, const char *words,
	struct runs_crash *crash, struct why *why)
{
	struct text t = {0};
	int r = describe(s, run, &t, why);
	if (!r && *words) {
		text_addf(&t, "; the kernel's last words: %s", words);
	}
	_cleanup_free_ char *last = text_steal(&t);
	if (r) {
		return r;
	}
	text_addf(&t, "%s, %s",
		run->state == RUNS_MACHINE_DOWN ? "the machine went down during the run"
						: "barscope ended without closing the run",
		last);
	_cleanup_free_ char *reason = text_steal(&t);
	r = runs_write_end(s, run->id, run->touched, run->state, reason, why);
	if (!r && run->state == RUNS_MACHINE_DOWN) {
		*crash = (struct runs_crash){.run = run->id};
		text_copy(crash->label, sizeof(crash->label), run->label);
		text_addf(&t, "The machine went down during run %lld (%s), %s.", (long long)run->id,
			run->label, last);
		text_copy(crash->text, sizeof(crash->text), t.s);
		text_finish(&t);
	}
	return r;
}

int runs_postmortem(struct runs_store *s, const char *root, const char *boot_id,
	unsigned patience_ms, struct runs_crash *ret, struct why *why)
{
	struct runs_crash crash = {0};
	_cleanup_runs_ struct runs_list before = {0}, l = {0};
	int r = runs_info_open(s, boot_id, &before, why);
	if (r) {
		return r;
	}
	_cleanup_free_ struct words *words =
		collect_words(&before, root, clock_ns() + patience_ms * (uint64_t)1000000);
	r = runs_write_open(s, why);
	if (r) {
		return r;
	}
	/* Meanwhile another process may have closed them. */
	r = runs_info_open(s, boot_id, &l, why);
	for (size_t i = 0; !r && i < l.n; i++) {
		if (l.run[i].state != RUNS_RUNNING) {
			r = close_one(
				s, &l.run[i], words_of(words, before.n, l.run[i].id), &crash, why);
		}
	}
	r = runs_db_end(runs_store_db(s), r, why);
	if (!r) {
		*ret = crash;
	}
	return r;
}
