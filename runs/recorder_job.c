/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/recorder_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "config.h"
#include "pcie/scan.h"
#include "runs/postmortem.h"
#include "runs/write.h"

enum { BUSY_TRIES = 6 }; /* of ten seconds each */

static int64_t unix_ns(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int open_store(struct runs_desk *d, enum runs_store_mode mode, struct why *why)
{
	if (d->store) {
		return 0;
	}
	return runs_store_open(d->path, mode, &d->store, why);
}

/* A store that is not there yet is nothing to complain about. */
static int do_open(struct runs_desk *d, struct runs_item *it)
{
	runs_env_boot_id(d->root, d->boot_id);
	runs_store_warning(d->path, &it->warning);
	if (access(d->path, F_OK) && errno == ENOENT) {
		return 0;
	}
	int r = open_store(d, RUNS_STORE_WRITE, &it->why);
	if (r == -ENODATA) {
		return 0;
	}
	return r ? r
		 : runs_postmortem(
			   d->store, d->root, d->boot_id, RUNS_POSTMORTEM_MS, &it->crash, &it->why);
}

/*
 * The machine as a record; NULL: it cannot be read, and is left out. A driver that is asked may
 * take seconds: never with a transaction open, which others wait for.
 */
static char *capture(const struct runs_desk *d, size_t *ret_len)
{
	char *record = NULL;
	struct why ignored;
	const char *root = d->root ? d->root : "/";
	int r = 0;
	*ret_len = 0;
	if (d->driver) {
		r = pcie_capture_asking(d->driver, root, false, false, &record, ret_len, &ignored);
	} else if (d->capture) {
		r = d->capture(root, false, false, &record, ret_len, &ignored);
	}
	return r ? NULL : record;
}

static char *environment(const struct runs_desk *d)
{
	struct js *env = runs_env_read(d->root);
	char *s = js_text_compact(env);
	js_free(env);
	return s;
}

static int do_begin(struct runs_desk *d, struct runs_item *it)
{
	if (d->run) {
		why_set(&it->why, "a run is open already");
		return -EINVAL;
	}
	int r = open_store(d, RUNS_STORE_CREATE, &it->why);
	if (r) {
		return r;
	}
	_cleanup_free_ char *env = environment(d);
	struct runs_info *run = &it->info;
	runs_write_uid(run->uid);
	text_copy(run->program, sizeof(run->program), BARSCOPE_VERSION);
	text_copy(run->boot_id, sizeof(run->boot_id), d->boot_id);
	run->started = run->touched = unix_ns();
	run->state = RUNS_RUNNING;
	run->imported = false;
	run->max_error = -1;

	size_t len;
	_cleanup_free_ char *record = capture(d, &len);
	r = runs_write_open(d->store, &it->why);
	if (r) {
		return r;
	}
	r = runs_write_machine(d->store, record, len, &run->machine, &it->why);
	if (!r) {
		r = runs_write_run(d->store, run, env, &it->run, &it->why);
	}
	if (!r) {
		r = runs_store_lock(d->store, it->run);
		if (r) {
			why_set(&it->why, "%s.lock cannot be locked: %s", d->path, strerror(-r));
		}
	}
	r = runs_db_end(runs_store_db(d->store), r, &it->why);
	if (!r) {
		d->run = it->run;
		d->golden = false;
		d->begun = *run;
		runs_store_reserve(d->store);
	}
	return r;
}

static int do_seconds(struct runs_desk *d, struct runs_item *it)
{
	int r = 0;
	for (const struct runs_second *s = it->second; !r && s; s = s->next) {
		r = runs_write_second(d->store, d->run, s, &it->why);
	}
	return r;
}

static int do_rollups(struct runs_desk *d, struct runs_item *it)
{
	int r = 0;
	for (size_t i = 0; !r && i < it->npacked; i++) {
		const struct runs_packed *p = &it->packed[i];
		r = runs_write_rollup(
			d->store, d->run, p->series, p->layer, p->hist, p->len, &it->why);
	}
	return r;
}

/* Once a run: its verified output against the stored hash; a difference is an event of the run. */
static int do_golden(struct runs_desk *d, struct runs_item *it, int64_t now)
{
	const struct runs_info *f = &it->info;
	struct runs_golden_key k = {.build = f->build, .seed = d->begun.seed};
	char text[RUNS_GOLDEN_TEXT];
	if (d->golden || !f->build || !f->golden) {
		return 0;
	}
	text_copy(k.isa, sizeof(k.isa), f->isa);
	text_copy(k.kernel, sizeof(k.kernel), f->kernel);
	text_copy(k.shape, sizeof(k.shape), d->begun.shape);
	text_copy(k.dtype, sizeof(k.dtype), d->begun.dtype);
	int r = runs_golden_take(d->store, &k, f->golden, d->boot_id, now, &it->golden, &it->why);
	if (r) {
		return r;
	}
	d->golden = true;
	if (it->golden.verdict != RUNS_GOLDEN_DIFFERS) {
		return 0;
	}
	runs_golden_text(&it->golden, f->golden, text);
	return runs_db_run(runs_store_db(d->store), &it->why,
		"INSERT INTO events (run, from_ns, to_ns, source, code, note) VALUES"
		" (?, ?, ?, 'golden', 0, ?)",
		"iiis", d->run, (int64_t)d->begun.start_ns, (int64_t)d->begun.start_ns, text);
}

/* Items that belong to the open run: each is one transaction. */
static int do_write(struct runs_desk *d, struct runs_item *it)
{
	if (!d->run) {
		why_set(&it->why, "no run is open");
		return -EINVAL;
	}
	int r = runs_write_open(d->store, &it->why);
	if (r) {
		return r;
	}
	int64_t now = unix_ns();
	switch (it->kind) {
	case RUNS_ITEM_INTENT:
		r = runs_write_intent(d->store, d->run, now, it->step, it->status, &it->why);
		break;
	case RUNS_ITEM_SECONDS:
		r = do_seconds(d, it);
		break;
	case RUNS_ITEM_ROLLUPS:
		r = do_rollups(d, it);
		break;
	default:
		r = runs_write_end(d->store, d->run, now, it->state, it->step, &it->why);
		break;
	}
	if (!r && it->has_facts) {
		it->info.id = d->run;
		r = runs_write_facts(d->store, &it->info, &it->why);
		r = r ? r : do_golden(d, it, now);
	}
	if (!r) {
		r = runs_write_touched(d->store, d->run, now, &it->why);
	}
	r = runs_db_end(runs_store_db(d->store), r, &it->why);
	if (!r && it->kind == RUNS_ITEM_END) {
		d->run = 0;
		runs_store_release(d->store);
	}
	return r;
}

static int do_mark(struct runs_desk *d, struct runs_item *it)
{
	int r = open_store(d, RUNS_STORE_CREATE, &it->why);
	if (r) {
		return r;
	}
	_cleanup_free_ char *env = environment(d);
	struct runs_baseline *b = &it->baseline;
	b->marked = unix_ns();
	text_copy(b->boot_id, sizeof(b->boot_id), d->boot_id);
	size_t len;
	_cleanup_free_ char *record = capture(d, &len);
	r = runs_write_open(d->store, &it->why);
	if (r) {
		return r;
	}
	r = runs_write_machine(d->store, record, len, &b->machine, &it->why);
	if (!r) {
		r = runs_write_baseline(d->store, b, env, &it->why);
	}
	return runs_db_end(runs_store_db(d->store), r, &it->why);
}

static int do_load(struct runs_desk *d, struct runs_item *it)
{
	if (!d->store) {
		return 0;
	}
	const struct runs_baseline *want = &it->baseline;
	struct runs_loaded l = {0};
	_cleanup_free_ char *env = NULL;
	int r = runs_info_baseline(d->store, *want->backend ? want->backend : NULL,
		*want->shape ? want->shape : NULL, *want->dtype ? want->dtype : NULL, &l.baseline,
		&env, &it->why);
	if (r) {
		return r == -ENODATA ? 0 : r;
	}
	l.same_boot = *d->boot_id && !strcmp(l.baseline.boot_id, d->boot_id);
	if (l.baseline.machine) {
		r = runs_info_machine(
			d->store, l.baseline.machine, &l.machine, &l.machine_len, &it->why);
	}
	struct js *then = NULL;
	if (!r && !js_parse(env, strlen(env), &then, NULL)) {
		struct js *now = runs_env_read(d->root);
		runs_env_mask(then);
		l.ndiff = runs_env_compare(then, now, &l.diff);
		js_free(now);
		js_free(then);
	}
	if (r) {
		runs_loaded_finish(&l);
		return r;
	}
	it->loaded = l;
	it->has_loaded = true;
	return 0;
}

static int dispatch(struct runs_desk *d, struct runs_item *it)
{
	switch (it->kind) {
	case RUNS_ITEM_OPEN:
		return do_open(d, it);
	case RUNS_ITEM_BEGIN:
		return do_begin(d, it);
	case RUNS_ITEM_MARK:
		return do_mark(d, it);
	case RUNS_ITEM_LOAD:
		return do_load(d, it);
	default:
		return do_write(d, it);
	}
}

/* After R nothing more can be stored. What is open is closed if the disk allows that much. */
static void give_up(struct runs_desk *d, int r, const struct why *why)
{
	d->failed = r;
	d->why = *why;
	if (d->run) {
		runs_store_release(d->store);
		if (!runs_write_open(d->store, NULL)) {
			int e = runs_write_end(
				d->store, d->run, unix_ns(), RUNS_STOPPED, why->text, NULL);
			runs_db_end(runs_store_db(d->store), e, NULL);
		}
		d->run = 0;
	}
}

void runs_item_run(struct job_item *item)
{
	struct runs_item *it = (struct runs_item *)item;
	struct runs_desk *d = it->desk;
	uint64_t from = clock_ns();
	if (d->failed) {
		it->result = d->failed;
		it->why = d->why;
	} else {
		int tries = 0;
		do {
			it->result = dispatch(d, it);
		} while (it->result == -EBUSY && ++tries < BUSY_TRIES);
		/* Asking for a baseline in vain, or a mark that did not work, ends no run. */
		bool harmless = it->kind == RUNS_ITEM_LOAD || it->result == -EINVAL;
		if (it->result && !harmless) {
			give_up(d, it->result, &it->why);
		}
	}
	it->done_ns = clock_ns();
	it->took_ns = it->done_ns - from;
}

void runs_loaded_finish(struct runs_loaded *l)
{
	runs_baseline_finish(&l->baseline);
	free(l->machine);
	free(l->diff);
	*l = (struct runs_loaded){0};
}

void runs_item_destroy(struct runs_item *it)
{
	if (!it) {
		return;
	}
	runs_second_destroy(it->second);
	for (size_t i = 0; i < it->npacked; i++) {
		free(it->packed[i].hist);
	}
	free(it->packed);
	free(it->step);
	free(it->status);
	runs_baseline_finish(&it->baseline);
	runs_loaded_finish(&it->loaded);
	free(it);
}

void runs_desk_finish(struct runs_desk *d)
{
	runs_store_close(d->store);
	free(d->path);
	free(d->root);
}
