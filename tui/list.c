/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/list.h"

void tui_list_clamp(struct tui_list *l, size_t n)
{
	if (l->cursor >= n) {
		l->cursor = n ? n - 1 : 0;
	}
}

bool tui_list_key(struct tui_list *l, size_t n, struct tui_input in)
{
	size_t page = MAX(l->page, 2) - 1;
	switch (in.key) {
	case TUI_KEY_UP:
	case 'k':
		l->cursor -= l->cursor > 0;
		break;
	case TUI_KEY_DOWN:
	case 'j':
		l->cursor++;
		break;
	case TUI_KEY_PAGE_UP:
		l->cursor -= MIN(l->cursor, page);
		break;
	case TUI_KEY_PAGE_DOWN:
		l->cursor += page;
		break;
	case TUI_KEY_HOME:
	case 'g':
		l->cursor = 0;
		break;
	case TUI_KEY_END:
	case 'G':
		l->cursor = n;
		break;
	case TUI_KEY_MOUSE:
		if (in.wheel == 0) {
			return false;
		}
		l->cursor += in.wheel > 0 ? 3 : 0;
		l->cursor -= in.wheel < 0 ? MIN(l->cursor, 3) : 0;
		break;
	default:
		return false;
	}
	tui_list_clamp(l, n);
	return true;
}

size_t tui_list_top(const struct tui_list *l, size_t n, size_t h)
{
	if (h == 0 || n <= h) {
		return 0;
	}
	size_t top = MIN(l->top, n - h);
	if (l->cursor < top) {
		top = l->cursor;
	} else if (l->cursor >= top + h) {
		top = l->cursor - h + 1;
	}
	return top;
}

void tui_list_settle(struct tui_list *l, size_t n, size_t h)
{
	tui_list_clamp(l, n);
	l->top = tui_list_top(l, n, h);
	l->page = h;
}

void tui_list_draw(struct tui_canvas *c, struct tui_rect r, const struct tui_list *l, size_t n,
	tui_row_fn *fn, const void *data)
{
	size_t h = (size_t)MAX(r.h, 0), top = tui_list_top(l, n, h);
	struct tui_rect side = tui_take_right(&r, n > h ? 1 : 0);
	for (size_t y = 0; y < h && top + y < n; y++) {
		struct tui_rect row = {r.x, r.y + (int)y, r.w, 1};
		bool at_cursor = top + y == l->cursor;
		if (at_cursor) {
			tui_tint(c, row, TUI_BG_SELECTED);
			tui_put(c, row, 0, 0, TUI_TITLE, c->glyphs->pointer);
		}
		fn(data, top + y, at_cursor, c, row);
	}
	if (n > h && h > 0) {
		/* Where one is in the whole. */
		int y = (int)(l->cursor * (h - 1) / (n - 1));
		for (int i = 0; i < (int)h; i++) {
			tui_put(c, side, 0, i, TUI_FRAME, c->glyphs->vline);
		}
		tui_put(c, side, 0, y, TUI_KEY, c->glyphs->full);
	}
}
