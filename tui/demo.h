/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The demo: a machine and latencies that were never measured, for a first look and for
 * pictures. The latencies run through the script back end, worker, ring and all.
 */
#pragma once

#include <stdbool.h>

#include "base/why.h"
#include "tui/app.h"

/* A desktop with two GPUs. BEFORE: with the firmware option off. The caller destroys it. */
struct pcie_snapshot *tui_demo_machine(bool before);

/* Sets up A: machine, script, baseline. Returns the script's descriptor, to be kept open
 * while A lives, or negative errno with why. */
int tui_demo_open(struct tui_app *a, struct why *why);

/* What a GPU's back end would say beside the script's samples. */
void tui_demo_status(struct stress_status *st);
