/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The doctor on a background job: it writes probe files, compiles and measures. Main thread. */
#pragma once

#include "base/job.h"
#include "base/why.h"
#include "doctor/doctor.h"

struct tui_checkup {
	struct job *job;
	struct doctor_report *report; /* the last one; NULL: none yet; owned */
	bool running;
	struct why why; /* it could not be run; "" */
	const char *source;
};

void tui_checkup_start(struct tui_checkup *c);
int tui_checkup_finish(struct tui_checkup *c, int timeout_ms);
int tui_checkup_fd(const struct tui_checkup *c);
/* True: a report has come, or a failure. */
bool tui_checkup_poll(struct tui_checkup *c);
