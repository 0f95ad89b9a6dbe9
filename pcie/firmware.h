/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the firmware itself shows of its setup: items that Dell, HP and Lenovo drivers put
 * under /sys/class/firmware-attributes, and the ReBarUEFI module's variable. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/snapshot.h"

/* "DRIVER/attributes/ITEM" below it is an item's folder. */
#define PCIE_FIRMWARE_FOLDER "sys/class/firmware-attributes"

#define PCIE_FIRMWARE_EFIVARS "sys/firmware/efi/efivars"
/* Four bytes of attributes and one of value (xCuri0/ReBarUEFI, README). */
#define PCIE_FIRMWARE_REBAR PCIE_FIRMWARE_EFIVARS "/ReBarState-a3c5b77a-c88f-4a93-bf1c-4a92a32c65ce"

/* Is NAME (an attribute's or its display name) about BARs, CSM or SR-IOV? */
bool pcie_firmware_matters(const char *name);

/*
 * Reads one of these facts as the feed carries it: NAME is a path that begins as above;
 * TEXT for an item is its display name and, on a second line, its value, no second line when the
 * value was denied; for the folder itself "" says that it was looked at; for the variable
 * "none" or its number. False when NAME is something else.
 */
bool pcie_firmware_parse(struct pcie_snapshot *s, const char *name, const char *text);
