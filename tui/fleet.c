/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/text.h"

void tui_fleet_end(struct tui_fleet *f, struct tui_live *shown, int timeout_ms)
{
	struct stress_worker *worker[TUI_FLEET + 1];
	for (size_t i = 0; i < f->n; i++) {
		worker[i] = f->other[i]->worker;
		f->other[i]->worker = NULL;
	}
	worker[f->n] = shown->worker;
	shown->worker = NULL;
	stress_worker_destroy_all(worker, f->n + 1, timeout_ms);
	for (size_t i = 0; i < f->n; i++) {
		tui_live_finish(f->other[i], 0);
		free(f->other[i]);
	}
	f->n = 0;
}

int tui_fleet_start(struct tui_fleet *f, const struct tui_live *shown,
	char (*address)[PCIE_ADDR_MAX], size_t n, uint64_t now_ns, struct why *why)
{
	for (size_t i = 0; i < n && f->n < TUI_FLEET; i++) {
		if (!strcmp(address[i], shown->config.device)) {
			continue;
		}
		struct tui_live *l = xcalloc(1, sizeof(*l));
		tui_live_init(l);
		l->config = shown->config;
		text_copy(l->config.device, sizeof(l->config.device), address[i]);
		f->other[f->n++] = l;
		int r = tui_live_start(l, now_ns, why);
		if (r < 0) {
			return r;
		}
	}
	return 0;
}

void tui_fleet_stop(struct tui_fleet *f, uint64_t now_ns)
{
	for (size_t i = 0; i < f->n; i++) {
		tui_live_stop(f->other[i], now_ns);
	}
}

void tui_fleet_pause(struct tui_fleet *f, bool pause)
{
	for (size_t i = 0; i < f->n; i++) {
		tui_live_pause(f->other[i], pause);
	}
}

bool tui_fleet_moving(const struct tui_fleet *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct tui_live *l = f->other[i];
		if (tui_live_active(l) && l->status.phase != STRESS_PAUSED) {
			return true;
		}
	}
	return false;
}

void tui_fleet_next(struct tui_fleet *f, struct tui_live *shown)
{
	if (f->n == 0) {
		return;
	}
	struct tui_live *next = f->other[0], old = *shown;
	memmove(f->other, f->other + 1, (f->n - 1) * sizeof(*f->other));
	*shown = *next;
	*next = old;
	f->other[f->n - 1] = next;
}
