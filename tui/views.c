/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/view.h"

const struct tui_view *const *tui_views(void)
{
	static const struct tui_view *const views[] = {
		[TUI_VIEW_OVERVIEW] = &tui_view_overview,
		[TUI_VIEW_MACHINE] = &tui_view_machine,
		[TUI_VIEW_MAP] = &tui_view_map,
		[TUI_VIEW_VERDICTS] = &tui_view_verdicts,
		[TUI_VIEW_LATENCY] = &tui_view_latency,
		[TUI_VIEW_COMPARE] = &tui_view_compare,
		[TUI_VIEW_RUNS] = &tui_view_runs,
		[TUI_VIEW_DOCTOR] = &tui_view_doctor,
		NULL,
	};
	return views;
}
