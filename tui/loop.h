/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen's main loop: one poll() for keyboard, signals, timer, jobs, worker and the
 * terminal's output. It never waits for any of them alone.
 */
#pragma once

#include "base/why.h"
#include "tui/app.h"

enum { TUI_STUDY_NAME = 48 };

/* A study that the user left the screen for, to measure this boot. */
struct tui_left {
	char study[TUI_STUDY_NAME]; /* "": none */
	char side;                  /* 'A' or 'B'; 0: the study's fact tells */
};

/*
 * Runs the screen until the user quits. Returns the program's exit status (0; 128 + n
 * after a signal), or negative errno with why when it could not begin. It may leave the
 * process by _exit() when a job is stuck, after the terminal is back.
 */
int tui_run(const struct tui_options *o, struct tui_left *ret, struct why *why);
