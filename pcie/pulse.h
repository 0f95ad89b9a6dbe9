/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A quick look whether anything may have changed that no uevent tells of: a resized BAR,
 * an error counter, the link of a GPU that is awake. Blocking; wakes no device; any thread.
 */
#pragma once

#include <stdint.h>

/*
 * A number over the resource tables, AER counters and links of the PCI devices below ROOT ("" for
 * the live machine): another number, another state. Negative errno when there is no such folder.
 */
int pcie_pulse(const char *root, uint64_t *ret);
