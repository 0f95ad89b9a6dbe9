/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verdicts on each GPU, worst first: the answer in a line, evidence and advice unfolded by
 * Enter, and whether a larger BAR would fit.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "tui/devices.h"
#include "tui/pen.h"
#include "tui/view.h"

/* The verdicts of all GPUs as one list: a GPU's own row, then its verdicts, worst first. */
struct row {
	const struct pcie_gpu *gpu;
	const struct pcie_verdict *verdict; /* NULL: the GPU's row */
};

static bool is_shown(const struct pcie_verdict *v)
{
	return v->answer != NULL;
}

static size_t find_row(const struct tui_app *a, size_t wanted, struct row *ret)
{
	const struct pcie_verdicts *v = a->machine.survey ? a->machine.survey->verdicts : NULL;
	size_t n = 0;
	for (int gl = PCIE_LEVEL_BAD; v && gl >= PCIE_LEVEL_GOOD; gl--) {
		for (size_t g = 0; g < v->ngpu; g++) {
			const struct pcie_gpu *gpu = &v->gpu[g];
			if ((int)pcie_gpu_deciding_level(gpu) != gl) {
				continue;
			}
			if (n++ == wanted) {
				*ret = (struct row){gpu, NULL};
			}
			for (int l = PCIE_LEVEL_BAD; l >= PCIE_LEVEL_GOOD; l--) {
				for (size_t i = 0; i < gpu->nverdict; i++) {
					const struct pcie_verdict *k = &gpu->verdict[i];
					if ((int)k->level == l && is_shown(k) && n++ == wanted) {
						*ret = (struct row){gpu, k};
					}
				}
			}
		}
	}
	return n;
}

static size_t rows(const struct tui_app *a)
{
	struct row none;
	return find_row(a, SIZE_MAX, &none);
}

static void row_text(const struct tui_app *a, size_t i, char *buf, size_t size)
{
	struct row r = {0};
	char addr[PCIE_ADDR_MAX];
	find_row(a, i, &r);
	buf[0] = '\0';
	if (r.verdict) {
		snprintf(buf, size, "%s %s %s", r.verdict->rule->id, r.verdict->answer,
			r.verdict->headline);
	} else if (r.gpu) {
		snprintf(buf, size, "%s %s", pcie_addr_format(r.gpu->addr, addr), r.gpu->name);
	}
}

static void draw_row(
	const void *data, size_t i, bool at_cursor, struct tui_canvas *c, struct tui_rect row)
{
	struct row r = {0};
	char addr[PCIE_ADDR_MAX];
	(void)at_cursor;
	find_row(data, i, &r);
	if (!r.gpu) {
		return;
	}
	if (!r.verdict) {
		struct tui_light l = tui_level_light(c->glyphs, pcie_gpu_deciding_level(r.gpu));
		tui_put(c, row, 2, 0, l.style, l.glyph);
		int x = tui_text(c, row, 4, 0, TUI_FAINT, pcie_addr_format(r.gpu->addr, addr)) + 2;
		x = tui_text_fit(c, row, x, 0, row.w - x - 1, TUI_STRONG, r.gpu->name);
		if (r.gpu->kind != PCIE_GPU_DISCRETE) {
			tui_text_fit(c, row, x + 2, 0, row.w - x - 3, TUI_FAINT,
				pcie_gpu_kind_name(r.gpu->kind));
		}
		return;
	}
	struct tui_light l = tui_level_light(c->glyphs, r.verdict->level);
	tui_put(c, row, 4, 0, l.style, l.glyph);
	tui_text_fit(c, row, 6, 0, 17, TUI_TEXT, r.verdict->rule->id);
	int x = row.w >= 60 ? 24 : 6 + 17;
	tui_text_fit(c, row, x, 0, 12, l.style, r.verdict->answer);
	tui_text_fit(c, row, x + 13, 0, row.w - x - 14, TUI_FAINT, r.verdict->headline);
}

