/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include <curses.h>
#include <term.h>

#include "base/alloc.h"
#include "base/text.h"
#include "tui/terminal.h"

enum { PAIRS = 256, CAPS_MAX = 256, GOODBYE_MS = 500, SMALL_WRITE = 128 };

struct tui_screen {
	int in, out;  /* the terminal; out does not block when OWN_OUT */
	bool own_out; /* out is a fresh open of the terminal, not the shell's */
	int mem;      /* what ncurses writes into */
	FILE *mem_file, *in_file;
	SCREEN *curses;
	WINDOW *keys; /* a pad: reading from it refreshes nothing */
	struct termios saved;
	struct tui_canvas shown; /* what the terminal has, once it took all bytes */
	bool have_shown;
	const struct tui_glyphs *glyphs;
	enum tui_colours colours;
	struct {
		int16_t fg, bg;
	} pair[PAIRS];
	short npair;
	char *pending; /* bytes on their way: [at, len) */
	size_t at, len, cap;
	uint64_t sent;
};

/*
 * What a crash needs, ready made: a signal handler may not ask terminfo. The one
 * piece of state outside a struct, since a handler gets no argument of ours.
 */
static struct {
	volatile sig_atomic_t armed;
	int in, out;
	struct termios saved;
	char bytes[CAPS_MAX];
	size_t len;
} restore;

/* What tputs() writes: it takes a function without an argument of ours. */
static struct {
	char bytes[CAPS_MAX];
	size_t len;
} caps;

static void on_crash(int sig)
{
	if (restore.armed) {
		restore.armed = 0;
		struct pollfd p = {.fd = restore.out, .events = POLLOUT};
		size_t at = 0;
		while (at < restore.len && poll(&p, 1, 100) > 0) {
			ssize_t n = write(restore.out, restore.bytes + at, restore.len - at);
			if (n <= 0) {
				break;
			}
			at += (size_t)n;
		}
		tcsetattr(restore.in, TCSANOW, &restore.saved);
	}
	/* SA_RESETHAND: the default action follows, with its core and exit status. */
	raise(sig);
}

static void watch_crashes(void)
{
	static char stack[16384];
	const stack_t alt = {.ss_sp = stack, .ss_size = sizeof(stack)};
	sigaltstack(&alt, NULL);
	struct sigaction sa = {
		.sa_handler = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_NODEFER | SA_ONSTACK)};
	static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
	for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
		sigaction(signals[i], &sa, NULL);
	}
}

static int collect(int ch)
{
	if (caps.len < CAPS_MAX) {
		caps.bytes[caps.len++] = (char)ch;
	}
	return ch;
}

/* The strings that put this terminal back, without their padding marks. */
static void prepare_restore(struct tui_screen *s, bool mouse)
{
	caps.len = 0;
	restore.in = s->in;
	restore.out = s->out;
	restore.saved = s->saved;
	static const char *const names[] = {"rmkx", "sgr0", "op", "cnorm", "rmcup"};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *cap = tigetstr(names[i]);
		if (cap && cap != (char *)-1) {
			tputs(cap, 1, collect);
		}
	}
	if (!exit_ca_mode) { /* the prompt stands below what was drawn, not on it */
		int w, h;
		tui_screen_size(s, &w, &h);
		tputs(tparm(cursor_address, h - 1, 0), 1, collect);
		collect('\r');
		collect('\n');
	}
	if (mouse) {
		for (const char *p = "\033[?1006l\033[?1000l"; *p; p++) {
			collect(*p);
		}
	}
	memcpy(restore.bytes, caps.bytes, caps.len);
	restore.len = caps.len;
}

/* Our own terminal settings: keys one by one, no echo, output as it is. ncurses cannot make
 * them, since it writes to a file. Signals from the keyboard stay on. */
static void set_raw(const struct tui_screen *s)
{
	struct termios t = s->saved;
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ECHONL | IEXTEN);
	t.c_iflag &= ~(tcflag_t)(INLCR | IGNCR);
	t.c_iflag |= ICRNL;
	t.c_oflag &= ~(tcflag_t)OPOST;
	t.c_cc[VMIN] = 1;
	t.c_cc[VTIME] = 0;
	tcsetattr(s->in, TCSANOW, &t);
}

static int check_terminal(struct why *why)
{
	if (!isatty(STDIN_FILENO)) {
		why_set(why, "standard input is not a terminal; try 'barscope show'");
		return -ENOTTY;
	}
	if (!isatty(STDOUT_FILENO)) {
		why_set(why, "standard output is not a terminal; try 'barscope show'");
		return -ENOTTY;
	}
	return tui_terminal_check(why);
}

