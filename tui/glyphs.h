/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which characters this terminal can show: three sets, one table each. Drawing code
 * names a glyph by its meaning and never writes a character of its own. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum tui_charset {
	TUI_ASCII,  /* 7 bits */
	TUI_BLOCKS, /* what a PC console font has: lines, half blocks, shades */
	TUI_UTF8,   /* braille and eighth blocks too */
};

struct tui_glyphs {
	enum tui_charset set;
	const char *name;
	uint32_t hline, vline, tl, tr, bl, br; /* a panel's frame */
	uint32_t tee_right, corner, trunk;     /* a tree: "├", "└", "│" */
	uint32_t tick_left, tick_down;         /* axis ticks */
	uint32_t dash, dots;                   /* baseline's median; baseline's band */
	uint32_t good, note, bad, unsure;      /* verdict lights, told apart by shape */
	uint32_t pointer, up, down, left, right;
	uint32_t above; /* a value beyond the top of the axis */
	uint32_t running, paused, stopped, dead;
	uint32_t sep, ellipsis;
	uint32_t half_up, half_down, full;
	uint32_t shade[5];  /* nothing … solid */
	uint32_t eighth[9]; /* vertical bar of 0 … 8 eighths */
	uint32_t meter, meter_rest;
};

const struct tui_glyphs *tui_glyphs(enum tui_charset set);

/* The set for this terminal: UTF8 says what the locale's character set is. */
enum tui_charset tui_charset_pick(bool ascii_wanted, bool utf8, const char *term);

/* What stands for CH in this set: CH itself, or a short ASCII text (never NULL for CH >= 0x80 that
 * the set lacks: "?" at worst). NULL: CH is fine as it is. */
const char *tui_glyphs_instead(const struct tui_glyphs *g, uint32_t ch);
