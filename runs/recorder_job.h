/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recorder's other half: what its job does with each item. Between post and collect an
 * item, and always a desk, is touched by the job's thread only.
 */
#pragma once

#include "base/job.h"
#include "runs/env.h"
#include "runs/recorder.h"
#include "runs/store.h"

/* What the job works with. */
struct runs_desk {
	char *path, *root;
	runs_capture_fn *capture;
	const struct pcie_driver *driver;
	struct runs_store *store;
	char boot_id[RUNS_BOOT_ID_MAX];
	int64_t run;            /* open run; 0: none */
	bool golden;            /* its output was compared with the stored hash */
	struct runs_info begun; /* what it was asked to be */
	int failed;             /* negative errno of the error after which nothing more is stored */
	struct why why;         /* its sentence */
};

enum runs_item_kind {
	RUNS_ITEM_OPEN,
	RUNS_ITEM_BEGIN,
	RUNS_ITEM_INTENT,
	RUNS_ITEM_SECONDS,
	RUNS_ITEM_ROLLUPS,
	RUNS_ITEM_END,
	RUNS_ITEM_MARK,
	RUNS_ITEM_LOAD,
};

struct runs_packed {
	uint8_t series, layer;
	uint8_t *hist; /* owned */
	size_t len;
};

struct runs_item {
	struct job_item job; /* first */
	enum runs_item_kind kind;
	struct runs_desk *desk;
	uint64_t ticket, posted_ns;

	/* In; each owned by the item. */
	struct runs_info info; /* BEGIN; facts, with has_facts */
	bool has_facts;
	struct runs_second *second; /* chain of NSECOND */
	size_t nsecond;
	struct runs_packed *packed;
	size_t npacked;
	char *step, *status;           /* INTENT; END: step is the reason */
	enum runs_state state;         /* END */
	struct runs_baseline baseline; /* MARK; LOAD: backend, shape, dtype */

	/* Out. */
	int result;
	struct why why, warning;
	int64_t run;
	uint64_t done_ns, took_ns;
	struct runs_crash crash;   /* OPEN */
	struct runs_loaded loaded; /* LOAD */
	struct runs_golden_found golden;
	bool has_loaded;
};

/* The job's function for every kind. */
void runs_item_run(struct job_item *item);
/* Frees the item and what it still owns. */
void runs_item_destroy(struct runs_item *item);
void runs_loaded_finish(struct runs_loaded *l);
void runs_desk_finish(struct runs_desk *d);
