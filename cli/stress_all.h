/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "stress --device all": what is known of each GPU, and what is said of it. */
#pragma once

#include "cli/signals.h"
#include "cli/stress_record.h"
#include "runs/hist.h"
#include "stress/backend.h"

enum { CMD_GPUS = 32, CMD_ALL_BATCH = 4096 };

enum { CMD_TOGETHER, CMD_ALONE, CMD_WAYS };

struct cmd_all_gpu {
	struct stress_device device;
	struct stress_config config;
	struct stress_worker *worker; /* NULL: it could not be started */
	struct stress_status status;
	bool resumed; /* it is asked to run */
	struct runs_hist host[CMD_WAYS], on_device[CMD_WAYS];
	struct cmd_record record;
	int way;                                   /* that the record's run is for */
	bool ran;                                  /* … and whether it came to run */
	int64_t run[CMD_WAYS];                     /* in the store; 0: not recorded */
	struct runs_golden_found golden[CMD_WAYS]; /* of these runs */
};

struct cmd_all {
	const struct cmd_stress_options *o;
	struct cmd_all_gpu gpu[CMD_GPUS];
	int n;
	struct cmd_signals signals;
	int signal;             /* that ended it; 0: none */
	struct cmd_hurry hurry; /* of the records' waits */
	struct why why;         /* what went wrong beside the GPUs: the store; "" nothing */
	struct stress_sample batch[CMD_ALL_BATCH];
};

/* The histogram that is shown for WAY: host latencies, or the device's of batches. */
const struct runs_hist *cmd_all_shown(const struct cmd_all_gpu *g, int way);

void cmd_all_print(struct text *out, const struct cmd_all *a);
/* Schema barscope.stress-all/1; the caller frees it. */
char *cmd_all_json(const struct cmd_all *a);
