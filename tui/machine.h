/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine as the screen follows it: a snapshot from the scanner job and the devices
 * worth a line, GPUs first. The main thread never reads a file. Main thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/job.h"
#include "base/why.h"
#include "pcie/scan.h"
#include "pcie/snapshot.h"
#include "pcie/watch.h"
#include "runs/choices.h"
#include "tui/changes.h"
#include "tui/survey.h"

/* What NVIDIA's driver said of its GPUs. Asked once for each: asking again would disturb a stress.
 */
enum { TUI_GPUS = 16 };
struct tui_sizes {
	struct pcie_gpu_sizes gpu[TUI_GPUS];
	size_t n;
};

/* Fills in what S knows of the N GPUs; returns of how many. Any thread that has S. */
size_t tui_sizes_tell(const struct tui_sizes *s, struct pcie_gpu_sizes *gpu, size_t n);

/* What a start wants to know beside the devices, read on the scanner with every look. */
struct tui_surroundings {
	double load; /* of the CPU, over a minute; negative: not known */
	struct {
		int64_t mtime_ns, size;
		uint64_t inode;
	} stamp; /* of the file that CHOICES were read from; zeros: none */
	struct runs_choices choices;
};

struct tui_machine {
	struct pcie_snapshot *snapshot; /* NULL: no scan has ended yet; owned */
	struct tui_survey *survey;      /* of SNAPSHOT; NULL when that is; owned */
	struct why why;                 /* the last scan's failure; "" */
	struct job *scanner;
	bool scanning, again;
	bool pulsing; /* a look for what no uevent tells of is under way */
	bool has_pulse;
	uint64_t pulse, pulse_due_ns;
	uint64_t scan_asked_ns;
	const char *source;     /* of pcie_scan(); NULL: the live machine */
	struct tui_sizes sizes; /* of the last scan */
	struct tui_surroundings around;
	struct pcie_watch *watch;   /* NULL: udev's monitor is not there */
	struct tui_changes changes; /* from the snapshot before to this one */
	struct pcie_snapshot *then; /* the machine at the baseline; NULL: not known */
	unsigned parsing;           /* … yet: records under way */
	struct tui_changes since;   /* from THEN to a SNAPSHOT, which a new one soon replaces */
	bool has_since;
	bool comparing, stale;         /* the scanner works SINCE out; it is to do so again */
	struct pcie_snapshot *retired; /* a THEN that it still looks at; owned */
};

void tui_machine_init(struct tui_machine *m, const char *source);
/* Waits at most TIMEOUT_MS for a scan; -ETIMEDOUT: it is stuck, leave with _exit(). */
int tui_machine_finish(struct tui_machine *m, int timeout_ms);

/* Starts a scan, or another one after the one under way. */
int tui_machine_scan(struct tui_machine *m, uint64_t now_ns);
/* Reads a capture record (copied) into m->then, on the scanner too, and compares there. */
void tui_machine_parse_then(struct tui_machine *m, const char *record, size_t len);
/* THEN becomes the baseline's machine (NULL: not known); compared at once: small ones. */
void tui_machine_set_then(struct tui_machine *m, struct pcie_snapshot *then);
/* Whether SINCE is yet to be worked out. */
bool tui_machine_settling(const struct tui_machine *m);
/* Once a second, on the scanner: BARs and error counters that changed without a uevent start a
 * scan. Nothing when the machine is not the live one. */
void tui_machine_pulse(struct tui_machine *m, uint64_t now_ns);
/* -1 while there is no scanner. */
int tui_machine_fd(const struct tui_machine *m);
/* udev's monitor, -1 without one. */
int tui_machine_watch_fd(const struct tui_machine *m);
enum tui_machine_news {
	TUI_MACHINE_SCANNED = 1, /* a new snapshot, or why there is none */
	TUI_MACHINE_PARSED = 2,  /* m->then */
	TUI_MACHINE_COMPARED = 4 /* m->since */
};
/* Takes in what udev says, and what the scanner has finished: a mask of news. */
unsigned tui_machine_poll(struct tui_machine *m, uint64_t now_ns);

/* Takes S over as the machine, and its survey V (NULL: it is made here). */
void tui_machine_set(struct tui_machine *m, struct pcie_snapshot *s, struct tui_survey *v);

/* Devices with a line of their own in the overview, and the I-th of them. */
size_t tui_machine_listed(const struct tui_machine *m);
const struct pcie_device *tui_machine_device(const struct tui_machine *m, size_t i);
