/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/modal.h"

#include <string.h>

#include "base/text.h"

static void begin(struct tui_modal *m, enum tui_modal_kind kind, const char *title)
{
	*m = (struct tui_modal){.kind = kind};
	text_copy(m->title, sizeof(m->title), title);
}

void tui_modal_notice(struct tui_modal *m, const char *title, const char *text)
{
	begin(m, TUI_MODAL_NOTICE, title);
	text_copy(m->text, sizeof(m->text), text);
}

void tui_modal_question(
	struct tui_modal *m, const char *title, const char *text, tui_modal_fn *done, int64_t about)
{
	begin(m, TUI_MODAL_QUESTION, title);
	text_copy(m->text, sizeof(m->text), text);
	m->done = done;
	m->about = about;
}

void tui_modal_form(struct tui_modal *m, const char *title, tui_modal_fn *done)
{
	begin(m, TUI_MODAL_FORM, title);
	m->done = done;
}

struct tui_field *tui_modal_field(
	struct tui_modal *m, const char *label, const char *value, const char *help)
{
	struct tui_field *f = &m->field[MIN(m->nfield, (size_t)TUI_FIELDS - 1)];
	m->nfield = MIN(m->nfield + 1, (size_t)TUI_FIELDS);
	f->label = label;
	f->help = help;
	f->nchoice = 0;
	text_copy(f->value, sizeof(f->value), value);
	return f;
}

void tui_field_choice(struct tui_field *f, const char *value)
{
	if (f->nchoice < TUI_CHOICES) {
		text_copy(f->choice[f->nchoice++], TUI_FIELD_TEXT, value);
	}
}

static void step_choice(struct tui_field *f, int step)
{
	size_t at = 0;
	for (size_t i = 0; i < f->nchoice; i++) {
		if (!strcmp(f->choice[i], f->value)) {
			at = i;
		}
	}
	at = (at + f->nchoice + (step < 0 ? f->nchoice - 1 : 1)) % f->nchoice;
	memcpy(f->value, f->choice[at], TUI_FIELD_TEXT);
}

static void erase_last(char *s)
{
	size_t n = strlen(s);
	/* Back over the continuation bytes of one character. */
	while (n > 0 && ((unsigned char)s[n - 1] & 0xc0) == 0x80) {
		n--;
	}
	s[n ? n - 1 : 0] = '\0';
}

static void field_key(struct tui_field *f, uint32_t key)
{
	if (f->nchoice) {
		if (key == TUI_KEY_LEFT || key == TUI_KEY_RIGHT || key == ' ') {
			step_choice(f, key == TUI_KEY_LEFT ? -1 : 1);
		}
	} else if (key == TUI_KEY_BACKSPACE || key == TUI_KEY_DELETE) {
		erase_last(f->value);
	} else if (key == 21) { /* Ctrl-U */
		f->value[0] = '\0';
	} else if (key >= ' ' && key < 0x110000 && key != 127) {
		char buf[4];
		size_t n = text_utf8_encode(key, buf), len = strlen(f->value);
		if (len + n < sizeof(f->value)) {
			memcpy(f->value + len, buf, n);
			f->value[len + n] = '\0';
		}
	}
}

static void finish(struct tui_app *a, struct tui_modal *m)
{
	m->error[0] = '\0';
	/* DONE may open another modal in this one's place. */
	tui_modal_fn *done = m->done;
	enum tui_modal_kind kind = m->kind;
	m->kind = TUI_MODAL_NONE;
	if (done && !done(a, m) && m->error[0]) {
		m->kind = kind;
	}
}

void tui_modal_key(struct tui_app *a, struct tui_modal *m, struct tui_input in)
{
	if (in.key == TUI_KEY_ESCAPE) {
		m->kind = TUI_MODAL_NONE;
		return;
	}
	switch (m->kind) {
	case TUI_MODAL_NOTICE:
		if (in.key == TUI_KEY_ENTER || in.key == ' ' || in.key == 'q') {
			finish(a, m);
		}
		break;
	case TUI_MODAL_QUESTION:
		if (in.key == 'y' || in.key == 'Y') {
			finish(a, m);
		} else {
			m->kind = TUI_MODAL_NONE;
		}
		break;
	case TUI_MODAL_FORM:
		if (in.key == TUI_KEY_ENTER) {
			finish(a, m);
		} else if (in.key == TUI_KEY_TAB || in.key == TUI_KEY_DOWN) {
			m->focus = (m->focus + 1) % m->nfield;
		} else if (in.key == TUI_KEY_BACK_TAB || in.key == TUI_KEY_UP) {
			m->focus = (m->focus + m->nfield - 1) % m->nfield;
		} else {
			field_key(&m->field[m->focus], in.key);
		}
		break;
	case TUI_MODAL_NONE:
		break;
	}
}

