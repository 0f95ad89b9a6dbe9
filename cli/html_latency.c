/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pictures of latencies: both distributions, both tails. */
#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/chart.h"
#include "cli/html.h"
#include "cli/print_runs.h"

static const char *const colour[2] = {"ca", "cb"}, *const letter[2] = {"A", "B"};

/* The range that holds nearly all launches of both sides, with some air; ns. */
static struct tui_scale range_of(const struct cmd_page *p, double low, double high)
{
	double lo = INFINITY, hi = 0;
	for (int i = 0; i < 2; i++) {
		lo = fmin(lo, (double)runs_hist_quantile(&p->trace[i].hist, low));
		hi = fmax(hi, (double)runs_hist_quantile(&p->trace[i].hist, high));
	}
	lo = fmax(lo, 1);
	hi = fmax(hi, lo);
	/* A steady machine shall look steady: never less than 6 % in all. */
	double air = fmax(0.04 * log(hi / lo), (0.06 - log(hi / lo)) / 2);
	return (struct tui_scale){.lo = lo * exp(-air), .hi = hi * exp(air), .log = true};
}

/*
 * The share of H's launches in each of N steps of S, per 1 % of latency. A bucket is spread over
 * its width.
 */
static void density(const struct runs_hist *h, const struct tui_scale *s, size_t n, double *ret)
{
	double step = log(s->hi / s->lo) / (double)n;
	for (uint32_t i = 0; i < h->n; i++) {
		uint64_t width, edge = runs_hist_edge(h->bits, h->lo + i, &width);
		if (!h->count[i]) {
			continue;
		}
		/* A bucket of one ns holds what was rounded to it. */
		double from = log(fmax((double)edge - 0.5, 0.5) / s->lo) / step;
		double to = log(((double)(edge + width) - 0.5) / s->lo) / step;
		double each = (double)h->count[i] / (double)h->total / (to - from);
		for (double k = fmax(floor(from), 0); k < fmin(to, (double)n); k++) {
			ret[(size_t)k] +=
				each * (fmin(to, k + 1) - fmax(from, k)) / step * log(1.01);
		}
	}
}

/* One half of the picture: a filled outline from MID, and what it says. */
static void draw_half(struct text *t, const struct cmd_page *p, int side, const double *v, size_t n,
	const struct cmd_axis *x, const struct cmd_axis *y)
{
	const struct runs_hist *h = &p->trace[side].hist;
	double w = (x->to - x->from) / (double)n, sign = side ? -1 : 1;
	text_addf(t, "<path class=\"f%c\" d=\"M%.1f %.1f", "ab"[side], x -> from, y -> from);
	for (size_t i = 0; i < n; i++) {
		text_addf(
			t, "V%.1fH%.1f", cmd_axis_at(y, 100 * v[i]), x->from + w * (double)(i + 1));
	}
	text_addf(t, "V%.1fZ\"/>\n", y->from);
	/* p5 to p95 as a bar beside the middle line, p50 across the half. */
	double at = y->from - sign * 5;
	double p5 = cmd_axis_at(x, (double)runs_hist_quantile(h, 0.05));
	double p95 = cmd_axis_at(x, (double)runs_hist_quantile(h, 0.95));
	double p50 = cmd_axis_at(x, (double)runs_hist_quantile(h, 0.5));
	cmd_chart_line(t, p5, at, p95, at, side ? "rb" : "ra");
	cmd_chart_line(t, p50, y->from, p50, y->to, side ? "lb" : "la");
	char ns[TEXT_TIME_MAX], band[CMD_WHEN_MAX];
	bool left = p50 < (x->from + x->to) / 2;
	cmd_chart_text(t, left ? x->to - 4 : x->from + 4, side ? y->to - 6 : y->to + 12,
		colour[side], left ? 'e' : 's', "%s: p50 %s ±%s", letter[side],
		text_ns(runs_hist_quantile(h, 0.5), ns), cmd_percent(runs_hist_band(h), band));
}

