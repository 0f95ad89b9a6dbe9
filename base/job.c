/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/job.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

struct queue {
	struct job_item *first, **last;
};

struct job {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	struct queue todo, done;
	size_t pending;
	bool stop, ended, abandoned;
	int fd;
};

static void push(struct queue *q, struct job_item *item)
{
	item->next = NULL;
	*q->last = item;
	q->last = &item->next;
}

static struct job_item *pop(struct queue *q)
{
	struct job_item *item = q->first;
	if (item) {
		q->first = item->next;
		if (!q->first) {
			q->last = &q->first;
		}
		item->next = NULL;
	}
	return item;
}

static void release(struct job *job)
{
	pthread_cond_destroy(&job->wake);
	pthread_mutex_destroy(&job->lock);
	close(job->fd);
	free(job);
}

static void *thread_main(void *arg)
{
	struct job *job = arg;

	pthread_mutex_lock(&job->lock);
	for (;;) {
		struct job_item *item = pop(&job->todo);
		if (!item) {
			if (job->stop) {
				break;
			}
			pthread_cond_wait(&job->wake, &job->lock);
			continue;
		}
		pthread_mutex_unlock(&job->lock);
		item->run(item);
		pthread_mutex_lock(&job->lock);
		push(&job->done, item);
		job->pending--;
		uint64_t one = 1;
		/* A full counter is readable already: nothing is lost. */
		(void)!write(job->fd, &one, sizeof(one));
	}
	job->ended = true;
	bool abandoned = job->abandoned;
	pthread_mutex_unlock(&job->lock);
	if (abandoned) {
		release(job);
	}
	return NULL;
}

int job_create(const char *name, struct job **ret)
{
	struct job *job = xcalloc(1, sizeof(*job));
	job->todo.last = &job->todo.first;
	job->done.last = &job->done.first;
	job->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (job->fd < 0) {
		int r = -errno;
		free(job);
		return r;
	}
	pthread_mutex_init(&job->lock, NULL);
	pthread_cond_init(&job->wake, NULL);

	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int r = pthread_create(&job->thread, NULL, thread_main, job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r) {
		close(job->fd);
		free(job);
		return -r;
	}
	pthread_setname_np(job->thread, name);
	*ret = job;
	return 0;
}

void job_post(struct job *job, struct job_item *item)
{
	pthread_mutex_lock(&job->lock);
	push(&job->todo, item);
	job->pending++;
	pthread_cond_signal(&job->wake);
	pthread_mutex_unlock(&job->lock);
}

int job_fd(const struct job *job)
{
	return job->fd;
}

struct job_item *job_collect(struct job *job)
{
	uint64_t n;
	pthread_mutex_lock(&job->lock);
	struct job_item *item = pop(&job->done);
	if (!job->done.first) {
		(void)!read(job->fd, &n, sizeof(n));
	}
	pthread_mutex_unlock(&job->lock);
	return item;
}

size_t job_pending(struct job *job)
{
	pthread_mutex_lock(&job->lock);
	size_t n = job->pending;
	pthread_mutex_unlock(&job->lock);
	return n;
}

int job_destroy(struct job *job, int timeout_ms)
{
	if (!job) {
		return 0;
	}
	pthread_mutex_lock(&job->lock);
	job->stop = true;
	pthread_cond_signal(&job->wake);
	pthread_mutex_unlock(&job->lock);

	int r;
	if (timeout_ms < 0) {
		r = pthread_join(job->thread, NULL);
	} else {
		struct timespec ts;
		clock_gettime(CLOCK_REALTIME, &ts);
		ts.tv_sec += timeout_ms / 1000;
		ts.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
		if (ts.tv_nsec >= 1000000000) {
			ts.tv_sec++;
			ts.tv_nsec -= 1000000000;
		}
		r = pthread_timedjoin_np(job->thread, NULL, &ts);
	}
	if (r) {
		pthread_mutex_lock(&job->lock);
		bool abandoned = !job->ended;
		if (abandoned) {
			job->abandoned = true;
			pthread_detach(job->thread);
		}
		pthread_mutex_unlock(&job->lock);
		if (abandoned) {
			return -ETIMEDOUT;
		}
		pthread_join(job->thread, NULL);
	}
	release(job);
	return 0;
}
