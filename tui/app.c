/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/app.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "tui/chrome.h"
#include "tui/view.h"
#include "tui/window.h"

enum {
	WORKER_PATIENCE_MS = 300,
	SCAN_PATIENCE_MS = 500,
	READER_PATIENCE_MS = 500,
	STORE_PATIENCE_MS = 3000,
};

void tui_app_init(struct tui_app *a, const struct tui_options *o, uint64_t now_ns)
{
	*a = (struct tui_app){.options = *o, .now_ns = now_ns, .begun_ns = now_ns, .dirty = true};
	struct timespec wall;
	clock_gettime(CLOCK_REALTIME, &wall);
	a->wall_ns = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec;
	tzset(); /* its file is read here, not with the first clock that is drawn */
	a->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	bool no_store = o->demo || o->no_store;
	/* The demo's machine is not this one: nothing that happens here changes it. */
	tui_machine_init(&a->machine, o->demo ? "demo" : o->source);
	tui_live_init(&a->live);
	a->live.config = o->config;
	tui_window_init(&a->window);
	tui_keep_init(&a->keep, o->store, no_store);
	tui_library_init(&a->library, o->store, no_store);
	a->checkup.source = o->source;
}

bool tui_app_finish(struct tui_app *a)
{
	tui_keep_stop(&a->keep, a->live.have_status ? &a->live.status : NULL, RUNS_STOPPED,
		"the screen was left");
	tui_fleet_end(&a->fleet, &a->live, WORKER_PATIENCE_MS);
	tui_live_finish(&a->live, 0);
	tui_window_finish(&a->window);
	pcie_plan_destroy(a->plan);
	/* The store first: what was recorded matters more than a tidy scanner. */
	bool kept = tui_keep_finish(&a->keep, STORE_PATIENCE_MS) == 0;
	bool read = tui_library_finish(&a->library, READER_PATIENCE_MS) == 0;
	bool checked = tui_checkup_finish(&a->checkup, READER_PATIENCE_MS) == 0;
	bool asked = tui_neighbours_finish(&a->neighbours, READER_PATIENCE_MS) == 0;
	bool judged = tui_episodes_finish(&a->slow, READER_PATIENCE_MS) == 0;
	return tui_machine_finish(&a->machine, SCAN_PATIENCE_MS) == 0 && kept && read && checked &&
	       judged && asked;
}

void tui_app_say(struct tui_app *a, enum tui_tone tone, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(a->message.text, sizeof(a->message.text), fmt, ap);
	va_end(ap);
	a->message.tone = tone;
	a->message.until_ns = a->now_ns + TUI_MESSAGE_NS;
	a->dirty = true;
}

void tui_app_event(struct tui_app *a, enum tui_tone tone, const char *fmt, ...)
{
	struct tui_event *e = &a->event[(a->first_event + a->nevent) % TUI_EVENTS];
	if (a->nevent == TUI_EVENTS) {
		a->first_event = (a->first_event + 1) % TUI_EVENTS;
	} else {
		a->nevent++;
	}
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	e->t_ns = a->now_ns;
	e->tone = tone;
	a->dirty = true;
}

const struct tui_event *tui_app_event_at(const struct tui_app *a, size_t i)
{
	return &a->event[(a->first_event + i) % TUI_EVENTS];
}

void tui_app_clock(const struct tui_app *a, uint64_t t_ns, char *buf, size_t size)
{
	int64_t wall = a->wall_ns + (int64_t)(t_ns - a->begun_ns);
	time_t t = (time_t)(wall / 1000000000);
	struct tm tm;
	if (!localtime_r(&t, &tm) || !strftime(buf, size, "%H:%M:%S", &tm)) {
		text_copy(buf, size, "--:--:--");
	}
}

void tui_app_compare_then(struct tui_app *a)
{
	const struct tui_baseline *b = &a->keep.baseline;
	const struct stress_status *st = &a->live.status;
	a->since = b->env;
	if (*b->device && *st->device && strcmp(b->device, st->device) != 0) {
		tui_changes_add(&a->since, "device %.40s → %.40s", b->device, st->device);
	}
	a->compared = a->machine.has_since;
	if (a->compared) {
		tui_changes_append(&a->since, &a->machine.since);
	}
	a->dirty = true;
}

