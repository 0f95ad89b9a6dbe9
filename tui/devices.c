/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/devices.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

enum { LINE_DEVICE = -1, LINE_VERDICT = -2 };

/* One line: a device, what is worst about it, or one of its BARs. */
struct line {
	size_t row; /* into machine.listed */
	int bar;    /* index into the device's bar[], or LINE_… */
};

enum { LINES_MAX = TUI_MAX_SIDE };

static bool bar_has_line(const struct pcie_bar *b)
{
	return b->kind == PCIE_BAR_NORMAL && b->have != PCIE_ABSENT;
}

static size_t bars_of(const struct pcie_device *d)
{
	size_t n = 0;
	for (int i = 0; i < d->nbar; i++) {
		n += bar_has_line(&d->bar[i]);
	}
	return n;
}

/* What is worst about a GPU, when it is not good. */
static const struct pcie_verdict *worst(const struct tui_machine *m, size_t row)
{
	const struct pcie_gpu *g = tui_survey_gpu(m->survey, m->survey->listed[row]);
	enum pcie_level level = g ? pcie_gpu_deciding_level(g) : PCIE_LEVEL_GOOD;
	for (size_t i = 0; level > PCIE_LEVEL_GOOD && i < g->nverdict; i++) {
		if (g->verdict[i].level == level && g->verdict[i].rule->decides) {
			return &g->verdict[i];
		}
	}
	return NULL;
}

static size_t lines_of(const struct tui_machine *m, size_t row)
{
	return 1 + (worst(m, row) != NULL) + bars_of(tui_machine_device(m, row));
}

int tui_devices_rows(const struct tui_app *a)
{
	const struct tui_machine *m = &a->machine;
	size_t n = m->survey && m->survey->ngpu == 0;
	for (size_t i = 0; i < tui_machine_listed(m) && n < LINES_MAX; i++) {
		n += lines_of(m, i);
	}
	return (int)n;
}

static size_t add_device(const struct tui_machine *m, size_t row, bool unfolded, struct line *ret,
	size_t n, size_t max)
{
	if (n < max) {
		ret[n++] = (struct line){row, LINE_DEVICE};
	}
	if (n < max && unfolded && worst(m, row)) {
		ret[n++] = (struct line){row, LINE_VERDICT};
	}
	const struct pcie_device *d = tui_machine_device(m, row);
	for (int i = 0; unfolded && i < d->nbar && n < max; i++) {
		if (bar_has_line(&d->bar[i])) {
			ret[n++] = (struct line){row, i};
		}
	}
	return n;
}

/* "BAR 2", "ROM", "VF BAR 0". */
static void bar_name(const struct pcie_bar *b, char *buf, size_t size)
{
	if (b->kind == PCIE_BAR_ROM) {
		snprintf(buf, size, "ROM");
	} else if (b->index < 0) {
		snprintf(buf, size, "BAR");
	} else {
		snprintf(buf, size, "%sBAR %d", b->kind == PCIE_BAR_VF ? "VF " : "", b->index);
	}
}

static const struct pcie_rebar_entry *rebar_entry(const struct pcie_device *d, int bar)
{
	for (int i = 0; d->rebar.have == PCIE_KNOWN && i < d->rebar.count; i++) {
		if (d->rebar.entry[i].bar == bar) {
			return &d->rebar.entry[i];
		}
	}
	return NULL;
}

static void rebar_text(const struct pcie_rebar_entry *e, char *buf, size_t size)
{
	char t[TEXT_SIZE_MAX];
	if (!e->supported) {
		snprintf(buf, size, "resizable");
		return;
	}
	int top = 63 - __builtin_clzll(e->supported);
	uint64_t most = top + PCIE_REBAR_UNIT_SHIFT < 64 ? 1ull << (top + PCIE_REBAR_UNIT_SHIFT)
							 : UINT64_MAX;
	snprintf(buf, size, "resizable to %s", text_size(most, t));
}

