/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/lookout.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/job.h"

enum { PATIENCE_MS = 100 };
static const uint64_t period_ns = 50000000;

struct look {
	struct job_item item;
	struct runs_hostwatch *watch;
	pid_t pid;
	struct runs_event event[RUNS_HOSTWATCH_EVENTS];
	size_t n;
};

struct runs_lookout {
	struct job *job;
	struct look *look; /* the thread's while it is posted */
	bool posted;
	uint64_t due_ns;
};

static void run_look(struct job_item *item)
{
	struct look *k = (struct look *)item;
	k->n = runs_hostwatch_poll(k->watch, k->pid, clock_ns(), k->event);
}

struct runs_lookout *runs_lookout_create(const char *root)
{
	struct runs_lookout *l = xcalloc(1, sizeof(*l));
	if (job_create("hostwatch", &l->job) < 0) {
		free(l);
		return NULL;
	}
	l->look = xcalloc(1, sizeof(*l->look));
	l->look->item.run = run_look;
	l->look->watch = runs_hostwatch_create(root);
	return l;
}

static void collect(struct runs_lookout *l)
{
	l->posted = l->posted && !job_collect(l->job);
}

void runs_lookout_destroy(struct runs_lookout *l)
{
	if (!l) {
		return;
	}
	collect(l);
	/* A thread that hangs keeps what it was given. */
	if (job_destroy(l->job, PATIENCE_MS) == 0 || !l->posted) {
		runs_hostwatch_destroy(l->look->watch);
		free(l->look);
	}
	free(l);
}

size_t runs_lookout_poll(
	struct runs_lookout *l, pid_t pid, struct runs_event ret[static RUNS_HOSTWATCH_EVENTS])
{
	if (!l || !pid) {
		return 0;
	}
	collect(l);
	uint64_t now = clock_ns();
	if (l->posted || now < l->due_ns) {
		return 0;
	}
	struct look *k = l->look;
	/* What was seen of another process is nobody's now. */
	size_t n = k->pid == pid ? k->n : 0;
	memcpy(ret, k->event, n * sizeof(*ret));
	k->n = 0;
	k->pid = pid;
	l->due_ns = now + period_ns;
	l->posted = true;
	job_post(l->job, &k->item);
	return n;
}
