/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Episodes of a run and what stands beside them, for people and for programs. */
#pragma once

#include "base/json.h"
#include "base/text.h"
#include "base/why.h"
#include "runs/info.h"

/* Adds what is known of RUN's episodes; nothing when it has none. */
int cmd_episodes_print(
	struct text *t, struct runs_store *s, const struct runs_info *run, struct why *why);
/* Sets the members "episodes" and "attribution" of OBJ. */
int cmd_episodes_json(
	struct js *obj, struct runs_store *s, const struct runs_info *run, struct why *why);
