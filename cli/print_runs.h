/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs for people and for programs. Pure but for reading the store. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "base/why.h"
#include "cli/style.h"
#include "runs/describe.h"
#include "runs/info.h"

/* barscope.runs/1. */
int cmd_runs_json(
	struct runs_store *s, const struct runs_list *l, struct js **ret, struct why *why);
int cmd_runs_table(struct text *t, struct runs_store *s, const struct runs_list *l,
	struct cmd_style style, struct why *why);

/* One run with everything: barscope.run/1. */
int cmd_run_json(
	struct runs_store *s, const struct runs_info *run, struct js **ret, struct why *why);
int cmd_run_print(struct text *t, struct runs_store *s, const struct runs_info *run,
	struct cmd_style style, struct why *why);

/* The members n, p50_ns, band, p99_ns, …; those that are not known are left out. */
void cmd_description_json(struct js *obj, const struct runs_description *d);

enum { CMD_WHEN_MAX = 32 };
/* UNIX ns as local time, "2026-07-01 12:00:05"; "-" for 0. Returns BUF. */
const char *cmd_when(int64_t ns, char buf[static CMD_WHEN_MAX]);
/* A share as "±5.1 %" without the sign: "5.1 %"; "-" for NaN. Returns BUF. */
const char *cmd_percent(double share, char buf[static CMD_WHEN_MAX]);
