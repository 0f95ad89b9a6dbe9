/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host watch on a thread of its own, for those who must never wait for a file: what one poll
 * asks for, a later one takes. One owner, one thread.
 */
#pragma once

#include "runs/hostwatch.h"

struct runs_lookout;

/* NULL when there is no thread to be had: then nothing is seen. */
struct runs_lookout *runs_lookout_create(const char *root);
/* One whose read hangs is left behind after a moment. NULL is allowed. */
void runs_lookout_destroy(struct runs_lookout *l);

/* As runs_hostwatch_poll(), but of the reading before. Never blocks. L NULL: nothing. */
size_t runs_lookout_poll(
	struct runs_lookout *l, pid_t pid, struct runs_event ret[static RUNS_HOSTWATCH_EVENTS]);
