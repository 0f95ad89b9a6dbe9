/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scene.h"

#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/text.h"
#include "golden.h"
#include "pcie/scan.h"
#include "tui/demo.h"

static const uint64_t second = 1000000000u;

/* Stands for a worker: views only ask whether there is one. */
static char somebody;

static struct pcie_snapshot *load(const char *machine)
{
	if (!strcmp(machine, "demo")) {
		return tui_demo_machine(false);
	}
	char path[512], ids[512];
	struct why why = {0};
	const char *root = getenv("BARSCOPE_SOURCE");
	snprintf(ids, sizeof(ids), "%s/tests/corpus/pci.ids", root ? root : ".");
	setenv("BARSCOPE_PCI_IDS", ids, 1);
	snprintf(path, sizeof(path), "%s/tests/corpus/%s", root ? root : ".", machine);
	const struct pcie_scan_options o = {.source = path};
	struct pcie_snapshot *s = NULL;
	if (pcie_scan(&o, &s, &why) < 0) {
		fprintf(stderr, "%s: %s\n", path, why.text);
		abort();
	}
	return s;
}

struct scene *scene_create(const char *machine, int w, int h, enum tui_charset set)
{
	setenv("TZ", "UTC", 1);
	struct scene *s = xcalloc(1, sizeof(*s));
	struct tui_options o = {.fps = 20, .start = TUI_START_NEVER, .no_store = true};
	o.source = "none";
	stress_config_init(&o.config);
	tui_app_init(&s->app, &o, SCENE_NOW_S * second);
	s->app.wall_ns = (int64_t)1714564980 * 1000000000; /* the same time of day each time */
	tui_canvas_init(&s->canvas, w, h, tui_glyphs(set));
	if (machine) {
		tui_machine_set(&s->app.machine, load(machine), NULL);
	}
	return s;
}

void scene_destroy(struct scene *s)
{
	s->app.live.worker = NULL;
	tui_app_finish(&s->app);
	tui_canvas_finish(&s->canvas);
	free(s);
}

void scene_phase(struct scene *s, enum stress_phase phase, bool alive)
{
	struct tui_live *l = &s->app.live;
	l->worker = alive ? (struct stress_worker *)(void *)&somebody : NULL;
	l->have_status = true;
	l->started_ns = (SCENE_NOW_S - 83) * second;
	l->status.phase = phase;
	l->status.pid = 4242;
	l->status.threads = 1;
	l->status.bytes = 90207744;
	l->status.ceiling_bytes_per_s = 10.4e9;
	l->status.golden_hash = 0x5eed;
	l->status.max_error = 3e-5;
	text_copy(l->status.backend, sizeof(l->status.backend), "cpu");
	text_copy(l->status.kernel, sizeof(l->status.kernel), "avx512");
	text_copy(l->status.device, sizeof(l->status.device), "Example CPU");
	text_copy(l->status.ceiling_kernel, sizeof(l->status.ceiling_kernel), "avx512 x8");
	l->told.phase = phase;
}

void scene_run(struct scene *s, unsigned seconds)
{
	struct tui_episodes *slow = &s->app.slow;
	tui_episodes_start(slow, (SCENE_NOW_S - seconds) * second, true);
	for (unsigned i = 0; i < seconds * 100; i++) {
		uint64_t t = (SCENE_NOW_S - seconds) * second + i * (second / 100);
		double v = 9.1e6 + 150e3 * sin(i / 70.0) + 90e3 * sin(i * 1.7);
		v += i % 500 == 260 ? 2.4e6 : 0;
		v += i > seconds * 60 && i < seconds * 65 ? 450e3 : 0;
		struct stress_sample k = {
			.seq = i, .submit_ns = t, .done_ns = t + (uint64_t)v, .flags = STRESS_GEMM};
		tui_live_feed(&s->app.live, &k, 1);
		tui_episodes_samples(slow, &k, 1);
		if (i % 1000 == 260) {
			struct runs_event e = {
				t - 5000000, t + 20000000, "preempted", 0, 2.5e6, ""};
			tui_episodes_event(slow, &e);
		}
	}
	tui_episodes_tick(slow, 0, SCENE_NOW_S * second);
}

