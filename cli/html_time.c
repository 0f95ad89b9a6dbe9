/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The picture of both sides over time: a strip, its median, the slowest, and events beneath. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "cli/chart.h"
#include "cli/html.h"

enum { LANES = 8, PANEL = 118, LANE = 13, GAP = 6, LEFT = 78 };

/* What the lanes beneath are: slow episodes, then the sources with most events. */
struct lanes {
	char name[LANES][24];
	size_t n, left_out; /* sources that found no lane */
};

struct source {
	char name[24];
	size_t n;
};

static int by_count(const void *x, const void *y)
{
	const struct source *a = x, *b = y;
	return a->n < b->n ? 1 : a->n > b->n ? -1 : strcmp(a->name, b->name);
}

static void count(struct source **list, size_t *n, size_t *cap, const struct runs_trace *r)
{
	for (size_t i = 0; i < r->nevent; i++) {
		size_t k = 0;
		while (k < *n && strcmp((*list)[k].name, r->event[i].source) != 0) {
			k++;
		}
		if (k == *n) {
			*list = xgrow(*list, *n, cap, sizeof(**list));
			(*list)[k] = (struct source){0};
			text_copy((*list)[k].name, sizeof((*list)[k].name), r->event[i].source);
			++*n;
		}
		(*list)[k].n++;
	}
}

static struct lanes lanes_of(const struct cmd_page *p)
{
	_cleanup_free_ struct source *list = NULL;
	size_t n = 0, cap = 0, episodes = 0;
	for (int side = 0; side < 2; side++) {
		for (size_t i = 0; i < p->trace[side].n; i++) {
			count(&list, &n, &cap, &p->trace[side].run[i]);
			episodes += p->trace[side].run[i].nepisode;
		}
	}
	struct lanes l = {0};
	if (episodes) {
		text_copy(l.name[l.n++], sizeof(*l.name), "");
	}
	if (n) {
		qsort(list, n, sizeof(*list), by_count);
	}
	for (size_t i = 0; i < n && l.n < LANES; i++) {
		text_copy(l.name[l.n++], sizeof(*l.name), list[i].name);
	}
	l.left_out = n + (episodes > 0) - l.n;
	return l;
}

/* Where a run's second lies. */
struct stretch {
	double x, per_s;
};

static double at(const struct stretch *s, double second)
{
	return s->x + second * s->per_s;
}

/* The strip's outline: forth along p95, back along p5; both as steps. */
static void draw_strip(struct text *t, int side, const struct runs_point *p, size_t n,
	const struct stretch *s, const struct cmd_axis *y)
{
	text_addf(t, "<path class=\"s%c\" d=\"M%.1f %.1f", "ab"[side], at(s, p[0].from),
		cmd_axis_at(y, (double)p[0].p95));
	for (size_t i = 0; i < n; i++) {
		text_addf(t, "V%.1fH%.1f", cmd_axis_at(y, (double)p[i].p95), at(s, p[i].to));
	}
	for (size_t i = n; i-- > 0;) {
		text_addf(t, "V%.1fH%.1f", cmd_axis_at(y, (double)p[i].p5), at(s, p[i].from));
	}
	text_addf(t, "Z\"/>\n<path class=\"m%c\" d=\"M%.1f %.1f", "ab"[side], at(s, p[0].from),
		cmd_axis_at(y, (double)p[0].p50));
	for (size_t i = 0; i < n; i++) {
		text_addf(t, "V%.1fH%.1f", cmd_axis_at(y, (double)p[i].p50), at(s, p[i].to));
	}
	text_add(t, "\"/>\n");
}

/* The slowest launch of each point: a dot, or an arrow where the axis ends below it. */
static void draw_slowest(struct text *t, int side, const struct runs_point *p,
	const struct stretch *s, const struct cmd_axis *y)
{
	double x = (at(s, p->from) + at(s, p->to)) / 2;
	if ((double)p->max > y->scale.hi) {
		text_addf(t, "<path class=\"dot %c\" d=\"M%.1f %.1fl3 5h-6Z\"/>\n", "ab"[side], x,
			y -> to - 7);
	} else if ((double)p->max > 1.02 * (double)p->p95) {
		text_addf(t, "<circle class=\"dot %c\" cx=\"%.1f\" cy=\"%.1f\" r=\"1.3\"/>\n",
			"ab"[side], x, cmd_axis_at(y, (double)p->max));
	}
}

