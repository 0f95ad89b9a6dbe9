/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Devices with their BARs above, latency below: the first thing one sees. */
#include <stdio.h>

#include "tui/devices.h"
#include "tui/figures.h"
#include "tui/latency.h"
#include "tui/view.h"

static struct tui_rect frame(
	struct tui_canvas *c, struct tui_rect r, const char *title, const char *remark)
{
	return tui_section(c, r, TUI_TITLE, title, remark);
}

static void draw_devices(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct tui_machine *m = &a->machine;
	char remark[80] = "";
	if (m->snapshot) {
		snprintf(remark, sizeof(remark), "%zu GPU%s, %zu device%s", m->survey->ngpu,
			m->survey->ngpu == 1 ? "" : "s", m->snapshot->ndev,
			m->snapshot->ndev == 1 ? "" : "s");
	}
	if (m->why.text[0] && m->snapshot) {
		snprintf(remark, sizeof(remark), "last reading failed");
	}
	tui_devices_draw(a, c, frame(c, r, "Devices", remark));
}

static void draw_overview(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	bool compact = r.h < 16 || r.w < 60;
	int want = tui_devices_rows(a) + 1;
	int devices = compact ? MAX(r.h / 3, 3) : MIN(MAX(want, 4), MAX(r.h / 3 - 1, 6));
	draw_devices(a, c, tui_take_top(&r, devices));
	if (compact) {
		struct tui_rect line = tui_take_bottom(&r, 1);
		tui_latency_draw(a, c, r, false);
		tui_figures_line(a, c, line);
		return;
	}
	struct tui_rect bottom = tui_take_bottom(&r, MIN(MAX(r.h * 2 / 5, 6), 10));
	tui_latency_draw(a, c, r, true);
	struct tui_rect right = tui_take_right(&bottom, MIN(MAX(bottom.w * 2 / 5, 38), 48));
	tui_histogram_draw(a, c, bottom);
	tui_figures_draw(a, c, tui_inset(frame(c, right, "Figures", NULL), 2, 0));
}

static bool overview_key(struct tui_app *a, struct tui_input in)
{
	return tui_list_key(&a->devices, tui_machine_listed(&a->machine), in);
}

static const struct tui_hint hints[] = {
	{"↑↓", "device"},
	{"+-", "window"},
	{"b", "baseline"},
	{"l", "log scale"},
	{"r", "read again"},
	{NULL, NULL},
};

const struct tui_view tui_view_overview = {
	.name = "Overview",
	.draw = draw_overview,
	.key_pressed = overview_key,
	.hints = hints,
};
