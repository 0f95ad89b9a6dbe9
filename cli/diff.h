/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A difference of machines for a program (JSON) and for a person. Pure. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "cli/style.h"
#include "pcie/diff.h"

/* schema barscope.diff/1; the caller frees it. */
struct js *cmd_diff_json(
	const struct pcie_snapshot *a, const struct pcie_snapshot *b, const struct pcie_diff *d);

void cmd_diff_print(struct text *out, const struct pcie_snapshot *a, const struct pcie_snapshot *b,
	const struct pcie_diff *d, struct cmd_style style);
