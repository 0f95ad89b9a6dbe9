/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/keep.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "tui/machine.h"

/* A commit takes some ms on a healthy disk; beyond this the screen says that it is slow. */
static const uint64_t lag_ns = 2000000000u;

/* Never changed once it is handed over. */
struct known {
	struct known *before;
	struct tui_sizes sizes;
};

/* The recorder asks it on a thread of its own. */
struct tui_witness {
	struct pcie_driver driver;
	_Atomic(struct known *) newest; /* those before it live on: they may be being read */
};

static void tell_sizes(const struct pcie_driver *d, struct pcie_gpu_sizes *gpu, size_t n)
{
	struct tui_witness *w =
		(struct tui_witness *)(void *)((char *)(uintptr_t)d -
					       offsetof(struct tui_witness, driver));
	const struct known *k = atomic_load(&w->newest);
	if (k) {
		tui_sizes_tell(&k->sizes, gpu, n);
	}
}

static bool same_sizes(const struct tui_sizes *a, const struct tui_sizes *b)
{
	bool same = a->n == b->n;
	for (size_t i = 0; same && i < a->n; i++) {
		same = !pcie_addr_compare(a->gpu[i].addr, b->gpu[i].addr) &&
		       a->gpu[i].memory == b->gpu[i].memory && a->gpu[i].bar1 == b->gpu[i].bar1;
	}
	return same;
}

void tui_keep_sizes(struct tui_keep *k, const struct tui_sizes *s)
{
	struct known *before = atomic_load(&k->witness->newest);
	if (before && same_sizes(&before->sizes, s)) {
		return;
	}
	struct known *now = xcalloc(1, sizeof(*now));
	*now = (struct known){before, *s};
	atomic_store(&k->witness->newest, now);
}

static void destroy_witness(struct tui_witness *w)
{
	for (struct known *k = atomic_load(&w->newest), *before; k; k = before) {
		before = k->before;
		free(k);
	}
	free(w);
}

const struct pcie_driver *tui_keep_witness(const struct tui_keep *k)
{
	return &k->witness->driver;
}

static void open_recorder(struct tui_keep *k, struct why *why)
{
	const struct runs_recorder_options o = {.path = k->path, .driver = &k->witness->driver};
	k->state = (struct runs_recorder_state){0};
	if (runs_recorder_create(&o, &k->recorder, why) < 0) {
		k->recorder = NULL;
	}
}

int tui_keep_give_up(struct tui_keep *k, int timeout_ms)
{
	int r = runs_recorder_destroy(k->recorder, timeout_ms);
	k->recorder = NULL;
	k->stuck = k->stuck || r < 0;
	return r;
}

/*
 * Somebody may have made room, or given the right: with all decided that failed, from the start.
 * While something waits for the store that failed it may hang: the next time, then.
 */
static void try_again(struct tui_keep *k)
{
	struct runs_recorder_state now;
	if (!k->recorder || !k->path || k->session || k->nending) {
		return;
	}
	runs_recorder_poll(k->recorder);
	runs_recorder_state(k->recorder, &now);
	if (now.phase != RUNS_REC_FAILED || now.waiting_ns) {
		return;
	}
	k->load_ticket = k->mark_ticket = 0;
	if (tui_keep_give_up(k, 0) < 0) {
		why_set(&k->why, "the store does not answer");
		return;
	}
	open_recorder(k, &k->why);
}

void tui_keep_init(struct tui_keep *k, const char *store, bool none)
{
	*k = (struct tui_keep){0};
	k->witness = xcalloc(1, sizeof(*k->witness));
	k->witness->driver.sizes = tell_sizes;
	runs_hist_init(&k->baseline.hist, RUNS_HIST_1PCT);
	_cleanup_free_ char *path = NULL;
	if (none) {
		why_set(&k->why, "nothing is stored here");
		return;
	}
	if (runs_store_path(store, &path, &k->why) < 0) {
		return;
	}
	k->path = xstrdup(path);
	open_recorder(k, &k->why);
}

int tui_keep_finish(struct tui_keep *k, int timeout_ms)
{
	tui_keep_give_up(k, timeout_ms);
	const bool stuck = k->stuck;
	if (!stuck) {
		destroy_witness(k->witness);
	}
	runs_hist_finish(&k->baseline.hist);
	free(k->path);
	*k = (struct tui_keep){0};
	return stuck ? -ETIMEDOUT : 0;
}

