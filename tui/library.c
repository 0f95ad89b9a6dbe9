/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/library.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "pcie/scan.h"
#include "runs/describe.h"
#include "runs/env.h"
#include "runs/write.h"

enum request { LIST, LABEL, REMOVE, COMPARE };

/* A list longer than this is cut at its old end: the screen is no archive. */
enum { RUNS_MAX = 2000 };

struct errand {
	struct job_item item;
	enum request request;
	char path[512];
	int64_t run;
	char text[2][128]; /* LABEL: the label; COMPARE: both sides */
	/* The answer. */
	int status;
	struct why why;
	struct tui_run *list;
	size_t n;
	struct tui_comparison *comparison;
};

void tui_library_init(struct tui_library *l, const char *store, bool none)
{
	*l = (struct tui_library){0};
	if (none) {
		why_set(&l->why, "nothing is stored here");
	} else if (runs_store_path(store, &l->path, &l->why) < 0) {
		l->path = NULL;
	}
}

static void comparison_destroy(struct tui_comparison *c)
{
	if (c) {
		runs_comparison_finish(&c->result);
		runs_side_finish(&c->side[0]);
		runs_side_finish(&c->side[1]);
		free(c);
	}
}

static void errand_destroy(struct errand *e)
{
	comparison_destroy(e->comparison);
	free(e->list);
	free(e);
}

int tui_library_finish(struct tui_library *l, int timeout_ms)
{
	int r = 0;
	uint64_t until = clock_ns() + (uint64_t)timeout_ms * 1000000u;
	while (l->job && l->asked && clock_ns() < until) {
		struct pollfd p = {.fd = job_fd(l->job), .events = POLLIN};
		poll(&p, 1, 20);
		for (struct job_item *i; (i = job_collect(l->job)); l->asked--) {
			errand_destroy((struct errand *)i);
		}
	}
	if (l->job) {
		r = job_destroy(l->job, l->asked ? 0 : 200);
	}
	comparison_destroy(l->comparison);
	free(l->run);
	free(l->path);
	*l = (struct tui_library){0};
	return r;
}

int tui_library_fd(const struct tui_library *l)
{
	return l->job ? job_fd(l->job) : -1;
}

/* -- on the job's thread ------------------------------------------------------------- */

static void describe(struct runs_store *s, const struct runs_info *info, struct tui_run *ret)
{
	struct why why;
	struct runs_description d = {0};
	*ret = (struct tui_run){.info = *info, .band = NAN, .p99 = NAN};
	int r = runs_describe_load(s, info, STRESS_GEMM, RUNS_HOST, &d, &why);
	if (!r && !d.n) {
		r = runs_describe_load(s, info, STRESS_GEMM, RUNS_DEVICE, &d, &why);
	}
	if (!r && d.n) {
		ret->n = d.n;
		ret->p50 = d.p50;
		ret->band = d.band;
		ret->p99 = d.p99;
		ret->seconds = d.seconds;
	}
}

static int run_list(struct errand *e, struct runs_store *s, const char *boot)
{
	_cleanup_runs_ struct runs_list list = {0};
	int r = runs_info_list(s, NULL, boot, &list, &e->why);
	if (r < 0) {
		return r;
	}
	e->n = MIN(list.n, (size_t)RUNS_MAX);
	e->list = xcalloc(MAX(e->n, 1), sizeof(*e->list));
	for (size_t i = 0; i < e->n; i++) {
		describe(s, &list.run[list.n - 1 - i], &e->list[i]);
	}
	return 0;
}

static struct pcie_snapshot *machine_of(
	struct runs_store *s, const char *ref, const struct runs_side *side, bool last)
{
	_cleanup_free_ char *record = NULL;
	size_t len;
	struct why why;
	struct pcie_snapshot *snapshot = NULL;
	if (runs_side_machine(s, ref, side, last, &record, &len, &why) ||
		pcie_scan_buffer(side->name, record, len, &snapshot, &why)) {
		return NULL;
	}
	return snapshot;
}

