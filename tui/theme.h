/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Colour roles: drawing code says what a thing is, the theme what that looks like
 * on a terminal of 256, 16 or no colours. The palette keeps to hues that the common
 * forms of colour blindness tell apart (blue, orange, and differences of lightness),
 * and nothing is said by colour alone: each role has a glyph, a word or a place too.
 * Pure tables.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum tui_role {
	TUI_TEXT,
	TUI_STRONG, /* figures, names */
	TUI_FAINT,  /* labels, units, what steps back */
	TUI_FRAME,
	TUI_TITLE,
	TUI_KEY, /* a key in a hint */
	TUI_GOOD,
	TUI_NOTE,
	TUI_BAD,
	TUI_UNSURE,
	TUI_MEDIAN, /* plot: the median's line */
	TUI_STRIP,  /* plot: 5th to 95th percentile */
	TUI_SPIKE,  /* plot: the worst of a column */
	TUI_BASELINE,
	TUI_BASELINE_DOTS, /* its field, where backgrounds have no colours */
	TUI_BAR,           /* histogram and meters */
	TUI_BAR2,
	TUI_EVENT,
	TUI_HEAT1, /* heat map, rising */
	TUI_HEAT2,
	TUI_HEAT3,
	TUI_HEAT4,
	TUI_HEAT5,
	TUI_LAYER1, /* launch, device, notify */
	TUI_LAYER2,
	TUI_LAYER3,
	TUI_DEMO,
	TUI_ROLES,
};

enum tui_bg {
	TUI_BG_NONE,     /* the terminal's own */
	TUI_BG_SELECTED, /* the row a cursor is on */
	TUI_BG_BASELINE, /* behind the live line */
	TUI_BG_BAR,      /* header line */
	TUI_BG_ALERT,
	TUI_BGS,
};

enum tui_colours { TUI_MONO, TUI_16, TUI_256 };

/* -1: the terminal's default colour. ATTR: TUI_BOLD … of canvas.h. */
struct tui_look {
	int16_t fg;
	uint16_t attr;
};
struct tui_ground {
	int16_t bg;
	uint16_t attr; /* without colours: reverse, … */
};

struct tui_look tui_theme_look(enum tui_colours n, enum tui_role role);
struct tui_ground tui_theme_ground(enum tui_colours n, enum tui_bg bg);
