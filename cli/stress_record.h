/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run of `stress` in the store: opened before its worker is, so that what brings the machine down
 * is known, and closed when all of it is there. One recorder a record; the loop's thread.
 */
#pragma once

#include <stdbool.h>

#include "cli/signals.h"
#include "cli/stress.h"
#include "runs/recorder.h"
#include "runs/session.h"

/* Signals are looked for in waits; the first leaves all that follow a second, together. */
struct cmd_hurry {
	const struct cmd_signals *signals;
	int signal;        /* that came; 0: none */
	uint64_t since_ns; /* when that was seen */
};

struct cmd_record {
	struct cmd_hurry *hurry;         /* NULL: waits end when the store answers, or never will */
	struct runs_recorder *recorder;  /* NULL: nothing is recorded */
	struct runs_session *session;    /* NULL: no run is open */
	uint64_t ticket;                 /* of what was asked for last */
	int64_t run;                     /* the last one's; 0: none yet */
	int64_t until;                   /* UNIX ns: the last one is stored up to there; 0: whole */
	struct runs_golden_found golden; /* of the last one, once it is closed */
};

/*
 * Opens a run under LABEL for configuration C, asking O for the store, the time and whether every
 * sample is kept; does not wait. Then await does: the run and what is about to be done are in the
 * store. What an earlier run left, and warnings, go to stderr.
 */
int cmd_record_begin(struct cmd_record *r, const struct cmd_stress_options *o,
	const struct stress_config *c, const char *label, struct why *why);
int cmd_record_await(struct cmd_record *r, struct why *why);

/* Call a few times a second. False: the store takes nothing more. */
bool cmd_record_tick(struct cmd_record *r, const struct stress_status *st);

/* Closes the run and waits; true: all of it is in the store. Another one may be begun. */
bool cmd_record_end(struct cmd_record *r, const struct stress_status *st, enum runs_state state,
	struct why *why);

/* Ends the recorder; a run that is open failed. */
void cmd_record_finish(struct cmd_record *r);
