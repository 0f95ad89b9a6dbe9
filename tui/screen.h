/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terminal: a canvas goes out, keys come in. The only file that knows ncurses.
 *
 * ncurses writes into a memory file; from there the bytes go to the terminal without
 * ever blocking. A terminal that does not take them (a stopped one, a slow line) makes
 * tui_screen_busy() true: the caller then draws no further frame until it has caught up.
 *
 * One screen a process, main thread. The terminal is put back by tui_screen_close(),
 * by a crash (SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT), and while suspended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/why.h"
#include "tui/canvas.h"

/* Keys beside characters, above Unicode. */
enum tui_key {
	TUI_KEY_NONE = 0x200000,
	TUI_KEY_UP,
	TUI_KEY_DOWN,
	TUI_KEY_LEFT,
	TUI_KEY_RIGHT,
	TUI_KEY_PAGE_UP,
	TUI_KEY_PAGE_DOWN,
	TUI_KEY_HOME,
	TUI_KEY_END,
	TUI_KEY_ENTER,
	TUI_KEY_TAB,
	TUI_KEY_BACK_TAB,
	TUI_KEY_BACKSPACE,
	TUI_KEY_DELETE,
	TUI_KEY_ESCAPE,
	TUI_KEY_MOUSE,
	TUI_KEY_END_OF_INPUT, /* the terminal is gone */
};

struct tui_input {
	uint32_t key; /* a character or enum tui_key */
	int x, y;     /* TUI_KEY_MOUSE: the cell pressed */
	int wheel;    /* TUI_KEY_MOUSE: -1 up, 1 down, 0 a press */
};

struct tui_screen;

struct tui_screen_options {
	bool ascii; /* --ascii */
	bool mouse;
	enum tui_colours colours; /* no more than terminfo knows of */
};

/*
 * Takes the terminal. Errors with why, the terminal untouched: -ENOTTY (standard input
 * or output is none), -ENODEV (TERM unknown or unset, or it cannot move the cursor).
 */
int tui_screen_open(const struct tui_screen_options *o, struct tui_screen **ret, struct why *why);
/* Puts the terminal back. NULL is allowed. */
void tui_screen_close(struct tui_screen *s);

const struct tui_glyphs *tui_screen_glyphs(const struct tui_screen *s);
/* Asks the terminal for its size. */
void tui_screen_size(struct tui_screen *s, int *ret_w, int *ret_h);

/* Brings C to the terminal: only what differs from the last one is sent. */
void tui_screen_show(struct tui_screen *s, const struct tui_canvas *c);
/* The next show() sends everything. */
void tui_screen_redraw(struct tui_screen *s);

/* The terminal has not yet taken all bytes: poll its output fd, then call flush. */
bool tui_screen_busy(const struct tui_screen *s);
int tui_screen_out_fd(const struct tui_screen *s);
void tui_screen_flush(struct tui_screen *s);
/* Bytes sent since open. */
uint64_t tui_screen_sent(const struct tui_screen *s);

/* Standard input, to poll. */
int tui_screen_in_fd(const struct tui_screen *s);
/* The next key that waits, TUI_KEY_NONE when none does. Never blocks for longer than an escape
 * sequence's 25 ms. */
struct tui_input tui_screen_key(struct tui_screen *s);

/* Text with newlines on a terminal that was left; waits for a slow one, but not for ever. */
void tui_screen_print(struct tui_screen *s, const char *text);

/* Gives the terminal back for a while, and takes it again. */
void tui_screen_leave(struct tui_screen *s);
void tui_screen_enter(struct tui_screen *s);
