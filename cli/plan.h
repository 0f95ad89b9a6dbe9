/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A plan for a program (JSON, barscope.plan/1) and for a person. Pure. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "cli/style.h"
#include "pcie/plan.h"

/* schema barscope.plan/1; the caller frees it. */
struct js *cmd_plan_json(const struct pcie_snapshot *s, const struct pcie_plan *p);

void cmd_plan_print(struct text *out, const struct pcie_snapshot *s, const struct pcie_plan *p,
	struct cmd_style style);

/* The address map, without what O leaves out; at most LIMIT rows, 0: all. */
void cmd_plan_print_map(struct text *out, const struct pcie_snapshot *s,
	const struct pcie_plan_options *o, size_t limit, struct cmd_style style);