static int run_compare(struct errand *e, struct runs_store *s, const char *boot)
{
	struct tui_comparison *c = xcalloc(1, sizeof(*c));
	e->comparison = c;
	for (int i = 0; i < 2; i++) {
		text_copy(c->name[i], sizeof(c->name[i]), e->text[i]);
		int r = runs_side_open(s, e->text[i], boot, &c->side[i], &e->why);
		if (r < 0) {
			return r;
		}
	}
	int r = runs_compare(&c->side[0], &c->side[1], NULL, 0, &c->result, &e->why);
	if (r < 0) {
		return r;
	}
	struct pcie_snapshot *a = machine_of(s, e->text[0], &c->side[0], true);
	struct pcie_snapshot *b = machine_of(s, e->text[1], &c->side[1], false);
	c->machines_known = a && b;
	if (c->machines_known) {
		tui_changes_find(a, b, &c->machines);
	}
	pcie_snapshot_destroy(a);
	pcie_snapshot_destroy(b);
	return 0;
}

static void run_errand(struct job_item *item)
{
	struct errand *e = (struct errand *)item;
	_cleanup_store_ struct runs_store *s = NULL;
	char boot[RUNS_BOOT_ID_MAX];
	bool writes = e->request == LABEL || e->request == REMOVE;
	if (access(e->path, F_OK) && errno == ENOENT) {
		/* No store yet is an empty list. */
		e->status = e->request == LIST ? 0 : -ENOENT;
		why_set(&e->why, "there is no store yet");
		return;
	}
	runs_env_boot_id(NULL, boot);
	e->status =
		runs_store_open(e->path, writes ? RUNS_STORE_WRITE : RUNS_STORE_READ, &s, &e->why);
	if (e->status < 0) {
		return;
	}
	switch (e->request) {
	case LIST:
		e->status = run_list(e, s, boot);
		break;
	case LABEL:
		e->status = runs_write_label(s, e->run, e->text[0], &e->why);
		break;
	case REMOVE:
		if (runs_store_locked(s, e->run)) {
			why_set(&e->why, "run %lld is being recorded", (long long)e->run);
			e->status = -EBUSY;
		} else {
			e->status = runs_info_remove(s, e->run, &e->why);
		}
		break;
	case COMPARE:
		e->status = run_compare(e, s, boot);
		break;
	}
}

/* -- on the main thread -------------------------------------------------------------- */

static void ask(
	struct tui_library *l, enum request request, int64_t run, const char *a, const char *b)
{
	if (!l->path) {
		return;
	}
	if (!l->job && job_create("library", &l->job) < 0) {
		l->job = NULL;
		why_set(&l->why, "the thread that reads the store could not be started");
		return;
	}
	struct errand *e = xcalloc(1, sizeof(*e));
	e->item.run = run_errand;
	e->request = request;
	e->run = run;
	text_copy(e->path, sizeof(e->path), l->path);
	text_copy(e->text[0], sizeof(e->text[0]), a ? a : "");
	text_copy(e->text[1], sizeof(e->text[1]), b ? b : "");
	l->asked++;
	job_post(l->job, &e->item);
}

void tui_library_reload(struct tui_library *l)
{
	ask(l, LIST, 0, NULL, NULL);
}

void tui_library_label(struct tui_library *l, int64_t run, const char *label)
{
	ask(l, LABEL, run, label, NULL);
}

void tui_library_remove(struct tui_library *l, int64_t run)
{
	ask(l, REMOVE, run, NULL, NULL);
}

void tui_library_compare(struct tui_library *l, const char *a, const char *b)
{
	ask(l, COMPARE, 0, a, b);
}

void tui_library_forget(struct tui_library *l)
{
	comparison_destroy(l->comparison);
	l->comparison = NULL;
}

static unsigned take(struct tui_library *l, struct errand *e)
{
	if (e->request == LIST) {
		l->loaded = true;
	}
	if (e->status < 0) {
		l->why = e->why;
		return TUI_LIBRARY_FAILED;
	}
	switch (e->request) {
	case LIST:
		l->why.text[0] = '\0';
		free(l->run);
		l->run = e->list;
		l->nrun = e->n;
		e->list = NULL;
		return TUI_LIBRARY_LIST;
	case COMPARE:
		comparison_destroy(l->comparison);
		l->comparison = e->comparison;
		e->comparison = NULL;
		return TUI_LIBRARY_COMPARED;
	default:
		tui_library_reload(l);
		return TUI_LIBRARY_CHANGED;
	}
}

unsigned tui_library_poll(struct tui_library *l)
{
	unsigned news = 0;
	for (struct job_item *i; l->job && (i = job_collect(l->job));) {
		struct errand *e = (struct errand *)i;
		l->asked--;
		news |= take(l, e);
		errand_destroy(e);
	}
	return news;
}