static void draw_field(
	const struct tui_field *f, bool focused, struct tui_canvas *c, struct tui_rect r, int y)
{
	enum { LABEL = 12 };
	const struct tui_glyphs *g = c->glyphs;
	tui_text_fit(c, r, 0, y, LABEL - 1, focused ? TUI_STRONG : TUI_FAINT, f->label);
	struct tui_rect box = {r.x + LABEL, r.y + y, MIN(r.w - LABEL, 34), 1};
	if (focused) {
		tui_tint(c, box, TUI_BG_SELECTED);
	}
	int x = 1;
	if (f->nchoice) {
		tui_put(c, box, 0, 0, focused ? TUI_KEY : TUI_FRAME, g->left);
		x = tui_text_fit(c, box, 2, 0, box.w - 4, TUI_STRONG, f->value) + 1;
		tui_put(c, box, x, 0, focused ? TUI_KEY : TUI_FRAME, g->right);
		return;
	}
	/* The end of a long text is what is being typed. */
	const char *s = f->value;
	while (tui_text_width(c, s) > box.w - 3 && *s) {
		do {
			s++;
		} while (((unsigned char)*s & 0xc0) == 0x80);
	}
	x = tui_text(c, box, x, 0, TUI_STRONG, s);
	if (focused) {
		tui_put(c, box, x, 0, TUI_TEXT | TUI_REVERSE, ' ');
	}
}

void tui_modal_draw(const struct tui_modal *m, struct tui_canvas *c, struct tui_rect r)
{
	static const char *const footer[] = {
		[TUI_MODAL_NOTICE] = "Enter close",
		[TUI_MODAL_QUESTION] = "y yes   any other key no",
		[TUI_MODAL_FORM] = "Enter take  Tab next  Esc leave",
	};
	if (m->kind == TUI_MODAL_NONE) {
		return;
	}
	int w = MIN(r.w - 2, 64);
	const struct tui_field *f = m->nfield ? &m->field[m->focus] : NULL;
	const char *below = *m->error ? m->error : f && f->help ? f->help : "";
	int text = *m->text ? tui_text_rows(c, w - 4, m->text) + 1 : 0;
	int help = *below ? tui_text_rows(c, w - 4, below) + 1 : 0;
	int foot = m->nfield || help ? 2 : 1; /* TEXT has its blank line already */
	int h = MIN(2 + text + (int)m->nfield + help + foot, r.h);
	/* Where there is no room for all fields, those around the focus; what helps with it stays,
	 * and blank lines go first. */
	int gap = h < 2 + text + (int)m->nfield + help + foot ? 0 : 1;
	int room = h - 2 - text - (help ? help - 1 + gap : 0) - (foot - 1 + gap);
	int rows = MAX(MIN((int)m->nfield, room), MIN((int)m->nfield, 1));
	int first = rows ? MAX((int)m->focus - rows + 1, 0) : 0;
	struct tui_rect box = {r.x + (r.w - w) / 2, r.y + (r.h - h) / 2, w, h};
	tui_fill(c, box, TUI_TEXT | TUI_ON(TUI_BG_BAR), ' ');
	struct tui_rect in = tui_inset(tui_panel(c, box, TUI_TITLE, m->title, NULL), 1, 0);
	int y = 0;
	if (*m->text) {
		y += tui_text_wrap(c, in, y, TUI_TEXT, m->text) + 1;
	}
	for (int i = first; i < first + rows; i++) {
		draw_field(&m->field[i], (size_t)i == m->focus, c, in, y++);
	}
	if (first > 0) {
		tui_put(c, in, in.w - 1, y - rows, TUI_KEY, c->glyphs->up);
	}
	if (first + rows < (int)m->nfield) {
		tui_put(c, in, in.w - 1, y - 1, TUI_KEY, c->glyphs->down);
	}
	if (*below) {
		tui_text_wrap(c, in, y + gap, *m->error ? TUI_BAD : TUI_FAINT, below);
	}
	tui_text_fit(c, in, 0, in.h - 1, in.w, TUI_FAINT, footer[m->kind]);
}