void cmd_html_distribution(struct text *t, const struct cmd_page *p, int w)
{
	double mid = w == CMD_WIDE ? 142 : 132, half = mid - 24, h = 2 * mid - 24 + 34;
	struct cmd_axis x = {.scale = range_of(p, 0.001, 0.995), .from = 44, .to = w - 8.0};
	unsigned bits = p->trace[0].hist.bits < p->trace[1].hist.bits ? p->trace[0].hist.bits
								      : p->trace[1].hist.bits;
	/* No step is narrower than a bucket. */
	double finest = floor(log(x.scale.hi / x.scale.lo) * (double)(1u << bits));
	size_t n = (size_t)fmax(fmin((x.to - x.from) / 4, finest), 8);
	_cleanup_free_ double *v = xcalloc(2 * n, sizeof(*v));
	double top = 0;
	for (size_t i = 0; i < 2 * n; i++) {
		if (i % n == 0) {
			density(&p->trace[i / n].hist, &x.scale, n, v + i);
		}
		top = fmax(top, v[i]);
	}
	cmd_chart_begin(t, w, (int)h, "Distribution of the latency, A upwards and B downwards");
	for (int side = 0; side < 2; side++) {
		/* The lower half leaves the zero to the upper one. */
		struct cmd_axis y = {.scale = {.lo = side ? 1e-6 * top : 0, .hi = 125 * top},
			.from = mid,
			.to = side ? mid + half : mid - half,
			.unit = "%"};
		cmd_chart_axis_y(t, &y, x.from, x.to, side ? "" : "launches per 1 % of latency");
		if (!side) {
			cmd_chart_axis_x(t, &x, mid + half, mid - half, "latency");
		}
		draw_half(t, p, side, v + (size_t)side * n, n, &x, &y);
	}
	cmd_chart_line(t, x.from, mid, x.to, mid, "axis");
	cmd_chart_end(t);
}

/* The share of H's launches at or above each latency, down to a single one. */
static void draw_tail(struct text *t, const struct runs_hist *h, int side, const struct cmd_axis *x,
	const struct cmd_axis *y)
{
	double px = x->from, last = y->to;
	text_addf(t, "<path class=\"l%c\" d=\"M%.1f %.1f", "ab"[side], px, last);
	for (; px <= x->to; px += 2) {
		double v = tui_scale_value(&x->scale, (px - x->from) / (x->to - x->from));
		uint64_t above = runs_hist_above(h, (uint64_t)ceil(v));
		if (!above) {
			break;
		}
		last = cmd_axis_at(y, 100 * (double)above / (double)h->total);
		text_addf(t, "H%.1fV%.1f", px, last);
	}
	text_addf(t, "V%.1f\"/>\n", y->from);
	char ns[TEXT_TIME_MAX];
	cmd_chart_text(t, x->to - 4, y->to + 14 + 15 * side, colour[side], 'e', "%s: max %s",
		letter[side], text_ns(h->max, ns));
}

void cmd_html_tail(struct text *t, const struct cmd_page *p, int w)
{
	double h = w == CMD_WIDE ? 294 : 274;
	uint64_t most = MAX(p->trace[0].hist.total, p->trace[1].hist.total);
	int decades = (int)fmin(ceil(log10(fmax((double)most, 10))), 9);
	struct cmd_axis x = {.scale = range_of(p, 0.01, 1), .from = 52, .to = w - 8.0};
	struct cmd_axis y = {.scale = {.lo = 100 * pow(10, -decades), .hi = 100, .log = true},
		.from = h - 34,
		.to = 24};
	cmd_chart_begin(
		t, w, (int)h, "Share of launches that took longer, on two logarithmic axes");
	for (int k = 0; k <= decades; k++) {
		double v = 100 * pow(10, -k), at = cmd_axis_at(&y, v);
		cmd_chart_line(t, x.from, at, x.to, at, "grid");
		cmd_chart_text(t, x.from - 5, at + 4, "tick", 'e', "%.*f", k > 2 ? k - 2 : 0, v);
	}
	cmd_chart_text(t, 2, 14, "name", 's', "launches that took at least this long, %%");
	cmd_chart_axis_x(t, &x, y.from, y.to, "latency");
	draw_tail(t, &p->trace[0].hist, 0, &x, &y);
	draw_tail(t, &p->trace[1].hist, 1, &x, &y);
	cmd_chart_end(t);
}
