/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything the screen knows, in one value. The loop (loop.c) changes it on events,
 * views draw it and never change it but through their key handlers. No terminal here, and
 * time comes in as app->now_ns: a test fills one and reads the canvas. Main thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runs/hist.h"
#include "runs/series.h"
#include "tui/canvas.h"
#include "tui/checkup.h"
#include "tui/episodes.h"
#include "tui/fleet.h"
#include "tui/heat.h"
#include "tui/keep.h"
#include "tui/list.h"
#include "tui/live.h"
#include "tui/library.h"
#include "tui/machine.h"
#include "tui/modal.h"
#include "tui/neighbours.h"
#include "tui/plot.h"
#include "tui/screen.h"

enum tui_start { TUI_START_POLITELY, TUI_START_NOW, TUI_START_NEVER };

struct tui_options {
	bool demo;
	bool ascii;
	bool mouse;
	bool no_store; /* nothing outlives the screen */
	unsigned fps;  /* frames a second at most, 1 … 60 */
	enum tui_colours colours;
	enum tui_start start;
	struct stress_config config;
	const char *store;  /* NULL: the default */
	const char *source; /* of the machine; NULL: live */
};

enum tui_tone { TUI_TONE_PLAIN, TUI_TONE_GOOD, TUI_TONE_NOTE, TUI_TONE_BAD };

/* How long a message stands, once no box is in front of it. */
#define TUI_MESSAGE_NS 6000000000u

struct tui_message {
	enum tui_tone tone;
	uint64_t until_ns; /* 0: none */
	char text[256];
};

/* Something that happened, on the time axis. */
struct tui_event {
	uint64_t t_ns;
	enum tui_tone tone;
	char text[120];
};

enum { TUI_EVENTS = 256, TUI_COLUMNS_MAX = 2 * TUI_MAX_SIDE };

/* The window of time that plots and figures show. */
struct tui_window {
	unsigned zoom; /* index into the table of widths */
	bool frozen;
	uint64_t frozen_ns;         /* its right end then */
	bool stands;                /* the right edge is not the present */
	uint64_t end_ns, column_ns; /* right edge and width of a column, as drawn last */
	size_t ncolumn;
	struct runs_column column[TUI_COLUMNS_MAX];
	struct tui_scale y;
	uint64_t low_since_ns; /* since when the axis is wider than needed */
	struct runs_hist hist; /* of the window, 1 % */
	struct tui_figures figures;
	uint64_t figured_ns; /* when the figures were made; 0: they are to be made anew */
	struct {
		uint64_t end_ns, span_ns, samples;
	} figured; /* of what */
	/* Worked out only while a view shows them. */
	bool want_layers;
	struct tui_figures layer[TUI_LAYERS];
	int heat_cols, heat_rows; /* wanted; 0: none */
	struct tui_heat heat;
	int cursor;       /* column that is being read; -1: none */
	uint64_t seek_ns; /* the cursor is to go to this time; 0: nowhere */
};

struct tui_app {
	struct tui_options options;
	uint64_t now_ns, begun_ns;
	int64_t wall_ns; /* UNIX time when now_ns was begun_ns */
	int w, h;        /* of the canvas */
	size_t view;     /* index into tui_views() */
	bool help;
	int help_scroll;
	struct tui_modal modal;
	char search[64]; /* last searched for */
	bool searching;  /* … and still being typed */
	bool quit;
	int exit_status;
	bool dirty; /* draw soon */

	struct tui_machine machine;
	struct tui_list devices; /* of the overview */

	/* The views' own. */
	struct tui_list tree, map, verdicts, episodes, runs, doctor;
	int tree_scroll, verdict_scroll, compare_scroll, doctor_scroll;
	bool verdict_open, doctor_open, run_open, episodes_open;
	uint64_t episodes_seen; /* as many as there were when the list was drawn */
	size_t map_opened;      /* row + 1 that the ruler is zoomed to; 0: none */
	struct pcie_plan *plan; /* of plan_size; owned */
	uint64_t plan_size;     /* 0: what shows all of the VRAM */
	bool plan_stale;        /* the machine or the size is another one now */
	struct tui_library library;
	bool studies_asked;
	char study[48];  /* asked: leave, and measure this boot for this study */
	char study_side; /* … as 'A' or 'B'; 0: its fact tells */
	struct tui_checkup checkup;
	bool plain; /* asked: the view as plain text outside the screen */

