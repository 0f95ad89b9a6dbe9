/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * NVIDIA's driver as a witness of the live machine: how much memory a GPU has and what of it the
 * VRAM BAR maps, which sysfs does not tell. Asked by a process of its own with a time limit
 * (stress/gpu_facts.h). Blocking; any thread.
 */
#pragma once

#include "pcie/scan.h"

extern const struct pcie_driver runs_driver;

/* pcie_capture with that witness. */
int runs_capture(
	const char *root, bool with_log, bool wake, char **ret, size_t *ret_len, struct why *why);