static void draw_bar(const struct pcie_device *d, const struct pcie_bar *b, struct tui_canvas *c,
	struct tui_rect r, int y, bool last)
{
	char s[64], t[TEXT_SIZE_MAX];
	int x = r.w >= 60 ? 4 : 2;
	tui_put(c, r, x, y, TUI_FRAME, last ? c->glyphs->corner : c->glyphs->tee_right);
	bar_name(b, s, sizeof(s));
	tui_text(c, r, x + 2, y, TUI_FAINT, s);
	x += 9;
	if (b->have != PCIE_KNOWN) {
		tui_text_fit(c, r, x, y, r.w - x, TUI_UNSURE,
			b->have == PCIE_DENIED ? "not shown to this user" : "not known");
		return;
	}
	const char *size = b->has_size ? text_size(b->size, t) : "size ?";
	tui_text(c, r, x + 9 - tui_text_width(c, size), y, TUI_STRONG, size);
	x += 11;
	if (b->assigned == PCIE_NO || !b->has_base) {
		x = tui_text(c, r, x, y, TUI_BAD, "no address");
	} else if (b->io) {
		x = tui_textf(c, r, x, y, TUI_TEXT, "I/O 0x%llx", (unsigned long long)b->base);
	} else {
		x = tui_textf(c, r, x, y, TUI_TEXT, "0x%llx", (unsigned long long)b->base);
	}
	if (r.w < 60) {
		return;
	}
	/* Right of the addresses' column: short facts, as many as fit. */
	x = MAX(x + 2, (r.w >= 60 ? 4 : 2) + 38);
	char facts[160] = "";
	size_t n = 0;
	if (!b->io) {
		bool high = b->has_base && b->base >= 4 * GIB;
		n += (size_t)snprintf(facts + n, sizeof(facts) - n, "%s%s",
			high ? "above 4 GiB  " : "", b->is64 ? "64-bit" : "32-bit");
		n += (size_t)snprintf(
			facts + n, sizeof(facts) - n, "%s", b->prefetchable ? " prefetchable" : "");
	}
	const struct pcie_rebar_entry *e = rebar_entry(d, b->index);
	if (e && b->kind == PCIE_BAR_NORMAL) {
		rebar_text(e, s, sizeof(s));
		snprintf(facts + n, sizeof(facts) - n, "  %s", s);
	}
	tui_text_fit(c, r, x, y, r.w - x - 1, TUI_FAINT, facts);
}

/* "16 MiB, 256 GiB, 32 MiB": the sizes, for a device that is folded. */
static void sizes_text(const struct pcie_device *d, char *buf, size_t size)
{
	char t[TEXT_SIZE_MAX];
	size_t n = 0;
	buf[0] = '\0';
	for (int i = 0; i < d->nbar && n + 1 < size; i++) {
		const struct pcie_bar *b = &d->bar[i];
		if (b->kind == PCIE_BAR_NORMAL && b->have == PCIE_KNOWN && b->has_size) {
			n += (size_t)snprintf(
				buf + n, size - n, "%s%s", n ? "  " : "", text_size(b->size, t));
		}
	}
}

static bool has_trouble(const struct pcie_device *d)
{
	for (int i = 0; i < d->nbar; i++) {
		const struct pcie_bar *b = &d->bar[i];
		if (b->kind == PCIE_BAR_NORMAL && b->have == PCIE_KNOWN && b->assigned == PCIE_NO &&
			!b->io) {
			return true;
		}
	}
	return false;
}

struct tui_light tui_level_light(const struct tui_glyphs *g, enum pcie_level l)
{
	const struct tui_light lights[] = {
		[PCIE_LEVEL_GOOD] = {g->good, TUI_GOOD},
		[PCIE_LEVEL_NOTE] = {g->note, TUI_NOTE},
		[PCIE_LEVEL_UNSURE] = {g->unsure, TUI_UNSURE},
		[PCIE_LEVEL_BAD] = {g->bad, TUI_BAD},
	};
	return lights[l];
}

static struct tui_light light_of(
	const struct tui_machine *m, size_t row, const struct tui_glyphs *g)
{
	const struct pcie_gpu *gpu = tui_survey_gpu(m->survey, m->survey->listed[row]);
	if (gpu) {
		return tui_level_light(g, pcie_gpu_deciding_level(gpu));
	}
	return has_trouble(tui_machine_device(m, row)) ? (struct tui_light){g->bad, TUI_BAD}
						       : (struct tui_light){g->dots, TUI_FAINT};
}

/* At the right end of a device's line, from the edge inwards; returns where it starts. */
static int draw_tail(const struct tui_machine *m, size_t row, bool unfolded, struct tui_canvas *c,
	struct tui_rect r, int y)
{
	const struct pcie_device *d = tui_machine_device(m, row);
	const struct pcie_gpu *gpu = tui_survey_gpu(m->survey, m->survey->listed[row]);
	int right = r.w - 1;
	char sizes[96];
	sizes_text(d, sizes, sizeof(sizes));
	if (!unfolded && *sizes) {
		int w = MIN(tui_text_width(c, sizes), r.w * 2 / 5);
		tui_text_fit(c, r, right - w, y, w, TUI_TEXT, sizes);
		right -= w + 2;
	}
	if (d->have_driver == PCIE_KNOWN && r.w >= 70) {
		int w = tui_text_width(c, d->driver);
		tui_text_fit(c, r, right - w, y, w, TUI_FAINT, d->driver);
		right -= w + 2;
	}
	const char *rebar = gpu ? pcie_gpu_answer(gpu, "rebar") : "unknown";
	if (r.w >= 70 && strcmp(rebar, "unknown") != 0 && strcmp(rebar, "n-a") != 0) {
		snprintf(sizes, sizeof(sizes), "ReBAR %s", rebar);
		int w = tui_text_width(c, sizes);
		tui_text(c, r, right - w, y, !strcmp(rebar, "full") ? TUI_GOOD : TUI_TEXT, sizes);
		right -= w + 2;
	}
	return right;
}

