/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Machines made by hand or at random for the tests of verdicts and plans, copies of them,
 * and the removal of one fact at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie/snapshot.h"

/* Bit mask of ReBAR sizes from 2^(20+lo) to 2^(20+hi) bytes. */
#define SIZES(lo, hi) (((uint64_t)1 << ((hi) + 1)) - ((uint64_t)1 << (lo)))

/* x86_64, UEFI, bare metal, an empty command line, as root on a running machine. */
struct pcie_snapshot *machine_pc(void);
/* A root bus window; COMPLETE stays as it is. */
void machine_aperture(struct pcie_snapshot *s, uint64_t base, uint64_t limit);
/* A bridge with its prefetchable window [base, limit]; base 0: none. Returns its index. */
int machine_bridge(struct pcie_snapshot *s, const char *addr, int parent, uint8_t secondary,
	uint64_t base, uint64_t limit);
/* A discrete NVIDIA GPU, all BARs seen in both views, no BAR yet. */
int machine_gpu(struct pcie_snapshot *s, const char *addr, int parent);
/* A 64-bit prefetchable BAR at BASE in both views. BASE 0: wiped by the kernel. */
void machine_bar(struct pcie_snapshot *s, int dev, int index, uint64_t base, uint64_t size);
/* A 32-bit BAR that is not prefetchable. */
void machine_low_bar(struct pcie_snapshot *s, int dev, int index, uint32_t base, uint32_t size);
void machine_rebar(struct pcie_snapshot *s, int dev, int bar, uint64_t current, uint64_t supported);
void machine_vram(struct pcie_snapshot *s, int dev, uint64_t bytes);
/* One statement with its log line. DEV -1: names none. */
void machine_said(struct pcie_snapshot *s, enum pcie_statement_kind kind, int dev, uint64_t value,
	const char *line);
/* The log's last word on a BAR (or, WINDOW, a bridge's prefetchable window). */
struct pcie_history *machine_history(
	struct pcie_snapshot *s, int dev, int bar, bool window, enum pcie_final final);

struct pcie_snapshot *machine_copy(const struct pcie_snapshot *s);
/* A machine of any kind, healthy or broken, consistent or not; the same for the same SEED. */
struct pcie_snapshot *machine_random(uint64_t seed);

/*
 * Takes the N-th fact out of S: it becomes unknown, or denied where that differs. Returns
 * its name, NULL past the last one. Identity (class, address) is not counted as a fact.
 */
const char *machine_forget(struct pcie_snapshot *s, size_t n);
