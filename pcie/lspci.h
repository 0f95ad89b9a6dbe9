/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What lspci prints, of every age and with every option (-v to -vvv, -x to -xxxx,
 * -n, -nn, -D, -P, -PP, -b, -k, -mm), whole or in pieces that somebody cut out.
 *
 * A pusher: lines go in one after another, devices come out into a snapshot. It
 * looks ahead for the rest of a wrapped line and never back. What it reads of one
 * device replaces what an earlier listing in the same text said of it: the last
 * state counts, and a note says so when the two differ.
 *
 * The address of a BAR or window in the text is taken as the kernel's view, hex
 * rows as the registers. One owner; one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/lines.h"
#include "pcie/snapshot.h"

struct pcie_lspci;

/* INTO is borrowed until destroy. */
struct pcie_lspci *pcie_lspci_create(struct pcie_snapshot *into);
void pcie_lspci_destroy(struct pcie_lspci *p);

/*
 * Takes line AT of L, and those after it that belong to it. Returns how many;
 * 0 when it is nothing of lspci's (or, in a block, a line that says nothing of
 * use and could be anything).
 */
size_t pcie_lspci_take(struct pcie_lspci *p, const struct pcie_lines *l, size_t at);

/* Does S (LEN bytes) begin a line of lspci? Nothing that wraps around does. */
bool pcie_lspci_is_start(const char *s, size_t len);

/* An empty line. */
void pcie_lspci_blank(struct pcie_lspci *p);

/* Something else begins. CUT: no, the text ended, perhaps in the middle of a device. */
void pcie_lspci_end(struct pcie_lspci *p, bool cut);

/* A command line named the only device that the next lines can be about. */
void pcie_lspci_about(struct pcie_lspci *p, struct pcie_addr addr);

/*
 * The lines without a header and without a command line, one device for each
 * piece of text, in order. Borrowed.
 */
const struct pcie_device *pcie_lspci_orphans(const struct pcie_lspci *p, size_t *ret_n);

/* The later state NEW of a device over what is known of it, OLD. True when they contradict. */
bool pcie_lspci_update(struct pcie_device *old, const struct pcie_device *new);