static void draw_run(struct text *t, int side, const struct runs_trace *r, const struct stretch *s,
	const struct cmd_axis *y)
{
	for (size_t i = 0, k; i < r->n; i = k) {
		/* A second without launches interrupts the strip. */
		for (k = i + 1; k < r->n && r->point[k].from == r->point[k - 1].to; k++) {
		}
		draw_strip(t, side, r->point + i, k - i, s, y);
	}
	for (size_t i = 0; i < r->n; i++) {
		draw_slowest(t, side, &r->point[i], s, y);
	}
}

/* Marks columns FROM … TO of a lane, which are pixels from LEFT. */
static void occupy(uint8_t *column, size_t n, double from, double to)
{
	for (double k = fmax(floor(from), 0); k <= fmin(to, (double)n - 1); k++) {
		column[(size_t)k] = 1;
	}
}

static double second_of(const struct runs_trace *r, uint64_t ns)
{
	uint64_t start = r->run->info.start_ns;
	return ns > start ? (double)(ns - start) / 1e9 : 0;
}

static void draw_lane(struct text *t, const struct runs_traces *all, const struct stretch *s,
	const char *name, double y, double right)
{
	size_t n = (size_t)(right - LEFT) + 1;
	_cleanup_free_ uint8_t *column = xcalloc(n, 1);
	for (size_t i = 0; i < all->n; i++) {
		const struct runs_trace *r = &all->run[i];
		for (size_t k = 0; *name && k < r->nevent; k++) {
			const struct runs_event *e = &r->event[k];
			if (!strcmp(e->source, name)) {
				occupy(column, n, at(&s[i], second_of(r, e->from_ns)) - LEFT,
					at(&s[i], second_of(r, e->to_ns)) - LEFT);
			}
		}
		for (size_t k = 0; !*name && k < r->nepisode; k++) {
			const struct runs_episode *e = &r->episode[k];
			occupy(column, n, at(&s[i], second_of(r, e->from_ns)) - LEFT,
				at(&s[i], second_of(r, e->to_ns)) - LEFT);
		}
	}
	cmd_chart_text(t, LEFT - 5, y + 9, "tick", 'e', "%.14s", *name ? name : "slow episode");
	cmd_chart_line(t, LEFT, y + LANE - 2, right, y + LANE - 2, "grid");
	for (size_t k = 0, end; k < n; k = end) {
		for (end = k + 1; end < n && column[end] == column[k]; end++) {
		}
		if (column[k]) {
			cmd_chart_rect(t, LEFT + (double)k, y + 2, fmax((double)(end - k), 1.4),
				LANE - 5, "event", NULL);
		}
	}
}

static struct cmd_axis latency_axis(const struct cmd_page *p)
{
	double lo = INFINITY, hi = 0;
	for (int side = 0; side < 2; side++) {
		const struct runs_traces *all = &p->trace[side];
		for (size_t i = 0; i < all->n; i++) {
			for (size_t k = 0; k < all->run[i].n; k++) {
				lo = fmin(lo, (double)all->run[i].point[k].p5);
				hi = fmax(hi, (double)all->run[i].point[k].p95);
			}
		}
		hi = fmax(hi, (double)runs_hist_quantile(&all->hist, 0.99));
	}
	lo = fmax(lo, 1);
	struct cmd_axis y = {.scale = {.log = hi / lo >= 4}};
	tui_scale_fit(&y.scale, lo, fmax(sqrt(lo * hi), 1), fmax(hi, lo), true);
	return y;
}

