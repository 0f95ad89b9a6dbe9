/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One sentence for a person, filled by a door (scan, open, load, start) that
 * fails. The caller owns it; it is written on failure only.
 */
#pragma once

#include "base/macros.h"

struct why {
	char text[240];
};

/* Formats the sentence; cut at the end of the buffer. NULL WHY is allowed. */
void why_set(struct why *why, const char *fmt, ...) PRINTF(2, 3);
