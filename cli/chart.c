/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/chart.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void cmd_html_text(struct text *t, const char *s)
{
	static const struct {
		uint32_t ch;
		const char *name;
	} escapes[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"},
		{'\'', "&#39;"}, {'\n', "\n"}};
	size_t left = strlen(s);
	while (left) {
		uint32_t ch;
		size_t n = text_utf8_decode(s, left, &ch), i = 0;
		while (i < ARRAY_LEN(escapes) && escapes[i].ch != ch) {
			i++;
		}
		if (i < ARRAY_LEN(escapes)) {
			text_add(t, escapes[i].name);
		} else if (ch < 0x20 || (ch >= 0x7f && ch < 0xa0) || ch == 0xfffd) {
			text_add(t, "\xef\xbf\xbd");
		} else {
			text_addn(t, s, n);
		}
		s += n;
		left -= n;
	}
}

static PRINTF(2, 0) void html_textv(struct text *t, const char *fmt, va_list ap)
{
	char buf[512];
	vsnprintf(buf, sizeof(buf), fmt, ap);
	cmd_html_text(t, buf);
}

void cmd_html_textf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	html_textv(t, fmt, ap);
	va_end(ap);
}

double cmd_axis_at(const struct cmd_axis *a, double v)
{
	double share = tui_scale_share(&a->scale, v);
	share = isnan(share) ? 0 : fmin(fmax(share, 0), 1);
	return a->from + share * (a->to - a->from);
}

void cmd_chart_begin(struct text *t, int w, int h, const char *label)
{
	text_addf(
		t, "<svg viewBox=\"0 0 %d %d\" class=\"w%d\" role=\"img\" aria-label=\"", w, h, w);
	cmd_html_text(t, label);
	text_add(t, "\">\n");
}

void cmd_chart_end(struct text *t)
{
	text_add(t, "</svg>\n");
}

void cmd_chart_text(
	struct text *t, double x, double y, const char *class, char anchor, const char *fmt, ...)
{
	static const char *const anchors[] = {
		"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
	text_addf(t, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\"%s>", x, y, class,
		anchors[anchor == 'm'   ? 1
			: anchor == 'e' ? 2
					: 0]);
	va_list ap;
	va_start(ap, fmt);
	html_textv(t, fmt, ap);
	va_end(ap);
	text_add(t, "</text>\n");
}

void cmd_chart_line(struct text *t, double x1, double y1, double x2, double y2, const char *class)
{
	text_addf(t, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1,
		y1, x2, y2, class);
}

/* Ends an element that may say something when pointed at. */
static void end_titled(struct text *t, const char *name, const char *title)
{
	if (!title) {
		text_add(t, "/>\n");
		return;
	}
	text_add(t, "><title>");
	cmd_html_text(t, title);
	text_addf(t, "</title></%s>\n", name);
}

void cmd_chart_rect(struct text *t, double x, double y, double w, double h, const char *class,
	const char *title)
{
	text_addf(t, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" class=\"%s\"", x,
		y, fmax(w, 0), fmax(h, 0), class);
	end_titled(t, "rect", title);
}

void cmd_chart_mark(struct text *t, int side, double x, double y, const char *title)
{
	if (side) {
		text_addf(t,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\" class=\"mark b\"",
			x - 4, y - 4);
		end_titled(t, "rect", title);
	} else {
		text_addf(t, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4.5\" class=\"mark a\"", x, y);
		end_titled(t, "circle", title);
	}
}

static void ticks_of(const struct cmd_axis *a, size_t max, struct tui_ticks *ret)
{
	tui_scale_ticks(&a->scale, max, ret);
	if (a->unit) {
		ret->unit = a->unit;
	}
}

void cmd_chart_axis_x(
	struct text *t, const struct cmd_axis *a, double y, double top, const char *name)
{
	struct tui_ticks k;
	ticks_of(a, (size_t)fmax((a->to - a->from) / 62, 2), &k);
	for (size_t i = 0; i < k.n; i++) {
		double x = cmd_axis_at(a, k.at[i].v);
		cmd_chart_line(t, x, top, x, y, "grid");
		bool last = x > a->to - 14; /* its label must not leave the picture */
		cmd_chart_text(t, last ? a->to + 7 : x, y + 14, "tick", last ? 'e' : 'm', "%s",
			k.at[i].label);
	}
	cmd_chart_line(t, a->from, y, a->to, y, "axis");
	cmd_chart_text(t, a->to, y + 29, "name", 'e', *k.unit ? "%s, %s" : "%s%s", name, k.unit);
}

void cmd_chart_axis_y(
	struct text *t, const struct cmd_axis *a, double x, double right, const char *name)
{
	struct tui_ticks k;
	ticks_of(a, (size_t)fmax(fabs(a->from - a->to) / 28, 2), &k);
	for (size_t i = 0; i < k.n; i++) {
		double y = cmd_axis_at(a, k.at[i].v);
		cmd_chart_line(t, x, y, right, y, "grid");
		cmd_chart_text(t, x - 5, y + 4, "tick", 'e', "%s", k.at[i].label);
	}
	if (!*name) {
		return;
	}
	cmd_chart_text(t, 2, a->to - 8, "name", 's', *k.unit ? "%s, %s" : "%s%s", name, k.unit);
}
