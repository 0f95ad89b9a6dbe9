/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Slow episodes as the screen follows them, and what stands beside them: the newest of each are
 * kept, in constant memory, and a job works out now and then which events are associated. What the
 * kernel counts about the worker is read on a thread too (runs/lookout). Main thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/job.h"
#include "runs/attribute.h"
#include "runs/collect.h"
#include "runs/episode.h"
#include "runs/lookout.h"
#include "stress/sample.h"

enum { TUI_EPISODES = 256, TUI_EPISODE_EVENTS = 2048 };

struct tui_episodes {
	struct runs_episodes *find;   /* NULL: nothing ran yet */
	struct runs_lookout *watch;   /* NULL: the samples have a clock of their own */
	struct runs_episode *episode; /* the newest N, oldest first; owned */
	struct runs_event *event;     /* the newest NEVENT, oldest first; owned */
	size_t n, nevent;
	uint64_t count;         /* of all; the last one kept is number COUNT - 1 */
	uint64_t from_ns;       /* since when all of them are kept */
	uint64_t samples, read; /* GEMMs, and how many overlap a reading of the device */

	struct job *job; /* NULL: none was needed yet */
	bool asked;
	uint64_t due_ns;            /* not before this */
	struct runs_attribution of; /* the answer; of.of belongs to OF_FIRST and those behind it */
	uint64_t of_first, of_last; /* numbers of the episodes it is about: [first, last) */
};

/* Forgets all. OWN_CLOCK: the samples' times are not this machine's. */
void tui_episodes_start(struct tui_episodes *e, uint64_t now_ns, bool own_clock);
/* -ETIMEDOUT: the job is stuck. */
int tui_episodes_finish(struct tui_episodes *e, int timeout_ms);
int tui_episodes_fd(const struct tui_episodes *e); /* -1: none */

void tui_episodes_samples(struct tui_episodes *e, const struct stress_sample *s, size_t n);
void tui_episodes_event(struct tui_episodes *e, const struct runs_event *k);
/* Takes ended episodes and, of PID (0: none), what the kernel counted. */
void tui_episodes_tick(struct tui_episodes *e, int pid, uint64_t now_ns);
/* Has the association worked out, when there is something new and it is not too soon. */
void tui_episodes_ask(struct tui_episodes *e, uint64_t now_ns);
/* True: an answer came. */
bool tui_episodes_poll(struct tui_episodes *e, uint64_t now_ns);

/* The I-th kept one, newest first. */
const struct runs_episode *tui_episodes_at(const struct tui_episodes *e, size_t i);
/* What that one is associated with; "" nothing is known to be; NULL: not worked out yet. */
const char *tui_episodes_source(const struct tui_episodes *e, size_t i);
