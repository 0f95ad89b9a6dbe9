/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "barscope study": what its files share. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/text.h"
#include "cli/style.h"
#include "pcie/snapshot.h"
#include "runs/floor.h"
#include "runs/study.h"

enum { CMD_STUDY_ARGS = 64 };

struct cmd_study_options {
	const char *store, *change, *fact, *boots, *gpu, *shapes, *restarts, *warmup, *side,
		*failed;
	const char *despite, *html;
	bool json, csv;
	const char *arg[CMD_STUDY_ARGS]; /* the name, then what stood behind "--" */
	size_t narg;
};

/* A study with its boots, out of the store. */
struct cmd_study {
	struct runs_study study;
	struct runs_study_boots boots;
	struct js *options; /* of the study, parsed */
	struct runs_noise noise;
	char boot_id[40]; /* the running one */
};

int cmd_study_load(struct runs_store *s, const char *name, struct cmd_study *ret, struct why *why);
void cmd_study_finish(struct cmd_study *s);

/*
 * The options of a run of SHAPE (NULL: as they stand), parsed as "barscope stress" does it; false,
 * with *STATUS, after a sentence.
 */
struct cmd_stress_options;
bool cmd_study_stress(
	const struct cmd_study *s, const char *shape, struct cmd_stress_options *ret, int *status);

/*
 * What the fact is on this machine: a verdict's answer of the GPU (GPU: its address, "" the
 * first that barscope judges), or for "env.NAME" a member of the environment; "unknown" when it
 * cannot be told. Reads the machine.
 */
void cmd_study_fact(const char *fact, const char *gpu, char *ret, size_t size);

/* The verb "run": its exit status. */
int cmd_study_run(const struct cmd_study_options *o);
/* The verb "report". */
int cmd_study_report(const struct cmd_study_options *o);

/* What is there, and what to do next. */
void cmd_study_print(struct text *t, const struct cmd_study *s, struct cmd_style style);
/* The same as a piece of a page; STARTS: a sentence about boots that did not start, or "". */
void cmd_study_html(struct text *t, const struct cmd_study *s, const char *starts);
struct js *cmd_study_json(const struct cmd_study *s);
/* The smallest effect that the plan would find, and whether its noise is measured or assumed. */
void cmd_study_power(struct text *t, const struct cmd_study *s);
/* "now boot with it ON (B): 3 of 8", or that the study is complete. */
void cmd_study_next(struct text *t, const struct cmd_study *s);
