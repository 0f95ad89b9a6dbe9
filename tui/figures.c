/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/figures.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/text.h"

const char *tui_count(uint64_t n, char buf[static TUI_COUNT_MAX])
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);
	int out = 0;
	for (int i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0) {
			buf[out++] = ',';
		}
		buf[out++] = digits[i];
	}
	buf[out] = '\0';
	return buf;
}

const char *tui_date(int64_t unix_ns, char buf[static TUI_DATE_MAX])
{
	time_t t = (time_t)(unix_ns / 1000000000);
	struct tm tm;
	char clock[16];
	if (!localtime_r(&t, &tm) || !strftime(clock, sizeof(clock), "%b %H:%M", &tm)) {
		text_copy(buf, TUI_DATE_MAX, "-");
	} else {
		snprintf(buf, TUI_DATE_MAX, "%d %s", tm.tm_mday, clock);
	}
	return buf;
}

struct pair {
	const char *label;
	char value[40];
	unsigned style;
};

static void set_time(struct pair *p, const char *label, bool known, uint64_t ns)
{
	char t[TEXT_TIME_MAX];
	p->label = label;
	p->style = known ? TUI_STRONG : TUI_UNSURE;
	snprintf(p->value, sizeof(p->value), "%s", known ? text_ns(ns, t) : "too few");
}

static void draw_pair(struct tui_canvas *c, struct tui_rect r, int x, int y, const struct pair *p)
{
	tui_text(c, r, x, y, TUI_FAINT, p->label);
	tui_text(c, r, x + 6, y, p->style, p->value);
}

static void band_text(const struct tui_figures *f, char *buf, size_t size)
{
	if (isfinite(f->band)) {
		snprintf(buf, size, "±%.*f %%", f->band < 0.0995 ? 2 : 1, f->band * 100);
	} else {
		snprintf(buf, size, "not known");
	}
}

static void draw_rate(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r, int y)
{
	const struct tui_figures *f = &a->window.figures;
	tui_text(c, r, 0, y, TUI_FAINT, "rate");
	if (f->bytes_per_s <= 0) {
		tui_text(c, r, 6, y, TUI_UNSURE, "bytes not known");
		return;
	}
	int x = tui_textf(c, r, 6, y, TUI_STRONG, "%.*f GB/s", f->bytes_per_s < 1e11 ? 2 : 0,
			f->bytes_per_s / 1e9) +
		1;
	if (f->ceiling_share <= 0) {
		tui_text(c, r, x + 1, y, TUI_UNSURE,
			a->live.status.ceiling_bytes_per_s > 0 ? "no ceiling is told"
							       : "ceiling not measured");
		return;
	}
	char share[24];
	snprintf(share, sizeof(share), "%.0f %%", f->ceiling_share * 100);
	int w = r.w - x - tui_text_width(c, share) - 2;
	if (w >= 4) {
		tui_meter(c, r, x, y, MIN(w, 24), TUI_BAR, f->ceiling_share);
		x += MIN(w, 24) + 1;
	}
	tui_text(c, r, x, y, TUI_STRONG, share);
}

static void draw_floor(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r, int y)
{
	const struct tui_figures *f = &a->window.figures;
	const struct stress_status *st = &a->live.status;
	char t[TEXT_TIME_MAX];
	tui_text(c, r, 0, y, TUI_FAINT, "floor");
	if (!f->floor_ns) {
		tui_text_fit(c, r, 6, y, r.w - 6, TUI_UNSURE,
			st->ceiling_bytes_per_s > 0 ? "loops were slower" : "no read ceiling yet");
		return;
	}
	int x = tui_text(c, r, 6, y, TUI_STRONG, text_ns(f->floor_ns, t)) + 1;
	char s[80], size[TEXT_SIZE_MAX];
	snprintf(s, sizeof(s), "%s at %.*f GB/s", text_size10(st->bytes, size),
		st->ceiling_bytes_per_s < 1e11 ? 1 : 0, st->ceiling_bytes_per_s / 1e9);
	tui_text_fit(c, r, x, y, r.w - x, TUI_FAINT, s);
}

static void draw_truth(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r, int y)
{
	const struct stress_status *st = &a->live.status;
	char n[TUI_COUNT_MAX];
	tui_text(c, r, 0, y, TUI_FAINT, "bits");
	if (st->weight_faults) {
		char s[80];
		snprintf(s, sizeof(s), "%s weights changed in memory: corruption",
			tui_count(st->weight_faults, n));
		tui_text_fit(c, r, 6, y, r.w - 6, TUI_BAD, s);
	} else if (a->live.mismatches || st->mismatches || st->finding.kind) {
		char s[80];
		snprintf(s, sizeof(s), "%s outputs differ: corruption",
			tui_count(MAX(MAX(a->live.mismatches, st->mismatches), (uint64_t)1), n));
		tui_text_fit(c, r, 6, y, r.w - 6, TUI_BAD, s);
	} else if (st->golden_hash) {
		int x = tui_text(c, r, 6, y, TUI_GOOD, "the same every time") + 1;
		if (st->max_error >= 0) {
			char s[64];
			snprintf(s, sizeof(s), "error %.0e", st->max_error);
			tui_text_fit(c, r, x + 1, y, r.w - x - 1, TUI_FAINT, s);
		}
	} else {
		tui_text_fit(c, r, 6, y, r.w - 6, TUI_UNSURE, "outputs are not compared");
	}
}

