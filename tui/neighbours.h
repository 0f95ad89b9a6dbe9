/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does anybody else use these GPUs? Asked of NVML on a job, in a process of its own; where that
 * does not answer, of the files that processes have open. Main thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/job.h"
#include "pcie/addr.h"

enum { TUI_NEIGHBOURS_GPUS = 8 };

enum tui_use { TUI_USE_UNKNOWN, TUI_USE_FREE, TUI_USE_TAKEN };

struct tui_neighbours {
	struct job *job;
	bool asked, answered;
	enum tui_use use;
	char who[200]; /* TAKEN: by whom; UNKNOWN: why it is not known */
};

/* ADDRESS: N GPUs, at most TUI_NEIGHBOURS_GPUS; none of them asleep, since the question wakes. */
void tui_neighbours_ask(struct tui_neighbours *g, char (*address)[PCIE_ADDR_MAX], size_t n);
int tui_neighbours_finish(struct tui_neighbours *g, int timeout_ms);
int tui_neighbours_fd(const struct tui_neighbours *g); /* -1: none */
/* True: the answer came. */
bool tui_neighbours_poll(struct tui_neighbours *g);
