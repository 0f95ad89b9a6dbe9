/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/library_job.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "pcie/scan.h"
#include "runs/describe.h"
#include "runs/env.h"
#include "runs/recorder_job.h"
#include "runs/write.h"

/* A list longer than this is cut at its old end: the screen is no archive. */
enum { RUNS_MAX = 2000 };

void tui_comparison_destroy(struct tui_comparison *c)
{
	if (c) {
		runs_comparison_finish(&c->result);
		runs_side_finish(&c->side[0]);
		runs_side_finish(&c->side[1]);
		free(c);
	}
}

void tui_studies_destroy(struct tui_study *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		runs_study_finish(&s[i].study);
		runs_study_boots_finish(&s[i].boots);
	}
	free(s);
}

void tui_reference_destroy(struct tui_reference *r)
{
	if (r) {
		runs_loaded_finish(&r->loaded);
		free(r);
	}
}

void tui_errand_destroy(struct library_errand *e)
{
	tui_comparison_destroy(e->comparison);
	tui_studies_destroy(e->study, e->nstudy);
	tui_reference_destroy(e->reference);
	free(e->list);
	free(e);
}

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

static int run_studies(struct library_errand *e, struct runs_store *s, const char *boot)
{
	struct runs_study *list;
	size_t n;
	int r = runs_study_list(s, &list, &n, &e->why);
	if (r < 0) {
		return r;
	}
	e->study = xcalloc(MAX(n, 1), sizeof(*e->study));
	e->nstudy = n;
	for (size_t i = 0; i < n; i++) {
		/* Newest first, as the runs. */
		struct tui_study *k = &e->study[n - 1 - i];
		k->study = list[i];
		if (!r) {
			r = runs_study_load_boots(s, k->study.id, &k->boots, &e->why);
		}
		k->done = runs_study_count(&k->boots, 'A') + runs_study_count(&k->boots, 'B');
		k->next = runs_study_next(&k->study, &k->boots);
		for (size_t b = 0; b < k->boots.n; b++) {
			const struct runs_study_boot *f = &k->boots.boot[b];
			k->here |=
				*boot && !strcmp(f->boot_id, boot) && f->outcome != RUNS_UNFINISHED;
		}
	}
	free(list);
	return r;
}

/* What cannot be told of is as if there were none. */
static void find_clocks(struct library_errand *e, struct runs_store *s, const char *boot)
{
	struct why why;
	int n = runs_clocks_left(s, boot, e->clocks, TUI_CLOCKS, &why);
	e->nclocks = (size_t)MAX(n, 0);
}

/* All of them are tried; the last failure is told. The question may have stood for hours. */
static int run_unlock(struct library_errand *e, struct runs_store *s, const char *boot)
{
	int r = 0;
	for (size_t i = 0; i < e->nclocks; i++) {
		int one = runs_clocks_unlock_left(s, boot, e->clocks[i].address, &e->why);
		r = one < 0 ? one : r;
	}
	return r;
}

static int run_list(struct library_errand *e, struct runs_store *s, const char *boot)
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
	return run_studies(e, s, boot);
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

static int run_compare(struct library_errand *e, struct runs_store *s, const char *boot)
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

/* The runs of a reference as if they were a baseline: those of the first one's configuration. */
static int run_refer(struct library_errand *e, struct runs_store *s, const char *boot)
{
	_cleanup_runs_ struct runs_list list = {0};
	bool study = !strncmp(e->text[0], "study:", 6);
	int r = study ? runs_study_find(s, e->text[0], &list, &e->why)
		      : runs_info_find(s, e->text[0], boot, &list, &e->why);
	if (r < 0) {
		return r;
	}
	struct tui_reference *ref = xcalloc(1, sizeof(*ref));
	e->reference = ref;
	text_copy(ref->name, sizeof(ref->name), e->text[0]);
	struct runs_baseline *b = &ref->loaded.baseline;
	runs_hist_init(&b->hist, RUNS_HIST_1PCT);
	const struct runs_info *first = &list.run[0], *last = first;
	for (size_t i = 0; !r && i < list.n; i++) {
		const struct runs_info *k = &list.run[i];
		struct runs_hist h;
		if (strcmp(k->backend, first->backend) != 0 ||
			strcmp(k->shape, first->shape) != 0 ||
			strcmp(k->dtype, first->dtype) != 0) {
			continue;
		}
		runs_hist_init(&h, RUNS_HIST_1PCT);
		r = runs_info_hist(s, k, STRESS_GEMM, RUNS_HOST, &h, &e->why);
		r = r ? r : runs_hist_merge(&b->hist, &h);
		runs_hist_finish(&h);
		last = k;
	}
	if (!r && !b->hist.total) {
		why_set(&e->why, "%s has no host latencies of the GEMM", e->text[0]);
		r = -ENODATA;
	}
	b->marked = last->started;
	text_copy(b->backend, sizeof(b->backend), last->backend);
	text_copy(b->device, sizeof(b->device), last->device);
	text_copy(b->shape, sizeof(b->shape), last->shape);
	text_copy(b->dtype, sizeof(b->dtype), last->dtype);
	ref->loaded.same_boot = *boot && !strcmp(last->boot_id, boot);
	struct why why; /* a machine or an environment that is not known is no failure */
	struct js *then = NULL;
	if (!r && last->machine &&
		runs_info_machine(
			s, last->machine, &ref->loaded.machine, &ref->loaded.machine_len, &why)) {
		ref->loaded.machine = NULL;
	}
	if (!r && !runs_info_env(s, last->id, &then, &why)) {
		struct js *now = runs_env_read(NULL);
		ref->loaded.ndiff = runs_env_compare(then, now, &ref->loaded.diff);
		js_free(now);
		js_free(then);
	}
	return r;
}

void tui_errand_run(struct job_item *item)
{
	struct library_errand *e = (struct library_errand *)item;
	_cleanup_store_ struct runs_store *s = NULL;
	char boot[RUNS_BOOT_ID_MAX];
	bool writes = e->request == LIBRARY_LABEL || e->request == LIBRARY_REMOVE ||
		      e->request == LIBRARY_UNLOCK;
	if (access(e->path, F_OK) && errno == ENOENT) {
		/* No store yet is an empty list. */
		bool list = e->request == LIBRARY_LIST || e->request == LIBRARY_STUDIES;
		e->status = list ? 0 : -ENOENT;
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
	case LIBRARY_LIST:
		e->status = run_list(e, s, boot);
		break;
	case LIBRARY_STUDIES:
		e->status = run_studies(e, s, boot);
		find_clocks(e, s, boot);
		break;
	case LIBRARY_UNLOCK:
		e->status = run_unlock(e, s, boot);
		break;
	case LIBRARY_REFER:
		e->status = run_refer(e, s, boot);
		break;
	case LIBRARY_LABEL:
		e->status = runs_write_label(s, e->run, e->text[0], &e->why);
		break;
	case LIBRARY_REMOVE:
		if (runs_store_locked(s, e->run)) {
			why_set(&e->why, "run %lld is being recorded", (long long)e->run);
			e->status = -EBUSY;
		} else {
			e->status = runs_info_remove(s, e->run, &e->why);
		}
		break;
	case LIBRARY_COMPARE:
		e->status = run_compare(e, s, boot);
		break;
	}
}
