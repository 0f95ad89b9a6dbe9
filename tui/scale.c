/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/scale.h"

#include <math.h>
#include <stdio.h>

#include "base/macros.h"

double tui_scale_share(const struct tui_scale *s, double v)
{
	if (s->log) {
		if (v <= 0) {
			return -1;
		}
		return log(v / s->lo) / log(s->hi / s->lo);
	}
	return (v - s->lo) / (s->hi - s->lo);
}

double tui_scale_value(const struct tui_scale *s, double share)
{
	if (s->log) {
		return s->lo * pow(s->hi / s->lo, share);
	}
	return s->lo + share * (s->hi - s->lo);
}

/* The smallest of 1, 2, 5 × 10^n that is at least V. */
static double round_step(double v)
{
	if (!(v > 0)) {
		return 1;
	}
	double p = pow(10, floor(log10(v)));
	double m = v / p;
	/* A hair of tolerance: 2.0000000001 is 2. */
	return p * (m <= 1 + 1e-9 ? 1 : m <= 2 + 1e-9 ? 2 : m <= 5 + 1e-9 ? 5 : 10);
}

static const struct {
	double ns;
	const char *name;
} units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}};

static void label(struct tui_ticks *t, double v, double unit, double step)
{
	int decimals = 0;
	for (double d = step / unit; d < 1 - 1e-9 && decimals < 4; d *= 10) {
		decimals++;
	}
	t->at[t->n].v = v;
	snprintf(t->at[t->n].label, TUI_TICK_LABEL, "%.*f", decimals, v / unit);
	t->n++;
}

static void linear_ticks(const struct tui_scale *s, size_t max, double unit, struct tui_ticks *ret)
{
	double step = round_step((s->hi - s->lo) / (double)max);
	double first = ceil(s->lo / step - 1e-9);
	for (size_t i = 0; i < TUI_TICKS && ret->n < max; i++) {
		double v = (first + (double)i) * step;
		if (v > s->hi + step * 1e-6) {
			break;
		}
		label(ret, v, unit, step);
	}
}

/* The values M × 10^(STRIDE n) inside S; returns how many, of which TUI_TICKS are kept. */
static size_t log_values(
	const struct tui_scale *s, const double *m, size_t nm, int stride, double *ret)
{
	size_t n = 0;
	int from = (int)floor(log10(s->lo)), to = (int)ceil(log10(s->hi));
	for (int e = from; e <= to; e++) {
		for (size_t i = 0; e % stride == 0 && i < nm; i++) {
			double x = m[i] * pow(10, e);
			if (x >= s->lo * (1 - 1e-9) && x <= s->hi * (1 + 1e-9)) {
				if (n < TUI_TICKS) {
					ret[n] = x;
				}
				n++;
			}
		}
	}
	return n;
}

/* Over decades each label carries its own unit. */
static void label_with_unit(struct tui_ticks *t, double v)
{
	size_t u = 0;
	while (u + 1 < ARRAY_LEN(units) && v < units[u].ns) {
		u++;
	}
	t->at[t->n].v = v;
	snprintf(t->at[t->n].label, TUI_TICK_LABEL, "%.3g %s", v / units[u].ns, units[u].name);
	t->n++;
}

/* 1, 2, 5; 1, 3; decades; every second decade, … : the first that is not too many. */
static void log_ticks(const struct tui_scale *s, size_t max, struct tui_ticks *ret)
{
	static const struct {
		double m[3];
		size_t n;
		int stride;
	} sets[] = {{{1, 2, 5}, 3, 1}, {{1, 3}, 2, 1}, {{1}, 1, 1}, {{1}, 1, 2}, {{1}, 1, 3},
		{{1}, 1, 6}, {{1}, 1, 12}};
	for (size_t k = 0; k < ARRAY_LEN(sets); k++) {
		double v[TUI_TICKS];
		size_t n = log_values(s, sets[k].m, sets[k].n, sets[k].stride, v);
		if (n <= max) {
			for (size_t i = 0; i < n; i++) {
				label_with_unit(ret, v[i]);
			}
			return;
		}
	}
}

void tui_scale_ticks(const struct tui_scale *s, size_t max, struct tui_ticks *ret)
{
	*ret = (struct tui_ticks){.unit = "ns"};
	double unit = 1;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (s->hi >= units[i].ns) {
			unit = units[i].ns;
			ret->unit = units[i].name;
			break;
		}
	}
	max = MIN(MAX(max, 2), TUI_TICKS);
	if (s->log && s->hi / s->lo >= 4) {
		const char *linear = ret->unit;
		ret->unit = "";
		log_ticks(s, max, ret);
		ret->unit = ret->n < 2 ? linear : "";
	}
	if (ret->n < 2) {
		ret->n = 0;
		linear_ticks(s, max, unit, ret);
	}
}

static void fresh_fit(struct tui_scale *s, double lo, double mid, double hi)
{
	if (s->log) {
		/* Half an octave of air, ends on 1, 2, 5. */
		double top = round_step(MAX(hi, mid) * 1.2);
		double p = pow(10, floor(log10(MAX(MIN(lo, mid) / 1.2, 1))));
		double m = MAX(MIN(lo, mid) / 1.2, 1) / p;
		s->lo = p * (m >= 5 ? 5 : m >= 2 ? 2 : 1);
		s->hi = MAX(top, s->lo * 4);
		return;
	}
	double span = MAX(hi - lo, 0.06 * mid);
	double middle = (lo + hi) / 2;
	double a = MIN(lo, middle - span / 2) - 0.12 * span;
	double b = MAX(hi, middle + span / 2) + 0.20 * span;
	double step = round_step((b - a) / 12);
	s->lo = MAX(floor(a / step) * step, 0);
	s->hi = ceil(b / step) * step;
}

void tui_scale_fit(struct tui_scale *s, double lo, double mid, double hi, bool may_shrink)
{
	if (!(mid > 0) || !(lo <= hi)) {
		return;
	}
	struct tui_scale fresh = {.log = s->log};
	fresh_fit(&fresh, lo, mid, hi);
	bool valid = s->hi > s->lo && (!s->log || s->lo > 0);
	if (!valid) {
		*s = fresh;
		return;
	}
	bool inside = lo >= s->lo && hi <= s->hi;
	double used = tui_scale_share(s, fresh.hi) - tui_scale_share(s, MAX(fresh.lo, 1e-9));
	if (!inside || (may_shrink && used < 0.5)) {
		*s = fresh;
	}
}