static void draw_device(const struct tui_app *a, size_t row, bool unfolded, struct tui_canvas *c,
	struct tui_rect r, int y)
{
	const struct tui_machine *m = &a->machine;
	const struct pcie_device *d = tui_machine_device(m, row);
	char addr[PCIE_ADDR_MAX];
	pcie_addr_format(d->addr, addr);
	const char *shown = r.w < 100 && d->addr.known && d->addr.domain == 0 ? addr + 5 : addr;
	if (row == a->devices.cursor) {
		tui_tint(c, (struct tui_rect){r.x, r.y + y, r.w, 1}, TUI_BG_SELECTED);
		tui_put(c, r, 0, y, TUI_TITLE, c->glyphs->pointer);
	}
	struct tui_light light = light_of(m, row, c->glyphs);
	tui_put(c, r, 2, y, light.style, light.glyph);
	int x = tui_text(c, r, 4, y, TUI_FAINT, shown) + 2;
	int right = draw_tail(m, row, unfolded, c, r, y);
	tui_text_fit(c, r, x, y, right - x, pcie_device_is_gpu(d) ? TUI_STRONG : TUI_TEXT,
		*d->name ? d->name : "(no name known)");
}

static void draw_verdict(const struct tui_machine *m, size_t row, struct tui_canvas *c,
	struct tui_rect r, int y, bool last)
{
	const struct pcie_verdict *v = worst(m, row);
	int x = r.w >= 60 ? 4 : 2;
	tui_put(c, r, x, y, TUI_FRAME, last ? c->glyphs->corner : c->glyphs->tee_right);
	struct tui_light light = tui_level_light(c->glyphs, v->level);
	tui_text_fit(c, r, x + 2, y, r.w - x - 3, light.style, v->headline);
}

static void draw_lines(const struct tui_app *a, const struct line *line, size_t n,
	struct tui_canvas *c, struct tui_rect r)
{
	for (int y = 0; y < r.h && (size_t)y < n; y++) {
		const struct line *l = &line[y];
		const struct pcie_device *d = tui_machine_device(&a->machine, l->row);
		size_t next = (size_t)y + 1;
		bool last = next >= n || line[next].bar == LINE_DEVICE;
		if (l->bar == LINE_DEVICE) {
			draw_device(a, l->row, !last || l->row == a->devices.cursor, c, r, y);
		} else if (l->bar == LINE_VERDICT) {
			draw_verdict(&a->machine, l->row, c, r, y, last);
		} else {
			draw_bar(d, &d->bar[l->bar], c, r, y, last);
		}
	}
}

static void draw_absence(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct tui_machine *m = &a->machine;
	if (m->why.text[0] && !m->snapshot) {
		tui_text_wrap(c, tui_inset(r, 1, 0), 0, TUI_BAD, m->why.text);
	} else if (!m->snapshot) {
		tui_text(c, r, 1, 0, TUI_FAINT, "Reading the machine");
	} else {
		tui_text_fit(c, r, 1, 0, r.w - 2, TUI_NOTE,
			"No PCI device with BARs was found on this machine.");
	}
}

/*
 * The lines for ROOM rows: the device under the cursor unfolded, then from the top as many
 * others as there is room for. A list that is longer starts so that the cursor's device
 * is in sight with its BARs. *RET_FROM: the first device, *RET_CUT: more follow below.
 */
static size_t layout(
	const struct tui_app *a, struct line *line, size_t room, size_t *ret_from, bool *ret_cut)
{
	const struct tui_machine *m = &a->machine;
	size_t all = tui_machine_listed(m), cursor = a->devices.cursor;
	size_t need = lines_of(m, cursor);
	size_t folded = all - 1 + need;
	size_t spare = room > folded ? room - folded : 0;
	size_t from = cursor + need > room ? cursor + need - room : 0;
	from = folded > room ? MIN(from, cursor) : 0;
	size_t n = 0, i = from;
	for (; i < all && n < room; i++) {
		size_t more = lines_of(m, i) - 1;
		bool unfolded = i == cursor;
		if (!unfolded && more > 0 && more <= spare) {
			spare -= more;
			unfolded = true;
		}
		n = add_device(m, i, unfolded, line, n, MIN(room, (size_t)LINES_MAX));
	}
	*ret_from = from;
	*ret_cut = folded > room && (i < all || n == room);
	return n;
}

void tui_devices_draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct tui_machine *m = &a->machine;
	if (!m->snapshot || tui_machine_listed(m) == 0) {
		draw_absence(a, c, r);
		return;
	}
	if (m->survey->ngpu == 0) {
		tui_text_fit(c, r, 1, 0, r.w - 2, TUI_NOTE,
			"No GPU on this machine; these devices have BARs:");
		tui_take_top(&r, 1);
	}
	struct line line[LINES_MAX];
	size_t from, n;
	bool cut;
	n = layout(a, line, (size_t)MAX(r.h, 0), &from, &cut);
	struct tui_rect side = tui_take_right(&r, from > 0 || cut ? 1 : 0); /* the scroll marks */
	draw_lines(a, line, n, c, r);
	if (from > 0) {
		tui_put(c, side, 0, 0, TUI_KEY, c->glyphs->up);
	}
	if (cut) {
		tui_put(c, side, 0, side.h - 1, TUI_KEY, c->glyphs->down);
	}
}
