/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Golden screens: every view at every size, and what the screen says in trouble. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/macros.h"
#include "scene.h"
#include "tui/chrome.h"

static const struct {
	int w, h;
} sizes[] = {{40, 12}, {80, 24}, {120, 40}, {200, 60}};

static const struct {
	const char *name, *machine;
	const char *keys; /* pressed in the view */
} views[] = {
	[TUI_VIEW_OVERVIEW] = {"overview", "001-h200-vm/machine", ""},
	[TUI_VIEW_MACHINE] = {"machine", "002-switch-rebar/machine.rec", "jjjj"},
	[TUI_VIEW_MAP] = {"map", "002-switch-rebar/machine.rec", "jj"},
	[TUI_VIEW_VERDICTS] = {"verdicts", "demo", "j\n"},
	[TUI_VIEW_LATENCY] = {"latency", "demo", ""},
	[TUI_VIEW_COMPARE] = {"compare", "demo", ""},
	[TUI_VIEW_RUNS] = {"runs", "demo", "j\n"},
	[TUI_VIEW_DOCTOR] = {"doctor", "demo", "j\n"},
};

static void every_view_at_every_size(void **state)
{
	(void)state;
	static const char *const sets[] = {"ascii", "blocks", "utf8"};
	for (size_t v = 0; v < ARRAY_LEN(views); v++) {
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			for (int set = TUI_ASCII; set <= TUI_UTF8; set++) {
				struct scene *s = scene_create(views[v].machine, sizes[i].w,
					sizes[i].h, (enum tui_charset)set);
				scene_phase(s, STRESS_RUNNING, true);
				scene_run(s, 50);
				scene_episodes(s);
				tui_app_event(
					&s->app, TUI_TONE_NOTE, "01:00.0 link 16 GT/s x16 → x8");
				s->app.event[0].t_ns -= 21000000000u;
				scene_baseline(s);
				scene_store(s);
				scene_checkup(s);
				tui_app_view(&s->app, v);
				scene_keys(s, views[v].keys);
				char name[64];
				snprintf(name, sizeof(name), "%s-%dx%d-%s", views[v].name,
					sizes[i].w, sizes[i].h, sets[set]);
				assert_true(set == TUI_BLOCKS || scene_golden(s, name));
				_cleanup_free_ char *text = scene_text(s);
				for (const char *p = text; set == TUI_ASCII && *p; p++) {
					assert_in_range((unsigned char)*p, 1, 0x7e);
				}
				scene_destroy(s);
			}
		}
	}
}

/* What each state of the worker looks like: the whole screen once, then the line that matters. */
static void trouble_is_said(void **state)
{
	(void)state;
	static const struct {
		enum stress_phase phase;
		bool alive, stalled;
		const char *why, *says;
		uint64_t dropped, events_dropped;
	} cases[] = {
		{STRESS_STARTING, true, false, "", "starting"},
		{STRESS_PAUSED, true, false, "", "paused"},
		{STRESS_DONE, false, false, "", "stopped"},
		{STRESS_RUNNING, true, true, "",
			"stalled: no sign of the worker (process 4242) for 3.2 s"},
		{STRESS_FAILED, false, false, "not enough memory", "not enough memory; s starts"},
		{STRESS_DIED, false, false, "the worker process was ended by signal 9 (Killed)",
			"signal 9 (Killed); s starts another"},
		{STRESS_RUNNING, true, false, "", "running 1:23, 12 samples dropped", 12, 0},
		{STRESS_RUNNING, true, false, "", "running 1:23, 1 reading lost", 0, 1},
		{STRESS_DONE, false, false, "", "stopped, 1 sample dropped, 7 readings lost", 1, 7},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
		scene_phase(s, cases[i].phase, cases[i].alive);
		s->app.live.status.stalled = cases[i].stalled;
		s->app.live.status.silent_ns = cases[i].stalled ? 3200000000u : 0;
		s->app.live.status.dropped = cases[i].dropped;
		s->app.live.status.events_dropped = cases[i].events_dropped;
		strcpy(s->app.live.status.why, cases[i].why);
		scene_run(s, 20);
		_cleanup_free_ char *text = scene_text(s);
		if (!strstr(text, cases[i].says)) {
			fprintf(stderr, "'%s' is missing:\n%s", cases[i].says, text);
			fail();
		}
		scene_destroy(s);
	}
}