void scene_episodes(struct scene *s)
{
	struct tui_episodes *slow = &s->app.slow;
	tui_episodes_ask(slow, SCENE_NOW_S * second);
	while (slow->asked) {
		struct pollfd p = {.fd = tui_episodes_fd(slow), .events = POLLIN};
		poll(&p, 1, -1);
		tui_episodes_poll(slow, SCENE_NOW_S * second);
	}
}

void scene_baseline(struct scene *s)
{
	struct tui_baseline *b = &s->app.keep.baseline;
	for (int i = 0; i < 2000; i++) {
		runs_hist_add(&b->hist, (uint64_t)(9.5e6 + 700e3 * sin(i * 0.7)));
	}
	b->band = (struct tui_band){true, (double)runs_hist_quantile(&b->hist, 0.05),
		(double)runs_hist_quantile(&b->hist, 0.5),
		(double)runs_hist_quantile(&b->hist, 0.95)};
	b->marked = (int64_t)1714564980 * 1000000000;
	b->stored = true;
	text_copy(b->backend, sizeof(b->backend), "cpu");
	tui_changes_add(&s->app.since, "BIOS 1.20 → 1.31");
	tui_changes_add(&s->app.since, "01:00.0 BAR 1 256 MiB → 32 GiB");
}

void scene_store(struct scene *s)
{
	static const struct {
		const char *label, *backend;
		enum runs_state state;
		double band;
	} runs[] = {
		{"after", "cpu", RUNS_DONE, 0.047},
		{"after", "cpu", RUNS_STOPPED, 0.051},
		{"before", "cpu", RUNS_DONE, 0.19},
		{"", "script", RUNS_MACHINE_DOWN, 0.2},
	};
	struct tui_library *l = &s->app.library;
	l->nrun = ARRAY_LEN(runs);
	l->run = xcalloc(l->nrun, sizeof(*l->run));
	l->loaded = true;
	for (size_t i = 0; i < l->nrun; i++) {
		struct runs_info *k = &l->run[i].info;
		k->id = (int64_t)(l->nrun - i);
		k->started = ((int64_t)1714564980 - (int64_t)i * 90000) * 1000000000;
		k->state = runs[i].state;
		k->threads = 1;
		k->copies = 5;
		k->bytes = 90207744;
		k->ceiling = 10.4e9;
		text_copy(k->label, sizeof(k->label), runs[i].label);
		text_copy(k->backend, sizeof(k->backend), runs[i].backend);
		text_copy(k->device, sizeof(k->device), "Example CPU");
		text_copy(k->kernel, sizeof(k->kernel), "avx512");
		text_copy(k->shape, sizeof(k->shape), "1x4096x11008");
		text_copy(k->dtype, sizeof(k->dtype), "f16");
		text_copy(k->boot_id, sizeof(k->boot_id), "0f3c1a52-6a0e-4a51-9c1e-0b8c7d6e5f40");
		l->run[i].n = 6200 - i * 100;
		l->run[i].seconds = 60;
		l->run[i].p50 = 9110000 + i * 40000;
		l->run[i].band = runs[i].band;
		l->run[i].p99 = 9900000;
	}
	l->why.text[0] = '\0';
	l->study = xcalloc(1, sizeof(*l->study));
	l->nstudy = 1;
	struct tui_study *k = &l->study[0];
	k->study.id = 1;
	k->study.boots = 4;
	text_copy(k->study.name, sizeof(k->study.name), "rebar");
	text_copy(k->study.change, sizeof(k->study.change), "Resizable BAR");
	text_copy(k->study.fact, sizeof(k->study.fact), "rebar=full");
	k->boots.n = 3;
	k->boots.boot = xcalloc(k->boots.n, sizeof(*k->boots.boot));
	for (size_t i = 0; i < k->boots.n; i++) {
		struct runs_study_boot *b = &k->boots.boot[i];
		b->at = ((int64_t)1714564980 - (int64_t)(3 - i) * 7200) * 1000000000;
		b->side = runs_study_planned((uint32_t)i);
		b->outcome = RUNS_MEASURED;
		b->nrun = 3;
		text_copy(b->value, sizeof(b->value), b->side == 'B' ? "full" : "off");
	}
	k->done = k->boots.n;
	k->next = runs_study_next(&k->study, &k->boots);
}

