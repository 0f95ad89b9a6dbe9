/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/recorder.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "base/text.h"
#include "runs/recorder_job.h"

enum {
	WAITING_MAX = 600, /* seconds that may wait for a slow disk; later ones are lost */
	TOGETHER = 60,     /* seconds in one transaction */
	RESULTS = 64,      /* tickets whose result is remembered */
};

struct runs_recorder {
	struct job *job;
	struct runs_desk *desk; /* the job's, once created */
	struct runs_recorder_state state;
	uint64_t ticket; /* the last one given out */
	struct {
		uint64_t ticket;
		int result;
	} result[RESULTS];
	struct {
		uint64_t ticket, posted_ns;
	} * waiting; /* posted, not collected; oldest first */
	size_t nwaiting, cap_waiting, waiting_seconds;
	struct runs_crash crash;
	struct runs_loaded loaded;
	bool has_loaded;
	struct runs_info facts;
	bool has_facts;
};

static struct runs_item *item_create(struct runs_recorder *r, enum runs_item_kind kind)
{
	struct runs_item *it = xcalloc(1, sizeof(*it));
	it->job.run = runs_item_run;
	it->kind = kind;
	it->desk = r->desk;
	runs_hist_init(&it->baseline.hist, RUNS_HIST_1PCT);
	runs_hist_init(&it->loaded.baseline.hist, RUNS_HIST_1PCT);
	return it;
}

static uint64_t post(struct runs_recorder *r, struct runs_item *it)
{
	it->ticket = ++r->ticket;
	it->posted_ns = clock_ns();
	r->waiting = xgrow(r->waiting, r->nwaiting, &r->cap_waiting, sizeof(*r->waiting));
	r->waiting[r->nwaiting].ticket = it->ticket;
	r->waiting[r->nwaiting++].posted_ns = it->posted_ns;
	uint64_t ticket = it->ticket;
	job_post(r->job, &it->job);
	return ticket;
}

int runs_recorder_create(
	const struct runs_recorder_options *o, struct runs_recorder **ret, struct why *why)
{
	struct runs_recorder *r = xcalloc(1, sizeof(*r));
	int e = job_create("recorder", &r->job);
	if (e) {
		why_set(why, "the recorder cannot be started: %s", strerror(-e));
		free(r);
		return e;
	}
	r->desk = xcalloc(1, sizeof(*r->desk));
	r->desk->path = xstrdup(o->path);
	r->desk->root = o->root ? xstrdup(o->root) : NULL;
	r->desk->capture = o->capture;
	r->desk->driver = o->driver;
	post(r, item_create(r, RUNS_ITEM_OPEN));
	*ret = r;
	return 0;
}

int runs_recorder_fd(const struct runs_recorder *r)
{
	return job_fd(r->job);
}

static void fail(struct runs_recorder *r, const struct runs_item *it)
{
	if (r->state.phase != RUNS_REC_FAILED) {
		text_copy(r->state.why, sizeof(r->state.why), it->why.text);
		r->state.phase = RUNS_REC_FAILED;
		r->state.run = 0;
	}
}

/* Takes in one finished item. */
static void finished(struct runs_recorder *r, struct runs_item *it)
{
	r->nwaiting--;
	memmove(r->waiting, r->waiting + 1, r->nwaiting * sizeof(*r->waiting));
	r->result[it->ticket % RESULTS].ticket = it->ticket;
	r->result[it->ticket % RESULTS].result = it->result;
	r->waiting_seconds -= it->nsecond;
	if (it->kind == RUNS_ITEM_OPEN) {
		text_copy(r->state.warning, sizeof(r->state.warning), it->warning.text);
	}
	if (it->result) {
		r->state.lost_seconds += it->nsecond;
		if (it->kind != RUNS_ITEM_LOAD && it->result != -EINVAL) {
			fail(r, it);
		}
		return;
	}
	if (it->golden.verdict) {
		r->state.golden = it->golden;
	}
	switch (it->kind) {
	case RUNS_ITEM_OPEN:
		r->crash = it->crash;
		r->state.phase = RUNS_REC_READY;
		return;
	case RUNS_ITEM_LOAD:
		runs_loaded_finish(&r->loaded);
		r->has_loaded = it->has_loaded;
		r->loaded = it->loaded;
		it->loaded = (struct runs_loaded){0};
		return;
	case RUNS_ITEM_BEGIN:
		r->state.phase = RUNS_REC_RECORDING;
		r->state.run = it->run;
		r->state.golden = (struct runs_golden_found){0};
		break;
	case RUNS_ITEM_END:
		r->state.phase = RUNS_REC_READY;
		r->state.run = 0;
		break;
	default:
		break;
	}
	r->state.last_commit_ns = it->done_ns;
	r->state.commit_ns = it->took_ns;
}

