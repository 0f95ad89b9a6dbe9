/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The window of time on the screen: which columns, which figures, which axis. Columns
 * stand on multiples of their width, so that a moving plot shifts and does not shimmer, and
 * only the newest ones are computed again. Figures change twice a second: a person reads
 * them. Pure in time: what is now comes as an argument.
 */
#pragma once

#include "tui/app.h"

void tui_window_init(struct tui_window *w);
void tui_window_finish(struct tui_window *w);
/* Another run or layer: nothing of before is shown. */
void tui_window_forget(struct tui_window *w);

/* STEP 1: a longer window, -1: a shorter one. */
void tui_window_zoom(struct tui_window *w, int step);
/* Linear or logarithmic axis. */
void tui_window_log(struct tui_window *w);
/* Stands still, or follows the present again. */
void tui_window_freeze(struct tui_window *w, bool freeze);
/* Freezes with the cursor on the column of T_NS, moving there when it is out of sight. */
void tui_window_seek(
	struct tui_window *w, uint64_t t_ns, const struct tui_live *live, enum tui_layer layer);
/* Half a window back (STEP -1) or forth, within what is kept. */
void tui_window_scroll(
	struct tui_window *w, int step, const struct tui_live *live, enum tui_layer layer);
/* The window's nominal width, and its name: "60 s". */
uint64_t tui_window_ns(const struct tui_window *w);
const char *tui_window_name(const struct tui_window *w);

/* BAND: the baseline, for which the axis makes room. */
void tui_window_update(struct tui_window *w, const struct tui_live *live, enum tui_layer layer,
	const struct tui_band *band, uint64_t now_ns, size_t ncolumn);
