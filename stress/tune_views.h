/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How rows may lie for `tune --misaligned`: the same memory seen a little behind, or with rows a
 * little shorter, K being eight columns fewer. In elements. Pure.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { TUNE_VIEW_FEWER = 8 };

struct tune_view {
	const char *name;
	uint32_t w, x, shorter;
};

/* The I-th; the first is the yardstick. NULL past the last. */
const struct tune_view *tune_view(size_t i);
