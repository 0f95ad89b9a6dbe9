/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The store's other side: a job that reads it for the screen, labels and removes runs, compares,
 * and knows the studies. The recorder writes beside it, each with a connection of its own. Nothing
 * here waits for the disk. Main thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/job.h"
#include "base/why.h"
#include "runs/clocks.h"
#include "runs/compare.h"
#include "runs/info.h"
#include "runs/recorder.h"
#include "runs/study.h"
#include "tui/changes.h"

/* A run with the figures that a list shows. */
struct tui_run {
	struct runs_info info;
	uint64_t n, p50;
	double band, p99; /* NaN: not known */
	uint32_t seconds;
};

/* Two sides and what was made of them. */
struct tui_comparison {
	char name[2][128];
	struct runs_side side[2];
	struct runs_comparison result;
	struct tui_changes machines; /* A's last against B's first */
	bool machines_known;         /* both sides kept one */
};

/* A study as a list shows it. */
struct tui_study {
	struct runs_study study;
	struct runs_study_boots boots;
	size_t done; /* boots that count */
	char next;   /* 'A' or 'B'; 0: complete */
	bool here;   /* this boot is filed */
};

/* Stored runs in a baseline's place. */
struct tui_reference {
	char name[128]; /* "run:12", "label:before", "study:NAME/A" */
	struct runs_loaded loaded;
};

enum { TUI_CLOCKS = 16 };

struct tui_library {
	struct job *job;
	char *path;          /* the store; NULL: none is kept */
	struct tui_run *run; /* newest first; owned */
	size_t nrun;
	struct tui_study *study; /* newest first; owned */
	size_t nstudy;
	struct runs_clocks clocks[TUI_CLOCKS]; /* that killed runs have left locked */
	size_t nclocks;
	bool loaded;                       /* the list was read at least once */
	unsigned asked;                    /* jobs under way */
	struct why why;                    /* the last failure; "" */
	struct tui_comparison *comparison; /* owned; NULL: none */
	struct tui_reference *reference;   /* the last one asked for; owned; NULL: none */
	char chosen[128];                  /* the first side of the next comparison; "" none */
};

void tui_library_init(struct tui_library *l, const char *store, bool none);
/* -ETIMEDOUT: the disk hangs. */
int tui_library_finish(struct tui_library *l, int timeout_ms);
int tui_library_fd(const struct tui_library *l);

void tui_library_reload(struct tui_library *l);
/* The studies alone, and clocks left locked, which is quick. */
void tui_library_studies(struct tui_library *l);
void tui_library_label(struct tui_library *l, int64_t run, const char *label);
void tui_library_remove(struct tui_library *l, int64_t run);
/* Unlocks the clocks that are known to be left locked. */
void tui_library_unlock(struct tui_library *l);
/* A and B as `barscope compare` takes them. */
void tui_library_compare(struct tui_library *l, const char *a, const char *b);

/* Has the latencies of REF read, to be drawn behind what runs. */
void tui_library_refer(struct tui_library *l, const char *ref);
/* The newest study that is not complete, or NULL. */
const struct tui_study *tui_library_due(const struct tui_library *l);

/* Lets the comparison go. */
void tui_library_forget(struct tui_library *l);

enum tui_library_news {
	TUI_LIBRARY_LIST = 1,
	TUI_LIBRARY_COMPARED = 2,
	TUI_LIBRARY_CHANGED = 4, /* a label or a removal took place */
	TUI_LIBRARY_FAILED = 8,
	TUI_LIBRARY_REFERRED = 16,
	TUI_LIBRARY_UNLOCKED = 32, /* all of l->clocks */
};
unsigned tui_library_poll(struct tui_library *l);
