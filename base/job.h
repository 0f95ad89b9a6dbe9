/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A background job: one thread that takes items from a queue, and an eventfd
 * that becomes readable when finished ones wait to be collected. The items are
 * handed over whole: between post and collect the poster does not touch one.
 */
#pragma once

#include <stddef.h>

struct job;

/* Embedded as the first member of the poster's own struct. */
struct job_item {
	void (*run)(struct job_item *item); /* on the job's thread */
	struct job_item *next;              /* the job's own */
};

/* NAME (15 bytes count) is the thread's name. Signals are blocked in the thread. */
int job_create(const char *name, struct job **ret);

/* Queues ITEM; the job owns it until it is collected. Never blocks on the work. */
void job_post(struct job *job, struct job_item *item);

/* The eventfd to poll for finished items. */
int job_fd(const struct job *job);

/* The next finished item, or NULL; the caller owns it again. Never blocks. */
struct job_item *job_collect(struct job *job);

/* Items posted and not yet finished. */
size_t job_pending(struct job *job);

/*
 * Lets the thread finish what is queued and ends it, waiting at most TIMEOUT_MS
 * (-1: for ever). -ETIMEDOUT: the thread is stuck and left behind; it frees the job
 * when it ever ends, and the process may exit at any time. Items that were not
 * collected before are the caller's to free. NULL is allowed.
 */
int job_destroy(struct job *job, int timeout_ms);
