/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From values to places on an axis: range, linear or logarithmic, ticks on round
 * numbers with labels in one unit. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tui_scale {
	double lo, hi; /* ns; 0 < lo < hi when logarithmic */
	bool log;
};

/* Where V lies, 0 at lo and 1 at hi; not clamped. */
double tui_scale_share(const struct tui_scale *s, double v);
/* The value at SHARE. */
double tui_scale_value(const struct tui_scale *s, double share);

enum { TUI_TICKS = 16, TUI_TICK_LABEL = 16 };

struct tui_ticks {
	size_t n;
	struct {
		double v;
		char label[TUI_TICK_LABEL]; /* "21.5"; over decades with its unit, "200 µs" */
	} at[TUI_TICKS];
	const char *unit; /* "ns", "µs", "ms", "s" of labels that have none; "" */
};

/* At most MAX ticks (at least 2 are tried for) on round values inside S. */
void tui_scale_ticks(const struct tui_scale *s, size_t max, struct tui_ticks *ret);

/*
 * The range to show for values that lie mostly in [LO, HI] (a window's low and high
 * percentile) around MID: some air, never narrower than 6 % of MID so that a
 * steady machine looks steady, ends on round values. A *S that still fits well
 * is kept, so that the axis is calm: it grows at once and shrinks only when less than
 * half of it is used. MAY_SHRINK false: only grow.
 */
void tui_scale_fit(struct tui_scale *s, double lo, double mid, double hi, bool may_shrink);
