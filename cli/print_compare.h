/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison for people and for programs. Pure. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "cli/style.h"
#include "pcie/diff.h"
#include "runs/compare.h"

/* What is known of the two machines. */
struct cmd_machines {
	const struct pcie_snapshot *a, *b; /* NULL: not known */
	const struct pcie_diff *diff;      /* NULL unless both are known */
	const char *missing;               /* which is not known, and why: it kept none, … */
};

/* barscope.compare/1 */
struct js *cmd_compare_json(const struct runs_comparison *c, const struct cmd_machines *m);
void cmd_compare_print(struct text *t, const struct runs_comparison *c,
	const struct cmd_machines *m, struct cmd_style style);
/* One line a side, boot, run, series and layer, with a heading line. */
void cmd_compare_csv(struct text *t, const struct runs_comparison *c);
