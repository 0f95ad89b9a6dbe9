/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hypervisors by what the firmware that they make calls the machine. Pure; any thread. */
#pragma once

#include <stdbool.h>

/*
 * The hypervisor behind MACHINE (DMI's vendor and product in one line, or what the kernel
 * calls the hypervisor), named as systemd-detect-virt does; NULL: none that is known.
 */
const char *pcie_guest_hypervisor(const char *machine);

/* A cloud's rented machine without a hypervisor, though its vendor is known for guests. */
bool pcie_guest_is_metal(const char *machine);