/* The GPU's last readings: clock, heat, power, and what holds the clock back. */
static void draw_gpu(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r, int y)
{
	/* Idle, and clocks that the user or the display has set, hold nothing back. */
	const uint64_t harmless = NVML_REASON_IDLE | NVML_REASON_APP_CLOCKS | NVML_REASON_DISPLAY;
	const struct runs_readings *d = &a->live.readings;
	char reasons[NVML_REASONS_MAX], s[80] = "";
	if (!d->has[STRESS_EVENT_CLOCK_SM] || y >= r.h) {
		return;
	}
	tui_text(c, r, 0, y, TUI_FAINT, "GPU");
	int x = tui_textf(c, r, 6, y, TUI_STRONG, "%d MHz", (int)d->value[STRESS_EVENT_CLOCK_SM]) +
		2;
	if (d->has[STRESS_EVENT_TEMPERATURE]) {
		x = tui_textf(c, r, x, y, TUI_STRONG, "%.0f C",
			    (double)d->value[STRESS_EVENT_TEMPERATURE] / 1e3) +
		    2;
	}
	if (d->has[STRESS_EVENT_POWER]) {
		x = tui_textf(c, r, x, y, TUI_STRONG, "%.0f W",
			    (double)d->value[STRESS_EVENT_POWER] / 1e3) +
		    2;
	}
	const uint64_t held = (uint64_t)d->value[STRESS_EVENT_THROTTLE] & ~harmless;
	if (held) {
		snprintf(s, sizeof(s), "%.76s", nvml_reasons_text(held, reasons));
		tui_text_fit(c, r, x, y, r.w - x, TUI_NOTE, s);
	}
}

static void draw_pairs(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r, int rows)
{
	const struct tui_figures *f = &a->window.figures;
	bool any = f->n > 0;
	char n[TUI_COUNT_MAX];
	struct pair p[8];
	set_time(&p[0], "p50", any, f->p50);
	p[1] = (struct pair){.label = "band", .style = TUI_STRONG};
	band_text(f, p[1].value, sizeof(p[1].value));
	set_time(&p[2], "p99", f->p99_known, f->p99);
	set_time(&p[3], "max", any, f->max);
	set_time(&p[4], "p99.9", f->p999_known, f->p999);
	p[5] = (struct pair){.label = "n", .style = TUI_STRONG};
	snprintf(p[5].value, sizeof(p[5].value), "%s", tui_count(f->n, n));
	set_time(&p[6], "p5", any, f->p5);
	set_time(&p[7], "p95", any, f->p95);
	int second = MAX(r.w / 2, 17);
	for (int i = 0; i < rows; i++) {
		draw_pair(c, r, 0, i, &p[2 * i]);
		draw_pair(c, r, second, i, &p[2 * i + 1]);
	}
}

void tui_figures_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	int pairs = r.h >= 7 ? 4 : r.h >= 5 ? 3 : MAX(r.h - 1, 1);
	draw_pairs(a, c, r, pairs);
	int y = pairs;
	draw_rate(a, c, r, y++);
	draw_floor(a, c, r, y++);
	draw_truth(a, c, r, y++);
	draw_gpu(a, c, r, y);
}

void tui_figures_line(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct tui_figures *f = &a->window.figures;
	if (f->n == 0) {
		return;
	}
	char t[TEXT_TIME_MAX], band[24];
	band_text(f, band, sizeof(band));
	int x = tui_text(c, r, 1, 0, TUI_FAINT, "p50 ");
	x = tui_text(c, r, x, 0, TUI_STRONG, text_ns(f->p50, t)) + 1;
	x = tui_text(c, r, x, 0, TUI_STRONG, band) + 2;
	if (f->bytes_per_s > 0 && x + 10 < r.w) {
		x = tui_textf(c, r, x, 0, TUI_TEXT, "%.1f GB/s", f->bytes_per_s / 1e9) + 1;
	}
	if (f->ceiling_share > 0 && x + 5 < r.w) {
		tui_textf(c, r, x, 0, TUI_TEXT, "%.0f %%", f->ceiling_share * 100);
	}
}
