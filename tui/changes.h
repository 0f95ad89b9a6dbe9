/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What changed in the machine between two snapshots, in a few short lines for the screen:
 * what matters for BARs first. What one side could not see is no change. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "pcie/snapshot.h"

enum { TUI_CHANGES = 16, TUI_CHANGE_TEXT = 240 };

struct tui_changes {
	size_t n;
	char text[TUI_CHANGES][TUI_CHANGE_TEXT];
	size_t more; /* that found no room */
};

void tui_changes_add(struct tui_changes *c, const char *fmt, ...) PRINTF(2, 3);
void tui_changes_append(struct tui_changes *c, const struct tui_changes *more);
/* Adds what differs to C. */
void tui_changes_find(
	const struct pcie_snapshot *then, const struct pcie_snapshot *now, struct tui_changes *c);
/* "a; b; 3 more" into BUF. */
void tui_changes_join(const struct tui_changes *c, char *buf, size_t size);
