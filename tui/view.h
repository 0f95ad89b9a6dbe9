/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A view: one way to look at the app. One file each; drawing is pure. */
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
};

/* In the order of their number keys, ended by NULL. */
const struct tui_view *const *tui_views(void);

extern const struct tui_view tui_view_overview;

void tui_help_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r);
