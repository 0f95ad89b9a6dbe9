/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/watch.h"

#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "base/macros.h"
#include "base/text.h"

/* An end that takes longer than FINISH_MS would look like a stall; clocks are worth the wait. */
enum { READY_MS = 10000, FINISH_MS = 600, RESTORE_MS = 2500, SPANS = 16 };
static const uint64_t alternate_ns = 1000000000;

static void take_state(struct stress_watch *w, struct stress_status *s)
{
	const struct stress_telemetry_state *t = &w->state;

	s->limit_celsius = t->limit_celsius;
	s->locked_mhz = t->locked ? s->locked_mhz : 0;
	s->ended = t->ended;
	text_copy(s->telemetry, sizeof(s->telemetry), t->why);
	if (t->ended) {
		text_copy(s->why, sizeof(s->why), t->why);
	}
}

int stress_watch_await(struct stress_watch *w, bool (*beat)(void *data), void *data,
	struct stress_status *s, struct why *why)
{
	const uint64_t until = clock_ns() + READY_MS * (uint64_t)1000000;

	while (!stress_telemetry_state(w->telemetry, &w->state)) {
		if (!beat(data)) {
			return -ECANCELED;
		}
		if (clock_ns() > until) {
			why_set(why, "NVML has not answered within %d s", READY_MS / 1000);
			return -ETIMEDOUT;
		}
		poll(NULL, 0, 5);
	}
	take_state(w, s);
	if (w->state.phase == STRESS_TELEMETRY_REFUSED) {
		why_set(why, "%s", w->state.why);
		return -EIO;
	}
	return 0;
}

int stress_watch_start(struct stress_watch *w, const struct stress_config *c, const char *address,
	void (*event)(void *data, const struct stress_event *e), void *data,
	struct stress_status *s, struct why *why)
{
	struct stress_telemetry_options o = {
		.root = "",
		.lock_mhz = c->lock_mhz,
		.max_celsius = c->max_celsius,
		.event = event,
		.data = data,
	};

	*w = (struct stress_watch){.alternate = c->telemetry_test, .paced = c->paced_ns > 0};
	if (!*address && (c->lock_mhz || c->max_celsius)) {
		why_set(why, "%s with the cuda back end only",
			c->lock_mhz ? "clocks can be locked" : "a temperature is watched");
		return -EINVAL;
	}
	if (!*address || c->no_telemetry) {
		return 0;
	}
	text_copy(o.address, sizeof(o.address), address);
	const int r = stress_telemetry_start(&o, &w->telemetry, why);

	if (r < 0) {
		text_copy(s->telemetry, sizeof(s->telemetry), why->text);
	}
	return c->lock_mhz || c->max_celsius ? r : 0;
}

void stress_watch_mark(struct stress_watch *w, struct stress_sample *sample, size_t n)
{
	struct stress_span span[SPANS];

	if (!w->telemetry || n == 0) {
		return;
	}
	/* Between two launches a reading delays the next one; of paced ones only their own time. */
	uint64_t from = w->paced || !w->last_done_ns ? sample[0].submit_ns : w->last_done_ns;
	const size_t spans =
		stress_calls_since(stress_telemetry_calls(w->telemetry), from, span, SPANS);

	for (size_t i = 0; i < n; i++) {
		const bool own = w->paced || sample[i].flags & STRESS_BATCH;
		const bool touched =
			spans && stress_spans_touch(span, spans, own ? sample[i].submit_ns : from,
					 sample[i].done_ns);

		sample[i].flags |= touched ? STRESS_PERTURBED : w->hushed ? STRESS_HUSHED : 0;
		from = sample[i].done_ns;
	}
	w->last_done_ns = from;
}

bool stress_watch_look(struct stress_watch *w, uint64_t now_ns, struct stress_status *s)
{
	if (!w->telemetry) {
		return false;
	}
	w->began_ns = w->began_ns ? w->began_ns : now_ns;
	const bool hush = w->alternate && (now_ns - w->began_ns) / alternate_ns % 2;

	if (hush != w->hushed) {
		w->hushed = hush;
		stress_telemetry_hush(w->telemetry, hush);
	}
	if (!stress_telemetry_state(w->telemetry, &w->state)) {
		return false;
	}
	take_state(w, s);
	return true;
}

bool stress_watch_finish(struct stress_watch *w, struct stress_status *s)
{
	if (!w->telemetry) {
		return true;
	}
	struct stress_telemetry *t = w->telemetry;

	w->telemetry = NULL;
	const int r = stress_telemetry_finish(t, s->locked_mhz ? RESTORE_MS : FINISH_MS);

	s->locked_mhz = r == 0 ? 0 : s->locked_mhz;
	return r != -ETIMEDOUT;
}