void runs_recorder_poll(struct runs_recorder *r)
{
	struct job_item *item;
	while ((item = job_collect(r->job))) {
		struct runs_item *it = (struct runs_item *)item;
		finished(r, it);
		runs_item_destroy(it);
	}
}

void runs_recorder_state(const struct runs_recorder *r, struct runs_recorder_state *ret)
{
	*ret = r->state;
	ret->waiting_seconds = r->waiting_seconds;
	uint64_t now = clock_ns();
	ret->waiting_ns = r->nwaiting ? now - MIN(now, r->waiting[0].posted_ns) : 0;
}

const struct runs_crash *runs_recorder_crash(const struct runs_recorder *r)
{
	return r->crash.run ? &r->crash : NULL;
}

int runs_recorder_done(const struct runs_recorder *r, uint64_t ticket)
{
	for (size_t i = 0; i < r->nwaiting; i++) {
		if (r->waiting[i].ticket == ticket) {
			return 0;
		}
	}
	if (r->result[ticket % RESULTS].ticket == ticket) {
		int result = r->result[ticket % RESULTS].result;
		return result ? result : 1;
	}
	/* Forgotten among later ones: it did not fail the recorder, or the phase says so. */
	return r->state.phase == RUNS_REC_FAILED ? -EIO : 1;
}

int runs_recorder_wait(struct runs_recorder *r, uint64_t ticket, int timeout_ms, struct why *why)
{
	uint64_t end = clock_ns() + (uint64_t)timeout_ms * 1000000u;
	for (;;) {
		runs_recorder_poll(r);
		int done = runs_recorder_done(r, ticket);
		if (done < 0) {
			why_set(why, "%s",
				*r->state.why ? r->state.why : "the store could not be written");
			return done;
		}
		if (done) {
			return 0;
		}
		uint64_t now = clock_ns();
		if (now >= end) {
			why_set(why,
				"the store %s does not answer for %d s: the disk hangs or is busy",
				r->desk->path, timeout_ms / 1000);
			return -ETIMEDOUT;
		}
		struct pollfd p = {.fd = runs_recorder_fd(r), .events = POLLIN};
		poll(&p, 1, (int)((end - now) / 1000000u) + 1);
	}
}

uint64_t runs_recorder_begin(struct runs_recorder *r, const struct runs_info *run)
{
	struct runs_item *it = item_create(r, RUNS_ITEM_BEGIN);
	it->info = *run;
	r->facts = *run;
	r->has_facts = false;
	return post(r, it);
}

uint64_t runs_recorder_intent(struct runs_recorder *r, const char *step, const char *status)
{
	struct runs_item *it = item_create(r, RUNS_ITEM_INTENT);
	it->step = xstrdup(step);
	it->status = status ? xstrdup(status) : NULL;
	return post(r, it);
}

void runs_recorder_facts(struct runs_recorder *r, const struct stress_status *st)
{
	struct runs_info *f = &r->facts;
	if (*st->backend) {
		text_copy(f->backend, sizeof(f->backend), st->backend);
	}
	text_copy(f->device, sizeof(f->device), st->device);
	text_copy(f->kernel, sizeof(f->kernel), st->kernel);
	text_copy(f->ceiling_kernel, sizeof(f->ceiling_kernel), st->ceiling_kernel);
	f->threads = st->threads;
	f->copies = st->copies;
	f->bytes = st->bytes;
	f->produced = st->produced;
	f->dropped = st->dropped;
	f->ceiling = st->ceiling_bytes_per_s;
	f->golden = st->golden_hash;
	f->build = st->max_error >= 0 && st->max_error <= st->error_limit ? st->build : 0;
	text_copy(f->isa, sizeof(f->isa), st->isa);
	f->mismatches = st->mismatches;
	f->max_error = st->max_error;
	f->clock_error_ns = st->clock_error_ns;
	r->has_facts = true;
}

static void add_facts(struct runs_recorder *r, struct runs_item *it)
{
	it->info = r->facts;
	it->has_facts = r->has_facts;
	r->has_facts = false;
}

