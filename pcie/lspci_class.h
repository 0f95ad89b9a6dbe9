/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers for the names that lspci prints without -n. Pure; any thread. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* "VGA compatible controller" (LEN bytes) to 0x0300; -1 when no class has this name. */
int pcie_class_from_name(const char *name, size_t len);

/*
 * The vendor whose name stands at the start of NAME, and the name's length; 0 when
 * it is none of those that make GPUs or server consoles.
 */
uint16_t pcie_vendor_from_name(const char *name, size_t *ret_len);
