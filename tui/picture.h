/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The screen without a terminal: a real run, looked at once. For documents, bug reports
 * and tests.
 */
#pragma once

#include <stdbool.h>

#include "base/why.h"
#include "tui/app.h"

struct tui_picture {
	unsigned seconds; /* how long it runs before the look */
	int w, h;
	const char *keys; /* pressed when the machine was read, one after another; NULL: none */
	bool svg;         /* else text */
};

/*
 * The caller frees *RET. Blocks for the seconds; negative errno with why. -EIO: what ran failed,
 * and the picture shows it.
 */
int tui_picture_take(const struct tui_options *o, const struct tui_picture *p, bool utf8,
	char **ret, struct why *why);
