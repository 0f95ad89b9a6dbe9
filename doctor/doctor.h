/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The half hour that an experienced person spends on a new machine: environment, driver,
 * BIOS and PCIe, clocks, algorithm, in this order. Each line says what was tested, what
 * came out, the evidence, and the commands to copy. Nothing is changed on the machine:
 * the only writes are probe files that are removed again.
 *
 * Blocking (it writes, compiles, measures): the front runs it on a job, never on its loop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/text.h"
#include "pcie/snapshot.h"
#include "stress/worker.h"

enum doctor_group {
	DOCTOR_ENVIRONMENT,
	DOCTOR_DRIVER,
	DOCTOR_PCIE,
	DOCTOR_CLOCKS,
	DOCTOR_ALGORITHM,
	DOCTOR_GROUPS,
};

/* Worst last but one: UNSEEN never hides a FAULT. */
enum doctor_result {
	DOCTOR_OK,
	DOCTOR_NOTE,   /* worth knowing, no fault */
	DOCTOR_UNSEEN, /* could not be looked at; WHY is in the evidence */
	DOCTOR_FAULT,
};

struct doctor_line {
	enum doctor_group group;
	enum doctor_result result;
	char id[40];        /* stable: "env.home", "driver.libcuda", … */
	char tested[80];    /* "HOME can be written" */
	char evidence[240]; /* raw values */
	char fix[512];      /* commands to copy, newline between them; "" when none */
	bool root_would_tell;
};

struct doctor_report {
	struct doctor_line *line;
	size_t nline, cap;
};

/* Everything that a check looks at; NULL and 0 take the machine's own. */
struct doctor_options {
	const char *root;      /* in place of "/" before /proc, /sys, /dev, /run: tests */
	const char *build_dir; /* --build-dir, else $BUILD_DIR */
	const char *libcuda;   /* path in place of libcuda.so.1 */
	const char *libnvml;
	const char *libcublaslt;
	struct stress_shape shape;           /* whose algorithm is judged; default 1x4096x11008 */
	unsigned gpu_ms;                     /* how long the GPU's driver may take; default 45 s */
	unsigned watch_ms;                   /* how long the cores are watched; default 250 */
	const struct pcie_snapshot *machine; /* NULL: the PCIe lines are left out and said so */
	bool quick;                          /* leave out what takes more than a second */
};

int doctor_run(const struct doctor_options *o, struct doctor_report **ret);
void doctor_report_destroy(struct doctor_report *r);

/* The worst result of the report, a group, or the lines whose id starts with PREFIX. */
enum doctor_result doctor_worst(const struct doctor_report *r, const char *prefix);

const char *doctor_group_name(enum doctor_group g);
const char *doctor_result_name(enum doctor_result r);
