/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A canvas as an SVG picture, in the colours of a dark 256-colour terminal. Pure. */
#pragma once

#include "tui/canvas.h"

/* The caller frees it. */
char *tui_canvas_svg(const struct tui_canvas *c);
