/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/store_args.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"

const char *cmd_root(void)
{
	const char *root = getenv("BARSCOPE_ROOT");
	return root && *root ? root : NULL;
}

int cmd_store_open(const char *given, enum runs_store_mode mode, struct runs_store **ret,
	char boot_id[static RUNS_BOOT_ID_MAX], struct why *why)
{
	_cleanup_free_ char *path = NULL;
	int r = runs_store_path(given, &path, why);
	if (r) {
		return r;
	}
	runs_env_boot_id(cmd_root(), boot_id);
	if (mode != RUNS_STORE_CREATE && access(path, F_OK) && errno == ENOENT) {
		why_set(why,
			"there is no store at %s yet; 'barscope stress --record LABEL' makes it",
			path);
		return -ENOENT;
	}
	return runs_store_open(path, mode, ret, why);
}
