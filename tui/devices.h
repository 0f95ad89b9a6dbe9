/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of devices with their BARs, as lines that scroll with the cursor. Pure drawing. */
#pragma once

#include "tui/app.h"

/* Rows that the whole list would take with every device unfolded. */
int tui_devices_rows(const struct tui_app *a);
void tui_devices_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r);
