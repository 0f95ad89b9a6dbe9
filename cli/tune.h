/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `tune` and `verify` share: a child process that uses the GPU and hands over rows. */
#pragma once

#include "base/text.h"
#include "cli/args.h"
#include "stress/tune.h"

enum { CMD_TUNE_ROWS = 128 };

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

/* Own rows and the library's are right when FP64 agrees and all copies give the same bits. */
bool cmd_tune_is_right(const struct stress_tune_row *r);

/* The fastest right own kernel without dependent launch, and cuBLASLt's fastest; NULL: none. */
const struct stress_tune_row *cmd_tune_own(const struct cmd_tune_result *r);
const struct stress_tune_row *cmd_tune_library(const struct cmd_tune_result *r);

/* What the store holds under a label for this device and shape, for the ladder. */
struct cmd_tune_stored {
	size_t n; /* runs; 0: none, WHY says so */
	int64_t run;
	char label[64];
	double p50_ns, band; /* device latency of the newest */
	char why[160];
};

/* For a person; the rows, or with STORED (before, after) the ladder. */
void cmd_tune_print(struct text *out, const struct cmd_tune_result *r,
	const struct stress_config *c, const struct cmd_tune_stored *stored);
/* The price of rows that lie badly: the fastest right kernel for each way they lie. */
void cmd_tune_print_misaligned(
	struct text *out, const struct cmd_tune_result *r, const struct stress_config *c);
/* The CPU's rows. */
void cmd_tune_print_cpu(
	struct text *out, const struct cmd_tune_result *r, const struct stress_config *c);
/* Schema barscope.tune/1; the caller frees it. */
char *cmd_tune_json(const struct cmd_tune_result *r, const struct stress_config *c);
