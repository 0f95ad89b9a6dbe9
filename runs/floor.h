/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much does the band differ by itself? From what the store holds of earlier runs of the same
 * configuration: between boots of one label (the same state, as far as anybody said), and between
 * runs of one boot. What a comparison can find follows from it. Blocking; errors are db.h's.
 */
#pragma once

#include <stddef.h>

#include "base/why.h"
#include "runs/info.h"

struct runs_floor {
	size_t boots, runs;   /* that were looked at */
	double between_boots; /* standard deviation of ln(band); NaN: no label has two boots */
	double within_boot;   /* between runs of one boot and label; NaN: none has two runs */
};

/*
 * The finished runs of LIKE's back end ("" or "auto": that of the newest), shape, dtype and pace in
 * S, the newest 400 of them. A study's sides are labels of their own.
 */
int runs_floor_load(struct runs_store *s, const struct runs_info *like, struct runs_floor *ret,
	struct why *why);
