/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every device in the bridge tree, and the one under the cursor in full. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "pcie/names.h"
#include "tui/devices.h"
#include "tui/facts.h"
#include "tui/view.h"

static size_t rows(const struct tui_app *a)
{
	return a->machine.survey ? a->machine.survey->ntree : 0;
}

static const struct pcie_device *row_device(const struct tui_app *a, size_t i)
{
	return &a->machine.snapshot->dev[a->machine.survey->tree[i].dev];
}

static void row_text(const struct tui_app *a, size_t i, char *buf, size_t size)
{
	const struct pcie_device *d = row_device(a, i);
	char addr[PCIE_ADDR_MAX];
	snprintf(buf, size, "%s %s %s %04x:%04x", pcie_addr_format(d->addr, addr), d->name,
		d->driver, d->vendor, d->device);
}

static void range_text(const struct pcie_device *d, char *buf, size_t size)
{
	char t[TEXT_SIZE_MAX];
	size_t n = 0;
	buf[0] = '\0';
	static const char *const names[] = {"io", "mem", "pref"};
	for (int i = PCIE_WINDOW_MEM; i < PCIE_WINDOWS && n + 1 < size; i++) {
		const struct pcie_window *w = &d->window[i];
		if (w->have == PCIE_KNOWN) {
			n += (size_t)snprintf(buf + n, size - n, "%s%s %s", n ? "  " : "", names[i],
				text_size(w->limit - w->base + 1, t));
		}
	}
}

static void draw_row(
	const void *data, size_t i, bool at_cursor, struct tui_canvas *c, struct tui_rect row)
{
	const struct tui_app *a = data;
	const struct tui_glyphs *g = c->glyphs;
	const struct tui_tree_row *t = &a->machine.survey->tree[i];
	const struct pcie_device *d = row_device(a, i);
	(void)at_cursor;
	int x = 2;
	for (unsigned k = 1; k < t->depth && x < row.w / 2; k++, x += 2) {
		if (t->more >> k & 1) {
			tui_put(c, row, x, 0, TUI_FRAME, g->trunk);
		}
	}
	if (t->depth > 0) {
		tui_put(c, row, x, 0, TUI_FRAME, t->last ? g->corner : g->tee_right);
		x += 2;
	}
	char addr[PCIE_ADDR_MAX], tail[80];
	pcie_addr_format(d->addr, addr);
	bool short_addr = d->addr.known && d->addr.domain == 0;
	const struct pcie_gpu *gpu = tui_survey_gpu(a->machine.survey, t->dev);
	if (gpu) {
		struct tui_light light = tui_level_light(g, pcie_gpu_deciding_level(gpu));
		tui_put(c, row, x, 0, light.style, light.glyph);
		x += 2;
	}
	x = tui_text(c, row, x, 0, TUI_FAINT, short_addr ? addr + 5 : addr) + 2;
	if (d->is_bridge) {
		range_text(d, tail, sizeof(tail));
	} else {
		text_copy(tail, sizeof(tail), d->have_driver == PCIE_KNOWN ? d->driver : "");
	}
	int w = row.w >= 60 ? MIN(tui_text_width(c, tail), row.w * 2 / 5) : 0;
	tui_text_fit(c, row, row.w - 1 - w, 0, w, TUI_FAINT, tail);
	const char *name = *d->name ? d->name : "(no name known)";
	tui_text_fit(c, row, x, 0, row.w - x - w - 2, gpu ? TUI_STRONG : TUI_TEXT, name);
}

struct parts {
	struct tui_rect tree, facts;
};

/* Beside each other where there is room, else one above the other. */
static struct parts split(struct tui_rect r)
{
	struct parts p = {.tree = r};
	if (r.w >= 100) {
		p.facts = tui_take_right(&p.tree, r.w * 2 / 5);
	} else if (r.h >= 16) {
		p.facts = tui_take_bottom(&p.tree, r.h / 2);
	}
	return p;
}

static void prepare(struct tui_app *a, const struct tui_canvas *c, struct tui_rect r)
{
	(void)c;
	struct parts p = split(r);
	tui_list_settle(&a->tree, rows(a), (size_t)MAX(p.tree.h - 1, 0));
}

static void draw_facts(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	char addr[PCIE_ADDR_MAX];
	const struct tui_tree_row *t = &a->machine.survey->tree[a->tree.cursor];
	const struct pcie_snapshot *s = a->machine.snapshot;
	r = tui_section(c, r, TUI_TITLE, pcie_addr_format(s->dev[t->dev].addr, addr), NULL);
	r = tui_inset(r, 1, 0);
	struct tui_pen measure = {.c = c, .r = r, .measure = true};
	tui_facts_draw(s, t->dev, &measure);
	struct tui_pen p = {.c = c, .r = r};
	p.scroll = tui_pen_scroll(a->tree_scroll, measure.y, r.h);
	tui_facts_draw(s, t->dev, &p);
	if (p.scroll + r.h < measure.y) {
		tui_put(c, r, r.w - 1, r.h - 1, TUI_KEY, c->glyphs->down);
	}
	if (p.scroll > 0) {
		tui_put(c, r, r.w - 1, 0, TUI_KEY, c->glyphs->up);
	}
}

static void draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	if (rows(a) == 0) {
		r = tui_section(c, r, TUI_TITLE, "Machine", NULL);
		tui_text_wrap(c, tui_inset(r, 1, 0), 0, TUI_FAINT,
			*a->machine.why.text  ? a->machine.why.text
			: a->machine.snapshot ? "There is no PCI device."
					      : "Reading the machine");
		return;
	}
	struct parts p = split(r);
	char remark[96];
	const struct pcie_host *h = &a->machine.snapshot->host;
	snprintf(remark, sizeof(remark), "%zu devices%s%s", rows(a),
		h->have_dmi == PCIE_KNOWN && *h->bios_version ? ", BIOS " : "",
		h->have_dmi == PCIE_KNOWN ? h->bios_version : "");
	struct tui_rect list = tui_section(c, p.tree, TUI_TITLE, "Machine", remark);
	tui_list_draw(c, list, &a->tree, rows(a), draw_row, a);
	if (p.facts.h > 0) {
		draw_facts(a, c, p.facts);
	}
}

static bool key_pressed(struct tui_app *a, struct tui_input in)
{
	if (in.key == 'J' || in.key == 'K') {
		a->tree_scroll = MAX(a->tree_scroll + (in.key == 'J' ? 3 : -3), 0);
		return true;
	}
	size_t before = a->tree.cursor;
	bool taken = tui_list_key(&a->tree, rows(a), in);
	if (a->tree.cursor != before) {
		a->tree_scroll = 0;
	}
	return taken;
}

static struct tui_list *list(struct tui_app *a)
{
	return &a->tree;
}

static const struct tui_hint hints[] = {
	{"↑↓", "device"},
	{"/", "search"},
	{"JK", "facts"},
	{"r", "read again"},
	{NULL, NULL},
};

const struct tui_view tui_view_machine = {
	.name = "Machine",
	.draw = draw,
	.key_pressed = key_pressed,
	.hints = hints,
	.prepare = prepare,
	.list = list,
	.rows = rows,
	.row_text = row_text,
};
