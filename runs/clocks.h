/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clocks that a run has locked, as the store knows them: written before they are locked, removed
 * when they are not any more. What is left of this boot and held by no program was left behind
 * by one that was killed with its worker. A reboot unlocks clocks by itself. Blocking.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/why.h"
#include "runs/store.h"

struct runs_clocks {
	char address[24]; /* of the GPU */
	uint32_t mhz;
};

/*
 * Writes down that the clocks of the GPU at ADDRESS are about to be locked, and holds that as long
 * as S is open. -EBUSY: another run has them locked; -EINVAL: no address.
 */
int runs_clocks_mark(struct runs_store *s, const char *boot_id, const char *address, uint32_t mhz,
	struct why *why);
/* They are unlocked again, by their owner. */
int runs_clocks_clear(struct runs_store *s, const char *address, struct why *why);

/* Those left behind in this boot, at most MAX; returns how many, or an error. */
int runs_clocks_left(struct runs_store *s, const char *boot_id, struct runs_clocks *ret, size_t max,
	struct why *why);

/*
 * Unlocks the clocks of the GPU at ADDRESS, and forgets that they were locked when that worked;
 * else they stay locked, and WHY says what a person can do. Takes some seconds at most.
 */
int runs_clocks_unlock(struct runs_store *s, const char *address, struct why *why);

/*
 * The same for what runs_clocks_left() found a while ago: only if it still is left behind, and
 * holding it as long as S is open, so that no run locks them meanwhile. 1: unlocked; 0: they were
 * unlocked since. -EBUSY: a run holds them by now, and they stay as they are.
 */
int runs_clocks_unlock_left(
	struct runs_store *s, const char *boot_id, const char *address, struct why *why);
