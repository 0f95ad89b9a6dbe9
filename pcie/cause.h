/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between cause.c and cause_log.c, and for what advice says of a refused resize. */
#pragma once

#include "pcie/judge.h"

/* Sets the cause and its sentence. */
void pcie_cause_set(struct pcie_judge *j, enum pcie_cause cause, const char *fmt, ...) PRINTF(3, 4);
/* The sentence alone: what was seen, while the cause stays not known. */
void pcie_cause_say(struct pcie_judge *j, const char *fmt, ...) PRINTF(2, 3);

/* A failed BAR whose firmware's address the kernel could not claim. False: the log has no such. */
bool pcie_cause_from_claim(struct pcie_judge *j);
/* A driver that could not reserve a BAR (j->reserved is set). */
void pcie_cause_reserved(struct pcie_judge *j);
/* No cause was found: what the log says all the same. FAILED: a BAR has no address; else a
 * resize was tried. */
void pcie_cause_open(struct pcie_judge *j, bool failed);
