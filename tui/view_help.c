/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keys, and how to read the plot. */
#include "tui/chrome.h"
#include "tui/view.h"

static const struct tui_hint keys[] = {
	{"s", "start or stop the stress"},
	{"p", "pause, go on (also space)"},
	{"↑ ↓", "choose a device (also k j)"},
	{"+ -", "shorter, longer window"},
	{"b", "what is shown becomes the baseline"},
	{"l", "linear or logarithmic axis"},
	{"r", "read the machine again"},
	{"Ctrl-L", "draw the screen anew"},
	{"Ctrl-Z", "suspend; fg comes back"},
	{"?", "this help (also h)"},
	{"q", "quit"},
};

static const char *const reading[] = {
	"The bright line is the median of each column, the strip around it holds the 5th to "
	"the 95th percentile, single dots are the worst launch, an arrow at the top one "
	"beyond the axis.",
	"Band is (p95 - p5) / 2 / p50 of the window. Floor is the time that the bytes of one "
	"launch take at the measured read ceiling; the rate's share of that ceiling says how "
	"close the GEMM comes.",
};

void tui_help_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	(void)a;
	struct tui_rect k = tui_inset(tui_section(c, r, TUI_TITLE, "Keys", NULL), 2, 0);
	int n = (int)ARRAY_LEN(keys), y = 0;
	/* Two columns where one does not fit. */
	int cols = n > k.h && k.w >= 60 ? 2 : 1;
	int rows = (n + cols - 1) / cols;
	for (int i = 0; i < n; i++) {
		int x = (i / rows) * (k.w / cols);
		tui_text(c, k, x, i % rows, TUI_KEY, keys[i].key);
		tui_text_fit(c, k, x + 8, i % rows, k.w / cols - 9, TUI_TEXT, keys[i].what);
	}
	y = rows + 1;
	for (size_t i = 0; i < ARRAY_LEN(reading) && y < k.h; i++) {
		struct tui_rect text = {k.x, k.y, MIN(k.w, 76), k.h};
		y += tui_text_wrap(c, text, y, TUI_FAINT, reading[i]) + 1;
	}
}

static const struct tui_view *const views[] = {&tui_view_overview, NULL};

const struct tui_view *const *tui_views(void)
{
	return views;
}
