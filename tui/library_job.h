/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the library's job does with each errand: reads, labels, removes, compares. An errand is
 * handed over whole; nothing is shared with the main thread.
 */
#pragma once

#include "base/job.h"
#include "tui/library.h"

enum library_request {
	LIBRARY_LIST,
	LIBRARY_STUDIES,
	LIBRARY_UNLOCK,
	LIBRARY_LABEL,
	LIBRARY_REMOVE,
	LIBRARY_COMPARE,
	LIBRARY_REFER
};

struct library_errand {
	struct job_item item;
	enum library_request request;
	char path[512];
	int64_t run;
	char text[2][128]; /* LABEL: the label; COMPARE: both sides; REFER: what */
	/* The answer; owned until it is taken. */
	int status;
	struct why why;
	struct tui_run *list;
	size_t n;
	struct tui_study *study;
	size_t nstudy;
	struct tui_comparison *comparison;
	struct tui_reference *reference;
	struct runs_clocks clocks[TUI_CLOCKS]; /* UNLOCK: those to unlock */
	size_t nclocks;
};

/* Fills in the answer. On the job's thread. */
void tui_errand_run(struct job_item *item);
void tui_errand_destroy(struct library_errand *e);
void tui_comparison_destroy(struct tui_comparison *c);
void tui_studies_destroy(struct tui_study *s, size_t n);
void tui_reference_destroy(struct tui_reference *r);
