/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One device in full, as lines: both views of each BAR and window kept apart. Pure drawing. */
#pragma once

#include "pcie/snapshot.h"
#include "tui/pen.h"

void tui_facts_draw(const struct pcie_snapshot *s, int dev, struct tui_pen *p);