static int start_curses(struct tui_screen *s, struct why *why)
{
	s->mem = memfd_create("barscope-screen", MFD_CLOEXEC);
	if (s->mem < 0) {
		why_set(why, "memory for the screen: %s", strerror(errno));
		return -errno;
	}
	s->mem_file = fdopen(s->mem, "w");
	s->in_file = fdopen(dup(STDIN_FILENO), "r");
	if (!s->mem_file || !s->in_file) {
		why_set(why, "the terminal: %s", strerror(errno));
		return -errno;
	}
	set_escdelay(25);
	s->curses = newterm(NULL, s->mem_file, s->in_file);
	if (!s->curses) {
		why_set(why, "ncurses could not start on this terminal");
		return -ENODEV;
	}
	set_term(s->curses);
	typeahead(-1);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	s->keys = newpad(1, 1);
	nodelay(s->keys, TRUE);
	keypad(s->keys, TRUE);
	return 0;
}

static void start_colours(struct tui_screen *s, enum tui_colours wanted)
{
	if (wanted != TUI_MONO && has_colors()) {
		start_color();
		use_default_colors();
		s->colours = wanted;
	}
	s->npair = 1; /* pair 0 is the terminal's own */
}

static void append(struct tui_screen *s, const char *bytes, size_t n)
{
	if (s->at == s->len) {
		s->at = s->len = 0;
	}
	if (s->len + n > s->cap) {
		s->cap = MAX(s->len + n, s->cap * 2);
		s->pending = xreallocarray(s->pending, s->cap, 1);
	}
	memcpy(s->pending + s->len, bytes, n);
	s->len += n;
}

/* Moves what ncurses wrote from the memory file to PENDING. */
static void gather(struct tui_screen *s)
{
	char chunk[4096];
	off_t n = lseek(s->mem, 0, SEEK_CUR);
	if (n <= 0) {
		return;
	}
	for (off_t from = 0; from < n;) {
		ssize_t got =
			pread(s->mem, chunk, (size_t)MIN((off_t)sizeof(chunk), n - from), from);
		if (got <= 0) {
			break;
		}
		append(s, chunk, (size_t)got);
		from += got;
	}
	if (ftruncate(s->mem, 0) == 0) {
		lseek(s->mem, 0, SEEK_SET);
	}
}

/*
 * ncurses sets the scrolling region when it starts, for the size that terminfo names, and not
 * again: the lines that it inserts on a larger screen would end there. Setting it sends the cursor
 * home: it is put back, since after a suspension the terminal still has to remember where the
 * shell had it.
 */
static void set_scroll_region(struct tui_screen *s, int h)
{
	if (change_scroll_region) {
		caps.len = 0;
		if (save_cursor && restore_cursor) {
			tputs(save_cursor, 1, collect);
		}
		tputs(tparm(change_scroll_region, 0, h - 1), 1, collect);
		if (save_cursor && restore_cursor) {
			tputs(restore_cursor, 1, collect);
		}
		append(s, caps.bytes, caps.len);
	}
}

