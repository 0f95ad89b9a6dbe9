/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Latency over time as a map: a column of cells is a span of time, a row a span of latency
 * (logarithmic), and the shade says which share of the column's samples fell there. What a
 * median and a strip hide is seen here: two states, a rare third one, a slow drift.
 */
#pragma once

#include "runs/series.h"
#include "tui/canvas.h"
#include "tui/scale.h"

struct tui_heat {
	int cols, rows;
	size_t cap;
	uint32_t *count; /* cols * rows, row 0 the slowest; owned */
	uint32_t *total; /* of each column; owned */
	struct tui_scale y;
};

void tui_heat_finish(struct tui_heat *h);

/* Counts what lies in the COLS spans of CELL_NS that end at END_NS; WHOLE: all of that
 * window, for the axis. */
void tui_heat_fill(struct tui_heat *h, const struct runs_series *s, const struct runs_hist *whole,
	uint64_t end_ns, uint64_t cell_ns, int cols, int rows);

/* The gutter of a plot at the left, then the map. */
void tui_heat_draw(struct tui_canvas *c, struct tui_rect r, const struct tui_heat *h);
