/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/library.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/text.h"
#include "tui/library_job.h"

void tui_library_init(struct tui_library *l, const char *store, bool none)
{
	*l = (struct tui_library){0};
	if (none) {
		why_set(&l->why, "nothing is stored here");
	} else if (runs_store_path(store, &l->path, &l->why) < 0) {
		l->path = NULL;
	}
}

int tui_library_finish(struct tui_library *l, int timeout_ms)
{
	int r = 0;
	uint64_t until = clock_ns() + (uint64_t)timeout_ms * 1000000u;
	while (l->job && l->asked && clock_ns() < until) {
		struct pollfd p = {.fd = job_fd(l->job), .events = POLLIN};
		poll(&p, 1, 20);
		for (struct job_item *i; (i = job_collect(l->job)); l->asked--) {
			tui_errand_destroy((struct library_errand *)i);
		}
	}
	if (l->job) {
		r = job_destroy(l->job, l->asked ? 0 : 200);
	}
	tui_comparison_destroy(l->comparison);
	tui_studies_destroy(l->study, l->nstudy);
	tui_reference_destroy(l->reference);
	free(l->run);
	free(l->path);
	*l = (struct tui_library){0};
	return r;
}

int tui_library_fd(const struct tui_library *l)
{
	return l->job ? job_fd(l->job) : -1;
}

static struct library_errand *new_errand(struct tui_library *l, enum library_request request)
{
	struct library_errand *e = xcalloc(1, sizeof(*e));
	e->item.run = tui_errand_run;
	e->request = request;
	text_copy(e->path, sizeof(e->path), l->path);
	memcpy(e->clocks, l->clocks, sizeof(e->clocks));
	e->nclocks = l->nclocks;
	return e;
}

static void ask(struct tui_library *l, enum library_request request, int64_t run, const char *a,
	const char *b)
{
	if (!l->path) {
		return;
	}
	if (!l->job && job_create("library", &l->job) < 0) {
		l->job = NULL;
		why_set(&l->why, "the thread that reads the store could not be started");
		return;
	}
	struct library_errand *e = new_errand(l, request);
	e->run = run;
	text_copy(e->text[0], sizeof(e->text[0]), a ? a : "");
	text_copy(e->text[1], sizeof(e->text[1]), b ? b : "");
	l->asked++;
	job_post(l->job, &e->item);
}

void tui_library_reload(struct tui_library *l)
{
	ask(l, LIBRARY_LIST, 0, NULL, NULL);
}

void tui_library_studies(struct tui_library *l)
{
	ask(l, LIBRARY_STUDIES, 0, NULL, NULL);
}

void tui_library_unlock(struct tui_library *l)
{
	ask(l, LIBRARY_UNLOCK, 0, NULL, NULL);
}

void tui_library_refer(struct tui_library *l, const char *ref)
{
	ask(l, LIBRARY_REFER, 0, ref, NULL);
}

void tui_library_label(struct tui_library *l, int64_t run, const char *label)
{
	ask(l, LIBRARY_LABEL, run, label, NULL);
}

void tui_library_remove(struct tui_library *l, int64_t run)
{
	ask(l, LIBRARY_REMOVE, run, NULL, NULL);
}

void tui_library_compare(struct tui_library *l, const char *a, const char *b)
{
	ask(l, LIBRARY_COMPARE, 0, a, b);
}

void tui_library_forget(struct tui_library *l)
{
	tui_comparison_destroy(l->comparison);
	l->comparison = NULL;
}

static void take_studies(struct tui_library *l, struct library_errand *e)
{
	tui_studies_destroy(l->study, l->nstudy);
	l->study = e->study;
	l->nstudy = e->nstudy;
	e->study = NULL;
	e->nstudy = 0;
}

static unsigned take(struct tui_library *l, struct library_errand *e)
{
	if (e->request == LIBRARY_LIST) {
		l->loaded = true;
	}
	if (e->status < 0) {
		l->why = e->why;
		return TUI_LIBRARY_FAILED;
	}
	switch (e->request) {
	case LIBRARY_LIST:
		l->why.text[0] = '\0';
		free(l->run);
		l->run = e->list;
		l->nrun = e->n;
		e->list = NULL;
		take_studies(l, e);
		return TUI_LIBRARY_LIST;
	case LIBRARY_STUDIES:
		take_studies(l, e);
		memcpy(l->clocks, e->clocks, sizeof(l->clocks));
		l->nclocks = e->nclocks;
		return TUI_LIBRARY_LIST;
	case LIBRARY_UNLOCK:
		return TUI_LIBRARY_UNLOCKED;
	case LIBRARY_REFER:
		tui_reference_destroy(l->reference);
		l->reference = e->reference;
		e->reference = NULL;
		return TUI_LIBRARY_REFERRED;
	case LIBRARY_COMPARE:
		tui_comparison_destroy(l->comparison);
		l->comparison = e->comparison;
		e->comparison = NULL;
		return TUI_LIBRARY_COMPARED;
	default:
		tui_library_reload(l);
		return TUI_LIBRARY_CHANGED;
	}
}

const struct tui_study *tui_library_due(const struct tui_library *l)
{
	for (size_t i = 0; i < l->nstudy; i++) {
		if (l->study[i].next) {
			return &l->study[i];
		}
	}
	return NULL;
}

unsigned tui_library_poll(struct tui_library *l)
{
	unsigned news = 0;
	for (struct job_item *i; l->job && (i = job_collect(l->job));) {
		struct library_errand *e = (struct library_errand *)i;
		l->asked--;
		news |= take(l, e);
		tui_errand_destroy(e);
	}
	return news;
}