int tui_screen_open(const struct tui_screen_options *o, struct tui_screen **ret, struct why *why)
{
	int r = check_terminal(why);
	if (r < 0) {
		return r;
	}
	struct tui_screen *s = xcalloc(1, sizeof(*s));
	s->in = STDIN_FILENO;
	s->mem = -1;
	tcgetattr(s->in, &s->saved);
	/* A fresh open, since O_NONBLOCK on the shell's own would outlive us. */
	s->out = open("/proc/self/fd/1", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	s->own_out = s->out >= 0;
	if (!s->own_out) {
		s->out = STDOUT_FILENO;
	}

	bool utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	s->glyphs = tui_glyphs(tui_charset_pick(o->ascii, utf8, getenv("TERM")));
	tui_canvas_init(&s->shown, 1, 1, s->glyphs);
	r = start_curses(s, why);
	if (r < 0) {
		tui_screen_close(s);
		return r;
	}
	start_colours(s, o->colours);
	if (o->mouse) {
		mousemask(BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
		mouseinterval(0);
	}
	prepare_restore(s, o->mouse);
	watch_crashes();
	set_raw(s);
	restore.armed = 1;
	refresh(); /* the opening sequences go before all of ours */
	gather(s);
	*ret = s;
	return 0;
}

void tui_screen_flush(struct tui_screen *s)
{
	while (s->at < s->len) {
		size_t n = s->len - s->at;
		if (!s->own_out) {
			struct pollfd p = {.fd = s->out, .events = POLLOUT};
			if (poll(&p, 1, 0) <= 0) {
				return;
			}
			n = MIN(n, (size_t)SMALL_WRITE);
		}
		ssize_t done = write(s->out, s->pending + s->at, n);
		if (done < 0 && errno == EINTR) {
			continue;
		}
		if (done < 0 && errno == EAGAIN) {
			return;
		}
		if (done <= 0) {
			s->at = s->len; /* the terminal is gone; its input will say so */
			return;
		}
		s->at += (size_t)done;
		s->sent += (uint64_t)done;
	}
}

/* Waits a little for a slow terminal: only on the way out. */
static void flush_patiently(struct tui_screen *s)
{
	for (int waited = 0; waited < GOODBYE_MS; waited += 50) {
		tui_screen_flush(s);
		if (!tui_screen_busy(s)) {
			return;
		}
		struct pollfd p = {.fd = s->out, .events = POLLOUT};
		poll(&p, 1, 50);
	}
}

void tui_screen_print(struct tui_screen *s, const char *text)
{
	append(s, text, strlen(text));
	flush_patiently(s);
}

void tui_screen_leave(struct tui_screen *s)
{
	endwin();
	gather(s);
	if (!exit_ca_mode) { /* ncurses left the cursor on the last line drawn */
		append(s, "\r\n", 2);
	}
	flush_patiently(s);
	restore.armed = 0;
	tcsetattr(s->in, TCSANOW, &s->saved);
}

void tui_screen_enter(struct tui_screen *s)
{
	set_raw(s);
	restore.armed = 1;
	s->at = s->len = 0;
	tui_screen_redraw(s);
}

void tui_screen_close(struct tui_screen *s)
{
	if (!s) {
		return;
	}
	if (s->curses) {
		tui_screen_leave(s);
		delwin(s->keys);
		delscreen(s->curses);
	}
	if (s->mem_file) {
		fclose(s->mem_file);
	} else if (s->mem >= 0) {
		close(s->mem);
	}
	if (s->in_file) {
		fclose(s->in_file);
	}
	if (s->own_out) {
		close(s->out);
	}
	tui_canvas_finish(&s->shown);
	free(s->pending);
	free(s);
}

const struct tui_glyphs *tui_screen_glyphs(const struct tui_screen *s)
{
	return s->glyphs;
}

static int from_env(const char *name, int otherwise)
{
	uint64_t v;
	const char *e = getenv(name);
	return e && text_parse_u64(e, 10, &v) == 0 && v > 0 && v <= TUI_MAX_SIDE ? (int)v
										 : otherwise;
}

void tui_screen_size(struct tui_screen *s, int *ret_w, int *ret_h)
{
	struct winsize ws = {0};
	(void)s;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) != 0 || ws.ws_col == 0 || ws.ws_row == 0) {
		/* A serial line does not know its size. */
		*ret_w = from_env("COLUMNS", 80);
		*ret_h = from_env("LINES", 24);
		return;
	}
	*ret_w = MIN((int)ws.ws_col, TUI_MAX_SIDE);
	*ret_h = MIN((int)ws.ws_row, TUI_MAX_SIDE);
}

static short pair_for(struct tui_screen *s, int16_t fg, int16_t bg)
{
	if (s->colours == TUI_MONO || (fg == -1 && bg == -1)) {
		return 0;
	}
	for (short i = 1; i < s->npair; i++) {
		if (s->pair[i].fg == fg && s->pair[i].bg == bg) {
			return i;
		}
	}
	if (s->npair >= MIN(COLOR_PAIRS, PAIRS) || init_pair(s->npair, fg, bg) != OK) {
		return 0;
	}
	s->pair[s->npair].fg = fg;
	s->pair[s->npair].bg = bg;
	return s->npair++;
}

static attr_t attributes(unsigned a)
{
	return ((a & TUI_BOLD) ? A_BOLD : 0) | ((a & TUI_DIM) ? A_DIM : 0) |
	       ((a & TUI_REVERSE) ? A_REVERSE : 0) | ((a & TUI_UNDERLINE) ? A_UNDERLINE : 0);
}

static void put_cell(struct tui_screen *s, int x, int y, const struct tui_cell *cell, bool wide)
{
	struct tui_look look = tui_theme_look(s->colours, cell->role);
	struct tui_ground ground = tui_theme_ground(s->colours, cell->bg);
	/* The C library's idea of the width rules the terminal; where it differs, the
	 * character would shift the row. */
	wchar_t ch[2] = {(wchar_t)cell->ch, L'\0'};
	if (wcwidth(ch[0]) != (wide ? 2 : 1)) {
		ch[0] = L'?';
		if (wide) {
			wide = false;
			mvaddch(y, x + 1, ' ');
		}
	}
	cchar_t cc;
	attr_t attr = attributes(((unsigned)cell->attr << 8) | look.attr) ^ attributes(ground.attr);
	setcchar(&cc, ch, attr, pair_for(s, look.fg, ground.bg), NULL);
	mvadd_wch(y, x, &cc);
}

