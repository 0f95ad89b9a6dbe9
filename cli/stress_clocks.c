/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "base/text.h"
#include "cli/cmd.h"
#include "cli/store_args.h"
#include "cli/stress.h"
#include "runs/clocks.h"
#include "runs/env.h"

enum { MOST = 64 };

struct cmd_stress_clocks {
	struct runs_store *store; /* open as long as they are locked: it holds the mark */
	char address[24];
};

int cmd_stress_clocks_begin(
	const struct cmd_stress_options *o, struct cmd_stress_clocks **ret, struct why *why)
{
	struct cmd_stress_clocks *c = xcalloc(1, sizeof(*c));
	char boot_id[RUNS_BOOT_ID_MAX];

	text_copy(c->address, sizeof(c->address), o->config.device);
	int r = cmd_store_open(o->store, RUNS_STORE_CREATE, &c->store, boot_id, why);

	if (r == 0) {
		r = runs_clocks_mark(c->store, boot_id, c->address, o->config.lock_mhz, why);
	}
	if (r < 0) {
		runs_store_close(c->store);
		free(c);
		return r;
	}
	*ret = c;
	return 0;
}

bool cmd_stress_clocks_end(struct cmd_stress_clocks *c, bool still, struct why *why)
{
	if (!c) {
		return true;
	}
	const bool done = still ? runs_clocks_unlock(c->store, c->address, why) == 0
				: runs_clocks_clear(c->store, c->address, why) == 0;

	runs_store_close(c->store);
	free(c);
	return done;
}

/* What killed runs have left; 0 when there is no store to tell. RET_STORE stays NULL then. */
static int find_left(const struct cmd_stress_options *o, enum runs_store_mode mode,
	struct runs_store **ret_store, char boot_id[static RUNS_BOOT_ID_MAX],
	struct runs_clocks *ret, struct why *why)
{
	struct runs_store *s;
	const int r = cmd_store_open(o->store, mode, &s, boot_id, why);

	if (r < 0) {
		return r == -ENOENT ? 0 : r;
	}
	const int n = runs_clocks_left(s, boot_id, ret, MOST, why);

	*ret_store = s;
	return n;
}

void cmd_stress_clocks_warn(const struct cmd_stress_options *o)
{
	struct runs_clocks left[MOST];
	struct runs_store *s = NULL;
	char boot_id[RUNS_BOOT_ID_MAX];
	struct why why;
	const int n = find_left(o, RUNS_STORE_READ, &s, boot_id, left, &why);

	for (int i = 0; i < n; i++) {
		fprintf(stderr,
			"barscope: the clocks of %s are still locked at %u MHz by a run that was "
			"killed; 'barscope stress --unlock-clocks' unlocks them\n",
			left[i].address, left[i].mhz);
	}
	runs_store_close(s);
}

int cmd_stress_clocks_unlock(const struct cmd_stress_options *o)
{
	struct runs_clocks left[MOST];
	struct runs_store *s = NULL;
	char boot_id[RUNS_BOOT_ID_MAX];
	struct why why = {""};
	const int n = find_left(o, RUNS_STORE_WRITE, &s, boot_id, left, &why);
	int status = EXIT_FINE;

	if (n < 0) {
		status = cmd_fail(EXIT_USAGE, "%s", why.text);
	} else if (n == 0) {
		status = cmd_print("no run has left clocks locked\n");
	}
	for (int i = 0; i < n; i++) {
		const int r = runs_clocks_unlock_left(s, boot_id, left[i].address, &why);

		if (r < 0) {
			status = cmd_fail(EXIT_USAGE, "%s", why.text);
			continue;
		}
		char line[96];

		snprintf(line, sizeof(line),
			r ? "%.23s: unlocked, was %u MHz\n"
			  : "%.23s: unlocked meanwhile, was %u MHz\n",
			left[i].address, left[i].mhz);
		cmd_print(line);
	}
	runs_store_close(s);
	return status;
}
