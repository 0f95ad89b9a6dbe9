/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A box in front of the view: a notice, a question, a form of a few fields. It takes all
 * keys while it is open. What was entered is handed to DONE; Esc hands over nothing. Pure but
 * for its own state.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tui/canvas.h"
#include "tui/screen.h"

struct tui_app;
struct tui_modal;

enum tui_modal_kind { TUI_MODAL_NONE, TUI_MODAL_NOTICE, TUI_MODAL_QUESTION, TUI_MODAL_FORM };

enum { TUI_FIELDS = 8, TUI_FIELD_TEXT = 80, TUI_CHOICES = 18 };

struct tui_field {
	const char *label, *help;
	char value[TUI_FIELD_TEXT]; /* UTF-8; with choices the one taken */
	size_t nchoice;             /* 0: free text */
	char choice[TUI_CHOICES][TUI_FIELD_TEXT];
};

/* False, with modal->error: stays open. */
typedef bool tui_modal_fn(struct tui_app *a, struct tui_modal *m);

struct tui_modal {
	enum tui_modal_kind kind;
	char title[64];
	char text[640];
	char error[200];
	size_t nfield, focus;
	struct tui_field field[TUI_FIELDS];
	tui_modal_fn *done; /* NOTICE: may be NULL */
	int64_t about;      /* DONE's own */
};

void tui_modal_notice(struct tui_modal *m, const char *title, const char *text);
/* y answers it; everything else is no. */
void tui_modal_question(struct tui_modal *m, const char *title, const char *text,
	tui_modal_fn *done, int64_t about);
void tui_modal_form(struct tui_modal *m, const char *title, tui_modal_fn *done);
struct tui_field *tui_modal_field(
	struct tui_modal *m, const char *label, const char *value, const char *help);
void tui_field_choice(struct tui_field *f, const char *value);

void tui_modal_key(struct tui_app *a, struct tui_modal *m, struct tui_input in);
void tui_modal_draw(const struct tui_modal *m, struct tui_canvas *c, struct tui_rect r);