void tui_screen_show(struct tui_screen *s, const struct tui_canvas *c)
{
	bool all = !s->have_shown;
	if (c->w != s->shown.w || c->h != s->shown.h || all) {
		resizeterm(c->h, c->w);
		tui_canvas_resize(&s->shown, c->w, c->h);
		erase();
		clearok(stdscr, TRUE);
		all = true;
		set_scroll_region(s, c->h);
	}
	for (int y = 0; y < c->h; y++) {
		const struct tui_cell *now = &c->cell[(size_t)y * (size_t)c->w];
		const struct tui_cell *was = &s->shown.cell[(size_t)y * (size_t)c->w];
		for (int x = 0; x < c->w; x++) {
			bool wide = x + 1 < c->w && now[x + 1].ch == 0;
			size_t n = wide ? 2 : 1;
			if (now[x].ch != 0 &&
				(all || memcmp(&now[x], &was[x], n * sizeof(*now)) != 0)) {
				put_cell(s, x, y, &now[x], wide);
			}
		}
	}
	tui_canvas_copy(&s->shown, c);
	s->have_shown = true;
	refresh();
	gather(s);
	tui_screen_flush(s);
}

void tui_screen_redraw(struct tui_screen *s)
{
	s->have_shown = false;
}

bool tui_screen_busy(const struct tui_screen *s)
{
	return s->at < s->len;
}

int tui_screen_out_fd(const struct tui_screen *s)
{
	return s->out;
}

uint64_t tui_screen_sent(const struct tui_screen *s)
{
	return s->sent;
}

int tui_screen_in_fd(const struct tui_screen *s)
{
	return s->in;
}

static bool input_ended(const struct tui_screen *s)
{
	struct pollfd p = {.fd = s->in, .events = POLLIN};
	int waiting = 0;
	return poll(&p, 1, 0) > 0 &&
	       (!(p.revents & POLLIN) || (ioctl(s->in, FIONREAD, &waiting) == 0 && waiting == 0));
}

static struct tui_input mouse_input(void)
{
	MEVENT e;
	if (getmouse(&e) != OK) {
		return (struct tui_input){.key = TUI_KEY_NONE};
	}
	struct tui_input in = {.key = TUI_KEY_MOUSE, .x = e.x, .y = e.y};
	in.wheel = (e.bstate & BUTTON4_PRESSED) ? -1 : (e.bstate & BUTTON5_PRESSED) ? 1 : 0;
	return in;
}

struct tui_input tui_screen_key(struct tui_screen *s)
{
	static const struct {
		wint_t curses;
		uint32_t key;
	} map[] = {
		{KEY_UP, TUI_KEY_UP},
		{KEY_DOWN, TUI_KEY_DOWN},
		{KEY_LEFT, TUI_KEY_LEFT},
		{KEY_RIGHT, TUI_KEY_RIGHT},
		{KEY_PPAGE, TUI_KEY_PAGE_UP},
		{KEY_NPAGE, TUI_KEY_PAGE_DOWN},
		{KEY_HOME, TUI_KEY_HOME},
		{KEY_END, TUI_KEY_END},
		{KEY_ENTER, TUI_KEY_ENTER},
		{KEY_BTAB, TUI_KEY_BACK_TAB},
		{KEY_BACKSPACE, TUI_KEY_BACKSPACE},
		{KEY_DC, TUI_KEY_DELETE},
	};
	wint_t ch;
	int r = wget_wch(s->keys, &ch);
	gather(s);
	if (r == ERR) {
		bool gone = input_ended(s);
		return (struct tui_input){.key = gone ? TUI_KEY_END_OF_INPUT : TUI_KEY_NONE};
	}
	if (r == KEY_CODE_YES) {
		if (ch == KEY_MOUSE) {
			return mouse_input();
		}
		for (size_t i = 0; i < ARRAY_LEN(map); i++) {
			if (map[i].curses == ch) {
				return (struct tui_input){.key = map[i].key};
			}
		}
		return (struct tui_input){.key = TUI_KEY_NONE};
	}
	uint32_t key = ch == '\n' || ch == '\r' ? TUI_KEY_ENTER
		       : ch == '\t'             ? TUI_KEY_TAB
		       : ch == 27               ? TUI_KEY_ESCAPE
		       : ch == 127 || ch == 8   ? TUI_KEY_BACKSPACE
						: (uint32_t)ch;
	return (struct tui_input){.key = key};
}
