/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs that were never closed: those of an earlier boot ended with the machine, those whose
 * lock is free ended with barscope. Blocking; called by the recorder's job on opening.
 */
#pragma once

#include "runs/recorder.h"
#include "runs/store.h"

enum { RUNS_POSTMORTEM_MS = 2000 };

/*
 * Closes them with what the store knows about their last moments, and what the kernel said below
 * ROOT (NULL: "/"), as far as that can be had within PATIENCE_MS, while the store is not locked
 * yet. RET: the newest one that went down with the machine; run 0: none.
 */
int runs_postmortem(struct runs_store *s, const char *root, const char *boot_id,
	unsigned patience_ms, struct runs_crash *ret, struct why *why);
