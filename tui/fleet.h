/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The GPUs beside the one that is shown, when all of them run at once: a worker and its series
 * each. Which one is shown changes by swapping. Main thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie/addr.h"
#include "tui/live.h"

enum { TUI_FLEET = 15 };

struct tui_fleet {
	bool wanted;                       /* the next start is of all GPUs */
	struct tui_live *other[TUI_FLEET]; /* in the order they come to be shown; owned */
	size_t n;
};

/* Ends their workers and SHOWN's in one wait of at most TIMEOUT_MS, and forgets them. */
void tui_fleet_end(struct tui_fleet *f, struct tui_live *shown, int timeout_ms);
/*
 * Starts SHOWN's configuration on each of the N GPUs at ADDRESS but SHOWN's own; F has ended.
 * Negative errno with why for the first that could not be started.
 */
int tui_fleet_start(struct tui_fleet *f, const struct tui_live *shown,
	char (*address)[PCIE_ADDR_MAX], size_t n, uint64_t now_ns, struct why *why);
void tui_fleet_stop(struct tui_fleet *f, uint64_t now_ns);
void tui_fleet_pause(struct tui_fleet *f, bool pause);
/* One of them moves. */
bool tui_fleet_moving(const struct tui_fleet *f);
/* The first of them is shown, and SHOWN becomes the last. */
void tui_fleet_next(struct tui_fleet *f, struct tui_live *shown);