int tui_keep_fd(const struct tui_keep *k)
{
	return k->recorder ? runs_recorder_fd(k->recorder) : -1;
}

static void set_band(struct tui_baseline *b)
{
	b->band = (struct tui_band){
		.set = b->hist.total > 0,
		.p5 = (double)runs_hist_quantile(&b->hist, 0.05),
		.p50 = (double)runs_hist_quantile(&b->hist, 0.50),
		.p95 = (double)runs_hist_quantile(&b->hist, 0.95),
	};
}

/* Takes the recorder's answer over. */
static void take_loaded(struct tui_keep *k, const struct runs_loaded *l)
{
	struct tui_baseline *b = &k->baseline;
	const struct runs_baseline *from = &l->baseline;
	runs_hist_reset(&b->hist);
	runs_hist_merge(&b->hist, &from->hist);
	set_band(b);
	b->marked = from->marked;
	b->name[0] = '\0';
	b->same_boot = l->same_boot;
	b->stored = true;
	text_copy(b->backend, sizeof(b->backend), from->backend);
	text_copy(b->device, sizeof(b->device), from->device);
	text_copy(b->shape, sizeof(b->shape), from->shape);
	text_copy(b->dtype, sizeof(b->dtype), from->dtype);
	b->env = (struct tui_changes){0};
	for (size_t i = 0; i < l->ndiff; i++) {
		const struct runs_env_diff *d = &l->diff[i];
		if (d->weight == RUNS_ENV_MATTERS) {
			tui_changes_add(&b->env, "%.24s %.40s → %.40s", d->name, d->a, d->b);
		}
	}
}

static unsigned poll_load(struct tui_keep *k, const char **ret_record, size_t *ret_len)
{
	int done = k->load_ticket ? runs_recorder_done(k->recorder, k->load_ticket) : 0;
	if (!done) {
		return 0;
	}
	k->load_ticket = 0;
	const struct runs_loaded *l = done == 1 ? runs_recorder_loaded(k->recorder) : NULL;
	if (!l || *k->baseline.name) {
		return 0;
	}
	take_loaded(k, l);
	*ret_record = l->machine;
	*ret_len = l->machine_len;
	return TUI_KEEP_LOADED;
}

/* What became of *TICKET, as runs_recorder_done() says it; once decided it is forgotten. */
static int poll_ticket(struct tui_keep *k, uint64_t *ticket)
{
	int done = *ticket ? runs_recorder_done(k->recorder, *ticket) : 0;
	if (done < 0) {
		why_set(&k->why, "%s", *k->state.why ? k->state.why : strerror(-done));
	}
	*ticket = done ? 0 : *ticket;
	return done;
}

unsigned tui_keep_poll(struct tui_keep *k, const char **ret_record, size_t *ret_len)
{
	*ret_record = NULL;
	if (!k->recorder) {
		return 0;
	}
	struct runs_recorder_state before = k->state;
	runs_recorder_poll(k->recorder);
	runs_recorder_state(k->recorder, &k->state);
	unsigned news = before.phase != k->state.phase ? TUI_KEEP_CHANGED : 0;
	news |= (before.waiting_ns > lag_ns) != (k->state.waiting_ns > lag_ns) ? TUI_KEEP_CHANGED
									       : 0;
	news |= poll_load(k, ret_record, ret_len);
	int done = poll_ticket(k, &k->mark_ticket);
	if (done) {
		k->baseline.stored = done == 1;
		news |= done == 1 ? TUI_KEEP_MARKED : TUI_KEEP_UNMARKED;
	}
	return news;
}

int tui_keep_ended(struct tui_keep *k, char ret_label[64])
{
	struct tui_ending *first = &k->ending[0];
	int done = k->nending ? poll_ticket(k, &first->ticket) : 0;
	if (done) {
		text_copy(ret_label, sizeof(first->label), first->label);
		memmove(first, first + 1, --k->nending * sizeof(*first));
	}
	return done;
}

void tui_keep_ask(struct tui_keep *k, const char *backend, const char *shape, const char *dtype)
{
	char asked[sizeof(k->asked)];
	snprintf(asked, sizeof(asked), "%s/%s/%s", backend ? backend : "", shape ? shape : "",
		dtype ? dtype : "");
	if (!k->recorder || !strcmp(asked, k->asked)) {
		return;
	}
	text_copy(k->asked, sizeof(k->asked), asked);
	k->load_ticket = runs_recorder_load(k->recorder, backend && *backend ? backend : NULL,
		shape && *shape ? shape : NULL, dtype && *dtype ? dtype : NULL);
}

