/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person could do about a plan: text only, never run. */
#pragma once

#include "pcie/plan.h"

/* Adds commands (in order of safety) and notes to P. */
void pcie_plan_add_commands(struct pcie_plan *p, const struct pcie_snapshot *s);
