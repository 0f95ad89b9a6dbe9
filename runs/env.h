/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What surrounds a run beside the PCI devices: kernel, command line, CPU, governor, microcode,
 * driver versions, boot time, load. Files below a root, so that tests and copies work. Blocking
 * reads of /proc and /sys; any thread.
 */
#pragma once

#include "base/json.h"
#include "base/macros.h"

enum { RUNS_BOOT_ID_MAX = 40 };

/* The running boot's id below ROOT (NULL: "/"); "" when it cannot be read. Returns BUF. */
const char *runs_env_boot_id(const char *root, char buf[static RUNS_BOOT_ID_MAX]);

/* The environment as an object of strings; members that cannot be read are left out. */
struct js *runs_env_read(const char *root);

/* The name of the I-th member that this version reads; NULL: there are no more. */
const char *runs_env_name(size_t i);

enum runs_env_weight {
	RUNS_ENV_NOTED,   /* differs from boot to boot by itself: load, boot time */
	RUNS_ENV_MATTERS, /* makes two runs incomparable unless it is what was changed */
};

struct runs_env_diff {
	char name[32];
	enum runs_env_weight weight;
	char a[200], b[200];
};

/*
 * What differs between A and B (objects of runs_env_read), in A's order.
 * The caller frees RET. A value that one side does not know is no difference: nobody looked.
 */
size_t runs_env_compare(const struct js *a, const struct js *b, struct runs_env_diff **ret);