static void small_and_empty_machines(void **state)
{
	(void)state;
	/* No GPU: said in one line, the devices with BARs follow. */
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct pcie_snapshot *m = pcie_snapshot_create("empty");
	tui_machine_set(&s->app.machine, m, NULL);
	_cleanup_free_ char *none = scene_text(s);
	assert_non_null(strstr(none, "No PCI device with BARs"));
	scene_destroy(s);

	s = scene_create(NULL, 80, 24, TUI_UTF8);
	_cleanup_free_ char *reading = scene_text(s);
	assert_non_null(strstr(reading, "Reading the machine"));
	why_set(&s->app.machine.why, "/sys/bus/pci/devices: No such file or directory");
	_cleanup_free_ char *failed = scene_text(s);
	assert_non_null(strstr(failed, "No such file or directory"));
	scene_destroy(s);

	s = scene_create("demo", 39, 11, TUI_UTF8);
	_cleanup_free_ char *small = scene_text(s);
	assert_non_null(strstr(small, "39 x 11"));
	assert_non_null(strstr(small, "40 x 12"));
	scene_destroy(s);
}

static void help_names_every_key(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	s->app.help = true;
	assert_true(scene_golden(s, "help-80x24-utf8"));
	s->app.help_scroll = 1000;
	assert_true(scene_golden(s, "help-80x24-end-utf8"));
	scene_destroy(s);
}

/* No size, key or state may write outside the canvas or divide by nothing. */
static void any_size_and_key(void **state)
{
	(void)state;
	static const uint32_t keys[] = {'j', 'k', '+', '-', '-', '-', 'l', '?', '?', 'b', 'p', 'f',
		'L', '\n', 'J', '<', '>', 'd', 'n', 'c', 'e', 'x', '\t', '1', 0xe9, 7, '/', 'z',
		'q', TUI_KEY_ENTER, TUI_KEY_END, TUI_KEY_HOME, TUI_KEY_UP, TUI_KEY_DOWN,
		TUI_KEY_ESCAPE, TUI_KEY_LEFT, TUI_KEY_LEFT, TUI_KEY_RIGHT, TUI_KEY_PAGE_UP,
		TUI_KEY_PAGE_DOWN, TUI_KEY_BACKSPACE, TUI_KEY_TAB, TUI_KEY_BACK_TAB, 'R', 'h', 'y',
		'G', 'g', 'N'};
	uint64_t random = 12345;
	for (int round = 0; round < 400; round++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		int w = 1 + (int)(random >> 33) % 210, h = 1 + (int)(random >> 45) % 70;
		struct scene *s = scene_create(
			"002-switch-rebar/machine.rec", w, h, (enum tui_charset)(round % 3));
		scene_phase(s, STRESS_RUNNING, true);
		s->app.live.worker = NULL; /* keys act on it */
		scene_run(s, (unsigned)(round % 7) * 10);
		if (round % 2) {
			scene_baseline(s);
			scene_store(s);
			scene_checkup(s);
		}
		tui_app_view(&s->app, (size_t)round);
		for (int i = 0; i < 25; i++) {
			random = random * 6364136223846793005u + 1442695040888963407u;
			uint32_t key = keys[(random >> 33) % ARRAY_LEN(keys)];
			if (key != 's') {
				tui_app_key(&s->app, (struct tui_input){.key = key});
			}
			/* A form that was sent off starts a worker: not what is tried here. */
			stress_worker_destroy(s->app.live.worker, 0);
			s->app.live.worker = NULL;
			_cleanup_free_ char *text = scene_text(s);
			assert_non_null(text);
		}
		scene_destroy(s);
	}
}

