/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "tui/demo.h"

struct loop {
	struct tui_app app;
	struct tui_screen *screen;
	struct tui_canvas canvas;
	int signals, timer;
	uint64_t timer_ns; /* its interval now */
	uint64_t drawn_ns;
	bool plain; /* the terminal shows plain text until Enter */
};

enum {
	IN,
	SIGNALS,
	TIMER,
	SCANNER,
	UDEV,
	RECORDER,
	LIBRARY,
	DOCTOR,
	EPISODES,
	NEIGHBOURS,
	WORKER,
	OUT,
	FDS
};

static const int watched[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGUSR1};

static int block_signals(sigset_t *ret_old)
{
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(watched); i++) {
		sigaddset(&set, watched[i]);
	}
	sigprocmask(SIG_BLOCK, &set, ret_old);
	signal(SIGPIPE, SIG_IGN);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void set_timer(struct loop *l, uint64_t ns)
{
	if (ns == l->timer_ns) {
		return;
	}
	const struct timespec ts = {(time_t)(ns / 1000000000u), (long)(ns % 1000000000u)};
	const struct itimerspec it = {.it_interval = ts, .it_value = ts};
	timerfd_settime(l->timer, 0, &it, NULL);
	l->timer_ns = ns;
}

static uint64_t frame_ns(const struct loop *l)
{
	return 1000000000u / l->app.options.fps;
}

/* 20 times a second while something moves, so that the ring never fills between two looks;
 * four times while a worker only has to be watched; once else. */
static uint64_t wanted_interval(const struct loop *l)
{
	if (tui_app_moving(&l->app)) {
		return MIN(frame_ns(l), 50000000u);
	}
	return l->app.live.worker ? 250000000u : 1000000000u;
}

static void resize(struct loop *l)
{
	int w, h;
	tui_screen_size(l->screen, &w, &h);
	if (w != l->canvas.w || h != l->canvas.h) {
		tui_canvas_resize(&l->canvas, w, h);
	}
	tui_screen_redraw(l->screen);
	l->app.dirty = true;
}

static void draw(struct loop *l, bool at_once)
{
	uint64_t now = clock_ns();
	/* A frame's length less a little: the timer's own jitter must not skip one. */
	bool due = at_once || now - l->drawn_ns + 5000000u >= frame_ns(l);
	if (!l->app.dirty || !due || l->plain || tui_screen_busy(l->screen)) {
		return;
	}
	tui_app_prepare(&l->app, &l->canvas);
	tui_app_draw(&l->app, &l->canvas);
	tui_screen_show(l->screen, &l->canvas);
	l->app.dirty = false;
	l->drawn_ns = now;
}

static void suspend(struct loop *l)
{
	bool paused = l->app.live.want_pause;
	if (!paused) {
		tui_live_pause(&l->app.live, true);
		tui_fleet_pause(&l->app.fleet, true);
	}
	tui_screen_leave(l->screen);
	kill(getpid(), SIGSTOP);
	/* Here the shell has brought us back. */
	tui_screen_enter(l->screen);
	if (!paused) {
		tui_live_pause(&l->app.live, false);
		tui_fleet_pause(&l->app.fleet, false);
	}
	resize(l);
}

