/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One side of a comparison: the runs of a label, a study's state, an exported file or a single
 * run, grouped by boot. Within a boot, each run (a process of its own) counts alike.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "base/why.h"
#include "runs/describe.h"
#include "runs/info.h"

/* What the comparison keeps of one run. */
struct runs_member {
	struct runs_info info;
	struct runs_totals totals;
	struct runs_description layer[STRESS_SERIES][RUNS_LAYERS]; /* n 0: no such samples */
	struct js *env;                                            /* owned; may be NULL */
	size_t boot;                                               /* index in the side's boots */
};

/*
 * One value a boot and endpoint, over the boot's runs of one configuration: the median of the
 * medians, and the mean of ln(band).
 */
struct runs_boot {
	char boot_id[40];
	int64_t started; /* UNIX ns, of its first run */
	size_t nrun;
};

struct runs_side {
	char name[128];
	struct runs_member *run; /* in order of their start; owned */
	size_t n;
	struct runs_boot *boot; /* in order of their first run; owned */
	size_t nboot;
};

void runs_side_finish(struct runs_side *s);

/*
 * Reads the runs of LIST. Runs without a single GEMM sample are left out; -ENODATA with a
 * sentence when none is left.
 */
int runs_side_load(struct runs_store *store, const struct runs_list *list, const char *name,
	struct runs_side *ret, struct why *why);

/*
 * What REF names: an existing file (an exported bundle or another store: all its runs), else
 * "study:NAME" (with "/A" or "/B" one side), runs_info_find in STORE (NULL: none is there).
 */
int runs_side_open(struct runs_store *store, const char *ref, const char *boot_id,
	struct runs_side *ret, struct why *why);

/* How many devices its runs were made on. */
size_t runs_side_devices(const struct runs_side *s);

/* The store of its own that REF is, or NULL: it names something in the usual one. */
int runs_side_file(const char *ref, struct runs_store **ret, struct why *why);

/* The capture record of the side's first (LAST false) or last run that has one. -ENODATA. */
int runs_side_machine(struct runs_store *store, const char *ref, const struct runs_side *s,
	bool last, char **ret, size_t *ret_len, struct why *why);

static inline void runs_side_finishp(struct runs_side *s)
{
	runs_side_finish(s);
}
#define _cleanup_side_ __attribute__((cleanup(runs_side_finishp)))