static void queued_launches_show_their_layer(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	struct tui_live *l = &s->app.live;
	scene_phase(s, STRESS_DONE, false);
	for (uint64_t i = 0; i < 100; i++) {
		const uint64_t t = s->app.now_ns - (100 - i) * 1000000;
		const struct stress_sample k = {.seq = i,
			.submit_ns = t,
			.start_ns = t + 1000,
			.end_ns = t + 51000,
			.done_ns = t + 60000,
			.flags = STRESS_HAS_DEVICE | STRESS_BATCH};
		tui_live_feed(l, &k, 1);
	}
	assert_int_equal(s->app.layer, TUI_HOST);
	tui_app_tick(&s->app, s->app.now_ns);
	assert_int_equal(s->app.layer, TUI_DEVICE);
	_cleanup_free_ char *text = scene_text(s);
	assert_non_null(strstr(text, "p50   50."));
	scene_destroy(s);
}

static void removing_asks_first(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	scene_store(s);
	tui_app_view(&s->app, TUI_VIEW_RUNS);
	scene_keys(s, "jd");
	assert_int_equal(s->app.modal.kind, TUI_MODAL_QUESTION);
	assert_true(scene_golden(s, "question-80x24-utf8"));
	scene_keys(s, "x");
	assert_int_equal(s->app.modal.kind, TUI_MODAL_NONE);
	assert_int_equal(s->app.library.asked, 0);
	scene_destroy(s);
}

static void search_finds_and_goes_round(void **state)
{
	(void)state;
	struct scene *s = scene_create("002-switch-rebar/machine.rec", 80, 24, TUI_UTF8);
	tui_app_view(&s->app, TUI_VIEW_MACHINE);
	scene_keys(s, "/1002:");
	tui_app_key(&s->app, (struct tui_input){.key = TUI_KEY_ENTER});
	size_t first = s->app.tree.cursor;
	assert_true(first > 0);
	scene_keys(s, "n");
	size_t second = s->app.tree.cursor;
	assert_true(second != first);
	scene_keys(s, "N");
	assert_int_equal(s->app.tree.cursor, first);
	scene_keys(s, "/no such thing");
	_cleanup_free_ char *text = scene_text(s);
	assert_non_null(strstr(text, "is not here"));
	scene_destroy(s);
}

static void the_past_can_be_read(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 120, 40, TUI_UTF8);
	scene_phase(s, STRESS_RUNNING, true);
	scene_run(s, 150);
	tui_app_view(&s->app, TUI_VIEW_LATENCY);
	free(scene_text(s));
	uint64_t present = s->app.window.end_ns;
	tui_app_key(&s->app, (struct tui_input){.key = TUI_KEY_LEFT});
	tui_app_key(&s->app, (struct tui_input){.key = TUI_KEY_LEFT});
	_cleanup_free_ char *now = scene_text(s);
	assert_true(s->app.window.frozen);
	assert_non_null(strstr(now, "picture frozen"));
	assert_non_null(strstr(now, "p50 9."));
	/* Back until it begins; the picture stands on what was, whatever time it is. */
	for (int i = 0; i < 10; i++) {
		s->app.now_ns += 1000000000u;
		tui_app_key(&s->app, (struct tui_input){.key = TUI_KEY_PAGE_UP});
		free(scene_text(s));
	}
	assert_true(s->app.window.end_ns < present - 60 * (uint64_t)1000000000u);
	assert_true(s->app.window.figures.n > 3000);
	tui_app_key(&s->app, (struct tui_input){.key = TUI_KEY_END});
	free(scene_text(s));
	assert_false(s->app.window.frozen);
	assert_true(s->app.window.end_ns >= present);
	scene_destroy(s);
}

/* Read-only loops that the GEMM outruns are no ceiling: neither a floor nor a meter. */
static void slower_loops_tell_no_floor(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 120, 40, TUI_UTF8);
	scene_phase(s, STRESS_RUNNING, true);
	scene_run(s, 20);
	_cleanup_free_ char *told = scene_text(s);
	assert_true(s->app.window.figures.floor_ns > 0 && s->app.window.figures.ceiling_share > 0);
	assert_non_null(strstr(told, "90.2 MB"));
	s->app.live.status.ceiling_bytes_per_s = 8e9; /* the GEMM moves 9.9 GB/s */
	s->app.now_ns += 1000000000u;
	_cleanup_free_ char *disowned = scene_text(s);
	assert_true(s->app.window.figures.floor_ns == 0);
	assert_true(s->app.window.figures.ceiling_share == 0);
	assert_non_null(strstr(disowned, "loops were slower"));
	assert_null(strstr(disowned, "90.2 MB"));
	scene_destroy(s);
}

