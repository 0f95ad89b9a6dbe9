/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kind of text a line belongs to, told line by line. Pure; any thread. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pcie/addr.h"

enum pcie_text_kind {
	PCIE_TEXT_OTHER, /* of no kind by itself: goes with what stood before it */
	PCIE_TEXT_LSPCI,
	PCIE_TEXT_LOG,
	PCIE_TEXT_IOMEM,
	PCIE_TEXT_SMI,
	PCIE_TEXT_QEMU,
	PCIE_TEXT_LSHW,
	PCIE_TEXT_XORG,
	PCIE_TEXT_SYSFS,
	PCIE_TEXT_COMMAND, /* a shell command or its echo: what follows is something new */
	PCIE_TEXT_TREE,    /* lspci -t */
};

/*
 * The kind that S (LEN bytes, s[len] == '\0') shows by itself; lspci is not
 * among the answers, since its reader takes its lines first.
 */
enum pcie_text_kind pcie_classify(const char *s, size_t len);

/*
 * Is S a command line that runs lspci, with or without a prompt? *RET_ADDR is the
 * device that its -s names, when it names one function.
 */
bool pcie_classify_lspci_command(const char *s, struct pcie_addr *ret_addr);
