/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runs/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

enum { GRID = 400 };
static const double least_share = 0.05, valley_depth = 0.6;
static const uint64_t least_n = 200;
static const double smooth_n = 2000; /* more values sharpen nothing: neighbours are alike */

/* Values per step of ln(value) between LOW and HIGH; a bucket is spread over its width. */
static void bin(const struct runs_hist *h, double low, double step, double grid[static GRID])
{
	memset(grid, 0, GRID * sizeof(*grid));
	for (uint32_t i = 0; i < h->n; i++) {
		if (!h->count[i]) {
			continue;
		}
		uint64_t width, edge = runs_hist_edge(h->bits, h->lo + i, &width);
		double a = (log(fmax(1, (double)edge)) - low) / step;
		double b = (log(fmax(1, (double)edge + (double)width)) - low) / step;
		double part = (double)h->count[i] / fmax(b - a, 1e-12);
		int from = (int)fmax(0, floor(a)), to = (int)fmin(GRID - 1, floor(b));
		for (int k = from; k <= to; k++) {
			double over = fmin(b, k + 1) - fmax(a, k);
			grid[k] += over > 0 ? part * over : 0;
		}
	}
}

static void smooth(double grid[static GRID], double sd)
{
	double out[GRID], weight[GRID];
	int reach = (int)fmin(GRID - 1, ceil(3 * sd));
	for (int d = 0; d <= reach; d++) {
		weight[d] = exp(-0.5 * d * d / (sd * sd));
	}
	for (int i = 0; i < GRID; i++) {
		double sum = 0, all = 0;
		int from = MAX(i - reach, 0), to = MIN(i + reach, GRID - 1);
		for (int k = from; k <= to; k++) {
			double w = weight[abs(k - i)];
			sum += w * grid[k];
			all += w;
		}
		out[i] = sum / all;
	}
	memcpy(grid, out, sizeof(out));
}

/*
 * Keeps, out of all local peaks, those with deep valleys between them: the shallowest valley
 * is filled first (its lower peak goes), until every valley is deep enough and at most MAX are
 * left. VALLEY(i) lies behind PEAK(i). Returns their number.
 */
static int merge(const double *g, int *peak, int *valley, int n)
{
	while (n > 1) {
		int worst = -1;
		double shallow = 0;
		for (int i = 0; i + 1 < n; i++) {
			double lower = fmin(g[peak[i]], g[peak[i + 1]]);
			double depth = lower > 0 ? g[valley[i]] / lower : 1;
			if (depth > shallow) {
				shallow = depth;
				worst = i;
			}
		}
		if (worst < 0 || (shallow < valley_depth && n <= RUNS_MODES_MAX)) {
			break;
		}
		if (g[peak[worst]] < g[peak[worst + 1]]) {
			peak[worst] = peak[worst + 1];
		}
		for (int i = worst + 1; i + 1 < n; i++) {
			peak[i] = peak[i + 1];
		}
		for (int i = worst; i + 2 < n; i++) {
			valley[i] = valley[i + 1];
		}
		n--;
	}
	return n;
}

static int peaks(const double *g, int *peak, int *valley)
{
	int n = 0, low = 0;
	for (int i = 0; i < GRID; i++) {
		bool up = i == 0 || g[i] > g[i - 1], down = i == GRID - 1 || g[i] >= g[i + 1];
		if (g[i] < g[low]) {
			low = i;
		}
		if (up && down && g[i] > 0) {
			if (n) {
				valley[n - 1] = low;
			}
			peak[n++] = low = i;
		}
	}
	return n;
}

size_t runs_modes_of(const struct runs_modes *m, uint64_t ns)
{
	size_t k = 0;
	while (k + 1 < m->n && ns >= m->valley[k]) {
		k++;
	}
	return k;
}

static double share_between(const struct runs_hist *h, uint64_t from, uint64_t to)
{
	uint64_t n = runs_hist_above(h, from) - (to == UINT64_MAX ? 0 : runs_hist_above(h, to));
	return (double)n / (double)h->total;
}

void runs_modes_find(const struct runs_hist *h, struct runs_modes *ret)
{
	*ret = (struct runs_modes){0};
	if (h->total < least_n) {
		return;
	}
	ret->n = 1;
	ret->peak[0] = runs_hist_quantile(h, 0.5);
	ret->share[0] = 1;
	double low = log(fmax(1, (double)runs_hist_quantile(h, 0.005)));
	double high = log(fmax(1, (double)runs_hist_quantile(h, 0.995)));
	double margin = (high - low) / 20 + 1e-3;
	low -= margin;
	high += margin;
	double step = (high - low) / GRID, grid[GRID];
	bin(h, low, step, grid);
	/* Half of Silverman's width: two modes make his much too wide. Never finer than a bucket.
	 */
	double iqr = log((double)runs_hist_quantile(h, 0.75) + 1) -
		     log((double)runs_hist_quantile(h, 0.25) + 1);
	double width = fmax(0.45 * iqr / 1.34 * 2 * pow(fmin((double)h->total, smooth_n), -0.2),
		1.0 / (1u << h->bits));
	smooth(grid, fmin(fmax(width / step, 1.5), GRID / 8.0));

	int peak[GRID], valley[GRID];
	int n = merge(grid, peak, valley, peaks(grid, peak, valley));
	/* Peaks with too few values join their deeper side, which is the nearer one. */
	for (bool again = true; again && n > 1;) {
		again = false;
		for (int i = 0; i < n; i++) {
			uint64_t from = i ? (uint64_t)exp(low + step * (valley[i - 1] + 0.5)) : 0;
			uint64_t to = i + 1 < n ? (uint64_t)exp(low + step * (valley[i] + 0.5))
						: UINT64_MAX;
			if (share_between(h, from, to) >= least_share) {
				continue;
			}
			int left = i && (i + 1 == n || grid[valley[i - 1]] > grid[valley[i]]);
			int drop_valley = left ? i - 1 : i;
			for (int k = i; k + 1 < n; k++) {
				peak[k] = peak[k + 1];
			}
			for (int k = drop_valley; k + 2 < n; k++) {
				valley[k] = valley[k + 1];
			}
			n--;
			again = true;
			break;
		}
	}
	n = MIN(n, RUNS_MODES_MAX);
	ret->n = (size_t)n;
	for (int i = 0; i < n; i++) {
		ret->peak[i] = (uint64_t)exp(low + step * (peak[i] + 0.5));
		if (i + 1 < n) {
			ret->valley[i] = (uint64_t)exp(low + step * (valley[i] + 0.5));
		}
	}
	for (int i = 0; i < n; i++) {
		ret->share[i] = share_between(
			h, i ? ret->valley[i - 1] : 0, i + 1 < n ? ret->valley[i] : UINT64_MAX);
	}
}