/* A bar of a round number of seconds, about a fifth of the width. */
static void draw_scale_bar(struct text *t, double per_s, double right, double y)
{
	static const struct {
		double s;
		const char *name;
	} sizes[] = {{0.1, "0.1 s"}, {0.2, "0.2 s"}, {0.5, "0.5 s"}, {1, "1 s"}, {2, "2 s"},
		{5, "5 s"}, {10, "10 s"}, {30, "30 s"}, {60, "1 min"}, {120, "2 min"},
		{300, "5 min"}, {600, "10 min"}, {1800, "30 min"}, {3600, "1 h"}, {10800, "3 h"},
		{21600, "6 h"}, {86400, "1 day"}, {604800, "1 week"}};
	size_t i = 0;
	while (i + 1 < ARRAY_LEN(sizes) && sizes[i + 1].s * per_s < (right - LEFT) / 4) {
		i++;
	}
	double from = right - sizes[i].s * per_s;
	cmd_chart_line(t, from, y, right, y, "axis");
	cmd_chart_line(t, from, y - 3, from, y + 3, "axis");
	cmd_chart_line(t, right, y - 3, right, y + 3, "axis");
	cmd_chart_text(t, from - 5, y + 4, "name", 'e', "time, %s", sizes[i].name);
}

/* Places the runs of a side one after the other; shades and names its boots. */
static void place_runs(struct text *t, const struct runs_traces *all, double per_s, double top,
	double bottom, struct stretch *ret)
{
	double x = LEFT;
	size_t boots = 0;
	for (size_t i = 0; i < all->n; i++) {
		bool fresh = !i || all->run[i].run->boot != all->run[i - 1].run->boot;
		double w = all->run[i].seconds * per_s;
		x += i ? GAP : 0;
		ret[i] = (struct stretch){x, per_s};
		cmd_chart_rect(t, x, top, w, bottom - top, "boot", NULL);
		boots += fresh;
		if (fresh) {
			cmd_chart_text(
				t, x, top - 10, "tick", 's', w > 44 ? "boot %zu" : "%zu", boots);
		}
		x += w;
	}
}

void cmd_html_time(struct text *t, const struct cmd_page *p, int w)
{
	static const char *const colour[2] = {"ca", "cb"}, *const letter[2] = {"A", "B"};
	struct lanes lanes = lanes_of(p);
	double right = w - 8, per_s = INFINITY, each = 34 + PANEL + LANE * (double)lanes.n + 14;
	for (int side = 0; side < 2; side++) {
		const struct runs_traces *all = &p->trace[side];
		double room = right - LEFT - GAP * ((double)all->n - 1);
		per_s = fmin(per_s, fmax(room, 60) / (double)MAX(all->seconds, 1));
	}
	struct cmd_axis y = latency_axis(p);
	cmd_chart_begin(t, w, (int)(2 * each + 16), "Latency over time, with events beneath");
	for (int side = 0; side < 2; side++) {
		const struct runs_traces *all = &p->trace[side];
		double top = side * each + 34, bottom = top + PANEL;
		_cleanup_free_ struct stretch *s = xcalloc(MAX(all->n, 1), sizeof(*s));
		y.from = bottom;
		y.to = top;
		place_runs(t, all, per_s, top, bottom, s);
		cmd_chart_axis_y(t, &y, LEFT, right, "");
		struct tui_ticks k;
		tui_scale_ticks(&y.scale, 4, &k);
		cmd_chart_text(t, 2, top - 22, colour[side], 's', "%s", letter[side]);
		cmd_chart_text(t, 14, top - 22, "name", 's', *k.unit ? "latency, %s" : "latency%s",
			k.unit);
		for (size_t i = 0; i < all->n; i++) {
			draw_run(t, side, &all->run[i], &s[i], &y);
		}
		for (size_t i = 0; i < lanes.n; i++) {
			draw_lane(t, all, s, lanes.name[i], bottom + 4 + LANE * (double)i, right);
		}
	}
	draw_scale_bar(t, per_s, right, 2 * each + 6);
	if (lanes.left_out) {
		cmd_chart_text(t, 2, 2 * each + 10, "tick", 's', "%zu more sources of events",
			lanes.left_out);
	}
	cmd_chart_end(t);
}
