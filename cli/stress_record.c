/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/stress_record.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/macros.h"
#include "cli/cmd.h"
#include "cli/layout.h"
#include "cli/store_args.h"
#include "runs/driver.h"
#include "runs/store.h"

enum {
	STORE_MS = 10000,
	BEGIN_MS = 40000, /* the machine is captured first: a driver may take seconds a GPU */
	FINISH_MS = 1000,
	LOOK_MS = 50, /* between two looks for a signal */
};

static const uint64_t millisecond = 1000000;

/* Waits for TICKET, MS at most; where R has a hurry, not longer than that allows. */
static int wait_store(const struct cmd_record *r, uint64_t ticket, int ms, struct why *why)
{
	struct cmd_hurry *h = r->hurry;
	const uint64_t from = clock_ns(), limit = from + (uint64_t)ms * millisecond;
	struct why trouble;
	uint64_t until;
	int e;

	if (!h) {
		return runs_recorder_wait(r->recorder, ticket, ms, why);
	}
	do {
		const int signal = cmd_signals_take(h->signals);

		h->signal = signal ? signal : h->signal;
		h->since_ns = h->signal && !h->since_ns ? clock_ns() : h->since_ns;
		until = h->signal ? MIN(limit, h->since_ns + FINISH_MS * millisecond) : limit;
		e = runs_recorder_wait(r->recorder, ticket, LOOK_MS, &trouble);
	} while (e == -ETIMEDOUT && clock_ns() < until);
	if (e == -ETIMEDOUT) {
		why_set(why, "the store has not answered for %.1f s: the disk hangs or is busy",
			(double)(clock_ns() - from) / 1e9);
	} else if (e < 0) {
		*why = trouble;
	}
	return e;
}

/* Recording was asked for: a store that cannot take the run is an error before it starts. */
static int open_recorder(struct cmd_record *r, const char *store, struct why *why)
{
	_cleanup_free_ char *path = NULL;
	if (r->recorder) {
		return 0;
	}
	int e = runs_store_path(store, &path, why);
	if (e < 0) {
		return e;
	}
	const struct runs_recorder_options options = {path, cmd_root(), runs_capture};
	return runs_recorder_create(&options, &r->recorder, why);
}

int cmd_record_begin(struct cmd_record *r, const struct cmd_stress_options *o,
	const struct stress_config *c, const char *label, struct why *why)
{
	const uint64_t second = 1000000000u;
	int e = open_recorder(r, o->store, why);
	if (e < 0) {
		return e;
	}
	const uint32_t asked = (uint32_t)((o->duration_ns + second - 1) / second);
	r->session = runs_session_begin(r->recorder, label, c, asked, o->keep, NULL);
	/* In the store before it happens: should the machine go down now, the last step is known.
	 */
	char step[200], shape[STRESS_SHAPE_MAX];
	snprintf(step, sizeof(step), "start of the worker: %s %s %s%s%s",
		*c->backend ? c->backend : "auto", stress_shape_name(c, shape),
		runs_dtype_name(c->dtype), *c->device ? " on " : "", c->device);
	if (c->lock_mhz) {
		cmd_append(step, sizeof(step), ", clocks of %s locked at %u MHz", c->device,
			c->lock_mhz);
	}
	r->ticket = runs_session_intent(r->session, step);
	return 0;
}

int cmd_record_await(struct cmd_record *r, struct why *why)
{
	const bool first = !r->run;
	const int e = wait_store(r, r->ticket, BEGIN_MS, why);
	if (e < 0) {
		return e;
	}
	struct runs_recorder_state st;
	runs_recorder_state(r->recorder, &st);
	r->run = st.run;
	const struct runs_crash *crash = runs_recorder_crash(r->recorder);
	if (crash && first) {
		fprintf(stderr, "barscope: %s\n", crash->text);
	}
	if (*st.warning && first) {
		fprintf(stderr, "barscope: %s\n", st.warning);
	}
	return 0;
}

bool cmd_record_tick(struct cmd_record *r, const struct stress_status *st)
{
	struct runs_recorder_state now;
	if (!r->session) {
		return true;
	}
	runs_session_tick(r->session, st);
	runs_recorder_poll(r->recorder);
	runs_recorder_state(r->recorder, &now);
	return now.phase != RUNS_REC_FAILED;
}

/* UNIX ns of a host clock's time. */
static int64_t unix_at(uint64_t ns)
{
	struct timespec ts;
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec - (int64_t)(clock_ns() - ns);
}

bool cmd_record_end(struct cmd_record *r, const struct stress_status *st, enum runs_state state,
	struct why *why)
{
	struct runs_recorder_state now;
	if (!r->session) {
		return true;
	}
	const uint64_t ticket = runs_session_end(r->session, st, state, st->why);
	r->session = NULL;
	const int e = wait_store(r, ticket, STORE_MS, why);
	runs_recorder_state(r->recorder, &now);
	r->golden = now.golden;
	r->until = now.phase == RUNS_REC_FAILED ? unix_at(now.last_commit_ns) : 0;
	if (now.lost_seconds) {
		fprintf(stderr, "barscope: %llu second%s of run %lld could not be stored\n",
			(unsigned long long)now.lost_seconds, now.lost_seconds == 1 ? "" : "s",
			(long long)r->run);
	}
	return e >= 0;
}

void cmd_record_finish(struct cmd_record *r)
{
	if (r->session) {
		runs_session_end(r->session, NULL, RUNS_FAILED, "");
	}
	runs_recorder_destroy(r->recorder, FINISH_MS);
	*r = (struct cmd_record){0};
}
