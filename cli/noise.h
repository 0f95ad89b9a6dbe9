/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run about to be recorded can be compared with. */
#pragma once

#include "base/text.h"
#include "cli/stress.h"
#include "runs/floor.h"

/* One sentence: how much the band differs by itself, and what four boots a side would find. Pure.
 */
void cmd_noise_words(struct text *t, const struct runs_floor *f);

/* Says it on standard error for a run that O records, from the store as it is now. */
void cmd_noise_say(const struct cmd_stress_options *o);