/* A comparison's place on the ladder, and a study with the key that leads on. */
static void comparisons_show_the_ladder(void **state)
{
	(void)state;
	static const struct {
		int w, h;
		enum tui_charset set;
		const char *name;
	} looks[] = {
		{80, 24, TUI_ASCII, "ladder-80x24-ascii"},
		{80, 24, TUI_UTF8, "ladder-80x24-utf8"},
		{120, 40, TUI_UTF8, "ladder-120x40-utf8"},
	};
	for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
		struct scene *s = scene_create("demo", looks[i].w, looks[i].h, looks[i].set);
		scene_store(s);
		scene_comparison(s);
		tui_app_view(&s->app, TUI_VIEW_COMPARE);
		assert_true(scene_golden(s, looks[i].name));
		scene_destroy(s);
	}
}

/* A device that moved is named as each side knows it, and what a side's figures lack is said. */
static void comparisons_name_both_sides(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 50, TUI_UTF8);
	scene_store(s);
	scene_comparison(s);
	struct runs_pair *pair = &s->app.library.comparison->result.pair[0];
	strcpy(pair->device, "GPU at 0000:01:00.0");
	strcpy(pair->device_b, pair->device);
	tui_app_view(&s->app, TUI_VIEW_COMPARE);
	_cleanup_free_ char *still = scene_text(s);
	assert_non_null(strstr(still, "GPU at 0000:01:00.0"));
	assert_null(strstr(still, "in B it is"));
	strcpy(pair->device_b, "GPU at 0000:41:00.0");
	struct runs_side *b = &s->app.library.comparison->side[1];
	b->run = xcalloc(2, sizeof(*b->run));
	b->n = 2;
	b->run[0].info.id = 7;
	b->run[1].info.id = 8;
	b->run[1].totals.dropped = 1200;
	b->run[1].totals.events_lost = 3;
	_cleanup_free_ char *moved = scene_text(s);
	assert_non_null(strstr(moved, "in B it is GPU at 0000:41:00.0"));
	assert_non_null(strstr(moved, "run 8: 1,200 samples dropped, 3 events lost"));
	assert_null(strstr(moved, "run 7:"));
	scene_destroy(s);
}

static void a_study_leads_to_its_next_boot(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	scene_store(s);
	_cleanup_free_ char *text = scene_text(s);
	assert_non_null(strstr(text, "study rebar: 3 of 8 boots, S: the next step"));
	scene_keys(s, "S");
	assert_int_equal(s->app.modal.kind, TUI_MODAL_QUESTION);
	assert_true(scene_golden(s, "study-80x24-utf8"));
	scene_keys(s, "n");
	assert_false(s->app.quit);
	scene_keys(s, "Sy");
	assert_true(s->app.quit);
	assert_string_equal(s->app.study, "rebar");
	assert_int_equal(s->app.study_side, 0); /* its fact tells */
	scene_destroy(s);

	/* One without a fact is filed as the plan says, and says so first. */
	s = scene_create("demo", 80, 24, TUI_UTF8);
	scene_store(s);
	s->app.library.study[0].study.fact[0] = '\0';
	scene_keys(s, "S");
	assert_non_null(strstr(s->app.modal.text, "it is filed as A. Leave the screen"));
	scene_keys(s, "y");
	assert_int_equal(s->app.study_side, 'A');
	scene_destroy(s);
}

static void a_study_needs_another_boot_or_none(void **state)
{
	(void)state;
	/* A boot that is filed can only be followed by another one. */
	struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
	scene_store(s);
	s->app.library.study[0].here = true;
	scene_keys(s, "Sy");
	assert_false(s->app.quit);
	assert_int_equal(s->app.modal.kind, TUI_MODAL_NOTICE);
	assert_non_null(strstr(s->app.modal.text, "Now boot with Resizable BAR"));
	scene_destroy(s);

	/* A complete one is no longer in progress. */
	s = scene_create("demo", 80, 24, TUI_UTF8);
	scene_store(s);
	s->app.library.study[0].next = 0;
	_cleanup_free_ char *complete = scene_text(s);
	assert_null(strstr(complete, "study rebar"));
	scene_keys(s, "S");
	assert_int_equal(s->app.modal.kind, TUI_MODAL_NONE);
	scene_destroy(s);
}

