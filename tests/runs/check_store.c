/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check_store STORE: SQLite's own check of the whole file, then one line a run: number, state,
 * milliseconds from its start to its last commit, seconds stored, its start in milliseconds of
 * CLOCK_MONOTONIC_RAW, last intent. Exit 1: damaged.
 */
#include <stdio.h>

#include "runs/info.h"

int main(int argc, char **argv)
{
	struct why why;
	_cleanup_store_ struct runs_store *s = NULL;
	_cleanup_runs_ struct runs_list l = {0};
	if (argc != 2) {
		return 3;
	}
	int r = runs_store_open(argv[1], RUNS_STORE_READ, &s, &why);
	if (!r) {
		r = runs_db_check(runs_store_db(s), &why);
	}
	if (!r) {
		r = runs_info_list(s, NULL, NULL, &l, &why);
	}
	for (size_t i = 0; !r && i < l.n; i++) {
		const struct runs_info *run = &l.run[i];
		struct runs_totals t;
		struct runs_intent intent = {0};
		r = runs_info_totals(s, run->id, &t, &why);
		(void)runs_info_last_intent(s, run->id, &intent, &why);
		if (!r) {
			printf("%lld %s %lld %u %llu %s\n", (long long)run->id,
				runs_state_name(run->state),
				(long long)((run->touched - run->started) / 1000000),
				t.samples ? t.last + 1 : 0,
				(unsigned long long)run->start_ns / 1000000, intent.step);
		}
	}
	if (r) {
		fprintf(stderr, "%s\n", why.text);
	}
	return r ? 1 : 0;
}
