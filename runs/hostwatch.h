/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel counts about the worker process and its CPUs, read every 50 ms: counters that
 * grew between two readings become events of that interval. Needs no privilege. Sources, and what
 * the event's value is:
 *
 *   preempted     ns that the worst thread was ready and not running: something else had its core
 *   stopped       ns that no thread ran although the process was stopped (SIGSTOP, a debugger)
 *   page-faults   none (code: how many the worst thread had), when many more than is usual
 *   steal         ns that the hypervisor gave the CPUs to others
 *   interrupts    ns in interrupts on the busiest CPU
 *   cpu-clock     none (code: kHz), when the first CPU's clock is 10 % below what is usual
 *   foreign-load  none (code: percent), of an interval of 200 ms: others ran on a thread's core
 *                 while it did not want it itself, and left it their cache and clock, by the
 *                 kernel's ticks and by measured idle time alike. Needs a pinned thread
 *
 * Threads are those that launch: pinned to one CPU, as the CPU back end's are; where none is, all.
 *
 * One owner, one thread. Costs some 10 µs and 30 µs a thread each time; threads above 64 are not
 * looked at.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "runs/collect.h"

enum { RUNS_HOSTWATCH_EVENTS = 8 };

struct runs_hostwatch;

/* ROOT NULL: "/". */
struct runs_hostwatch *runs_hostwatch_create(const char *root);
void runs_hostwatch_destroy(struct runs_hostwatch *w);

/*
 * Reads when 50 ms have passed since the last time; returns how many events RET holds then. PID:
 * the worker, or 0: none. Another one than before starts anew.
 */
size_t runs_hostwatch_poll(struct runs_hostwatch *w, pid_t pid, uint64_t now_ns,
	struct runs_event ret[static RUNS_HOSTWATCH_EVENTS]);
