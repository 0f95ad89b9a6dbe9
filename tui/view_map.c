/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The physical address space: RAM, host bridge apertures, the windows and BARs in them and
 * what is free, each with its place on a ruler. The ruler is logarithmic over everything, with
 * the 4 GiB line, or linear over the range that Enter opened.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "tui/view.h"

static size_t rows(const struct tui_app *a)
{
	return a->machine.survey ? a->machine.survey->nmap : 0;
}

static const struct pcie_map_row *row_at(const struct tui_app *a, size_t i)
{
	return &a->machine.survey->map[i];
}

static const struct {
	const char *name;
	unsigned style;
} kinds[] = {
	[PCIE_MAP_RAM] = {"RAM", TUI_FAINT},
	[PCIE_MAP_APERTURE] = {"aperture", TUI_TITLE},
	[PCIE_MAP_WINDOW] = {"window", TUI_STRIP},
	[PCIE_MAP_BAR] = {"BAR", TUI_MEDIAN},
	[PCIE_MAP_FREE] = {"free", TUI_GOOD},
};

static void row_text(const struct tui_app *a, size_t i, char *buf, size_t size)
{
	const struct pcie_map_row *m = row_at(a, i);
	snprintf(buf, size, "%s %s 0x%llx", kinds[m->kind].name, m->what,
		(unsigned long long)m->base);
}

struct ruler {
	bool log;
	double lo, hi; /* addresses; with LOG their binary logarithms */
	int w;
};

static double place(const struct ruler *k, double addr)
{
	double v = k->log ? log2(MAX(addr, 1)) : addr;
	return (v - k->lo) / (k->hi - k->lo) * k->w;
}

static struct ruler ruler_of(const struct tui_app *a, int w)
{
	if (a->map_opened && a->map_opened <= rows(a)) {
		const struct pcie_map_row *m = row_at(a, a->map_opened - 1);
		return (struct ruler){false, (double)m->base, (double)m->limit + 1, w};
	}
	uint64_t top = 4 * GIB, bottom = 2 * GIB;
	for (size_t i = 0; i < rows(a); i++) {
		top = MAX(top, row_at(a, i)->limit);
		bottom = MIN(bottom, row_at(a, i)->base);
	}
	/* The first MiB has no room of its own. */
	double lo = MAX(floor(log2((double)bottom + 1)), 20);
	return (struct ruler){true, lo, ceil(log2((double)top + 1)), w};
}

struct columns {
	int what, size, ruler; /* x of each */
	bool kind;             /* a column of its own */
	int ruler_w;
};

static struct columns columns_of(int w)
{
	struct columns k = {.what = 11, .kind = true};
	int what = w >= 120 ? 40 : w >= 76 ? 26 : MAX(w - 38, 10);
	if (w < 60) { /* addresses need the room: the names of windows and BARs say what they are */
		what += k.what - 2;
		k.what = 2;
		k.kind = false;
	}
	k.size = k.what + what + 1;
	k.ruler = k.size + 11;
	k.ruler_w = MAX(w - k.ruler - 1, 0);
	return k;
}

static void draw_extent(const struct ruler *k, const struct pcie_map_row *m, struct tui_canvas *c,
	struct tui_rect r)
{
	const struct tui_glyphs *g = c->glyphs;
	double from = place(k, (double)m->base), to = place(k, (double)m->limit + 1);
	if (k->log) {
		int four = (int)place(k, (double)(4 * GIB));
		tui_put(c, r, four, 0, TUI_EVENT, g->vline);
	}
	if (to < 0 || from >= k->w) {
		return;
	}
	int x0 = MAX((int)from, 0), x1 = MIN(MAX((int)ceil(to - 0.01), x0 + 1), k->w);
	tui_hline(c, r, x0, 0, x1 - x0, kinds[m->kind].style,
		m->kind == PCIE_MAP_FREE ? g->dots : g->meter);
}

static void draw_row(
	const void *data, size_t i, bool at_cursor, struct tui_canvas *c, struct tui_rect row)
{
	const struct tui_app *a = data;
	const struct pcie_map_row *m = row_at(a, i);
	struct columns k = columns_of(row.w);
	char t[TEXT_SIZE_MAX];
	(void)at_cursor;
	int x = k.what + (int)MIN(m->depth * 2, k.kind ? 12 : 4);
	bool named = m->kind == PCIE_MAP_WINDOW || m->kind == PCIE_MAP_BAR;
	if (k.kind || !named) {
		int end = tui_text(
			c, row, k.kind ? 2 : x, 0, kinds[m->kind].style, kinds[m->kind].name);
		x = k.kind ? x : end + 1;
	}
	bool first_domain = !strncmp(m->what, "0000:", 5);
	/* The kind stands before it already. */
	size_t skip = strlen(kinds[m->kind].name);
	const char *what = m->what + (!k.kind && first_domain ? 5 : 0);
	if (!strncmp(what, kinds[m->kind].name, skip)) {
		what += skip + strspn(what + skip, " ");
		what += !strncmp(what, "of ", 3) ? 3 : 0;
	}
	tui_text_fit(c, row, x, 0, k.size - 1 - x, m->kind == PCIE_MAP_BAR ? TUI_STRONG : TUI_TEXT,
		what);
	const char *size = text_size(m->limit - m->base + 1, t);
	tui_text(c, row, k.size + 9 - tui_text_width(c, size), 0, TUI_TEXT, size);
	struct ruler ruler = ruler_of(a, k.ruler_w);
	draw_extent(&ruler, m, c, (struct tui_rect){row.x + k.ruler, row.y, k.ruler_w, 1});
}

