/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that end a command after its summary: received, not caught. One at a time; main thread.
 */
#pragma once

#include <signal.h>

#include "base/why.h"

struct cmd_signals {
	int fd; /* readable when one came; -1: not open */
	sigset_t old;
};

/* SIGINT, SIGTERM and SIGHUP. Errors with why; then FD is -1, and close is allowed. */
int cmd_signals_open(struct cmd_signals *ret, struct why *why);
/* The number of one that came; 0: none. */
int cmd_signals_take(const struct cmd_signals *s);
void cmd_signals_close(struct cmd_signals *s);
