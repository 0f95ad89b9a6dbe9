/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The little that libpci is used for: names from pci.ids, and config space
 * behind the first 256 bytes. Its fatal errors, which would end the program, come
 * back as return values. One thread at a time for each handle.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie/addr.h"
#include "pcie/snapshot.h"

struct pcie_libpci;

/*
 * SYSFS_PCI: "/sys/bus/pci" or a copy of it; NULL: names only. NULL is returned when
 * libpci cannot start; every function takes NULL and then has nothing to say.
 */
struct pcie_libpci *pcie_libpci_open(const char *sysfs_pci);
void pcie_libpci_close(struct pcie_libpci *p);

/*
 * LEN bytes of A's config space at OFF. -ENODEV when the device is gone or refuses,
 * -EIO when libpci gave up (each later call fails as well).
 */
int pcie_libpci_read(
	struct pcie_libpci *p, struct pcie_addr a, size_t off, uint8_t *buf, size_t len);

/* "Vendor Device" from pci.ids (BARSCOPE_PCI_IDS: another file); "" when not listed. */
void pcie_libpci_name(
	struct pcie_libpci *p, uint16_t vendor, uint16_t device, char *buf, size_t size);

/* Gives every device that has ids and no name its name. */
void pcie_libpci_name_all(struct pcie_snapshot *s);
