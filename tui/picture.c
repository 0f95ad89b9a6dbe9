/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/picture.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/text.h"
#include "tui/demo.h"
#include "tui/svg.h"

static const uint64_t second = 1000000000u;
static const int tick_ms = 50;

/* Presses the next of KEYS; returns what is left of them. */
static const char *press(struct tui_app *a, const char *keys)
{
	uint32_t ch;
	size_t n = 0;
	while (keys[n]) {
		n++;
	}
	keys += text_utf8_decode(keys, n, &ch);
	ch = ch == '\n'   ? (uint32_t)TUI_KEY_ENTER
	     : ch == '\t' ? (uint32_t)TUI_KEY_TAB
	     : ch == 27   ? (uint32_t)TUI_KEY_ESCAPE
			  : ch;
	tui_app_key(a, (struct tui_input){.key = ch});
	return keys;
}

int tui_picture_take(const struct tui_options *o, const struct tui_picture *p, bool utf8,
	char **ret, struct why *why)
{
	struct tui_app *a = xcalloc(1, sizeof(*a));
	struct tui_canvas c;
	tui_canvas_init(&c, p->w, p->h, tui_glyphs(tui_charset_pick(o->ascii, utf8, "xterm")));
	uint64_t begun = clock_ns();
	tui_app_init(a, o, begun);
	_cleanup_fd_ int demo = -1;
	int r = 0;
	if (o->demo) {
		demo = tui_demo_open(a, why);
		r = MIN(demo, 0);
	} else {
		r = tui_machine_scan(&a->machine, begun);
	}
	const char *keys = p->keys ? p->keys : "";
	for (uint64_t now = begun; !r && now - begun < p->seconds * second && !a->quit;
		now = clock_ns()) {
		poll(NULL, 0, tick_ms);
		tui_app_tick(a, clock_ns());
		tui_app_prepare(a, &c);
		if (*keys && a->machine.snapshot) {
			keys = press(a, keys);
		}
	}
	if (!r && o->source && !a->machine.snapshot && a->machine.why.text[0]) {
		*why = a->machine.why; /* nothing of what was asked for could be shown */
		r = -EINVAL;
	}
	if (!r) {
		a->message.until_ns = 0; /* nobody was there to be told */
		tui_app_prepare(a, &c);
		tui_app_draw(a, &c);
		*ret = p->svg ? tui_canvas_svg(&c) : tui_canvas_text(&c);
		enum stress_phase phase = a->live.status.phase;
		if (a->live.have_status && (phase == STRESS_FAILED || phase == STRESS_DIED)) {
			why_set(why, "%s", a->live.status.why);
			r = -EIO;
		}
	}
	tui_canvas_finish(&c);
	if (tui_app_finish(a)) {
		free(a);
	}
	return r;
}
