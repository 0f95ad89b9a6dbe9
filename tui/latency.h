/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The latency plot as the overview and the latency view share it. Pure drawing. */
#pragma once

#include "tui/app.h"

/* The section's title and remark, the baseline's legend where there is room, the plot.
 * Returns the row that the plot's first line stands on, in canvas rows. */
void tui_latency_draw(
	const struct tui_app *a, struct tui_canvas *c, struct tui_rect r, bool legend);
void tui_histogram_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r);
