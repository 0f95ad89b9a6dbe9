/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store as commands open it. */
#pragma once

#include "base/why.h"
#include "runs/env.h"
#include "runs/info.h"
#include "runs/store.h"

#define CMD_STORE_HELP "  --store FILE  the store; else $XDG_DATA_HOME/barscope/barscope.db\n"

/*
 * Where /proc and /sys are read: the variable BARSCOPE_ROOT, else NULL ("/"). For tests, and
 * for looking at a system that is mounted somewhere.
 */
const char *cmd_root(void);

/*
 * Opens the store GIVEN (NULL: the default) and reads the boot's id. A store that does not exist
 * yet is -ENOENT with a sentence that says how one comes to be.
 */
int cmd_store_open(const char *given, enum runs_store_mode mode, struct runs_store **ret,
	char boot_id[static RUNS_BOOT_ID_MAX], struct why *why);
