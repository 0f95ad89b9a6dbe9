/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tune` and `verify` share: a child process that uses the GPU and hands over rows. */
#pragma once

#include "cli/args.h"
#include "stress/tune.h"

enum { CMD_TUNE_ROWS = 96 };

struct cmd_tune_result {
	struct stress_tune_facts facts;
	struct stress_tune_row row[CMD_TUNE_ROWS];
	size_t n;

	/* Set by the caller; NULL: nobody wants the outputs. Each own kernel's, as it comes. */
	void (*output)(struct cmd_tune_result *r, const char *kernel, const void *y, size_t bytes);
	void *data; /* the caller's */
};

/*
 * Runs stress_tune in a child, so that a GPU fault ends that alone. 0, or the exit status after
 * a sentence on stderr: EXIT_NO_GPU when there is no driver or no device.
 */
int cmd_tune_run(const char *cmd, const struct stress_tune_options *o, struct cmd_tune_result *ret);

/* The options that both take. */
struct cmd_tune_args {
	const char *shape, *dtype, *device, *kernel;
	bool json;
};

#define CMD_TUNE_HELP                                                                              \
	"  --shape MxKxN    default 1x4096x11008\n"                                                \
	"  --dtype f16|f32  default f16\n"                                                         \
	"  --device BDF     this GPU; default: the first\n"                                        \
	"  --kernel NAME    this kernel only\n"

/* Into CONFIG; false: the command ends with *STATUS after a usage error. */
bool cmd_tune_config(
	const char *cmd, const struct cmd_tune_args *a, struct stress_config *config, int *status);
