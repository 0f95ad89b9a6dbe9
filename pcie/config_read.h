/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads of config space what the decoder looks at, and no more: each four bytes
 * are a bus transaction, on a virtual machine an exit of 20 µs. Any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pcie/config.h"

struct pcie_config_source {
	/* LEN bytes at OFF into BUF; the number of bytes, fewer at the end, or negative errno. */
	int (*read)(void *ctx, size_t off, uint8_t *buf, size_t len);
	void *ctx;
	size_t size; /* of the file: 256 or 4096 where the device has extended space */
};

/*
 * Fills BUF, zero where nothing was read. WHOLE: all of it, for a record that other
 * programs read. Returns the length that was within reach: 64 or 128 (denied behind it),
 * 256 (also where a read of the extended space failed) or 4096, less when the file ends
 * before; negative errno when not even the header could be read.
 */
int pcie_config_fetch(
	const struct pcie_config_source *src, bool whole, uint8_t buf[static PCIE_CONFIG_EXT_SIZE]);
