/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An app as a test wants it: a corpus machine, scripted samples, a fixed clock, no
 * process, no store. What is drawn from it is the same everywhere.
 */
#pragma once

#include "tui/app.h"

enum { SCENE_NOW_S = 5000 };

struct scene {
	struct tui_app app;
	struct tui_canvas canvas;
};

/* MACHINE: a folder or file below tests/corpus, "demo", or NULL. */
struct scene *scene_create(const char *machine, int w, int h, enum tui_charset set);
void scene_destroy(struct scene *s);

/* Samples of the last SECONDS, 100 a second, each time the same. */
void scene_run(struct scene *s, unsigned seconds);
/* Has what stands beside the slow episodes of the run worked out. */
void scene_episodes(struct scene *s);
/* The worker's state as the status line shows it. ALIVE: one is there. */
void scene_phase(struct scene *s, enum stress_phase phase, bool alive);
void scene_baseline(struct scene *s);
/* A few stored runs, and a doctor's report. */
void scene_store(struct scene *s);
/* Two sides of four boots, as the Runs view compares them. */
void scene_comparison(struct scene *s);
void scene_checkup(struct scene *s);
/* Presses each character; \n is Enter, \t Tab. */
void scene_keys(struct scene *s, const char *keys);

/* Draws, and compares with golden/NAME.txt. */
bool scene_golden(struct scene *s, const char *name);
/* Draws; the canvas as text, to be freed. */
char *scene_text(struct scene *s);
