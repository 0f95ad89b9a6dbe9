/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A machine in order, and what the tests of verdicts expect of it after spoiling one thing. */
#pragma once

#include "machines.h"
#include "pcie/verdict.h"

#define HIGH ((uint64_t)0x4000000000)
#define LOW  0xa0000000u

#define GOOD   PCIE_LEVEL_GOOD
#define NOTE   PCIE_LEVEL_NOTE
#define UNSURE PCIE_LEVEL_UNSURE
#define BAD    PCIE_LEVEL_BAD

/* One GPU of 16 GiB behind a root port, in order; each test spoils what it is about. */
struct fixture {
	struct pcie_snapshot *s;
	int port, gpu;
	struct pcie_device *d;
	struct pcie_bar *bar; /* the VRAM BAR */
};

/* Its VRAM BAR at BASE, SIZE long. The caller destroys its snapshot. */
struct fixture verdict_machine(uint64_t base, uint64_t size);

/* Of the first GPU. ANSWER NULL: the rule says nothing. */
void expect_of(const struct pcie_snapshot *s, const char *id, const char *answer,
	enum pcie_confidence confidence, enum pcie_level level);
void expect_headline(const struct pcie_snapshot *s, const char *id, const char *headline);
void expect_cause(const struct pcie_snapshot *s, enum pcie_cause cause);
/* Rule ID gives ITEM with this VALUE as evidence; NULL: it gives none. */
void expect_evidence(
	const struct pcie_snapshot *s, const char *id, const char *item, const char *value);