static void draw_evidence(
	struct tui_pen *p, const char *title, const struct pcie_evidence *e, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char s[640];
		snprintf(s, sizeof(s), "%s: %s", e[i].source, e[i].value);
		tui_pen_pair(p, 0, 10, i ? "" : title, TUI_TEXT, "%s", s);
	}
}

static void draw_fit(struct tui_pen *p, const struct pcie_plan_gpu *g, int k)
{
	const struct pcie_plan_fit *f = &g->fit[k];
	const char *rule = pcie_plan_rule_name((enum pcie_plan_rule)k);
	char need[TEXT_SIZE_MAX], have[TEXT_SIZE_MAX];
	if (f->fits == PCIE_YES) {
		tui_pen_pair(p, 0, 10, rule, TUI_GOOD, "fits: BAR %d at 0x%llx", g->bar,
			(unsigned long long)f->bar_place);
		return;
	}
	char why[240] = "";
	if (f->nblocker) {
		snprintf(why, sizeof(why), "; %s", f->blocker[0].what);
	} else if (f->need && f->has_have) {
		snprintf(why, sizeof(why), "; %s are needed, %s are free in one piece",
			text_size(f->need, need), text_size(f->have, have));
	}
	tui_pen_pair(p, 0, 10, rule, f->fits == PCIE_NO ? TUI_BAD : TUI_UNSURE, "%s%s",
		f->fits == PCIE_NO ? "does not fit" : "not known", why);
}

static void draw_plan(const struct tui_app *a, const struct pcie_gpu *gpu, struct tui_pen *p)
{
	const struct pcie_plan *plan = a->plan;
	for (size_t i = 0; plan && i < plan->ngpu; i++) {
		const struct pcie_plan_gpu *g = &plan->gpu[i];
		char size[TEXT_SIZE_MAX], title[120];
		if (g->dev != gpu->dev) {
			continue;
		}
		if (!g->has_target) {
			tui_pen_heading(p, "Plan: no size to aim at is known");
			return;
		}
		snprintf(title, sizeof(title), "Plan: would %s fit? (%s)",
			text_size(g->target, size), g->target_why);
		tui_pen_heading(p, title);
		for (int k = 0; k < PCIE_PLAN_RULES; k++) {
			if (plan->applies[k]) {
				draw_fit(p, g, k);
			}
		}
		for (size_t k = 0; k < plan->ncommand; k++) {
			tui_pen_pair(
				p, 0, 10, k ? "" : "commands", TUI_TEXT, "%s", plan->command[k]);
		}
	}
}

static void draw_detail(const struct tui_app *a, const struct row *r, struct tui_pen *p)
{
	if (!r->verdict) {
		if (r->gpu->cause != PCIE_CAUSE_NONE) {
			_cleanup_free_ char *why = pcie_gpu_why(r->gpu);
			tui_pen_pair(p, 0, 10, "cause", TUI_NOTE, "%s", why);
		} else {
			tui_pen_wrap(p, 0, TUI_GOOD, "Nothing is wrong with this GPU's BARs.");
		}
		draw_plan(a, r->gpu, p);
		return;
	}
	const struct pcie_verdict *v = r->verdict;
	struct tui_light l = tui_level_light(p->c->glyphs, v->level);
	tui_pen_wrap(p, 0, TUI_STRONG, v->rule->title);
	tui_pen_pair(p, 0, 10, "answer", l.style, "%s (%s): %s", v->answer,
		pcie_confidence_name(v->confidence), v->headline);
	draw_evidence(p, "because", v->evidence, v->nevidence);
	draw_evidence(p, "against", v->against, v->nagainst);
	for (size_t i = 0; i < v->nadvice; i++) {
		tui_pen_pair(p, 0, 10, i ? "" : "do", TUI_TEXT, "%zu. %s", i + 1, v->advice[i]);
	}
}

