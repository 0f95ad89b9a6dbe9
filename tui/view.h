/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A view: one way to look at the app. One file each. PREPARE may change the view's own state
 * in the app (scroll positions, what is costly to work out) and runs before each drawing;
 * DRAW is pure.
 */
#pragma once

#include "tui/app.h"

struct tui_hint {
	const char *key, *what;
};

struct tui_view {
	const char *name;
	void (*draw)(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r);
	/* True: the key was this view's. NULL: it has none of its own. */
	bool (*key_pressed)(struct tui_app *a, struct tui_input in);
	const struct tui_hint *hints; /* ended by a NULL key; most useful first */
	void (*prepare)(struct tui_app *a, const struct tui_canvas *c, struct tui_rect r);
	/* The view's list, for searching; NULL: it has none. */
	struct tui_list *(*list)(struct tui_app *a);
	size_t (*rows)(const struct tui_app *a);
	void (*row_text)(const struct tui_app *a, size_t i, char *buf, size_t size);
};

/* In the order of their number keys, ended by NULL. */
const struct tui_view *const *tui_views(void);

extern const struct tui_view tui_view_overview;
extern const struct tui_view tui_view_machine;
extern const struct tui_view tui_view_map;
extern const struct tui_view tui_view_verdicts;
extern const struct tui_view tui_view_latency;
extern const struct tui_view tui_view_compare;
extern const struct tui_view tui_view_runs;
extern const struct tui_view tui_view_doctor;

void tui_help_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r);

/* The part of the canvas between header and status line. */
struct tui_rect tui_body(const struct tui_canvas *c);
