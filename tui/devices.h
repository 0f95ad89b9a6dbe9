/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of devices with their BARs, as lines that scroll with the cursor. Pure drawing. */
#pragma once

#include "tui/app.h"

/* Rows that the whole list would take with every device unfolded. */
int tui_devices_rows(const struct tui_app *a);
void tui_devices_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r);

/* A verdict's level as a light: a shape and a colour. */
struct tui_light {
	uint32_t glyph;
	unsigned style;
};
struct tui_light tui_level_light(const struct tui_glyphs *g, enum pcie_level l);
