/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares a canvas with tests/tui/golden/NAME.txt. With BARSCOPE_REWRITE=1 in the
 * environment the file is written in place of compared; the diff is then reviewed.
 */
#pragma once

#include <stdbool.h>

#include "tui/canvas.h"

/* False: they differ (both are printed to stderr), or the file is missing. */
bool golden_equal(const struct tui_canvas *c, const char *name);