static struct tui_rect detail_rect(const struct tui_app *a, struct tui_rect *r)
{
	if (!a->verdict_open) {
		return (struct tui_rect){r->x, r->y, r->w, 0};
	}
	/* Where there is little room the opened verdict takes all of it. */
	return tui_take_bottom(r, r->h >= 14 ? r->h * 3 / 5 : r->h);
}

static void prepare(struct tui_app *a, const struct tui_canvas *c, struct tui_rect r)
{
	(void)c;
	detail_rect(a, &r);
	tui_list_settle(&a->verdicts, rows(a), (size_t)MAX(r.h - 1, 0));
	tui_app_plan(a);
}

static void draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	size_t n = rows(a);
	if (n == 0) {
		r = tui_section(c, r, TUI_TITLE, "Verdicts", NULL);
		tui_text_wrap(c, tui_inset(r, 1, 0), 0, TUI_FAINT,
			!a->machine.snapshot ? "Reading the machine"
					     : "No GPU on this machine, so there is nothing to "
					       "judge. barscope check takes captures and pasted "
					       "text of other machines too.");
		return;
	}
	struct tui_rect below = detail_rect(a, &r);
	if (r.h > 0) {
		struct tui_rect list = tui_section(c, r, TUI_TITLE, "Verdicts", "worst first");
		tui_list_draw(c, list, &a->verdicts, n, draw_row, a);
	}
	struct row row = {0};
	find_row(a, a->verdicts.cursor, &row);
	if (below.h > 0 && row.gpu) {
		char addr[PCIE_ADDR_MAX];
		const char *title =
			row.verdict ? row.verdict->rule->id : pcie_addr_format(row.gpu->addr, addr);
		struct tui_rect in = tui_inset(tui_section(c, below, TUI_TITLE, title, NULL), 1, 0);
		struct tui_pen measure = {.c = c, .r = in, .measure = true};
		draw_detail(a, &row, &measure);
		struct tui_pen p = {.c = c, .r = in};
		p.scroll = tui_pen_scroll(a->verdict_scroll, measure.y, in.h);
		draw_detail(a, &row, &p);
		if (p.scroll + in.h < measure.y) {
			tui_put(c, in, in.w - 1, in.h - 1, TUI_KEY, c->glyphs->down);
		}
	}
}

static void step_size(struct tui_app *a, int step)
{
	uint64_t size = a->plan_size ? a->plan_size : 16 * GIB;
	size = step > 0 ? size << 1 : size >> 1;
	a->plan_size = MIN(MAX(size, 64 * MIB), 1024 * GIB);
	a->plan_stale = true;
}

static bool key_pressed(struct tui_app *a, struct tui_input in)
{
	switch (in.key) {
	case TUI_KEY_ENTER:
		a->verdict_open = !a->verdict_open;
		a->verdict_scroll = 0;
		return true;
	case TUI_KEY_ESCAPE:
		if (a->verdict_open) {
			a->verdict_open = false;
			return true;
		}
		return false;
	case 'J':
	case 'K':
		a->verdict_scroll = MAX(a->verdict_scroll + (in.key == 'J' ? 3 : -3), 0);
		return true;
	case '<':
	case '>':
		step_size(a, in.key == '>' ? 1 : -1);
		return true;
	default:
		break;
	}
	size_t before = a->verdicts.cursor;
	bool taken = tui_list_key(&a->verdicts, rows(a), in);
	a->verdict_scroll = a->verdicts.cursor != before ? 0 : a->verdict_scroll;
	return taken;
}

static struct tui_list *list(struct tui_app *a)
{
	return &a->verdicts;
}

static const struct tui_hint hints[] = {
	{"↑↓", "verdict"},
	{"⏎", "evidence"},
	{"<>", "plan size"},
	{"JK", "scroll"},
	{NULL, NULL},
};

const struct tui_view tui_view_verdicts = {
	.name = "Verdicts",
	.draw = draw,
	.key_pressed = key_pressed,
	.hints = hints,
	.prepare = prepare,
	.list = list,
	.rows = rows,
	.row_text = row_text,
};
