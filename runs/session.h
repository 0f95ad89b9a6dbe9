/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recorded run as the one who runs it sees it: samples and the worker's state go in, the
 * recorder stores what comes of them. Never waits for the disk. One thread.
 */
#pragma once

#include "runs/collect.h"
#include "runs/recorder.h"
#include "stress/worker.h"

struct runs_session;

/* The member names of a run that a configuration decides: backend, shape, dtype, seed, pace. */
void runs_info_configured(struct runs_info *ret, const struct stress_config *c);
/* "f16", "f32" */
const char *runs_dtype_name(enum stress_dtype d);

/*
 * Opens a run in R, which must outlive the session. ASKED_S: 0 until stopped; KEEP: every
 * sample too. The ticket (may be NULL) tells when the run is in the store.
 */
struct runs_session *runs_session_begin(struct runs_recorder *r, const char *label,
	const struct stress_config *c, uint32_t asked_s, bool keep, uint64_t *ret_ticket);

void runs_session_samples(struct runs_session *s, const struct stress_sample *samples, size_t n);
void runs_session_event(struct runs_session *s, const struct runs_event *e);
/* What the worker's telemetry read; the last of each kind stands in the run's status. */
void runs_session_readings(struct runs_session *s, const struct stress_event *e, size_t n);

/* As runs_recorder_intent, with the last readings beside it. */
uint64_t runs_session_intent(struct runs_session *s, const char *step);

/* Call at least every 250 ms: hands over finished seconds. ST may be NULL. */
void runs_session_tick(struct runs_session *s, const struct stress_status *st);

/* What was collected so far: rollups and moments. */
const struct runs_collect *runs_session_collect(const struct runs_session *s);

/*
 * Hands over what is left and closes the run; frees S. The ticket tells when all of it is in
 * the store.
 */
uint64_t runs_session_end(struct runs_session *s, const struct stress_status *st,
	enum runs_state state, const char *reason);
