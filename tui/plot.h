/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Plots on a rectangle of a canvas: latency over time, and a histogram. Pure: all
 * they show comes with the arguments. Braille (2 × 4 dots a cell) where the canvas's
 * glyphs have it, half blocks or ASCII elsewhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runs/series.h"
#include "tui/canvas.h"
#include "tui/scale.h"

struct tui_band {
	bool set;
	double p5, p50, p95; /* ns */
};

/* Something that happened, on the time axis. */
struct tui_mark {
	double before; /* seconds before the right edge */
	unsigned style;
	const char *name; /* NULL: none */
};

struct tui_plot {
	const struct runs_column *column; /* oldest first, tui_plot_columns() of them */
	size_t ncolumn;
	struct tui_scale y;
	struct tui_band baseline;
	double seconds;    /* the time that all columns span */
	bool stands;       /* the right edge is an end, not the present */
	const char *empty; /* said in the middle when no column has a sample; NULL: nothing */
	int cursor;        /* column that the reading cursor is on; -1: none */
	const struct tui_mark *mark; /* in order of time */
	size_t nmark;
	bool lane; /* a row of its own for the marks and their names, else the time axis has them */
};

/* How many columns of data a plot on R shows: two a cell with braille, else one. */
size_t tui_plot_columns(const struct tui_canvas *c, struct tui_rect r);
void tui_plot_draw(struct tui_canvas *c, struct tui_rect r, const struct tui_plot *p);

/* The columns at the left that the axis's labels take. */
enum { TUI_PLOT_GUTTER = 8 };
/* The axis in them, over R's height. */
void tui_y_axis_draw(struct tui_canvas *c, struct tui_rect r, const struct tui_scale *y);

struct tui_bins {
	const double *count;  /* lowest value first, N of them over [x.lo, x.hi] */
	const double *behind; /* the baseline's, scaled by its own maximum; NULL: none */
	size_t n;             /* tui_hist_bins() of them */
	double over;          /* values above the range */
	struct tui_scale x;
	double p5, p50, p95, p99; /* marked beneath; 0: not */
	const char *empty;
};

size_t tui_hist_bins(const struct tui_canvas *c, struct tui_rect r);
/* Spreads H over N bins, a bucket by its overlap with each; returns what lies above. */
double tui_hist_spread(const struct runs_hist *h, const struct tui_scale *x, double *bin, size_t n);
void tui_hist_draw(struct tui_canvas *c, struct tui_rect r, const struct tui_bins *b);

/* A meter of W columns, SHARE 0 … 1 of it full. */
void tui_meter(
	struct tui_canvas *c, struct tui_rect r, int x, int y, int w, unsigned style, double share);