void tui_keep_mark(struct tui_keep *k, const struct stress_status *st,
	const struct stress_config *c, const struct runs_hist *h, uint64_t window_ns)
{
	struct tui_baseline *b = &k->baseline;
	struct runs_info info = {0};
	runs_info_configured(&info, c);
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);

	runs_hist_reset(&b->hist);
	runs_hist_merge(&b->hist, h);
	set_band(b);
	b->marked = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	b->name[0] = '\0';
	b->same_boot = true;
	b->stored = false;
	b->env = (struct tui_changes){0};
	text_copy(b->backend, sizeof(b->backend), st->backend);
	text_copy(b->device, sizeof(b->device), st->device);
	text_copy(b->shape, sizeof(b->shape), info.shape);
	text_copy(b->dtype, sizeof(b->dtype), info.dtype);
	try_again(k);
	if (!k->recorder) {
		return;
	}
	struct runs_baseline mark = {
		.threads = st->threads, .window_ns = window_ns, .hist = b->hist};
	text_copy(mark.backend, sizeof(mark.backend), st->backend);
	text_copy(mark.device, sizeof(mark.device), st->device);
	text_copy(mark.kernel, sizeof(mark.kernel), st->kernel);
	text_copy(mark.shape, sizeof(mark.shape), info.shape);
	text_copy(mark.dtype, sizeof(mark.dtype), info.dtype);
	k->mark_ticket = runs_recorder_mark(k->recorder, &mark); /* copies the histogram */
	k->load_ticket = 0; /* what is stored is older than this */
}

void tui_keep_refer(struct tui_keep *k, const char *name, const struct runs_loaded *l)
{
	take_loaded(k, l);
	text_copy(k->baseline.name, sizeof(k->baseline.name), name);
}

void tui_keep_unrefer(struct tui_keep *k)
{
	k->baseline.name[0] = '\0';
	k->baseline.band.set = false;
	runs_hist_reset(&k->baseline.hist);
	k->asked[0] = '\0'; /* what is stored is asked for again */
}

int tui_keep_record(struct tui_keep *k, const char *label, const struct stress_config *c,
	uint64_t now_ns, struct why *why)
{
	try_again(k);
	if (!k->recorder) {
		*why = k->why;
		return -ENOENT;
	}
	if (k->state.phase == RUNS_REC_FAILED) {
		why_set(why, "%s", k->state.why);
		return -EIO;
	}
	if (k->session) {
		why_set(why, "a run is being recorded already");
		return -EBUSY;
	}
	if (k->nending == TUI_ENDINGS) {
		why_set(why, "the disk is slow: %d runs wait to be stored", TUI_ENDINGS);
		return -EBUSY;
	}
	k->session = runs_session_begin(k->recorder, label, c, 0, false, NULL);
	text_copy(k->label, sizeof(k->label), label);
	k->since_ns = now_ns;
	runs_session_intent(k->session, "recording what runs on the screen");
	return 0;
}

void tui_keep_stop(struct tui_keep *k, const struct stress_status *st, enum runs_state state,
	const char *reason)
{
	if (k->session) {
		struct tui_ending *e = &k->ending[k->nending++]; /* tui_keep_record() left room */
		e->ticket = runs_session_end(k->session, st, state, reason);
		text_copy(e->label, sizeof(e->label), k->label);
		k->session = NULL;
	}
}

void tui_keep_samples(struct tui_keep *k, const struct stress_sample *s, size_t n)
{
	if (k->session) {
		runs_session_samples(k->session, s, n);
	}
}

void tui_keep_events(struct tui_keep *k, const struct stress_event *e, size_t n)
{
	if (k->session) {
		runs_session_readings(k->session, e, n);
	}
}

void tui_keep_tick(struct tui_keep *k, const struct stress_status *st)
{
	if (k->session) {
		runs_session_tick(k->session, st);
	}
}

uint64_t tui_keep_lag_ns(const struct tui_keep *k)
{
	return k->recorder && k->state.waiting_ns > lag_ns ? k->state.waiting_ns : 0;
}
