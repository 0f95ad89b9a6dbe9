/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/compare_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/cleanup.h"

static double figure(const struct runs_description *d, enum cmd_figure f)
{
	switch (f) {
	case CMD_P5:
		return (double)d->p5;
	case CMD_P50:
		return (double)d->p50;
	case CMD_P95:
		return (double)d->p95;
	case CMD_P99:
		return d->p99;
	case CMD_P999:
		return d->p999;
	case CMD_MAX:
		return (double)d->max;
	case CMD_BAND:
		return d->band;
	case CMD_SLOW:
		return d->slow_time;
	}
	return NAN;
}

double cmd_side_middle(
	const struct runs_side *s, unsigned series, unsigned layer, enum cmd_figure f)
{
	_cleanup_free_ double *v = xmalloc(s->n * sizeof(*v));
	size_t n = 0;
	for (size_t i = 0; i < s->n; i++) {
		const struct runs_description *d = &s->run[i].layer[series][layer];
		double x = d->n ? figure(d, f) : NAN;
		if (!isnan(x)) {
			v[n++] = x;
		}
	}
	return n ? runs_boots_median(v, n) : NAN;
}

/* What is said of a layer: of all but the host's the first two. */
static const struct {
	const char *name;
	enum cmd_figure figure;
	bool share;
} said[] = {
	{"p50", CMD_P50, false},
	{"band", CMD_BAND, true},
	{"p99", CMD_P99, false},
	{"p99.9", CMD_P999, false},
	{"max", CMD_MAX, false},
	{"time over 1.5 x p50", CMD_SLOW, true},
};

size_t cmd_compare_rows(const struct runs_comparison *c, struct cmd_row **ret)
{
	struct cmd_row *row = xcalloc(STRESS_SERIES * RUNS_LAYERS * ARRAY_LEN(said), sizeof(*row));
	size_t n = 0;
	for (unsigned k = 0; k < STRESS_SERIES * RUNS_LAYERS; k++) {
		unsigned s = k / RUNS_LAYERS, l = k % RUNS_LAYERS;
		size_t most = l == RUNS_HOST ? ARRAY_LEN(said) : 2;
		for (size_t i = 0; i < most; i++) {
			struct cmd_row *r = &row[n];
			*r = (struct cmd_row){
				.first = !i,
				.unit = said[i].share      ? CMD_SHARE
					: l == RUNS_CYCLES ? CMD_CYCLES
							   : CMD_NS,
				.a = cmd_side_middle(c->a, s, l, said[i].figure),
				.b = cmd_side_middle(c->b, s, l, said[i].figure),
			};
			if (isnan(r->a) && isnan(r->b)) {
				continue;
			}
			if (i) {
				text_copy(r->name, sizeof(r->name), said[i].name);
			} else {
				snprintf(r->name, sizeof(r->name), "%s %s %s", runs_series_name(s),
					runs_layer_name(l), said[i].name);
			}
			n++;
		}
	}
	*ret = row;
	return n;
}

const char *cmd_row_value(double v, enum cmd_unit unit, char buf[static CMD_WHEN_MAX])
{
	if (isnan(v)) {
		text_copy(buf, CMD_WHEN_MAX, "-");
	} else if (unit == CMD_NS) {
		char ns[TEXT_TIME_MAX];
		text_copy(buf, CMD_WHEN_MAX, text_ns((uint64_t)v, ns));
	} else if (unit == CMD_SHARE) {
		cmd_percent(v, buf);
	} else {
		snprintf(buf, CMD_WHEN_MAX, "%.0f", v);
	}
	return buf;
}

const char *cmd_row_change(const struct cmd_row *r, char buf[static CMD_WHEN_MAX])
{
	buf[0] = '\0';
	if (!isnan(r->a) && !isnan(r->b) && r->a > 0) {
		if (r->unit == CMD_SHARE) {
			snprintf(buf, CMD_WHEN_MAX, "%.2f x", r->b / r->a);
		} else {
			const double percent = 100 * (r->b / r->a - 1);
			/* Nothing has no sign. */
			snprintf(buf, CMD_WHEN_MAX, "%+.1f %%", fabs(percent) < 0.05 ? 0 : percent);
		}
	}
	return buf;
}