void tui_app_plan(struct tui_app *a)
{
	if (!a->machine.snapshot || (a->plan && !a->plan_stale)) {
		return;
	}
	pcie_plan_destroy(a->plan);
	const struct pcie_plan_options o = {.dev = -1, .size = a->plan_size};
	a->plan = pcie_plan_create(a->machine.snapshot, &o);
	a->plan_stale = false;
}

bool tui_app_moving(const struct tui_app *a)
{
	return (tui_live_active(&a->live) && a->live.status.phase != STRESS_PAUSED) ||
	       tui_fleet_moving(&a->fleet);
}

const struct pcie_device *tui_app_device(const struct tui_app *a)
{
	const struct tui_machine *m = &a->machine;
	size_t i = a->devices.cursor;
	return i < tui_machine_listed(m) ? tui_machine_device(m, i) : NULL;
}

struct tui_rect tui_body(const struct tui_canvas *c)
{
	struct tui_rect r = tui_canvas_rect(c);
	tui_take_top(&r, 1);
	tui_take_bottom(&r, 2);
	return r;
}

void tui_app_prepare(struct tui_app *a, const struct tui_canvas *c)
{
	const struct tui_view *v = tui_views()[a->view];
	const struct tui_band none = {0};
	a->w = c->w;
	a->h = c->h;
	a->window.want_layers = false;
	a->window.heat_cols = 0;
	if (v->prepare) {
		v->prepare(a, c, tui_body(c));
	}
	tui_window_update(&a->window, &a->live, a->layer,
		a->layer == TUI_HOST ? &a->keep.baseline.band : &none, a->now_ns,
		tui_plot_columns(c, (struct tui_rect){0, 0, c->w - 2, 2}));
}

void tui_app_draw(const struct tui_app *a, struct tui_canvas *c)
{
	tui_canvas_clear(c);
	struct tui_rect r = tui_canvas_rect(c);
	if (r.w < TUI_MIN_W || r.h < TUI_MIN_H) {
		tui_too_small_draw(c, r);
		return;
	}
	const struct tui_view *v = tui_views()[a->view];
	tui_header_draw(a, c, tui_take_top(&r, 1));
	tui_hints_draw(a, c, tui_take_bottom(&r, 1));
	tui_status_draw(a, c, tui_take_bottom(&r, 1));
	if (a->help) {
		tui_help_draw(a, c, r);
	} else {
		v->draw(a, c, r);
	}
	tui_modal_draw(&a->modal, c, r);
}

void tui_app_view(struct tui_app *a, size_t view)
{
	size_t n = 0;
	while (tui_views()[n]) {
		n++;
	}
	a->view = view % n;
	a->help = false;
	a->dirty = true;
}

/* Is NEEDLE in HAY? Letters in either case. */
static bool holds(const char *hay, const char *needle)
{
	size_t n = strlen(needle);
	for (; *hay; hay++) {
		size_t i = 0;
		while (i < n && hay[i] &&
			tolower((unsigned char)hay[i]) == tolower((unsigned char)needle[i])) {
			i++;
		}
		if (i == n) {
			return true;
		}
	}
	return n == 0;
}

void tui_app_find(struct tui_app *a, int step, bool from_here)
{
	const struct tui_view *v = tui_views()[a->view];
	size_t n = v->list ? v->rows(a) : 0;
	if (!n || !*a->search) {
		return;
	}
	struct tui_list *l = v->list(a);
	char text[512];
	for (size_t i = from_here ? 0 : 1; i <= n; i++) {
		size_t at = (l->cursor + (step > 0 ? i : n - i % n)) % n;
		v->row_text(a, at, text, sizeof(text));
		if (holds(text, a->search)) {
			l->cursor = at;
			return;
		}
	}
	tui_app_say(a, TUI_TONE_NOTE, "'%s' is not here", a->search);
}

static void search_key(struct tui_app *a, uint32_t key)
{
	size_t len = strlen(a->search);
	if (key == TUI_KEY_ENTER || key == TUI_KEY_ESCAPE) {
		a->searching = false;
	} else if (key == TUI_KEY_BACKSPACE) {
		while (len > 0 && ((unsigned char)a->search[len - 1] & 0xc0) == 0x80) {
			len--;
		}
		a->search[len ? len - 1 : 0] = '\0';
	} else if (key >= ' ' && key < 0x110000 && len + 4 < sizeof(a->search)) {
		char buf[4];
		size_t n = text_utf8_encode(key, buf);
		memcpy(a->search + len, buf, n);
		a->search[len + n] = '\0';
		tui_app_find(a, 1, true);
	}
}

