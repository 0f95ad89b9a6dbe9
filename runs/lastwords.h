/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel of an earlier boot said last about the hardware: from pstore, where a panic
 * leaves it, else from a journal that is kept over reboots. Blocking until a deadline; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The last line of BOOT_ID's kernel log that speaks of a fault (Xid, AER, machine check, panic,
 * thermal, watchdog, bus), without its time stamp. ROOT NULL: "/"; with another root there is no
 * journal. pstore has no boot id and keeps its records until somebody deletes them: only those
 * written from SINCE on (Unix time, s) count. UNTIL_NS (clock_ns()): a journal that is still being
 * read then is given up; what it told before counts. False: nothing was found.
 */
bool runs_last_words(const char *root, const char *boot_id, int64_t since, uint64_t until_ns,
	char *ret, size_t size);

/* Does a line of a kernel log speak of a fault of the hardware or the kernel? */
bool runs_is_fault(const char *line);
