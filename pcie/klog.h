/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel logs: dmesg, journal, syslog, a live ring buffer, or pieces of them in
 * a paste. Messages of the kernel's PCI core of every age (2.6 to today), of the
 * GPU drivers and of the boot become devices with their BARs' and windows' final
 * state, apertures, VRAM sizes, statements, and one history for each resource with
 * the lines that prove it.
 *
 * The last state of a resource wins; a line that is cut off never proves more
 * than the whole lines before it. When the kernel started more than once in the
 * text, the last start that says something about PCI is the machine, and the
 * others are said in a note.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/lines.h"
#include "pcie/snapshot.h"

/*
 * Adds what the log LINES say to INTO, with SRC as their source. LINES holds
 * every log line of one text in the text's order, an empty line where something
 * else stood between two pieces. Prefixes of any logger are still there, and a
 * message may be wrapped over several lines (also in the middle of a word or an
 * address): both are undone here. Lines that are not understood are passed over.
 * The snapshot need not be settled and is not settled. Memory grows with the
 * number of devices and resources, not with the text. Returns the number of
 * lines that said something, 0 when it is no kernel log.
 */
int pcie_klog_parse(const struct pcie_lines *lines, struct pcie_snapshot *into, pcie_src src);

/*
 * Whether S (LEN bytes, s[len] == '\0') looks like the beginning of a kernel
 * log line, with or without a logger's prefix. Fast: most lines of other texts
 * are turned away at their first characters. The rest of a wrapped message is
 * not recognised alone: lines of no known kind that stand between two log lines
 * belong to the log.
 */
bool pcie_klog_is_line(const char *s, size_t len);
