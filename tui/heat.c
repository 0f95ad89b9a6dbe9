/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/heat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "tui/plot.h"

void tui_heat_finish(struct tui_heat *h)
{
	free(h->count);
	free(h->total);
	*h = (struct tui_heat){0};
}

static void make_room(struct tui_heat *h, int cols, int rows)
{
	size_t need = (size_t)cols * (size_t)(rows + 1);
	if (need > h->cap) {
		h->count = xreallocarray(h->count, need, sizeof(*h->count));
		h->total = xreallocarray(h->total, need, sizeof(*h->total));
		h->cap = need;
	}
	h->cols = cols;
	h->rows = rows;
	memset(h->count, 0, (size_t)cols * (size_t)rows * sizeof(*h->count));
	memset(h->total, 0, (size_t)cols * sizeof(*h->total));
}

static void fill_column(struct tui_heat *h, int x, const struct runs_hist *k)
{
	for (uint32_t i = 0; i < k->n; i++) {
		if (!k->count[i]) {
			continue;
		}
		uint64_t width, edge = runs_hist_edge(k->bits, k->lo + i, &width);
		double share = tui_scale_share(&h->y, (double)edge + (double)width / 2);
		int row = h->rows - 1 - (int)floor(share * h->rows);
		row = MAX(MIN(row, h->rows - 1), 0);
		h->count[(size_t)row * (size_t)h->cols + (size_t)x] += (uint32_t)k->count[i];
		h->total[x] += (uint32_t)k->count[i];
	}
}

void tui_heat_fill(struct tui_heat *h, const struct runs_series *s, const struct runs_hist *whole,
	uint64_t end_ns, uint64_t cell_ns, int cols, int rows)
{
	if (cols < 1 || rows < 1) {
		h->cols = 0;
		return;
	}
	make_room(h, cols, rows);
	if (whole->total == 0) {
		return;
	}
	h->y.log = true;
	tui_scale_fit(&h->y, (double)whole->min, (double)runs_hist_quantile(whole, 0.5),
		(double)whole->max, true);
	struct runs_hist k;
	runs_hist_init(&k, RUNS_HIST_1PCT);
	for (int x = 0; x < cols; x++) {
		uint64_t back = (uint64_t)(cols - x) * cell_ns;
		if (back > end_ns) {
			continue;
		}
		runs_hist_reset(&k);
		runs_series_hist(s, end_ns - back, end_ns - back + cell_ns, &k);
		fill_column(h, x, &k);
	}
	runs_hist_finish(&k);
}

static int level_of(double share)
{
	return share >= 0.5 ? 5 : share >= 0.25 ? 4 : share >= 0.1 ? 3 : share >= 0.02 ? 2 : 1;
}

void tui_heat_draw(struct tui_canvas *c, struct tui_rect r, const struct tui_heat *h)
{
	const struct tui_glyphs *g = c->glyphs;
	static const unsigned styles[] = {0, TUI_HEAT1, TUI_HEAT2, TUI_HEAT3, TUI_HEAT4, TUI_HEAT5};
	const uint32_t glyphs[] = {
		' ', g->dots, g->shade[1], g->shade[2], g->shade[3], g->shade[4]};
	int rows = MIN(h->rows, r.h);
	if (h->cols < 1 || !(h->y.hi > h->y.lo)) {
		return;
	}
	tui_y_axis_draw(c, (struct tui_rect){r.x, r.y, r.w, rows}, &h->y);
	for (int y = 0; y < rows; y++) {
		for (int x = 0; x < h->cols; x++) {
			uint32_t n = h->count[(size_t)y * (size_t)h->cols + (size_t)x];
			if (n) {
				int level = level_of((double)n / h->total[x]);
				tui_put(c, r, TUI_PLOT_GUTTER + x, y, styles[level], glyphs[level]);
			}
		}
	}
}