void scene_comparison(struct scene *s)
{
	static const double p50[2][4] = {
		{9.61e6, 9.58e6, 9.64e6, 9.60e6}, {9.12e6, 9.10e6, 9.15e6, 9.11e6}};
	static const double band[2][4] = {{0.19, 0.21, 0.18, 0.2}, {0.047, 0.051, 0.049, 0.046}};
	struct tui_comparison *c = xcalloc(1, sizeof(*c));
	struct runs_comparison *k = &c->result;
	struct runs_pair *p = xcalloc(1, sizeof(*p));
	struct runs_values *v[] = {&p->a, &p->b};
	text_copy(c->name[0], sizeof(c->name[0]), "study:rebar/A");
	text_copy(c->name[1], sizeof(c->name[1]), "study:rebar/B");
	text_copy(p->backend, sizeof(p->backend), "cpu");
	text_copy(p->shape, sizeof(p->shape), "1x4096x11008");
	text_copy(p->dtype, sizeof(p->dtype), "f16");
	for (size_t side = 0; side < 2; side++) {
		v[side]->n = c->side[side].nboot = 4;
		for (size_t i = 0; i < 4; i++) {
			v[side]->p50[i] = p50[side][i];
			v[side]->log_band[i] = log(band[side][i]);
		}
	}
	p->tested = true;
	p->p = 0.029;
	p->ratio.estimate = 0.25;
	p->ratio.low = 0.22;
	p->ratio.high = 0.27;
	p->verdict = k->verdict = RUNS_BETTER;
	k->pair = p;
	k->npair = 1;
	text_copy(k->sentence, sizeof(k->sentence), "B is steadier: its spread is 0.25 of A's.");
	c->machines_known = true;
	tui_changes_add(&c->machines, "01:00.0 BAR 1 256 MiB → 32 GiB");
	s->app.library.comparison = c;
}

void scene_checkup(struct scene *s)
{
	static const struct doctor_line lines[] = {
		{DOCTOR_ENVIRONMENT, DOCTOR_OK, "env.home", "HOME can be written", "/home/example",
			"", false},
		{DOCTOR_DRIVER, DOCTOR_FAULT, "driver.libcuda", "libcuda.so.1 can be opened",
			"libcuda.so.1: cannot open shared object file",
			"apt install nvidia-driver\nthen start barscope again", false},
		{DOCTOR_PCIE, DOCTOR_UNSEEN, "pcie.iomem", "/proc/iomem tells the holes",
			"all addresses are zero for this user", "", true},
		{DOCTOR_CLOCKS, DOCTOR_NOTE, "clocks.governor", "the governor holds the clock",
			"schedutil", "cpupower frequency-set -g performance", false},
	};
	struct doctor_report *r = xcalloc(1, sizeof(*r));
	r->line = xcalloc(ARRAY_LEN(lines), sizeof(*r->line));
	memcpy(r->line, lines, sizeof(lines));
	r->nline = r->cap = ARRAY_LEN(lines);
	s->app.checkup.report = r;
}

void scene_keys(struct scene *s, const char *keys)
{
	size_t n = strlen(keys);
	while (n > 0) {
		uint32_t ch;
		size_t used = text_utf8_decode(keys, n, &ch);
		ch = ch == '\n' ? (uint32_t)TUI_KEY_ENTER : ch == '\t' ? (uint32_t)TUI_KEY_TAB : ch;
		tui_app_key(&s->app, (struct tui_input){.key = ch});
		keys += used;
		n -= used;
	}
}

static void draw(struct scene *s)
{
	tui_app_prepare(&s->app, &s->canvas);
	tui_app_draw(&s->app, &s->canvas);
}

bool scene_golden(struct scene *s, const char *name)
{
	draw(s);
	return golden_equal(&s->canvas, name);
}

char *scene_text(struct scene *s)
{
	draw(s);
	return tui_canvas_text(&s->canvas);
}