/* The list of slow episodes names what stands beside them, and shows on the plot where each is. */
static void episodes_lead_to_their_moment(void **state)
{
	(void)state;
	static const enum tui_charset sets[] = {TUI_ASCII, TUI_UTF8};
	static const struct {
		int w, h;
		const char *name[2];
	} looks[] = {
		{80, 24, {"episodes-80x24-ascii", "episodes-80x24-utf8"}},
		{40, 12, {"episodes-40x12-ascii", "episodes-40x12-utf8"}},
	};
	for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
		for (size_t k = 0; k < ARRAY_LEN(sets); k++) {
			struct scene *s = scene_create("demo", looks[i].w, looks[i].h, sets[k]);
			scene_phase(s, STRESS_RUNNING, true);
			scene_run(s, 50);
			scene_episodes(s);
			tui_app_view(&s->app, TUI_VIEW_LATENCY);
			scene_keys(s, "\n");
			free(scene_text(s));
			scene_keys(s, "jj");
			free(scene_text(s)); /* the cursor goes there with the drawing */
			assert_true(scene_golden(s, looks[i].name[k]));
			scene_destroy(s);
		}
	}

	struct scene *s = scene_create("demo", 120, 40, TUI_UTF8);
	scene_phase(s, STRESS_RUNNING, true);
	scene_run(s, 150);
	scene_episodes(s);
	struct tui_episodes *slow = &s->app.slow;
	assert_in_range(slow->n, 25, 35);
	size_t with = 0, without = 0;
	for (size_t i = 0; i < slow->n; i++) {
		const char *source = tui_episodes_source(slow, i);
		assert_non_null(source);
		with += !strcmp(source, "preempted");
		without += !*source;
	}
	assert_in_range(with, 12, 16);
	assert_int_equal(with + without, slow->n);
	tui_app_view(&s->app, TUI_VIEW_LATENCY);
	free(scene_text(s));
	scene_keys(s, "\nG"); /* G is the list's; End is the picture's */
	free(scene_text(s));
	const struct tui_window *w = &s->app.window;
	uint64_t t = tui_episodes_at(slow, slow->n - 1)->to_ns;
	uint64_t left = w->end_ns - (w->ncolumn - (size_t)w->cursor) * w->column_ns;
	assert_true(w->frozen);
	assert_in_range(t, left, left + w->column_ns - 1);
	_cleanup_free_ char *text = scene_text(s);
	assert_non_null(strstr(text, "slow: host"));
	/* A new run knows nothing of them. */
	tui_episodes_start(slow, s->app.now_ns, true);
	assert_int_equal(slow->n, 0);
	assert_null(tui_episodes_source(slow, 0));
	scene_destroy(s);
}

static void many_devices_stay_quick(void **state)
{
	(void)state;
	struct pcie_snapshot *m = pcie_snapshot_create("many");
	for (uint32_t i = 0; i < 10000; i++) {
		struct pcie_addr at = {i >> 13, (uint8_t)(i >> 5), (uint8_t)(i & 31), 0, true};
		struct pcie_device *d = pcie_snapshot_add(m, at);
		d->have_class = d->have_ids = PCIE_KNOWN;
		d->class_code = i % 500 == 7 ? 0x030200 : 0x020000;
		snprintf(d->name, sizeof(d->name), "Device number %u", i);
		struct pcie_bar *b = pcie_device_bar(d, PCIE_BAR_NORMAL, 0);
		b->have = PCIE_KNOWN;
		b->has_base = b->has_size = true;
		b->assigned = PCIE_YES;
		b->size = MIB;
		b->base = ((uint64_t)i + 8192) * MIB;
	}
	pcie_snapshot_settle(m);
	struct scene *s = scene_create("demo", 120, 40, TUI_UTF8);
	tui_machine_set(&s->app.machine, m, NULL);
	for (size_t v = 0; v < ARRAY_LEN(views); v++) {
		tui_app_view(&s->app, v);
		tui_app_key(&s->app, (struct tui_input){.key = TUI_KEY_END});
		_cleanup_free_ char *text = scene_text(s);
		if (v == TUI_VIEW_OVERVIEW || v == TUI_VIEW_MACHINE) {
			assert_non_null(strstr(text, "Device number 9999"));
		}
	}
	scene_destroy(s);
}

