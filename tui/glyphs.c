/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/glyphs.h"

#include <string.h>

#include "base/macros.h"

static const struct tui_glyphs ascii = {
	.set = TUI_ASCII,
	.name = "ASCII",
	.hline = '-',
	.vline = '|',
	.tl = '+',
	.tr = '+',
	.bl = '+',
	.br = '+',
	.tee_right = '|',
	.corner = '`',
	.trunk = '|',
	.tick_left = '|',
	.tick_down = '+',
	.dash = '-',
	.dots = '.',
	.good = '+',
	.note = '-',
	.bad = '!',
	.unsure = '?',
	.pointer = '>',
	.up = '^',
	.down = 'v',
	.left = '<',
	.right = '>',
	.above = '^',
	.running = '>',
	.paused = '=',
	.stopped = '#',
	.dead = 'X',
	.sep = '|',
	.ellipsis = '~',
	.half_up = '*',
	.half_down = '*',
	.full = '#',
	.meter = '=',
	.meter_rest = '-',
	.shade = {' ', '.', ':', '+', '#'},
	.eighth = {' ', '.', '.', ':', ':', '+', '+', '#', '#'},
};

static const struct tui_glyphs blocks = {
	.set = TUI_BLOCKS,
	.name = "blocks",
	.hline = 0x2500,
	.vline = 0x2502,
	.tl = 0x250c,
	.tr = 0x2510,
	.bl = 0x2514,
	.br = 0x2518,
	.tee_right = 0x251c,
	.corner = 0x2514,
	.trunk = 0x2502,
	.tick_left = 0x2524,
	.tick_down = 0x252c,
	.dash = '-',
	.dots = 0xb7,
	.good = 0x221a,
	.note = 0xb7,
	.bad = '!',
	.unsure = '?',
	.pointer = 0x25ba,
	.up = 0x25b2,
	.down = 0x25bc,
	.left = 0x25c4,
	.right = 0x25ba,
	.above = 0x25b2,
	.running = 0x25ba,
	.paused = '=',
	.stopped = 0x25a0,
	.dead = 'X',
	.sep = 0x2502,
	.ellipsis = '~',
	.half_up = 0x2580,
	.half_down = 0x2584,
	.full = 0x2588,
	.meter = '=',
	.meter_rest = 0x2500,
	.shade = {' ', 0x2591, 0x2592, 0x2593, 0x2588},
	.eighth = {' ', 0x2584, 0x2584, 0x2584, 0x2584, 0x2584, 0x2588, 0x2588, 0x2588},
};

static const struct tui_glyphs utf8_set = {
	.set = TUI_UTF8,
	.name = "UTF-8",
	.hline = 0x2500,
	.vline = 0x2502,
	.tl = 0x256d,
	.tr = 0x256e,
	.bl = 0x2570,
	.br = 0x256f,
	.tee_right = 0x251c,
	.corner = 0x2514,
	.trunk = 0x2502,
	.tick_left = 0x2524,
	.tick_down = 0x252c,
	.dash = 0x254c,
	.dots = 0xb7,
	.good = 0x2713,
	.note = 0x2022,
	.bad = 0x2717,
	.unsure = '?',
	.pointer = 0x25b8,
	.up = 0x25b4,
	.down = 0x25be,
	.left = 0x25c2,
	.right = 0x25b8,
	.above = 0x25b4,
	.running = 0x25b6,
	.paused = 0x2016,
	.stopped = 0x25a0,
	.dead = 0x2717,
	.sep = 0x2502,
	.ellipsis = 0x2026,
	.half_up = 0x2580,
	.half_down = 0x2584,
	.full = 0x2588,
	.meter = 0x2501,
	.meter_rest = 0x2500,
	.shade = {' ', 0x2591, 0x2592, 0x2593, 0x2588},
	.eighth = {' ', 0x2581, 0x2582, 0x2583, 0x2584, 0x2585, 0x2586, 0x2587, 0x2588},
};

const struct tui_glyphs *tui_glyphs(enum tui_charset set)
{
	return set == TUI_UTF8 ? &utf8_set : set == TUI_BLOCKS ? &blocks : &ascii;
}

enum tui_charset tui_charset_pick(bool ascii_wanted, bool utf8, const char *term)
{
	if (ascii_wanted || !utf8) {
		return TUI_ASCII;
	}
	/* The kernel's console speaks UTF-8, but its fonts have at most 512 glyphs. */
	if (term && (!strcmp(term, "linux") || !strncmp(term, "linux-", 6))) {
		return TUI_BLOCKS;
	}
	return TUI_UTF8;
}

/* Characters that barscope's own texts and device names use, and what can stand for them. */
static const struct {
	uint32_t ch;
	bool console; /* a PC console font has it */
	const char *ascii;
} stand_ins[] = {
	{0x00a0, true, " "},
	{0x00a9, false, "(c)"},
	{0x00ae, false, "(R)"},
	{0x00b0, true, "deg"},
	{0x00b1, true, "+-"},
	{0x00b2, true, "^2"},
	{0x00b5, true, "u"},
	{0x00b7, true, "-"},
	{0x00d7, false, "x"},
	{0x03a3, true, "sum"},
	{0x03bc, false, "u"},
	{0x2013, false, "-"},
	{0x2014, false, "-"},
	{0x2018, false, "'"},
	{0x2019, false, "'"},
	{0x201c, false, "\""},
	{0x201d, false, "\""},
	{0x2022, true, "*"},
	{0x2026, false, "..."},
	{0x2122, false, "(TM)"},
	{0x2190, true, "<-"},
	{0x2191, true, "^"},
	{0x2192, true, "->"},
	{0x2193, true, "v"},
	{0x2212, false, "-"},
	{0x221a, true, "sqrt"},
	{0x2248, true, "~"},
	{0x2260, false, "!="},
	{0x2264, true, "<="},
	{0x2265, true, ">="},
	{0x23ce, false, "Enter"},
};

/* What PC console fonts have in common beside Latin-1: the characters of code page 437. */
static bool on_console(uint32_t ch)
{
	return (ch >= 0xa0 && ch < 0x100) || (ch >= 0x2500 && ch <= 0x254b) ||
	       (ch >= 0x2580 && ch <= 0x2593 && (ch == 0x2580 || ch == 0x2584 || ch >= 0x2588)) ||
	       ch == 0x25a0 || ch == 0x221a || ch == 0x25b2 || ch == 0x25ba || ch == 0x25bc ||
	       ch == 0x25c4;
}

const char *tui_glyphs_instead(const struct tui_glyphs *g, uint32_t ch)
{
	if (ch < 0x80 || g->set == TUI_UTF8) {
		return NULL;
	}
	for (size_t i = 0; i < ARRAY_LEN(stand_ins); i++) {
		if (stand_ins[i].ch == ch) {
			return g->set == TUI_BLOCKS && stand_ins[i].console ? NULL
									    : stand_ins[i].ascii;
		}
	}
	return g->set == TUI_BLOCKS && on_console(ch) ? NULL : "?";
}
