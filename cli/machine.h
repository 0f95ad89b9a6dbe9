/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine for a program (JSON, barscope.machine/1) and for a person. Pure. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "cli/style.h"
#include "pcie/snapshot.h"

/* schema barscope.machine/1; the caller frees it. */
struct js *cmd_machine_json(const struct pcie_snapshot *s);

/*
 * GPUs first, each with BARs in both views, ReBAR, link and the windows on its path, then
 * apertures and notes. ALL: every other device too; without a GPU those that have BARs.
 */
void cmd_machine_print(
	struct text *out, const struct pcie_snapshot *s, bool all, struct cmd_style style);
