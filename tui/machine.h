/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine as the screen follows it: a snapshot from the scanner job and the devices
 * worth a line, GPUs first. The main thread never reads /sys. Main thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/job.h"
#include "base/why.h"
#include "pcie/snapshot.h"
#include "pcie/verdict.h"
#include "pcie/watch.h"

struct tui_machine {
	struct pcie_snapshot *snapshot; /* NULL: no scan has ended yet; owned */
	struct pcie_verdicts *verdicts; /* of SNAPSHOT; owned */
	int *listed;                    /* devices with a line; owned */
	size_t nlisted;
	size_t ngpu;
	struct why why; /* the last scan's failure; "" */
	struct job *scanner;
	bool scanning, again;
	uint64_t scan_asked_ns;
	const char *source;             /* of pcie_scan(); NULL: the live machine */
	struct pcie_watch *watch;       /* NULL: udev's monitor is not there */
	struct pcie_snapshot *previous; /* what the last scan replaced; for the difference */
	struct pcie_snapshot *then;     /* the machine at the baseline; NULL: not known */
	bool parsing;                   /* … yet */
};

void tui_machine_init(struct tui_machine *m, const char *source);
/* Waits at most TIMEOUT_MS for a scan; -ETIMEDOUT: it is stuck, leave with _exit(). */
int tui_machine_finish(struct tui_machine *m, int timeout_ms);

/* Starts a scan, or another one after the one under way. */
int tui_machine_scan(struct tui_machine *m, uint64_t now_ns);
/* Reads a capture record (copied) into m->then, on the scanner too. */
void tui_machine_parse_then(struct tui_machine *m, const char *record, size_t len);
/* -1 while there is no scanner. */
int tui_machine_fd(const struct tui_machine *m);
/* udev's monitor, -1 without one. */
int tui_machine_watch_fd(const struct tui_machine *m);
enum tui_machine_news {
	TUI_MACHINE_SCANNED = 1, /* a new snapshot, or why there is none */
	TUI_MACHINE_PARSED = 2,  /* m->then */
};
/* Takes in what udev says, and what the scanner has finished: a mask of news. */
unsigned tui_machine_poll(struct tui_machine *m, uint64_t now_ns);

/* Takes S over as the machine, and its verdicts V (NULL: they are worked out here). */
void tui_machine_set(struct tui_machine *m, struct pcie_snapshot *s, struct pcie_verdicts *v);
/* The verdicts on device DEV, NULL when it is no GPU. */
const struct pcie_gpu *tui_machine_gpu(const struct tui_machine *m, int dev);
