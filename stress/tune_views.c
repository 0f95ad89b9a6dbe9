/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stress/tune_views.h"

#include "base/macros.h"

const struct tune_view *tune_view(size_t i)
{
	static const struct tune_view views[] = {
		{"aligned", 0, 0, 0},
		{"W 1 element on", 1, 0, 0},
		{"W 4 elements on", 4, 0, 0},
		{"x 1 element on", 0, 1, 0},
		{"rows of W 1 shorter", 0, 0, 1},
		{"rows of W 4 shorter", 0, 0, 4},
		{"all of these", 1, 1, 1},
	};

	return i < ARRAY_LEN(views) ? &views[i] : NULL;
}