	struct tui_live live;
	struct tui_fleet fleet;
	struct tui_episodes slow;
	struct tui_neighbours neighbours;
	bool decided; /* whether to start by itself was decided */
	long cpus;
	char waits[160]; /* why nothing was started by itself; "" */
	enum tui_layer layer;
	struct tui_window window;

	struct tui_keep keep;
	struct tui_changes since; /* in the machine, since the baseline */
	bool compared;            /* SINCE is what is known */
	bool announce;            /* a baseline of before came back: say what changed */

	struct tui_message message;
	struct tui_event event[TUI_EVENTS]; /* a ring: the newest NEVENT */
	size_t nevent, first_event;
	bool crash_told, clocks_told;
};

void tui_app_init(struct tui_app *a, const struct tui_options *o, uint64_t now_ns);
/* Ends worker and jobs, each within its patience. False: a job is stuck, leave with _exit(). */
bool tui_app_finish(struct tui_app *a);

/* Takes in what worker, jobs and clock have to say. */
void tui_app_tick(struct tui_app *a, uint64_t now_ns);
/* Computes what the views draw from: columns, figures, scale. W: columns of a plot that is as
 * wide as the canvas. */
void tui_app_prepare(struct tui_app *a, const struct tui_canvas *c);
void tui_app_draw(const struct tui_app *a, struct tui_canvas *c);
void tui_app_key(struct tui_app *a, struct tui_input in);

/* Order of the number keys. */
enum {
	TUI_VIEW_OVERVIEW,
	TUI_VIEW_MACHINE,
	TUI_VIEW_MAP,
	TUI_VIEW_VERDICTS,
	TUI_VIEW_LATENCY,
	TUI_VIEW_COMPARE,
	TUI_VIEW_RUNS,
	TUI_VIEW_DOCTOR,
};

/* Things keys and views ask for. */
void tui_app_view(struct tui_app *a, size_t view);
/* Brings a->plan up to date. */
void tui_app_plan(struct tui_app *a);
/* Moves the view's cursor to the next row (STEP -1: the one before) that holds a->search. */
void tui_app_find(struct tui_app *a, int step, bool from_here);
/* Shows the next of the GPUs that run. */
void tui_app_next_gpu(struct tui_app *a);
void tui_app_start_stop(struct tui_app *a);
void tui_app_pause(struct tui_app *a);
void tui_app_mark(struct tui_app *a);
/* Starts the worker with live.config. */
void tui_app_start(struct tui_app *a);
/* Opens the form of what is to run; asks for a label, or ends the recording. */
void tui_app_edit(struct tui_app *a);
void tui_app_record(struct tui_app *a);
/* Shows a study and its next step; S NULL: the newest that is not complete. */
void tui_app_study(struct tui_app *a, const struct tui_study *s);
/* Works out what changed since the baseline, from what is known of both machines. */
void tui_app_compare_then(struct tui_app *a);
void tui_app_say(struct tui_app *a, enum tui_tone tone, const char *fmt, ...) PRINTF(3, 4);
void tui_app_event(struct tui_app *a, enum tui_tone tone, const char *fmt, ...) PRINTF(3, 4);

/* The I-th event, oldest first. */
const struct tui_event *tui_app_event_at(const struct tui_app *a, size_t i);
/* "14:03:22" of a CLOCK_MONOTONIC_RAW time. */
void tui_app_clock(const struct tui_app *a, uint64_t t_ns, char *buf, size_t size);

/* Something moves by itself: draw at the frame rate. */
bool tui_app_moving(const struct tui_app *a);

/* The device that the cursor is on, or NULL. */
const struct pcie_device *tui_app_device(const struct tui_app *a);
