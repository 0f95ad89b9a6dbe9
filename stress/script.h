/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script file, barscope-script(5): one line a sample, `launch device notify gap` in
 * ns, then flags. Pure; the text may be anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"

enum stress_script_act {
	STRESS_SCRIPT_PLAY,
	STRESS_SCRIPT_HANG,  /* the launch never returns */
	STRESS_SCRIPT_CRASH, /* the worker process is ended by a signal */
	STRESS_SCRIPT_FAIL,  /* the launch fails, and the back end says so */
};

struct stress_script_line {
	uint64_t launch_ns, device_ns, notify_ns, gap_ns;
	uint64_t hash, cycles; /* valid by FLAGS */
	uint32_t flags;        /* of the sample: series | STRESS_* */
	uint32_t copy;
	uint32_t repeat; /* ≥ 1: the line is played that often */
	uint32_t number; /* in the file, from 1 */
	enum stress_script_act act;
};

struct stress_script {
	struct stress_script_line *line;
	size_t n, cap;
	bool again; /* after the last line, start over */
};

/* TEXT needs no NUL. -EBADMSG with the line's number in WHY; an empty script is an error. */
int stress_script_parse(const char *text, size_t len, struct stress_script *ret, struct why *why);
void stress_script_finish(struct stress_script *s);