static void take_signals(struct loop *l)
{
	struct signalfd_siginfo si;
	while (read(l->signals, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		switch ((int)si.ssi_signo) {
		case SIGWINCH:
			resize(l);
			break;
		case SIGTSTP:
			suspend(l);
			break;
		case SIGCONT:
			/* After a SIGSTOP from elsewhere the shell may have changed the terminal.
			 */
			tui_screen_enter(l->screen);
			resize(l);
			break;
		case SIGUSR1:
			break;
		default:
			l->app.exit_status = 128 + (int)si.ssi_signo;
			l->app.quit = true;
			break;
		}
	}
}

/* The view as lines of text on the terminal's own screen, where it can be marked, copied and
 * scrolled; drawn on a canvas long enough for all of it. */
static void show_plain(struct loop *l)
{
	enum { LONG = 400 };
	struct tui_canvas c;
	l->app.plain = false;
	tui_canvas_init(&c, l->canvas.w, LONG, l->canvas.glyphs);
	tui_app_prepare(&l->app, &c);
	tui_app_draw(&l->app, &c);
	_cleanup_free_ char *text = tui_canvas_plain(&c);
	tui_canvas_finish(&c);
	tui_screen_leave(l->screen);
	tui_screen_print(l->screen, text);
	tui_screen_print(l->screen, "\n-- Enter: back to the screen --\n");
	l->plain = true;
}

static bool leave_plain(struct loop *l)
{
	char buf[256];
	if (read(tui_screen_in_fd(l->screen), buf, sizeof(buf)) <= 0) {
		l->app.quit = true;
	}
	l->plain = false;
	tui_screen_enter(l->screen);
	resize(l);
	return true;
}

static bool take_keys(struct loop *l)
{
	enum { CTRL_L = 12, AT_ONCE = 64 };
	bool any = false;
	/* Bounded: a pasted megabyte must not keep the clock waiting. */
	for (int i = 0; i < AT_ONCE && !l->app.quit; i++) {
		struct tui_input in = tui_screen_key(l->screen);
		if (in.key == TUI_KEY_NONE) {
			break;
		}
		if (in.key == CTRL_L) {
			resize(l);
		} else {
			tui_app_key(&l->app, in);
		}
		any = true;
	}
	return any;
}

static void drain_timer(const struct loop *l)
{
	uint64_t n;
	while (read(l->timer, &n, sizeof(n)) > 0) {
	}
}

static void turn(struct loop *l)
{
	struct tui_app *a = &l->app;
	bool moving = tui_app_moving(a);
	struct pollfd p[FDS] = {
		[IN] = {.fd = tui_screen_in_fd(l->screen), .events = POLLIN},
		[SIGNALS] = {.fd = l->signals, .events = POLLIN},
		[TIMER] = {.fd = l->timer, .events = POLLIN},
		[SCANNER] = {.fd = tui_machine_fd(&a->machine), .events = POLLIN},
		[UDEV] = {.fd = tui_machine_watch_fd(&a->machine), .events = POLLIN},
		[RECORDER] = {.fd = tui_keep_fd(&a->keep), .events = POLLIN},
		[LIBRARY] = {.fd = tui_library_fd(&a->library), .events = POLLIN},
		[DOCTOR] = {.fd = tui_checkup_fd(&a->checkup), .events = POLLIN},
		[NEIGHBOURS] = {.fd = tui_neighbours_fd(&a->neighbours), .events = POLLIN},
		[EPISODES] = {.fd = tui_episodes_fd(&a->slow), .events = POLLIN},
		/* While it runs, the timer looks often enough; its fd tells of the rest. */
		[WORKER] = {.fd = a->live.worker && !moving ? stress_worker_fd(a->live.worker) : -1,
			.events = POLLIN},
		[OUT] = {.fd = tui_screen_busy(l->screen) ? tui_screen_out_fd(l->screen) : -1,
			.events = POLLOUT},
	};
	set_timer(l, wanted_interval(l));
	if (poll(p, FDS, -1) < 0 && errno != EINTR) {
		a->quit = true;
		a->exit_status = 3;
		return;
	}
	bool key = false;
	if (p[TIMER].revents) {
		drain_timer(l);
	}
	if (p[SIGNALS].revents) {
		take_signals(l);
	}
	a->now_ns = clock_ns();
	if (p[IN].revents) {
		key = l->plain ? leave_plain(l) : take_keys(l);
	}
	if (a->plain) {
		show_plain(l);
	}
	if (p[OUT].revents) {
		tui_screen_flush(l->screen);
	}
	tui_app_tick(a, clock_ns());
	draw(l, key);
}

int tui_run(const struct tui_options *o, struct tui_left *ret, struct why *why)
{
	*ret = (struct tui_left){0};
	struct loop *l = calloc(1, sizeof(*l));
	if (!l) {
		why_set(why, "no memory for the screen");
		return -ENOMEM;
	}
	sigset_t old;
	l->signals = block_signals(&old);
	l->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	const struct tui_screen_options so = {
		.ascii = o->ascii, .mouse = o->mouse, .colours = o->colours};
	int r = l->signals < 0 || l->timer < 0 ? -errno : tui_screen_open(&so, &l->screen, why);
	if (r < 0) {
		if (!l->screen && (l->signals < 0 || l->timer < 0)) {
			why_set(why, "the screen's timer: %s", strerror(-r));
		}
		free(l);
		return r;
	}
	tui_canvas_init(&l->canvas, 1, 1, tui_screen_glyphs(l->screen));
	tui_app_init(&l->app, o, clock_ns());
	_cleanup_fd_ int demo = -1;
	if (o->demo) {
		demo = tui_demo_open(&l->app, why);
	} else {
		tui_machine_scan(&l->app.machine, l->app.now_ns);
	}
	if (o->demo && demo < 0) {
		tui_screen_close(l->screen);
		tui_app_finish(&l->app);
		return demo;
	}
	resize(l);
	draw(l, true);
	while (!l->app.quit) {
		turn(l);
	}

	/* The terminal first: whatever takes long from here on, the user has it back. */
	tui_screen_close(l->screen);
	int status = l->app.exit_status;
	text_copy(ret->study, sizeof(ret->study), l->app.study);
	ret->side = l->app.study_side;
	bool clean = tui_app_finish(&l->app);
	if (!clean) {
		_exit(status);
	}
	tui_canvas_finish(&l->canvas);
	close(l->signals);
	close(l->timer);
	free(l);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}
