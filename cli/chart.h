/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces of a drawing: SVG inside an HTML page, in pixels of its view box. Colours come from the
 * page's style sheet by class. Text that others wrote goes through cmd_html_text. Pure.
 */
#pragma once

#include "base/macros.h"
#include "base/text.h"
#include "tui/scale.h"

/* Adds S with what means something to HTML escaped, and what no text may hold replaced. */
void cmd_html_text(struct text *t, const char *s);
/* The same of a formatted string of at most 511 bytes. */
void cmd_html_textf(struct text *t, const char *fmt, ...) PRINTF(2, 3);

/* Values to pixels: SCALE's low end lies at FROM, its high end at TO. */
struct cmd_axis {
	struct tui_scale scale;
	double from, to;
	const char *unit; /* of the values; NULL: they are ns, and labels are in what suits them */
};

/* The pixel of V; what lies outside the scale comes to its end. */
double cmd_axis_at(const struct cmd_axis *a, double v);

/* What begins a picture of W by H; LABEL says what it shows. cmd_chart_end ends it. */
void cmd_chart_begin(struct text *t, int w, int h, const char *label);
void cmd_chart_end(struct text *t);

/* ANCHOR: 's' at its left end, 'm' in its middle, 'e' at its right end. */
void cmd_chart_text(struct text *t, double x, double y, const char *class, char anchor,
	const char *fmt, ...) PRINTF(6, 7);
void cmd_chart_line(struct text *t, double x1, double y1, double x2, double y2, const char *class);
/* TITLE: what the pointer over it is told; NULL: nothing. */
void cmd_chart_rect(struct text *t, double x, double y, double w, double h, const char *class,
	const char *title);

/* A round or square mark of side A or B, so that colour is not all that tells them apart. */
void cmd_chart_mark(struct text *t, int side, double x, double y, const char *title);

/*
 * A horizontal axis at Y with grid lines up to TOP, its unit behind NAME; a vertical one at X with
 * grid lines to RIGHT, its name above.
 */
void cmd_chart_axis_x(
	struct text *t, const struct cmd_axis *a, double y, double top, const char *name);
void cmd_chart_axis_y(
	struct text *t, const struct cmd_axis *a, double x, double right, const char *name);
