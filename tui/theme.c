/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/theme.h"

#include "tui/canvas.h"

enum { BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE, BRIGHT = 8 };

/*
 * 256 colours: tones of middle lightness, readable on black and on white. Blue and
 * orange carry the meaning (median against spike, good against bad).
 */
static const struct {
	struct tui_look many, few, none;
} looks[TUI_ROLES] = {
	[TUI_TEXT] = {{-1, 0}, {-1, 0}, {-1, 0}},
	[TUI_STRONG] = {{-1, TUI_BOLD}, {-1, TUI_BOLD}, {-1, TUI_BOLD}},
	[TUI_FAINT] = {{245, 0}, {-1, TUI_DIM}, {-1, TUI_DIM}},
	[TUI_FRAME] = {{240, 0}, {BLUE, 0}, {-1, TUI_DIM}},
	[TUI_TITLE] = {{110, TUI_BOLD}, {CYAN, TUI_BOLD}, {-1, TUI_BOLD}},
	[TUI_KEY] = {{110, TUI_BOLD}, {CYAN, TUI_BOLD}, {-1, TUI_BOLD}},
	[TUI_GOOD] = {{73, 0}, {CYAN, 0}, {-1, 0}},
	[TUI_NOTE] = {{178, 0}, {YELLOW, 0}, {-1, 0}},
	[TUI_BAD] = {{208, TUI_BOLD}, {RED, TUI_BOLD}, {-1, TUI_BOLD}},
	[TUI_UNSURE] = {{245, 0}, {MAGENTA, 0}, {-1, TUI_DIM}},
	[TUI_MEDIAN] = {{81, TUI_BOLD}, {CYAN, TUI_BOLD}, {-1, TUI_BOLD}},
	[TUI_STRIP] = {{31, 0}, {BLUE, 0}, {-1, 0}},
	[TUI_SPIKE] = {{208, 0}, {YELLOW, 0}, {-1, 0}},
	[TUI_BASELINE] = {{179, 0}, {YELLOW, 0}, {-1, TUI_DIM}},
	[TUI_BASELINE_DOTS] = {{238, 0}, {-1, TUI_DIM}, {-1, TUI_DIM}},
	[TUI_BAR] = {{67, 0}, {BLUE, 0}, {-1, 0}},
	[TUI_BAR2] = {{179, 0}, {YELLOW, 0}, {-1, TUI_DIM}},
	[TUI_EVENT] = {{208, 0}, {YELLOW, TUI_BOLD}, {-1, TUI_BOLD}},
	[TUI_HEAT1] = {{24, 0}, {BLUE, 0}, {-1, TUI_DIM}},
	[TUI_HEAT2] = {{31, 0}, {BLUE, 0}, {-1, 0}},
	[TUI_HEAT3] = {{38, 0}, {CYAN, 0}, {-1, 0}},
	[TUI_HEAT4] = {{80, 0}, {CYAN, TUI_BOLD}, {-1, TUI_BOLD}},
	[TUI_HEAT5] = {{159, 0}, {WHITE, TUI_BOLD}, {-1, TUI_BOLD}},
	[TUI_LAYER1] = {{179, 0}, {YELLOW, 0}, {-1, 0}},
	[TUI_LAYER2] = {{74, 0}, {CYAN, 0}, {-1, TUI_BOLD}},
	[TUI_LAYER3] = {{139, 0}, {MAGENTA, 0}, {-1, TUI_DIM}},
	[TUI_DEMO] = {{208, TUI_BOLD}, {YELLOW, TUI_BOLD}, {-1, TUI_BOLD | TUI_REVERSE}},
};

static const struct {
	struct tui_ground many, few, none;
} grounds[TUI_BGS] = {
	[TUI_BG_NONE] = {{-1, 0}, {-1, 0}, {-1, 0}},
	[TUI_BG_SELECTED] = {{238, 0}, {-1, TUI_REVERSE}, {-1, TUI_REVERSE}},
	[TUI_BG_BASELINE] = {{236, 0}, {-1, 0}, {-1, 0}},
	[TUI_BG_BAR] = {{236, 0}, {-1, 0}, {-1, 0}},
	[TUI_BG_ALERT] = {{130, 0}, {RED, 0}, {-1, TUI_REVERSE}},
};

struct tui_look tui_theme_look(enum tui_colours n, enum tui_role role)
{
	return n == TUI_256 ? looks[role].many : n == TUI_16 ? looks[role].few : looks[role].none;
}

struct tui_ground tui_theme_ground(enum tui_colours n, enum tui_bg bg)
{
	return n == TUI_256 ? grounds[bg].many : n == TUI_16 ? grounds[bg].few : grounds[bg].none;
}