/* "1M", "4G", "16T": the ruler's marks. */
static void draw_marks(const struct tui_app *a, struct tui_canvas *c, struct tui_rect row)
{
	struct columns k = columns_of(row.w);
	struct tui_rect r = {row.x + k.ruler, row.y, k.ruler_w, 1};
	struct ruler ruler = ruler_of(a, k.ruler_w);
	if (k.kind) {
		tui_text(c, row, 2, 0, TUI_FAINT, "kind");
	}
	tui_text(c, row, k.what, 0, TUI_FAINT, "what");
	tui_text(c, row, k.size + 5, 0, TUI_FAINT, "size");
	char t[40];
	if (!ruler.log) {
		snprintf(t, sizeof(t), "0x%llx", (unsigned long long)ruler.lo);
		tui_text(c, r, 0, 0, TUI_FAINT, t);
		snprintf(t, sizeof(t), "0x%llx", (unsigned long long)(ruler.hi - 1));
		tui_text_right(c, r, 0, 0, TUI_FAINT, t);
		return;
	}
	int free_from = 0;
	for (int bits = (int)ruler.lo & ~1; bits < (int)ruler.hi; bits += 2) {
		static const char units[] = "KMGTPE";
		int x = (int)place(&ruler, ldexp(1, bits));
		snprintf(t, sizeof(t), "%d%c", 1 << (bits % 10), units[bits / 10 - 1]);
		bool four = bits == 32;
		bool fits = x >= 0 && x + (int)strlen(t) <= r.w;
		if (fits && (x >= free_from || four)) {
			free_from = tui_text(c, r, x, 0, four ? TUI_EVENT : TUI_FAINT, t) + 2;
		}
	}
}

static void draw_detail(const struct tui_app *a, struct tui_canvas *c, struct tui_rect row)
{
	const struct pcie_map_row *m = row_at(a, a->map.cursor);
	char s[240], t[TEXT_SIZE_MAX], addr[PCIE_ADDR_MAX] = "";
	if (m->dev >= 0) {
		pcie_addr_format(a->machine.snapshot->dev[m->dev].addr, addr);
	}
	snprintf(s, sizeof(s), "0x%llx to 0x%llx, %s%s%s%s%s", (unsigned long long)m->base,
		(unsigned long long)m->limit, text_size(m->limit - m->base + 1, t),
		*addr ? ", " : "", addr, m->dev >= 0 ? " " : "",
		m->dev >= 0 ? a->machine.snapshot->dev[m->dev].name : "");
	tui_text_fit(c, row, 2, 0, row.w - 3, TUI_FAINT, s);
}

static void draw(const struct tui_app *a, struct tui_canvas *c, struct tui_rect r)
{
	const struct pcie_snapshot *s = a->machine.snapshot;
	const char *remark = a->map_opened ? "linear, Esc goes back" : "logarithmic";
	r = tui_section(c, r, TUI_TITLE, "Address map", remark);
	if (rows(a) == 0) {
		tui_text_wrap(c, tui_inset(r, 1, 0), 0, TUI_FAINT,
			!s ? "Reading the machine"
			   : "No address range of this machine is known to this user.");
		return;
	}
	draw_marks(a, c, tui_take_top(&r, 1));
	struct tui_rect detail = tui_take_bottom(&r, 1);
	if (s->have_iomem == PCIE_DENIED && r.h > 4) {
		tui_text_fit(c, tui_take_bottom(&r, 1), 2, 0, r.w - 3, TUI_NOTE,
			"/proc/iomem shows no addresses to this user: RAM and holes are not drawn");
	}
	tui_list_draw(c, r, &a->map, rows(a), draw_row, a);
	draw_detail(a, c, detail);
}

static void prepare(struct tui_app *a, const struct tui_canvas *c, struct tui_rect r)
{
	(void)c;
	bool note = a->machine.snapshot && a->machine.snapshot->have_iomem == PCIE_DENIED;
	tui_list_settle(&a->map, rows(a), (size_t)MAX(r.h - 3 - note, 0));
	a->map_opened = a->map_opened > rows(a) ? 0 : a->map_opened;
}

static bool key_pressed(struct tui_app *a, struct tui_input in)
{
	if (in.key == TUI_KEY_ENTER && rows(a)) {
		a->map_opened = a->map_opened == a->map.cursor + 1 ? 0 : a->map.cursor + 1;
		return true;
	}
	if ((in.key == TUI_KEY_ESCAPE || in.key == TUI_KEY_BACKSPACE) && a->map_opened) {
		a->map_opened = 0;
		return true;
	}
	return tui_list_key(&a->map, rows(a), in);
}

static struct tui_list *list(struct tui_app *a)
{
	return &a->map;
}

static const struct tui_hint hints[] = {
	{"↑↓", "range"},
	{"⏎", "zoom"},
	{"/", "search"},
	{NULL, NULL},
};

const struct tui_view tui_view_map = {
	.name = "Map",
	.draw = draw,
	.key_pressed = key_pressed,
	.hints = hints,
	.prepare = prepare,
	.list = list,
	.rows = rows,
	.row_text = row_text,
};