static bool window_key(struct tui_app *a, uint32_t key)
{
	switch (key) {
	case '+':
	case '=':
		tui_window_zoom(&a->window, -1);
		return true;
	case '-':
		tui_window_zoom(&a->window, 1);
		return true;
	case 'l':
		tui_window_log(&a->window);
		return true;
	case 'f':
		tui_window_freeze(&a->window, !a->window.frozen);
		return true;
	default:
		return false;
	}
}

static bool view_key(struct tui_app *a, uint32_t key)
{
	size_t n = 0;
	while (tui_views()[n]) {
		n++;
	}
	if (key >= '1' && key < '1' + n) {
		tui_app_view(a, key - '1');
		return true;
	}
	switch (key) {
	case TUI_KEY_TAB:
		tui_app_view(a, a->view + 1);
		return true;
	case TUI_KEY_BACK_TAB:
		tui_app_view(a, a->view + n - 1);
		return true;
	case '?':
	case 'h':
		a->help = !a->help;
		a->help_scroll = 0;
		return true;
	case '/':
		if (tui_views()[a->view]->list) {
			a->searching = true;
			a->search[0] = '\0';
		}
		return true;
	case 'n':
	case 'N':
		tui_app_find(a, key == 'n' ? 1 : -1, false);
		return true;
	case 'y':
		a->plain = true;
		return true;
	default:
		return false;
	}
}

static void action_key(struct tui_app *a, uint32_t key)
{
	switch (key) {
	case 'q':
		a->quit = true;
		break;
	case 's':
		tui_app_start_stop(a);
		break;
	case 'p':
	case ' ':
		tui_app_pause(a);
		break;
	case 'e':
		tui_app_edit(a);
		break;
	case 'b':
		tui_app_mark(a);
		break;
	case 'R':
		tui_app_record(a);
		break;
	case 'D':
		tui_app_next_gpu(a);
		break;
	case 'S':
		tui_app_study(a, tui_library_due(&a->library));
		break;
	case 'r':
		if (a->options.demo) {
			tui_app_say(a, TUI_TONE_PLAIN, "the demo's machine is not read again");
			break;
		}
		tui_machine_scan(&a->machine, a->now_ns);
		tui_app_say(a, TUI_TONE_PLAIN, "reading the machine again");
		break;
	default:
		break;
	}
}

static bool help_key(struct tui_app *a, uint32_t key)
{
	switch (key) {
	case TUI_KEY_ESCAPE:
	case TUI_KEY_ENTER:
		a->help = false;
		return true;
	case TUI_KEY_DOWN:
	case TUI_KEY_PAGE_DOWN:
	case 'j':
		a->help_scroll += key == TUI_KEY_PAGE_DOWN ? MAX(a->h - 6, 1) : 1;
		return true;
	case TUI_KEY_UP:
	case TUI_KEY_PAGE_UP:
	case 'k':
		a->help_scroll -= key == TUI_KEY_PAGE_UP ? MAX(a->h - 6, 1) : 1;
		a->help_scroll = MAX(a->help_scroll, 0);
		return true;
	default:
		return false;
	}
}

void tui_app_key(struct tui_app *a, struct tui_input in)
{
	const struct tui_view *v = tui_views()[a->view];
	a->dirty = true;
	if (in.key == TUI_KEY_END_OF_INPUT) {
		a->quit = true;
	} else if (a->modal.kind != TUI_MODAL_NONE) {
		tui_modal_key(a, &a->modal, in);
	} else if (a->searching) {
		search_key(a, in.key);
	} else if (a->help && help_key(a, in.key)) {
		return;
	} else if (in.key == TUI_KEY_MOUSE && in.y == 0 && in.wheel == 0) {
		int hit = tui_header_hit(a, in.x);
		if (hit >= 0) {
			tui_app_view(a, (size_t)hit);
		}
	} else if (!a->help && v->key_pressed && v->key_pressed(a, in)) {
		return;
	} else if (!view_key(a, in.key) && !window_key(a, in.key)) {
		action_key(a, in.key);
	}
}