/* Nothing redraws a screen on which nothing moves: what one redraw shows, the next one does too. */
static void what_stands_is_right_at_once(void **state)
{
	(void)state;
	static const struct {
		int w, h;
	} to[] = {{70, 20}, {120, 44}, {90, 30}};
	struct scene *s = scene_create("demo", 100, 30, TUI_UTF8);
	scene_phase(s, STRESS_PAUSED, true);
	scene_run(s, 80);
	for (size_t i = 0; i < ARRAY_LEN(to); i++) {
		tui_canvas_resize(&s->canvas, to[i].w, to[i].h);
		_cleanup_free_ char *now = scene_text(s);
		s->app.now_ns += 10000000000u;
		_cleanup_free_ char *later = scene_text(s);
		assert_string_equal(now, later);
	}
	scene_destroy(s);
}

/* Why nothing runs stays until something does. */
static void waiting_is_explained(void **state)
{
	(void)state;
	struct scene *s = scene_create("demo", 100, 30, TUI_UTF8);
	s->app.live.have_status = false;
	strcpy(s->app.waits, "the CPU is in use (load 3.0)");
	tui_app_tick(&s->app, s->app.now_ns + 60000000000u);
	_cleanup_free_ char *text = scene_text(s);
	assert_non_null(
		strstr(text, "not started: the CPU is in use (load 3.0); s starts the stress"));
	scene_destroy(s);
}

/* Clocks that a killed run left: asked once, behind no other box, and unlocked by y alone. */
static void locked_clocks_are_asked_about(void **state)
{
	(void)state;
	for (int yes = 0; yes < 2; yes++) {
		struct scene *s = scene_create("demo", 80, 24, TUI_UTF8);
		struct tui_library *l = &s->app.library;
		l->path = strdup("/nowhere/barscope.db");
		l->clocks[0] = (struct runs_clocks){.address = "0000:41:00.0", .mhz = 1300};
		l->nclocks = 1;
		tui_modal_notice(&s->app.modal, "The machine went down", "It did.");
		tui_app_tick(&s->app, s->app.now_ns + 1);
		assert_string_equal(s->app.modal.title, "The machine went down");
		scene_keys(s, "\n");
		tui_app_tick(&s->app, s->app.now_ns + 1);
		_cleanup_free_ char *text = scene_text(s);
		assert_non_null(strstr(text, "0000:41:00.0 are still locked at 1300 MHz"));
		unsigned before = l->asked;
		scene_keys(s, yes ? "y" : "n");
		assert_int_equal(l->asked - before, yes);
		tui_app_tick(&s->app, s->app.now_ns + 1);
		assert_int_equal(s->app.modal.kind, TUI_MODAL_NONE);
		scene_destroy(s);
	}
}

int main(int argc, char **argv)
{
	/* A form that is taken starts a worker: this program again. It has nothing to say. */
	if (argc > 1 && !strcmp(argv[1], "--worker")) {
		return 1;
	}
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_view_at_every_size),
		cmocka_unit_test(trouble_is_said),
		cmocka_unit_test(small_and_empty_machines),
		cmocka_unit_test(help_names_every_key),
		cmocka_unit_test(any_size_and_key),
		cmocka_unit_test(queued_launches_show_their_layer),
		cmocka_unit_test(removing_asks_first),
		cmocka_unit_test(search_finds_and_goes_round),
		cmocka_unit_test(the_past_can_be_read),
		cmocka_unit_test(slower_loops_tell_no_floor),
		cmocka_unit_test(comparisons_show_the_ladder),
		cmocka_unit_test(comparisons_name_both_sides),
		cmocka_unit_test(a_study_leads_to_its_next_boot),
		cmocka_unit_test(a_study_needs_another_boot_or_none),
		cmocka_unit_test(episodes_lead_to_their_moment),
		cmocka_unit_test(many_devices_stay_quick),
		cmocka_unit_test(what_stands_is_right_at_once),
		cmocka_unit_test(waiting_is_explained),
		cmocka_unit_test(locked_clocks_are_asked_about),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
