/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What surrounds a run beside the PCI devices: kernel, command line, CPU, governor, microcode,
 * driver versions, boot time, load. Files below a root, so that tests and copies work. Blocking
 * reads of /proc and /sys; any thread.
 */
#pragma once

#include "base/json.h"
#include "base/macros.h"

enum { RUNS_BOOT_ID_MAX = 40, RUNS_HOST_MAX = 66 };

/* The running boot's id below ROOT (NULL: "/"); "" when it cannot be read. Returns BUF. */
const char *runs_env_boot_id(const char *root, char buf[static RUNS_BOOT_ID_MAX]);

/* The machine's name in the network below ROOT, the same way. */
const char *runs_env_host(const char *root, char buf[static RUNS_HOST_MAX]);

/*
 * The environment as an object of strings; members that cannot be read are left out. What says
 * whose machine it is, or where, is masked as in captures (pcie/mask.h): a bundle shows it.
 */
struct js *runs_env_read(const char *root);

/* Masks ENV, which a version of barscope that did not has stored. Masked ones stay as they are. */
void runs_env_mask(struct js *env);

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