/* Hands over a chain of N. */
static void post_seconds(struct runs_recorder *r, struct runs_second *sec, size_t n, bool full)
{
	if (r->state.phase == RUNS_REC_FAILED || full) {
		r->state.lost_seconds += n;
		runs_second_destroy(sec);
		return;
	}
	struct runs_item *it = item_create(r, RUNS_ITEM_SECONDS);
	it->second = sec;
	it->nsecond = n;
	add_facts(r, it);
	r->waiting_seconds += n;
	post(r, it);
}

void runs_recorder_seconds(struct runs_recorder *r, struct runs_second *sec)
{
	/* A chain is taken whole or not at all: the caller holds its memory anyway. Several
	 * transactions when there is much: what one holds is lost together. */
	bool full = r->waiting_seconds >= WAITING_MAX;
	while (sec) {
		struct runs_second *last = sec;
		size_t n = 1;
		for (; last->next && n < TOGETHER; last = last->next) {
			n++;
		}
		struct runs_second *rest = last->next;
		last->next = NULL;
		post_seconds(r, sec, n, full);
		sec = rest;
	}
}

void runs_recorder_rollups(struct runs_recorder *r, const struct runs_collect *c)
{
	if (r->state.phase == RUNS_REC_FAILED) {
		return;
	}
	struct runs_item *it = item_create(r, RUNS_ITEM_ROLLUPS);
	it->packed = xcalloc((size_t)STRESS_SERIES * RUNS_LAYERS, sizeof(*it->packed));
	for (unsigned s = 0; s < STRESS_SERIES; s++) {
		for (unsigned l = 0; l < RUNS_LAYERS; l++) {
			const struct runs_hist *h = runs_collect_rollup(c, s, l);
			if (h) {
				struct runs_packed *p = &it->packed[it->npacked++];
				p->series = (uint8_t)s;
				p->layer = (uint8_t)l;
				p->len = runs_hist_pack(h, &p->hist);
			}
		}
	}
	post(r, it);
}

uint64_t runs_recorder_end(struct runs_recorder *r, enum runs_state state, const char *reason)
{
	struct runs_item *it = item_create(r, RUNS_ITEM_END);
	it->state = state;
	it->step = xstrdup(reason);
	add_facts(r, it);
	return post(r, it);
}

uint64_t runs_recorder_mark(struct runs_recorder *r, const struct runs_baseline *b)
{
	struct runs_item *it = item_create(r, RUNS_ITEM_MARK);
	it->baseline = *b;
	runs_hist_init(&it->baseline.hist, b->hist.bits);
	runs_hist_merge(&it->baseline.hist, &b->hist);
	return post(r, it);
}

uint64_t runs_recorder_load(
	struct runs_recorder *r, const char *backend, const char *shape, const char *dtype)
{
	struct runs_item *it = item_create(r, RUNS_ITEM_LOAD);
	struct runs_baseline *b = &it->baseline;
	text_copy(b->backend, sizeof(b->backend), backend ? backend : "");
	text_copy(b->shape, sizeof(b->shape), shape ? shape : "");
	text_copy(b->dtype, sizeof(b->dtype), dtype ? dtype : "");
	return post(r, it);
}

const struct runs_loaded *runs_recorder_loaded(const struct runs_recorder *r)
{
	return r->has_loaded ? &r->loaded : NULL;
}

int runs_recorder_destroy(struct runs_recorder *r, int timeout_ms)
{
	if (!r) {
		return 0;
	}
	/* Finished items are collected while the rest is worked off: none may be left behind. */
	uint64_t end = clock_ns() + (uint64_t)MAX(timeout_ms, 0) * 1000000u;
	while (runs_recorder_poll(r), r->nwaiting) {
		uint64_t now = clock_ns();
		if (timeout_ms >= 0 && now >= end) {
			/* Everything stays: the stuck thread still holds it. */
			job_destroy(r->job, 0);
			return -ETIMEDOUT;
		}
		struct pollfd p = {.fd = runs_recorder_fd(r), .events = POLLIN};
		poll(&p, 1, timeout_ms < 0 ? -1 : (int)((end - now) / 1000000u) + 1);
	}
	job_destroy(r->job, -1);
	runs_desk_finish(r->desk);
	free(r->desk);
	runs_loaded_finish(&r->loaded);
	free(r->waiting);
	free(r);
	return 0;
}
